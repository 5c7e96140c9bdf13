"""How fast trietok is on a user's own text, beside other tokenizers, and whether they give the same ids.

In: texts, the name of a model, the names of contenders. Out: a `Benchmark` or a list of `Agreement`, as attributes, as
JSON and as text. Nothing is measured in this process: each contender has one of its own, one thread in it, and packages
of other tokenizers are imported there and nowhere else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from trietok.benchmarking.report import Agreement, Benchmark, Difference, Round, Throughput
from trietok.benchmarking.worker import CONTENDERS as _LOADERS
from trietok.errors import InputError, InputTypeError
from trietok.files.find import find_files
from trietok.files.formats import TOKENIZER_FILE, VOCAB_FILE
from trietok.tokenizer.bert import BertTokenizer

__all__ = ["CONTENDERS", "Agreement", "Benchmark", "Difference", "Round", "Throughput", "measure", "validate"]

OURS = "trietok"
CONTENDERS = tuple(_LOADERS)

_WORKER = Path(__file__).with_name("worker.py")
# The worker imports what this process would: its path is the same, whatever directory the command was started in.
_START = "import runpy, sys; sys.path[:] = sys.argv[2:]; runpy.run_path(sys.argv[1], run_name='__main__')"
_ENVIRONMENT = {
    "TOKENIZERS_PARALLELISM": "false",
    "RAYON_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_OFFLINE": "1",  # the files are here by then
}

Progress = Callable[[str], None]


def measure(
    texts: Iterable[str],
    model: str | os.PathLike[str] = "trietok-en",
    *,
    against: Sequence[str] = CONTENDERS,
    rounds: int = 3,
    passes: int = 3,
    progress: Progress | None = None,
) -> Benchmark:
    """Measure how fast trietok and others turn texts into ids, one text after the other, on one thread.

    In each round every contender in turn gets a fresh process. It loads the model, encodes one short line, and goes
    over the texts `passes` times.

    Args:
        texts: what to encode; written to a temporary file, and held in the memory of the processes.
        model: a directory, a vocab.txt, a built-in name or a name on the hub.
        against: names from `CONTENDERS`; trietok itself is always measured.
        rounds: processes for each contender; medians of them are what is reported.
        passes: passes over the texts in each process, at least 2: the first is cold, the best of the others warm.
        progress: called with a note before each process starts.

    Raises:
        InputError: `against` holds a name that nobody knows, there is no text, or `rounds` or `passes` is too small.
        FileError, FileFormatError, VocabularyError: trietok cannot load the model.

    >>> benchmark = measure(["The people, united!"] * 10, against=[], rounds=1, passes=2)
    >>> [result.contender for result in benchmark.results], benchmark.lines, benchmark.size
    (['trietok'], 10, 190)
    """
    if rounds < 1 or passes < 2:
        raise InputError(f"at least 1 round of 2 passes is needed, not {rounds} of {passes}")
    with _Workers(texts, model, against) as workers:
        results = {name: Throughput(name, "", "", []) for name in workers.names}
        for number in range(1, rounds + 1):
            for name in workers.names:
                if results[name].problem:
                    continue
                if progress is not None:
                    progress(f"round {number} of {rounds}: {name}")
                answer = workers.run(name, "measure", passes=passes)
                results[name] = _with_round(results[name], answer, workers.size)
        return Benchmark(os.fspath(model), workers.lines, workers.size, passes, list(results.values()))


def _with_round(result: Throughput, answer: dict[str, Any], size: int) -> Throughput:
    version = answer["version"] or result.version
    if "problem" in answer:
        return Throughput(result.contender, version, answer["problem"], [])
    speeds = [size / max(seconds, 1e-9) / 1e6 for seconds in answer["seconds"]]
    measured = Round(answer["load_s"], speeds[0], max(speeds[1:]))
    return Throughput(result.contender, version, "", [*result.rounds, measured])


def validate(
    texts: Iterable[str],
    model: str | os.PathLike[str] = "trietok-en",
    *,
    against: Sequence[str] = CONTENDERS,
    most: int = 5,
    progress: Progress | None = None,
) -> list[Agreement]:
    """Compare the ids that others give with those of trietok, text by text, special tokens included.

    Args:
        texts, model, against, progress: as for `measure`; a name on which `against` says trietok is passed over.
        most: how many differences of each contender are kept.

    Raises:
        InputError: as `measure`, or trietok cannot encode a text.
        FileError, FileFormatError, VocabularyError: trietok cannot load the model.

    >>> validate(["The people, united!"], against=[])
    []
    """
    agreements: list[Agreement] = []
    with _Workers(texts, model, against) as workers:
        for name in workers.names:
            if progress is not None:
                progress(f"ids: {name}")
            answer = workers.run(name, "write_ids" if name == OURS else "compare_ids", most=most)
            if name != OURS:
                agreements.append(workers.agreement(name, answer))
            elif "problem" in answer:
                raise InputError(f"{OURS}: {answer['problem']}")
    return agreements


class _Workers:
    """Texts and a model, written down and found for the processes to use."""

    def __init__(self, texts: Iterable[str], model: str | os.PathLike[str], against: Sequence[str]) -> None:
        if isinstance(texts, (str, bytes)) or isinstance(against, str):
            raise InputTypeError("texts are a list of texts and `against` a list of names, not one string", value=texts)
        unknown = [name for name in against if name not in CONTENDERS]
        if unknown:
            raise InputError(f"nobody knows a contender {unknown[0]!r}; there are {', '.join(CONTENDERS)}")
        self.names = list(dict.fromkeys((OURS, *against)))
        self.tokenizer = BertTokenizer.from_pretrained(model)  # what it cannot load is no benchmark
        self._job = _files_of(os.fspath(model))
        self._job["do_lower_case"] = self.tokenizer.do_lower_case
        self._job["tokenize_chinese_chars"] = getattr(
            getattr(self.tokenizer, "basic_tokenizer", None), "tokenize_chinese_chars", True
        )
        self._given = texts
        self.lines = self.size = 0

    def __enter__(self) -> _Workers:
        self._directory = tempfile.TemporaryDirectory(prefix="trietok-bench-")
        try:
            self._write_texts(Path(self._directory.name) / "texts")
        except BaseException:
            self._directory.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()

    def _write_texts(self, path: Path) -> None:
        with open(path, "w", encoding="ascii") as file:
            for text in self._given:
                if not isinstance(text, str):
                    raise InputTypeError(f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text)
                file.write(json.dumps(text) + "\n")
                self.lines += 1
                self.size += len(text.encode("utf-8", "surrogatepass"))
        if not self.size:
            raise InputError("there is no text to measure: " + ("every line is empty" if self.lines else "no line"))

    def run(self, contender: str, task: str, **options: Any) -> dict[str, Any]:
        """Let a process of its own do a task; its answer, or one with a `problem` where it died."""
        scratch = Path(self._directory.name)
        files = {name: str(scratch / name) for name in ("texts", "ids", "answer")}
        job = {**self._job, **files, "contender": contender, "task": task, **options}
        answer = scratch / "answer"
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
            ending = f"signal {-done.returncode}" if done.returncode < 0 else f"exit code {done.returncode}"
            return {"version": "", "problem": f"its process ended with {ending}" + (f": {said[-1]}" if said else "")}
        result: dict[str, Any] = json.loads(answer.read_text(encoding="ascii"))
        return result

    def agreement(self, contender: str, answer: dict[str, Any]) -> Agreement:
        """What a process has found, with the texts and with trietok's tokens."""
        if "problem" in answer:
            return Agreement(contender, answer["version"], answer["problem"], self.lines, 0, [])
        wanted = {found["line_number"] for found in answer["differences"]}
        with open(Path(self._directory.name) / "texts", encoding="ascii") as file:
            texts = {number: json.loads(line) for number, line in enumerate(file, start=1) if number in wanted}
        differences = [
            Difference(
                text=texts[found["line_number"]], tokens=self.tokenizer.convert_ids_to_tokens(found["ids"]), **found
            )
            for found in answer["differences"]
        ]
        return Agreement(contender, answer["version"], "", self.lines, answer["differing"], differences)


def _files_of(model: str) -> dict[str, Any]:
    """Where a model's files are: the directory or the one file, vocab.txt, tokenizer.json if there is one."""
    found, single_file = find_files(model, (VOCAB_FILE, TOKENIZER_FILE))
    vocab_file = os.path.abspath(single_file or found[VOCAB_FILE])
    tokenizer_file = os.path.abspath(found[TOKENIZER_FILE]) if TOKENIZER_FILE in found else ""
    directory = vocab_file if single_file else os.path.dirname(vocab_file)
    return {"model": directory, "vocab_file": vocab_file, "tokenizer_file": tokenizer_file}
