"""How fast trietok is on a user's own text, beside other tokenizers, and whether they give the same ids.

In: texts, the name of a model, the names of contenders. Out: a `Benchmark` or a list of `Agreement`, as attributes, as
JSON and as text. Nothing is measured in this process: each contender has one of its own, one thread in it, and packages
of other tokenizers are imported there and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from trietok.workbench.benchmarking.report import Agreement, Benchmark, Difference, Round, Throughput
from trietok.workbench.engines.process import EngineWork, model_of
from trietok.errors import InputError, InputTypeError
from trietok.files.other_kinds import trained_kind
from trietok.tokenizer.auto import AutoTokenizer
from trietok.tokenizer.bert import BertTokenizer

__all__ = ["CONTENDERS", "Agreement", "Benchmark", "Difference", "Round", "Throughput", "measure", "validate"]

OURS = "trietok"
# The engines that are measured; the name of the slow one is older than its rivals.
_ENGINES = {
    OURS: OURS,
    "transformers": "transformers-slow",
    "transformers-fast": "transformers-fast",
    "tokenizers": "tokenizers",
    "flash-tokenizer": "flash-tokenizer",
}
CONTENDERS = tuple(_ENGINES)

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
            raise InputError(
                f"there is no tokenizer {unknown[0]!r} to compare with; choose from {', '.join(CONTENDERS)}"
            )
        self.names = list(dict.fromkeys((OURS, *against)))
        is_trained = trained_kind(os.fspath(model)) is not None  # a byte-pair encoding
        kind: Any = AutoTokenizer if is_trained else BertTokenizer
        self.tokenizer = kind.from_pretrained(model)  # what it cannot load is no benchmark
        self._work = EngineWork(model_of(os.fspath(model), self.tokenizer, (type(self.tokenizer).__name__,)))
        self._given = texts
        self.lines = self.size = 0

    def __enter__(self) -> _Workers:
        self._work.__enter__()
        try:
            self.lines, self.size = self._work.write_texts(self._given)
            if not self.size:
                raise InputError("there is no text to measure: " + ("every line is empty" if self.lines else "no line"))
        except BaseException:
            self._work.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._work.__exit__()

    def run(self, contender: str, task: str, **options: Any) -> dict[str, Any]:
        """Let a process of its own do a task; its answer, or one with a `problem` where it died."""
        return self._work.run(_ENGINES[contender], task, **options)

    def agreement(self, contender: str, answer: dict[str, Any]) -> Agreement:
        """What a process has found, with the texts and with trietok's tokens."""
        if "problem" in answer:
            return Agreement(contender, answer["version"], answer["problem"], self.lines, 0, [])
        wanted = {found["line_number"] for found in answer["differences"]}
        texts = self._work.texts(wanted)
        differences = [
            Difference(
                text=texts[found["line_number"]], tokens=self.tokenizer.convert_ids_to_tokens(found["ids"]), **found
            )
            for found in answer["differences"]
        ]
        return Agreement(contender, answer["version"], "", self.lines, answer["differing"], differences)
