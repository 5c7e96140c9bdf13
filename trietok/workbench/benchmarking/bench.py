"""How fast trietok is on a user's own text, beside other tokenizers, and whether they give the same
ids.

In: texts, the name of a model, the names of contenders. Out: a `Benchmark` or a list of
`Agreement`, as attributes, as JSON and as text. Nothing is measured in this process: each contender
has one of its own, fresh in each round, on one CPU and one thread, and packages of other tokenizers
are imported there and nowhere else. What is measured is CPU time.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError
from trietok.inputs.profiles import Profile
from trietok.showing.characters import number_of
from trietok.showing.report import Report, Table
from trietok.tokenizer.auto import choose
from trietok.workbench.engines.process import ENGINES, EngineWork, model_of

OURS = "trietok"
CONTENDERS = tuple(ENGINES)
# Those with the ids of a profile, which are measured unless others are named; transformers has both
# profiles.
_OF_PROFILE = {
    "slow": ("transformers", "flash-tokenizer"),
    "fast": ("transformers", "tokenizers", "nanotoken", "tokie"),
}
OnNote = Callable[[str], None]
SHORTEST_PASS = (
    0.02  # seconds of CPU time; in a shorter one the clock and an interruption weigh too much
)
# Two lines for each column of the table.
HEAD_OF_SPEEDS = (
    ("tokenizer", ""),
    ("version", ""),
    ("load", "ms"),
    ("MB/s", "cold"),
    ("MB/s", "warm"),
    ("lines/s", "warm"),
    ("speed-up", "cold"),
    ("speed-up", "warm"),
)


_HEADS = tuple(f"{upper} {lower}".strip() for upper, lower in HEAD_OF_SPEEDS)


class Round(NamedTuple):
    """One process of one contender: CPU seconds to import and load; MB/s of the first pass, of the
    best one after.
    """

    load_seconds: float
    cold: float
    warm: float


class Throughput(NamedTuple):
    """How fast one contender is.

    Attributes:
        contender, version: which one; the version may be empty.
        problem: why it could not be measured, or empty.
        rounds: what each process measured; empty where there is a problem.
    """

    contender: str
    version: str
    problem: str
    rounds: list[Round]

    @property
    def median(self) -> Round | None:
        """The medians of the rounds."""
        return (
            Round(*map(statistics.median, zip(*self.rounds, strict=True))) if self.rounds else None
        )

    def spread(self, part: int) -> str:
        """Half the way from a `Round`'s lowest value to its highest, as a share of the median;
        empty for one round.
        """
        values = [measured[part] for measured in self.rounds]
        return (
            f"±{(max(values) - min(values)) / 2 / statistics.median(values):.0%}"
            if len(values) > 1
            else ""
        )


@dataclass(frozen=True)
class Benchmark(Report):
    """The throughput of trietok and of others on the same texts. `str` makes a table of it.

    Attributes:
        model: the model's name.
        lines: how many texts there were.
        size: their bytes in UTF-8; a MB is 10⁶ of them.
        passes: how often each process went over the texts: the first pass is cold, the others are
            warm.
        results: one for each contender, trietok first.
        cpu: the number of the CPU on which all of them ran; None where the system does not pin a
            process to one.
    """

    model: str
    lines: int
    size: int
    passes: int
    results: list[Throughput]
    cpu: int | None = None

    def speedups(self, result: Throughput) -> tuple[float, float] | None:
        """How many times as fast as a contender trietok is, cold and warm; None where either could
        not be measured.

        They are medians of the rounds' ratios: what a machine does elsewhere slows the two of a
        round alike.
        """
        pairs = list(zip(self.results[0].rounds, result.rounds, strict=False))
        if not pairs:
            return None
        cold, warm = ([ours[part] / theirs[part] for ours, theirs in pairs] for part in (1, 2))
        return statistics.median(cold), statistics.median(warm)

    @property
    def too_small(self) -> str:
        """Why the text is too small for figures that mean anything; empty where it is large
        enough.
        """
        fastest = max((result.median.warm for result in self.results if result.median), default=0.0)
        seconds = self.size / 1e6 / fastest if fastest else SHORTEST_PASS
        if seconds >= SHORTEST_PASS:
            return ""
        return (
            "the text is too small for these figures to mean anything: a pass took"
            f" {seconds * 1e3:.2g} ms, and should take {SHORTEST_PASS * 1e3:.0f}; give about"
            f" {max(fastest * SHORTEST_PASS, 1):.0f} MB"
        )

    def lines_per_second(self, result: Throughput) -> tuple[float, float] | None:
        """Texts a second, cold and warm; None where it could not be measured."""
        median = result.median
        share = self.lines / self.size * 1e6
        return None if median is None else (median.cold * share, median.warm * share)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it; numbers that could not be had are None."""
        about = {
            "model": self.model,
            "lines": self.lines,
            "bytes": self.size,
            "passes": self.passes,
        }
        about |= {"clock": "cpu", "cpu": self.cpu, "too_small": self.too_small}
        return {**about, "results": [self._result_dict(result) for result in self.results]}

    def _result_dict(self, result: Throughput) -> dict[str, Any]:
        load, *speeds = result.median or (None, None, None)
        pairs = {
            "mb_per_second": speeds,
            "lines_per_second": self.lines_per_second(result),
            "speedup": self.speedups(result),
        }
        return {
            "contender": result.contender,
            "version": result.version,
            "problem": result.problem,
            "load_seconds": load,
            **{
                name: dict(zip(("cold", "warm"), pair or (None, None), strict=True))
                for name, pair in pairs.items()
            },
            "rounds": [measured._asdict() for measured in result.rounds],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """The table: a head, then a row for each contender that was measured, a cell for each of
        `HEAD_OF_SPEEDS`.
        """
        rows: list[tuple[str, ...]] = []
        for result in self.results:
            median, per_second, speedups = (
                result.median,
                self.lines_per_second(result),
                self.speedups(result),
            )
            if median is None or per_second is None:
                continue
            speeds = (f"{_speed(median[part])} {result.spread(part)}".rstrip() for part in (1, 2))
            numbers = f"{median.load_seconds * 1e3:.0f}", *speeds
            is_ours = result is self.results[0]
            times = (
                ("", "")
                if speedups is None or is_ours
                else tuple(f"{_speed(times)} ×" for times in speedups)
            )
            rows.append(
                (result.contender, result.version, *numbers, f"{per_second[1]:.0f}", *times)
            )
        return rows

    @property
    def summary(self) -> str:
        """What was measured, in a line."""
        rounds = max((len(result.rounds) for result in self.results), default=0)
        where = (
            ", not pinned to a CPU, which this system does not offer"
            if self.cpu is None
            else f" on CPU {self.cpu}"
        )
        text = f"{number_of(self.lines, 'line')}, {self.size / 1e6:.3g} MB, {self.model}"
        return f"{text}; CPU time{where}, median of {number_of(rounds, 'round')}"

    def _parts(self) -> Iterator[str | Table]:
        yield self.summary
        yield Table(_HEADS, self.rows(), right=range(2, len(_HEADS)))
        yield from (
            f"{result.contender}: {result.problem}" for result in self.results if result.problem
        )
        yield from filter(None, [self.too_small])


class OtherIds(NamedTuple):
    """A text whose ids are not those of trietok.

    The ids and tokens are those between the common beginning and the common end of the two
    sequences, special tokens included; a side may have none.

    Attributes:
        line_number: which text, from 1.
        text: the text.
        position: how many ids the two have in common at the beginning.
        ids, tokens: those of trietok.
        their_ids, their_tokens: those of the contender.
        cut: whether there are more of them, left out here.
    """

    line_number: int
    text: str
    position: int
    ids: list[int]
    tokens: list[str]
    their_ids: list[int]
    their_tokens: list[str]
    cut: bool


@dataclass(frozen=True)
class Agreement(Report):
    """Whether a contender gives trietok's ids. `str` makes it readable.

    Attributes:
        contender, version: which one; the version may be empty.
        problem: why they could not be compared, or empty.
        lines: how many texts were compared.
        differing: how many of them have other ids.
        differences: the first of those.
    """

    contender: str
    version: str
    problem: str
    lines: int
    differing: int
    differences: list[OtherIds]

    @property
    def ok(self) -> bool:
        """Whether they could be compared, and all ids are the same."""
        return not self.problem and not self.differing

    @property
    def summary(self) -> str:
        """The answer in a line."""
        if self.problem:
            return f"{self.contender}: {self.problem}"
        if not self.differing:
            return (
                f"{self.contender}: the same ids on"
                f" {'the line' if self.lines == 1 else f'all {self.lines:,} lines'}"
            )
        return (
            f"{self.contender}: other ids on {self.differing:,} of {number_of(self.lines, 'line')}"
        )

    def _parts(self) -> Iterator[str]:
        yield self.summary
        for number, text, position, ids, tokens, their_ids, their_tokens, cut in self.differences:
            more = " ..." if cut else ""
            yield f"  line {number}, from token {position + 1}: {text!r:.100}"
            yield f"    {OURS}: {' '.join(tokens)}{more} {ids}"
            yield f"    {self.contender}: {' '.join(their_tokens)}{more} {their_ids}"


def _speed(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def measure(
    texts: Iterable[str],
    model: str | os.PathLike[str] = "trietok-en",
    *,
    engines: Sequence[str] | None = None,
    profile: Profile | None = None,
    rounds: int = 5,
    passes: int = 3,
    progress: OnNote | None = None,
) -> Benchmark:
    """Measure how fast trietok and others turn texts into ids, one text after the other, on one
    thread and one CPU.

    In each round every contender in turn gets a fresh process. It loads the model, encodes one
    short line, and goes over the texts `passes` times. Its CPU time is what counts, so a machine
    that does other things disturbs less.

    Args:
        texts: what to encode; written to a temporary file, and held in the memory of the processes.
        model: a directory, a vocab.txt, a built-in name or a name on the hub.
        engines: names from `CONTENDERS`; by default those that have the profile. trietok itself is
            always measured, and `"transformers"` is its class of the same profile.
        profile: `"slow"` or `"fast"`; by default the one that `AutoTokenizer` takes.
        rounds: processes for each contender; medians of them are what is reported.
        passes: passes over the texts in each process, at least 2: the first is cold, the best of
            the others warm.
        progress: called with a note before each process starts.

    Raises:
        InputError: `engines` holds a name that nobody knows, there is no text, or `rounds` or
            `passes` is too small.
        FileError, FileFormatError, VocabularyError: trietok cannot load the model.

    >>> benchmark = measure(["The people, united!"] * 10, engines=[], rounds=1, passes=2)
    >>> [result.contender for result in benchmark.results], benchmark.lines, benchmark.size
    (['trietok'], 10, 190)
    """
    if rounds < 1 or passes < 2:
        raise InputError(f"at least 1 round of 2 passes is needed, not {rounds} of {passes}")
    try:
        cpu = max(os.sched_getaffinity(0))
        os.sched_setaffinity(0, os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not every system has it, and a sandbox may refuse it
        cpu = None
    with _Workers(texts, model, engines, profile) as workers:
        results = {name: Throughput(name, "", "", []) for name in workers.names}
        for number in range(1, rounds + 1):
            for name in workers.names:
                if results[name].problem:
                    continue
                if progress is not None:
                    progress(f"round {number} of {rounds}: {name}")
                answer = workers.run(workers.engine(name), "measure", passes=passes, cpu=cpu)
                version = answer["version"] or results[name].version
                if "problem" in answer:
                    results[name] = Throughput(name, version, answer["problem"], [])
                    continue
                speeds = [workers.size / max(seconds, 1e-9) / 1e6 for seconds in answer["seconds"]]
                measured = Round(answer["load_s"], speeds[0], max(speeds[1:]))
                results[name] = Throughput(name, version, "", [*results[name].rounds, measured])
        return Benchmark(
            os.fspath(model), workers.lines, workers.size, passes, list(results.values()), cpu
        )


def validate(
    texts: Iterable[str],
    model: str | os.PathLike[str] = "trietok-en",
    *,
    engines: Sequence[str] | None = None,
    profile: Profile | None = None,
    most: int = 5,
    progress: OnNote | None = None,
) -> list[Agreement]:
    """Compare the ids that others give with those of trietok, text by text, special tokens
    included.

    Args:
        texts, model, engines, profile, progress: as for `measure`; trietok in `engines` is passed
            over.
        most: how many differences of each contender are kept.

    Raises:
        InputError: as `measure`, or trietok cannot encode a text.
        FileError, FileFormatError, VocabularyError: trietok cannot load the model.

    >>> validate(["The people, united!"], engines=[])
    []
    """
    agreements: list[Agreement] = []
    with _Workers(texts, model, engines, profile) as workers:
        for name in workers.names:
            if progress is not None:
                progress(f"ids: {name}")
            answer = workers.run(
                workers.engine(name), "write_ids" if name == OURS else "compare_ids", most=most
            )
            if name != OURS:
                agreements.append(workers.agreement(name, answer))
            elif "problem" in answer:
                raise InputError(f"{OURS}: {answer['problem']}")
    return agreements


class _Workers(EngineWork):
    """Texts and a model, written down and found for the processes to use."""

    def __init__(
        self,
        texts: Iterable[str],
        model: str | os.PathLike[str],
        engines: Sequence[str] | None,
        profile: Profile | None,
    ) -> None:
        if isinstance(texts, (str, bytes)) or isinstance(engines, str):
            raise InputTypeError(
                "texts are a list of texts and `engines` a list of names, not one string",
                value=texts,
            )
        for name in engines or ():
            if name not in CONTENDERS:
                raise InputError(
                    f"there is no tokenizer {name!r} to compare with; choose from"
                    f" {', '.join(CONTENDERS)}"
                )
        # what it cannot load is no benchmark
        self.tokenizer = choose(os.fspath(model), profile).load()
        likes = _OF_PROFILE[self.tokenizer.profile] if engines is None else engines
        self.names = list(dict.fromkeys((OURS, *likes)))
        super().__init__(
            model_of(os.fspath(model), self.tokenizer, (type(self.tokenizer).__name__,))
        )
        self._given = texts
        self.lines = self.size = 0

    def __enter__(self) -> _Workers:
        super().__enter__()
        try:
            self.lines, self.size = self.write_texts(self._given)
            if not self.size:
                raise InputError(
                    "there is no text to measure: "
                    + ("every line is empty" if self.lines else "no line")
                )
        except BaseException:
            self.__exit__()
            raise
        return self

    def engine(self, contender: str) -> str:
        """The engine of a contender."""
        return f"{contender}-{self.tokenizer.profile}" if contender == "transformers" else contender

    def agreement(self, contender: str, answer: dict[str, Any]) -> Agreement:
        """What a process has found, with the texts and with trietok's tokens."""
        if "problem" in answer:
            return Agreement(contender, answer["version"], answer["problem"], self.lines, 0, [])
        texts = self.texts({found["line_number"] for found in answer["differences"]})
        tokens_of = self.tokenizer.convert_ids_to_tokens
        differences = [
            OtherIds(text=texts[found["line_number"]], tokens=tokens_of(found["ids"]), **found)
            for found in answer["differences"]
        ]
        return Agreement(
            contender, answer["version"], "", self.lines, answer["differing"], differences
        )
