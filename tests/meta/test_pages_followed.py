"""Each page with commands can be followed in order, in an empty directory, and its commands print
what it shows.

A page's Python examples share one namespace. What commands say of the profile is left out, as on
the pages.
"""

from __future__ import annotations

import doctest
import os
import pathlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.cli.commands import PROFILE, ROOT, environment, posix, run

DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(console|python|pycon)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# With torch and engines: tests/batches/test_training_batches.py and tests/batches/test_engines.py.
ELSEWHERE = {"corpora.md", "training_batches.md"}
PAGES = [
    page
    for page in sorted(DOCS.rglob("*.md"))
    if page.name not in ELSEWHERE
    and re.search(r"^```console\n\$ ", page.read_text(encoding="utf-8"), re.MULTILINE)
]


def steps(page: pathlib.Path) -> Iterator[tuple[str, str]]:
    """The steps of a page: Python examples with an empty command, and commands with the output
    shown.
    """
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "console":
            yield from COMMAND.findall(block)
        elif ">>> " in block:
            yield "", block


@posix
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_can_be_followed_in_an_empty_directory(tmp_path, monkeypatch, page):
    programs, here = tmp_path / "programs", tmp_path / "here"
    programs.mkdir()
    here.mkdir()
    script = programs / "trietok"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trietok "$@"\n')
    script.chmod(0o755)
    env = environment(PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(here)

    def printed(command: str) -> str:
        alone = command.removesuffix(" | cat")
        # no shell is needed, which is quicker
        if alone.startswith("trietok ") and not set("|<>$;&") & set(alone):
            result = run(*shlex.split(alone)[1:])
            return result.stdout + result.stderr
        done = subprocess.run(
            ["/bin/sh", "-c", command], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return PROFILE.sub("", done.stdout.decode("utf-8"))  # which pages leave out

    names: dict[str, object] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for command, shown in steps(page):
        if command:
            assert (command, printed(command)) == (command, shown)
        else:
            example = doctest.DocTestParser().get_doctest(shown, names, page.name, str(page), 0)
            assert runner.run(example, clear_globs=False).failed == 0
            names.update(example.globs)
