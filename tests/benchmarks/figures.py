"""The figures of docs/benchmarks.md as Markdown, each with its spread: MB/s of three kinds of text, and the start.

    python -m tests.benchmarks.figures MODELS TEXTS [ROUNDS]

In: a folder with Google's models as HuggingFace has them, one with `en.txt`, `zh.txt` and `udhr.txt`, and how often
each process is started (7). Out: tables on standard output; what goes on, on standard error. All is measured as
`trietok bench` does: CPU time of fresh processes on one CPU, in turns, medians, and half the way from the lowest round
to the highest as a share of the median. Whoever has no `flash_tokenizer` or `transformers` gets the other lines.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from trietok.benchmarking import measure
from trietok.workbench.benchmarking.bench import Benchmark, Throughput

TEXTS = {
    "English, bert-base-uncased": ("en.txt", "bert-base-uncased"),
    "English, bert-base-cased": ("en.txt", "bert-base-cased"),
    "Chinese, bert-base-chinese": ("zh.txt", "bert-base-chinese"),
    "190 languages, bert-base-multilingual-cased": ("udhr.txt", "bert-base-multilingual-cased"),
}
RIVALS = {"flash-tokenizer": "flash-tokenizer (C++)", "tokenizers": "tokenizers (Rust)"}
# What a new process does until it has its first ids.
STARTS = {
    "Python alone": "pass",
    "trietok": "import trietok; trietok.BertTokenizer.from_pretrained({model!r}).encode('hello world')",
    "trietok, fast profile": "import trietok; "
    "trietok.BertTokenizerFast.from_pretrained({model!r}).encode('hello world')",
    "tokenizers (Rust)": "import tokenizers; "
    "tokenizers.Tokenizer.from_file({model!r} + '/tokenizer.json').encode('hello world')",
    "transformers, fast": "import transformers; "
    "transformers.BertTokenizerFast.from_pretrained({model!r}).encode('hello world')",
    "flash-tokenizer (C++)": "import flash_tokenizer; "
    "flash_tokenizer.BertTokenizerFlash({model!r} + '/vocab.txt')('hello world')",
}


def note(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def spread(values: list[float]) -> str:
    return f"±{(max(values) - min(values)) / 2 / statistics.median(values):.0%}"


def speeds(name: str, texts: list[str], model: Path, rounds: int) -> list[str]:
    """The table of one text and model."""
    kernel = measure(texts, model, against=list(RIVALS), rounds=rounds, progress=note)
    os.environ["TRIETOK_KERNEL"] = "0"
    try:
        plain = measure(texts, model, against=[], rounds=rounds, progress=note)
    finally:
        del os.environ["TRIETOK_KERNEL"]
    lines = [f"| {name} | cold | warm | with the kernel trietok is, cold | warm |", "| --- | --- | --- | --- | --- |"]
    lines.append(row("trietok, compiled kernel", kernel, kernel.results[0]))
    together = replace(plain, results=[kernel.results[0], plain.results[0]])
    lines.append(row("trietok, plain Python", together, plain.results[0]))
    lines += [row(RIVALS[result.contender], kernel, result) for result in kernel.results[1:] if not result.problem]
    return [*lines, "", *filter(None, [kernel.too_small, f"*{kernel.summary}*"]), ""]


def row(name: str, benchmark: Benchmark, result: Throughput) -> str:
    median, times = result.median, benchmark.speedups(result)
    assert median is not None
    assert times is not None
    shown = [f"{median[part]:.3g} {result.spread(part)}" for part in (1, 2)]
    ours = result is benchmark.results[0]
    return "| " + " | ".join([name, *shown, *(" " if ours else f"{value:.2g} ×" for value in times)]) + " |"


def start(model: Path, rounds: int) -> list[str]:
    """Milliseconds of CPU time of whole processes, in turns, on one CPU; bytecode is on the disk after the first."""
    taken: dict[str, list[float]] = {name: [] for name in STARTS}
    if hasattr(os, "sched_getaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    for number in range(rounds + 1):
        note(f"start, round {number} of {rounds}")
        for name, code in STARTS.items():
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-c", code.format(model=str(model))], stderr=subprocess.DEVNULL
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if number and process.returncode == 0:
                taken[name].append((usage.ru_utime + usage.ru_stime) * 1e3)
    rust = taken["tokenizers (Rust)"]
    lines = ["| fresh process to first ids, CPU ms | median | of Rust's |", "| --- | --- | --- |"]
    for name, values in taken.items():
        if values:
            share = statistics.median(a / b for a, b in zip(values, rust, strict=True)) if rust else float("nan")
            lines.append(f"| {name} | {statistics.median(values):.0f} {spread(values)} | {share:.2f} |")
    return [*lines, ""]


def main(models: str, folder: str, rounds: str = "7") -> None:
    """Print all tables."""
    for name, (file, model) in TEXTS.items():
        texts = Path(folder, file).read_text(encoding="utf-8").split("\n")
        print("\n".join(speeds(name, texts, Path(models, model), int(rounds))), flush=True)
    print("\n".join(start(Path(models, "bert-base-uncased"), max(int(rounds) * 5, 30))))


if __name__ == "__main__":
    main(*sys.argv[1:])
