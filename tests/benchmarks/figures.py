"""Measure the tables of docs/benchmarks.md and the chart of README.md in one run.

    python -m tests.benchmarks.figures MODELS TEXTS [--write] [--short] [--minutes N]

MODELS is a folder with Google's models as HuggingFace has them. TEXTS is a folder with `en.txt`,
`zh.txt` and `udhr.txt`. The tables are printed on standard output, and the progress on standard
error. `--write` puts the tables into the page, between the marks `<!-- figures: NAME -->` and
`<!-- end -->`, and draws the chart. A row of the page that is not measured here stays. `--short`
takes few lines, once: its figures mean nothing. The run measures as many rounds as end within the
given minutes (10), but at least one.

A figure is the median of processes that do one thing with one tokenizer (`contenders.py`), in turns
on one CPU and one thread, in CPU time. A contender that is not installed has no figures.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable
from importlib import metadata
from operator import ne
from pathlib import Path
from typing import Any, NamedTuple

from tests.benchmarks.contenders import CONTENDERS, TERMS

ROOT = Path(__file__).parent.parent.parent
PAGE, CHART = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "pictures"
TEXTS = {
    "English, uncased": ("en.txt", "bert-base-uncased"),
    "English, cased": ("en.txt", "bert-base-cased"),
    "Chinese": ("zh.txt", "bert-base-chinese"),
    "190 languages": ("udhr.txt", "bert-base-multilingual-cased"),
}
NO_CASED = [name for name in TEXTS if name != "English, cased"]
LINES, FEW = 2_500, 200  # for what takes transformers long, and for what is to have met others
PACKAGES = ("transformers", "tokenizers", "nanotoken", "tokie", "flash-tokenizer")
PASSES = (", new text", ", seen before")
# Whose ids are compared with whose.
SAME_IDS = {
    "trietok, fast": (
        *("transformers, fast", "tokenizers (Rust)"),
        *("nanotoken (Rust)", "tokie (Rust)"),
    ),
    "trietok, slow": ("transformers, slow", "flash-tokenizer (C++)"),
}
SENTENCE = "Tokenizers turn text into ids."


class Row(NamedTuple):
    """A row of a table: its name, the task that measures it, of which text, with which
    tokenizers.
    """

    name: str
    task: str
    text: str = "English, uncased"
    lines: int | None = None  # None for all of the text; of transformers never more than `LINES`
    format: str = "{:.3g}"
    only: tuple[str, ...] = tuple(CONTENDERS)
    is_more_better: bool = True


QUICK = tuple(name for name in CONTENDERS if not name.startswith("transformers"))
OURS = tuple(name for name in CONTENDERS if name.startswith("trietok") or "plain" in name)
ABLE_TO_ADD = (*OURS, "nanotoken (Rust)", "tokenizers (Rust)")


def _of_texts(name: str, task: str, texts: Iterable[str]) -> list[Row]:
    """A row for each text; transformers, which is slow, is measured on the first alone."""
    first = next(iter(TEXTS))
    return [
        Row(f"{name}, {text}", task, text, only=tuple(CONTENDERS) if text == first else QUICK)
        for text in texts
    ]


SPEED = [
    *_of_texts("lists", "lists", TEXTS),
    *_of_texts("arrays, batches of 1,000", "flat", NO_CASED),
    Row("the same, English, of fresh strings", "fresh"),
    *_of_texts("padded tensors, batches of 64", "padded", NO_CASED),
    Row("with offsets, English", "offsets", lines=LINES * 2),
]
MANY_LINES = 12_000  # of the terms, a tenth are frequent in these
WITH_TERMS = [
    Row("no terms", "lists", lines=MANY_LINES, only=ABLE_TO_ADD),
    *(
        Row(f"terms: {count:,}", f"terms_{count}", lines=MANY_LINES, only=ABLE_TO_ADD)
        for count in TERMS
    ),
]
TIMES = [
    Row("a short query that was met, µs", "query", lines=FEW),
    Row("its ids alone, µs", "ids_of_query", lines=FEW),
    Row("random code points, ns each", "code_points", lines=1, format="{:,.0f}"),
    Row("broken special tokens, ns each", "broken_special_tokens", lines=1, format="{:,.0f}"),
    Row(
        "10,000 tokens added, then 2,500 lines, s",
        "added",
        lines=LINES,
        format="{:.2g}",
        only=tuple(name for name in CONTENDERS if "nanotoken" not in name),
    ),
    Row(
        "loading a directory with 100,000 added tokens, s", "load_many", format="{:.2g}", only=OURS
    ),
    Row("fresh process to first ids, ms", "start", format="{:,.0f}"),
]
TIMES = [row._replace(is_more_better=False) for row in TIMES]
ONCE = {("added", "transformers, slow")}  # a minute: measured in the first round alone
# The measures of the README's chart: title, row of a table, unit of the row.
CHARTED = (
    (
        "1 MB of new English text to padded tensors, in batches of 64",
        "padded tensors, batches of 64, English, uncased",
        "MB/s",
    ),
    ("The ids of a short query, cached", "its ids alone, µs", "µs"),
    (
        "Add 10,000 words, then encode 2,500 lines",
        "10,000 tokens added, then 2,500 lines, s",
        "s",
    ),
)


def note(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def first_ids(name: str, model: str) -> list[float] | None:
    """Milliseconds of CPU time of a process, the end of it included; bytecode is on the disk."""
    code = CONTENDERS[name].start.format(model=model, text=SENTENCE)
    environment = {**os.environ, **_environment(name)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code],
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=ROOT,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if process.returncode else [(usage.ru_utime + usage.ru_stime) * 1e3]


def _environment(name: str) -> dict[str, str]:
    threads = dict.fromkeys(("TRIETOK_PARALLELISM", "TOKENIZERS_PARALLELISM"), "false")
    threads |= dict.fromkeys(("RAYON_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    return (
        threads
        | ({"TRIETOK_KERNEL": "0"} if CONTENDERS[name].plain else {})
        | {"HF_HUB_OFFLINE": "1"}
    )


class Run:
    """All figures of a run.

    Attributes:
        figures: row and contender → for each process, what it measured.
        missing: contenders that are not installed.
        other_ids: contender → lines with other ids than trietok's.
    """

    def __init__(self, models: Path, texts: Path, short: bool) -> None:
        self.models, self.texts, self.short, self.rounds = models, texts, short, 0
        self.figures: dict[tuple[str, str], list[list[float]]] = {}
        self.missing: set[str] = set()
        self.other_ids: dict[str, int] = {}

    def measure(self, end: float) -> None:
        """Measure rounds that end in time, by the clock of `time.monotonic`."""
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        taken = 0.0
        while not self.rounds or (time.monotonic() + taken < end and not self.short):
            begin = time.monotonic()
            for row in (*SPEED, *WITH_TERMS, *TIMES):
                note(f"round {self.rounds + 1}: {row.name}")
                for name in row.only:
                    if name not in self.missing and not (self.rounds and (row.task, name) in ONCE):
                        self._once(row, name)
            self.rounds += 1
            taken = time.monotonic() - begin

    def _once(self, row: Row, name: str) -> None:
        if row.task == "start":
            directory = str(self.models / TEXTS[row.text][1])
            found = [first_ids(name, directory) for _ in range(1 if self.short else 3)]
        else:
            most = LINES if name not in QUICK else sys.maxsize
            found = [self._done(name, row.task, row.text, min(row.lines or sys.maxsize, most))]
        figures = [each for each in found if each is not None]
        if figures:
            self.figures.setdefault((row.name, name), []).extend(figures)

    def _done(self, name: str, task: str, text: str, lines: int) -> list[Any] | None:
        """What a process of a contender answers; None if it cannot do the task."""
        file, model = TEXTS[text]
        lines = min(lines, 300) if self.short else lines
        job = json.dumps([name, task, str(self.models / model), str(self.texts / file), lines])
        command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.contenders", job]
        environment = {**os.environ, **_environment(name)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
        if done.returncode:
            if "ModuleNotFoundError" in done.stderr:
                self.missing.add(name)
            note(f"{name}: {done.stderr.strip().splitlines()[-1]}")
            return None
        answer: list[Any] | None = json.loads(done.stdout.splitlines()[-1])
        return answer

    def validate(self) -> None:
        """Count the lines for which others give other ids than trietok's tokenizer of their
        profile.
        """
        for ours, others in SAME_IDS.items():
            for text in NO_CASED:
                note(f"ids, {ours}: {text}")
                expected = self._done(ours, "checksums", text, sys.maxsize)
                assert expected, f"{ours} has no ids of {text}"
                for name in others:
                    if name not in self.missing and (
                        found := self._done(name, "checksums", text, sys.maxsize)
                    ):
                        differing = sum(map(ne, expected, found))
                        self.other_ids[name] = self.other_ids.get(name, 0) + differing
        note(f"lines with other ids: {self.other_ids}")
        if any(self.other_ids.get(f"transformers, {profile}") for profile in ("fast", "slow")):
            raise SystemExit(f"trietok gives other ids than transformers: {self.other_ids}")

    # ---- as tables -------------------------------------------------------------------------------

    def medians(self, row: Row, name: str) -> list[float]:
        """The figures of a row and a contender: one, or cold and warm; none where there is no such
        call.
        """
        found = self.figures.get((row.name, name), [])
        return [statistics.median(each) for each in zip(*found, strict=True)]

    def cell(self, row: Row, name: str, unit: str = "") -> str:
        shown = " / ".join(map(row.format.format, self.medians(row, name)))
        return shown + unit if shown else "–"

    def under(self, rows: list[Row]) -> str:
        """What stands under a table: its date, the machine, and how far its rounds are from each
        other.
        """
        spreads = [
            (max(each) - min(each)) / 2 / statistics.median(each)
            for row in rows
            for name in row.only
            for each in zip(*self.figures.get((row.name, name), []), strict=True)
            if len(each) > 1
        ]
        far = ""
        if spreads:
            far = "; half the way from the lowest round to the highest is "
            far += f"{statistics.median(spreads):.0%} of a figure, {max(spreads):.0%} at most"
        versions = ", ".join(
            f"{name} {version}" for name in PACKAGES if (version := _version(name))
        )
        warning = "A SHORT RUN: these figures mean nothing. " if self.short else ""
        rounds = "one round" if self.rounds == 1 else f"medians of {self.rounds} rounds{far}"
        where = f"{_cpu()}, {platform.system()}, Python {platform.python_version()}, {versions}"
        return f"*{warning}{datetime.date.today()}: {rounds}. {where}.*"

    def table(self, rows: list[Row], names: tuple[str, ...], corner: str) -> list[str]:
        cells = [[row.name, *(self.cell(row, name) for name in names)] for row in rows]
        return as_table([[corner, *names], *cells])

    def slower(self) -> list[str]:
        """A sentence for each row in which somebody is faster than trietok with its kernel, in
        either profile.
        """
        found = []
        for row in (*SPEED, *WITH_TERMS, *TIMES):
            both = row not in TIMES and row.task != "fresh"
            for place, when in enumerate(PASSES if both else ("",)):
                figures = {
                    name: values[place] for name in QUICK if (values := self.medians(row, name))
                }
                ours = [figures.pop(name) for name in OURS if name in figures][:2]
                best = max if row.is_more_better else min
                faster = {
                    name: value
                    for name, value in figures.items()
                    if ours and best(value, *ours) == value
                }
                if faster:
                    theirs = ", ".join(
                        f"{name} {row.format.format(value)}" for name, value in faster.items()
                    )
                    profiles = " and ".join(row.format.format(value) for value in ours)
                    found.append(
                        f"- **{row.name}**{when}: {theirs}; trietok, fast and slow, {profiles}."
                    )
        return found or ["- In no row of the tables above."]

    def chart(self) -> dict[str, Any]:
        """Return the measures of the README's chart.

        Each has the figures of trietok, of transformers and of the best other tokenizer, all of
        the fast profile. A row with two figures counts with the first: new text. A tokenizer that
        returns other ids than transformers does not count.
        """
        rows = {row.name: row for row in (*SPEED, *WITH_TERMS, *TIMES)}
        exact = [name for name in QUICK if self.other_ids.get(name) == 0]
        measures = []
        for title, row_name, unit in CHARTED:
            row = rows[row_name]
            cold = {name: found[0] for name in CONTENDERS if (found := self.medians(row, name))}
            best = max if row.is_more_better else min
            other = best((name for name in exact if name in cold), key=cold.__getitem__)
            names = {
                "trietok": "trietok, fast",
                other: other,
                "transformers": "transformers, fast",
            }
            figures = {
                shown: float(row.format.format(cold[name]).replace(",", ""))
                for shown, name in names.items()
            }
            measures.append({"title": title, "row": row_name, "unit": unit, "figures": figures})
        packages = [name for name in PACKAGES if name != "flash-tokenizer"]
        versions = [f"{name} {version}" for name in packages if (version := _version(name))]
        where = f"{_cpu()}, {platform.system()}, Python {platform.python_version()}"
        notes = [
            f"{datetime.date.today()}: {where}. CPU time of one thread.",
            f"{', '.join(versions)}.",
        ]
        return {"measures": measures, "notes": notes}


def as_table(rows: list[list[str]]) -> list[str]:
    head, *others = (f"| {' | '.join(cells)} |" for cells in rows)
    return [head, "|" + " --- |" * len(rows[0]), *others]


def _cpu() -> str:
    try:
        return re.findall(
            r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8")
        )[0]
    except (OSError, IndexError):
        return platform.processor() or platform.machine()


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def put(page: Path, name: str, lines: list[str]) -> None:
    """Put lines between the marks of a page; of a table, rows that are not among the new ones stay
    at its end.
    """
    start, end = f"<!-- figures: {name} -->\n", "<!-- end -->"
    before, _, rest = page.read_text(encoding="utf-8").partition(start)
    inside, _, behind = rest.partition(end)
    if not behind:
        raise SystemExit(f"{page} has no marks {start.strip()} and {end}")
    table = [line for line in lines if line.startswith("|")]
    known = {_first(line) for line in table}
    old = [line for line in inside.splitlines() if line.startswith("|")][2:]
    table += [
        line for line in old if _first(line) not in known and line.count("|") == table[0].count("|")
    ]
    others = [line for line in lines if not line.startswith("|")]
    text = "\n".join([*table, *others]).strip("\n")
    page.write_text(f"{before}{start}\n{text}\n\n{end}{behind}", encoding="utf-8", newline="\n")


def _first(line: str) -> str:
    return line.split("|")[1].strip()


def main() -> None:
    begin = time.monotonic()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("models", type=Path)
    parser.add_argument("texts", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    run = Run(options.models.resolve(), options.texts.resolve(), options.short)
    run.validate()
    run.measure(begin + options.minutes * 60)
    names = tuple(name for name in CONTENDERS if name not in run.missing)
    able = tuple(name for name in names if name in ABLE_TO_ADD)
    made = {
        "speed": [*run.table(SPEED, names, "MB/s, cold / warm"), "", run.under(SPEED)],
        "terms": [*run.table(WITH_TERMS, able, "MB/s, cold / warm"), "", run.under(WITH_TERMS)],
        "times": [*run.table(TIMES, names, "less is better"), "", run.under(TIMES)],
        "slower": run.slower(),
    }
    for name, lines in made.items():
        print("\n".join([*lines, ""]))
        if options.write:
            put(PAGE, name, lines)
    if options.write:
        (CHART / "benchmarks.json").write_text(
            json.dumps(run.chart(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
        subprocess.run([sys.executable, str(CHART / "draw_benchmarks.py")], check=True)
    note(f"{time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
