"""Starting an engine in a process of its own, and giving it texts and a model.

In: texts, where a model's files are, what to do. Out: what the process answers. No package of
another tokenizer is imported here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trietok.errors import FileError, InputTypeError
from trietok.files.formats import TOKENIZER_FILE, VOCAB_FILE
from trietok.files.model_files import find_files
from trietok.workbench.engines.worker import ENGINES

__all__ = ["ENGINES", "EngineWork", "classes_of", "model_of"]

_WORKER = Path(__file__).with_name("worker.py")
# The worker imports what this process would: its path is the same, whatever directory the command
# was started in.
_START = (
    "import runpy, sys; sys.path[:] = sys.argv[2:]; runpy.run_path(sys.argv[1],"
    " run_name='__main__')"
)
_ENVIRONMENT = {
    "TOKENIZERS_PARALLELISM": "false",
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_OFFLINE": "1",  # the files are here by then
}


def model_of(model: str, tokenizer: Any, classes: Sequence[str]) -> dict[str, Any]:
    """Where the files of a model are, and what engines have to be told that read no settings: those
    of the tokenizer.

    `classes` are names of transformers' classes, of which the first is taken that it has. A
    `FileError` says that there are no files of that name.
    """
    found, single_file = find_files(model, (VOCAB_FILE, TOKENIZER_FILE))
    if single_file is not None:
        found = {TOKENIZER_FILE if single_file.endswith(".json") else VOCAB_FILE: single_file}
    files = {name: os.path.abspath(path) for name, path in found.items()}
    if not files:
        raise FileError(
            f"{model} has neither a {VOCAB_FILE} nor a {TOKENIZER_FILE} for an engine to read",
            path=model,
        )
    first = next(iter(files.values()))
    basic = getattr(tokenizer, "basic_tokenizer", None)
    return {
        "model": os.path.dirname(first) if single_file is None else first,
        "vocab_file": files.get(VOCAB_FILE, ""),
        "tokenizer_file": files.get(TOKENIZER_FILE, ""),
        "classes": list(classes),
        "do_lower_case": getattr(tokenizer, "do_lower_case", False),
        "tokenize_chinese_chars": getattr(basic, "tokenize_chinese_chars", True),
    }


def classes_of(tokenizer: Any) -> list[str]:
    """The names of a tokenizer's class and of those it comes from, as far as transformers may have
    them too.
    """
    names = [kind.__name__ for kind in type(tokenizer).__mro__]
    return [
        name
        for name in names
        if name.endswith(("Tokenizer", "TokenizerFast")) and not name.startswith("PreTrained")
    ]


class EngineWork:
    """Texts in a temporary directory for engines to work on, one process after the other. Used in a
    `with` block.
    """

    def __init__(self, model: dict[str, Any]) -> None:
        self._model = model  # as `model_of` gives it

    def __enter__(self) -> EngineWork:
        self._directory = tempfile.TemporaryDirectory(prefix="trietok-engines-")
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()

    def _path(self, name: str) -> Path:
        return Path(self._directory.name, name)

    def write_texts(self, texts: Iterable[str]) -> None:
        """Write the texts down."""
        with open(self._path("texts"), "w", encoding="ascii") as file:
            for text in texts:
                if not isinstance(text, str):
                    raise InputTypeError(
                        f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text
                    )
                file.write(json.dumps(text) + "\n")

    def write_ids(self, rows: Iterable[Sequence[int]]) -> None:
        """Write down the ids that `compare_ids` compares with, those of one text after the
        other.
        """
        with open(self._path("ids"), "w", encoding="ascii") as file:
            file.writelines(json.dumps(list(ids)) + "\n" for ids in rows)

    def run(self, engine: str, **options: Any) -> dict[str, Any]:
        """Compare the ids in a process of its own.

        Returns the answer of `worker.compare_ids`, or one with a `problem` if the process died.
        """
        files = {name: str(self._path(name)) for name in ("texts", "ids", "answer")}
        job = {**self._model, **files, "engine": engine, **options}
        answer = self._path("answer")
        answer.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _START, str(_WORKER), *sys.path],
            input=json.dumps(job).encode("ascii"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, **_ENVIRONMENT},
        )
        if done.returncode or not answer.exists():
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            ending = (
                f"signal {-done.returncode}"
                if done.returncode < 0
                else f"exit code {done.returncode}"
            )
            return {
                "version": "",
                "problem": f"its process ended with {ending}" + (f": {said[-1]}" if said else ""),
            }
        result: dict[str, Any] = json.loads(answer.read_text(encoding="ascii"))
        return result
