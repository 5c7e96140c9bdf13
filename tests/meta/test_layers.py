"""Packages import each other in the order of their layers, and none imports itself by a detour;
`[tool.importlinter]` in pyproject.toml names the layers.
"""

from __future__ import annotations

from pathlib import Path

from tests.conftest import needs

ROOT = Path(__file__).parents[2]


def test_packages_import_only_lower_layers_and_never_in_a_circle(monkeypatch, capsys):
    needs("importlinter")  # from Python 3.11 on
    from importlinter.cli import lint_imports

    monkeypatch.chdir(ROOT)
    status = lint_imports(config_filename="pyproject.toml", no_cache=True)
    assert status == 0, capsys.readouterr().out
