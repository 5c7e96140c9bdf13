"""Pages are run in a directory of their own, where their examples may save files.

Pages that need packages beyond the `test` extra are run by tests that skip what is not installed.
"""

from __future__ import annotations

import pathlib

import pytest

collect_ignore = [
    "site/docstrings.py",  # needs the extra `docs`
    "site/hooks.py",
    "studies/new_rows.py",  # tests/integrations/test_studies.py
    "studies/small_bert.py",
    "training_batches.md",  # tests/batches/test_training_batches.py
]


@pytest.fixture(autouse=True)
def own_directory(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
