"""Planted faults: directories as data, each the same small one but for one fault.

`tests/data/faults/base` is a directory without a fault. A folder beside it holds `fault.json` and,
where the fault is more than an edit of JSON or of a line, the files that take the place of those in
the base:

    about     what went wrong, in a sentence
    kind      "both": vocab.txt and tokenizer.json; "slow": no tokenizer.json; "json": tokenizer.json
              alone
    set       file → path in its JSON → value. A path is its keys with `/` between; for vocab.txt it
              is a line, and the value a token
    links     file → where it leads, as a symbolic link
    unset     file → paths of keys to take out
    findings  every error and warning of `check`, with a part of the message
    fix       what `fix` does: "mends" it, runs and it "stays", or "refuses"
"""

from __future__ import annotations

import json
import pathlib
import shutil
from collections.abc import Sequence
from typing import Any

FAULTS = pathlib.Path(__file__).parents[1] / "data" / "faults"
NAMES = sorted(path.parent.name for path in FAULTS.glob("*/fault.json"))
_WITHOUT = {
    "both": (),
    "slow": ("tokenizer.json",),
    "json": ("vocab.txt", "added_tokens.json"),
}


def fault_of(name: str) -> dict[str, Any]:
    return json.loads((FAULTS / name / "fault.json").read_text(encoding="utf-8"))


def plant(name: str, folder: pathlib.Path) -> pathlib.Path:
    """Write the directory of a fault."""
    fault = fault_of(name)
    shutil.copytree(FAULTS / "base", folder)
    for file in _WITHOUT[fault["kind"]]:
        (folder / file).unlink(missing_ok=True)
    shutil.copytree(
        FAULTS / name, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("fault.json")
    )
    for file, target in fault.get("links", {}).items():
        (folder / file).unlink(missing_ok=True)
        (folder / file).symlink_to(target)
    for file in {**fault.get("set", {}), **fault.get("unset", {})}:
        edit(
            folder / file, fault.get("set", {}).get(file, {}), fault.get("unset", {}).get(file, [])
        )
    return folder


def edit(path: pathlib.Path, values: dict[str, Any], gone: Sequence[str] = ()) -> None:
    """Put values at paths in the JSON of a file, or on lines of vocab.txt, and take out what is
    gone.
    """
    if path.suffix == ".txt":
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in values.items():
            lines[int(number) - 1] = line
        path.write_text("\n".join(lines), encoding="utf-8")
        return
    whole = json.loads(path.read_text(encoding="utf-8"))
    for place, value in values.items():
        *steps, last = place.split("/")
        inner = whole
        for step in steps:
            inner = inner[int(step)] if isinstance(inner, list) else inner.setdefault(step, {})
        if isinstance(inner, list):
            inner[int(last) : int(last) + 1] = [value]
        else:
            inner[last] = value
    for place in gone:
        *steps, last = place.split("/")
        inner = whole
        for step in steps:
            inner = inner[step]
        inner.pop(last)
    path.write_text(json.dumps(whole, ensure_ascii=False), encoding="utf-8")
