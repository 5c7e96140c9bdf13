"""The examples of README.md save files: they run in a directory of their own, as those of docs/
do.
"""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _own_directory_for_the_readme(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if request.node.name == "README.md":
        monkeypatch.chdir(request.getfixturevalue("tmp_path"))
