"""The tokenizers that are measured beside each other, each as the calls that its users write.

In: the name of one, a model's directory and a task. Out, on standard output: JSON with the figures
of this process. A process measures one task with one tokenizer:
`python -m tests.benchmarks.contenders JOB`, where JOB is JSON.
"""

from __future__ import annotations

import gc
import json
import os
import random
import re
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

LONGEST, FLAT_ROWS, PADDED_ROWS = 128, 1000, 64
NEW_TOKENS, MANY_TOKENS = 10_000, 100_000
QUERY = "how do i turn text into ids"
TERMS = (1, 30, 1_000, 10_000)
QUERIES, CODE_POINTS = 4_000, 200_000


class Calls(NamedTuple):
    """What one tokenizer is asked, in its own words; None where it has no such call.

    Attributes:
        one: the ids of a text, as a list.
        query: a call with a short text, as a program makes it for a query: ids, mask and type ids
            where there is such a call.
        flat: the ids of many texts in one array.
        padded: the tensors of a batch, cut at `LONGEST` and filled up: ids, mask and type ids in
            int64.
        offsets: ids and spans of a text.
        add: adds tokens.
    """

    one: Callable[[str], Any]
    query: Callable[[str], Any]
    flat: Callable[[list[str]], Any] | None = None
    padded: Callable[[list[str]], Any] | None = None
    offsets: Callable[[str], Any] | None = None
    add: Callable[[list[str]], Any] | None = None


def _trietok(kind: str, model: str) -> Calls:
    import trietok

    tokenizer = getattr(trietok, kind).from_pretrained(model, model_max_length=10**9)
    return Calls(
        tokenizer.encode,
        tokenizer,
        tokenizer.encode_flat,
        lambda texts: tokenizer(
            texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="np"
        ),
        lambda text: tokenizer(text, return_offsets_mapping=True),
        tokenizer.add_tokens,
    )


def _transformers(kind: str, model: str) -> Calls:
    import transformers

    tokenizer = getattr(transformers, kind).from_pretrained(model, model_max_length=10**9)
    return Calls(
        tokenizer.encode,
        tokenizer,
        None,
        lambda texts: tokenizer(
            texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="np"
        ),
        (lambda text: tokenizer(text, return_offsets_mapping=True)) if tokenizer.is_fast else None,
        tokenizer.add_tokens,
    )


def _tokenizers(model: str) -> Calls:
    import tokenizers

    rust = tokenizers.Tokenizer.from_file(f"{model}/tokenizer.json")
    rust.no_truncation()
    rust.no_padding()

    def offsets(text: str) -> Any:
        encoding = rust.encode(text)
        return encoding.ids, encoding.offsets

    one = lambda text: rust.encode(text).ids  # noqa: E731
    return Calls(one, one, offsets=offsets, add=rust.add_tokens)


def _nanotoken(model: str) -> Calls:
    import nanotoken

    rust = nanotoken.Tokenizer.from_json(Path(model, "tokenizer.json").read_bytes())

    def add(tokens: list[str]) -> None:
        """It takes added tokens from a tokenizer.json alone."""
        nonlocal rust
        import tokenizers

        other = tokenizers.Tokenizer.from_file(f"{model}/tokenizer.json")
        other.add_tokens(tokens)
        rust = nanotoken.Tokenizer.from_json(other.to_str())

    return Calls(
        lambda text: rust.encode(text).tolist(),
        rust.as_hf(),
        lambda texts: rust.encode_batch(texts, parallel=False),
        lambda texts: rust.encode_batch_padded(texts, max_length=LONGEST, parallel=False),
        add=add,
    )


def _tokie(model: str) -> Calls:
    import tokie

    rust = tokie.Tokenizer.from_json(f"{model}/tokenizer.json")
    rust.no_truncation()
    rust.no_padding()
    one = lambda text: rust.encode(text).ids  # noqa: E731
    return Calls(one, one, rust.encode_batch_flat)


def _flash(model: str) -> Calls:
    import flash_tokenizer

    config = Path(model, "tokenizer_config.json")
    lowers = (
        json.loads(config.read_text(encoding="utf-8")).get("do_lower_case", True)
        if config.exists()
        else True
    )
    tokenizer = flash_tokenizer.BertTokenizerFlash(f"{model}/vocab.txt", do_lower_case=lowers)
    longest = 2**31 - 1  # it always cuts
    one = lambda text: tokenizer(text, max_length=longest, padding="longest").input_ids[0]  # noqa: E731
    return Calls(
        one, one, lambda texts: tokenizer(texts, max_length=longest, padding="longest").input_ids
    )


class Contender(NamedTuple):
    """How a tokenizer is loaded, and what its processes have in their environment."""

    load: Callable[[str], Calls]
    plain: bool = False
    start: str = ""  # what a new process does until it has its first ids


_OURS = "import trietok; trietok.{kind}.from_pretrained({{model!r}}).encode({{text!r}})"
_THEIRS = _OURS.replace("trietok", "transformers")
CONTENDERS = {
    "trietok, fast": Contender(
        lambda model: _trietok("BertTokenizerFast", model),
        start=_OURS.format(kind="BertTokenizerFast"),
    ),
    "trietok, slow": Contender(
        lambda model: _trietok("BertTokenizer", model), start=_OURS.format(kind="BertTokenizer")
    ),
    "fast, plain Python": Contender(
        lambda model: _trietok("BertTokenizerFast", model),
        True,
        _OURS.format(kind="BertTokenizerFast"),
    ),
    "slow, plain Python": Contender(
        lambda model: _trietok("BertTokenizer", model), True, _OURS.format(kind="BertTokenizer")
    ),
    "nanotoken (Rust)": Contender(
        _nanotoken,
        start=(
            "import nanotoken; nanotoken.Tokenizer.from_json("
            "open({model!r} + '/tokenizer.json', 'rb').read()).encode({text!r}).tolist()"
        ),
    ),
    "tokie (Rust)": Contender(
        _tokie,
        start=(
            "import tokie; tokie.Tokenizer.from_json({model!r} +"
            " '/tokenizer.json').encode({text!r}).ids"
        ),
    ),
    "tokenizers (Rust)": Contender(
        _tokenizers,
        start=(
            "import tokenizers; tokenizers.Tokenizer.from_file({model!r} +"
            " '/tokenizer.json').encode({text!r}).ids"
        ),
    ),
    "flash-tokenizer (C++)": Contender(
        _flash,
        start=(
            "import flash_tokenizer; "
            "flash_tokenizer.BertTokenizerFlash({model!r} + '/vocab.txt')"
            "([{text!r}], max_length=99, padding='longest').input_ids"
        ),
    ),
    "transformers, fast": Contender(
        lambda model: _transformers("BertTokenizerFast", model),
        start=_THEIRS.format(kind="BertTokenizerFast"),
    ),
    "transformers, slow": Contender(
        lambda model: _transformers("BertTokenizer", model),
        start=_THEIRS.format(kind="BertTokenizer"),
    ),
}


# ---- tasks: each gives the figures of one process ------------------------------------------------


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _speeds(call: Callable[[Any], Any], batches: list[Any], size: int) -> list[float]:
    """MB/s of the first pass, and of the best of two more."""
    call(batches[0][:1])  # the first one imports what it needs, as numpy
    taken = [_seconds(lambda: [call(batch) is None for batch in batches]) for _ in range(3)]
    return [size / taken[0] / 1e6, size / min(taken[1:]) / 1e6]


def _batches(texts: list[str], rows: int) -> list[list[str]]:
    return [texts[start : start + rows] for start in range(0, len(texts), rows)]


def lists(calls: Calls, texts: list[str], size: int) -> list[float]:
    return _speeds(calls.one, texts, size)


def flat(calls: Calls, texts: list[str], size: int) -> list[float] | None:
    return calls.flat and _speeds(calls.flat, _batches(texts, FLAT_ROWS), size)


def padded(calls: Calls, texts: list[str], size: int) -> list[float] | None:
    return calls.padded and _speeds(calls.padded, _batches(texts, PADDED_ROWS), size)


def fresh(calls: Calls, texts: list[str], size: int) -> list[float] | None:
    """Flat arrays once more, of strings that nobody has read yet: a str keeps its UTF-8, and its
    hash, once asked.
    """
    if calls.flat is None:
        return None
    call, batches = calls.flat, _batches(texts, FLAT_ROWS)
    for batch in batches:
        call(batch)
    taken = []
    for _ in range(2):
        again = [[text.encode("utf-8").decode("utf-8") for text in batch] for batch in batches]
        taken.append(_seconds(lambda again=again: [call(batch) is None for batch in again]))  # type: ignore[misc]
    return [size / min(taken) / 1e6]


def offsets(calls: Calls, texts: list[str], size: int) -> list[float] | None:
    return calls.offsets and _speeds(calls.offsets, texts, size)


def query(calls: Calls, texts: list[str], size: int) -> list[float]:
    """Microseconds of a call with a short text, when it has been met, and others before."""
    return _short(calls.query, texts)


def ids_of_query(calls: Calls, texts: list[str], size: int) -> list[float]:
    """The same where ids alone are asked for."""
    return _short(calls.one, texts)


def _short(call: Callable[[str], Any], texts: list[str]) -> list[float]:
    for text in [*texts, *(f"{QUERY} {number % 100}" for number in range(QUERIES))]:
        call(text)
    times = range(QUERIES)
    taken = [_seconds(lambda: [call(QUERY) is None for _ in times]) for _ in range(3)]
    return [min(taken) / QUERIES * 1e6]


def code_points(calls: Calls, texts: list[str], size: int) -> list[float]:
    """Nanoseconds for each of random code points, in one text."""
    rng = random.Random(5)
    points = [
        rng.choice([rng.randrange(32, 0xD800), rng.randrange(0xE000, 0x30000)])
        for _ in range(CODE_POINTS)
    ]
    text = "".join(map(chr, points))
    return [_seconds(lambda: calls.one(text)) / CODE_POINTS * 1e9]


def broken_special_tokens(calls: Calls, texts: list[str], size: int) -> list[float]:
    """Nanoseconds for each character of special tokens that do not end."""
    text = "[MAS[CL[SE[PA[UN" * (CODE_POINTS // 16)
    return [_seconds(lambda: calls.one(text)) / len(text) * 1e9]


def added(calls: Calls, texts: list[str], size: int) -> list[float] | None:
    """Seconds to add 10,000 words in one call and to encode 2,500 lines then."""
    rng, add, letters = random.Random(1), calls.add, "abcdefghijklmnopqrstuvwxyz"
    words = list({"".join(rng.choices(letters, k=rng.randrange(6, 12))) for _ in range(NEW_TOKENS)})
    return add and [_seconds(lambda: (add(words), [calls.one(text) is None for text in texts]))]


def _terms(count: int, texts: list[str]) -> list[str]:
    """Two and three words each: a tenth stand five times in the texts or more, the others are words
    at random.
    """
    rng = random.Random(count)
    found: Counter[str] = Counter()
    rows = [re.findall("[a-z]{4,}", text.lower()) for text in texts]
    for row in rows:
        for length in (2, 3):
            found.update(" ".join(row[i : i + length]) for i in range(len(row) - length + 1))
    frequent = [term for term, times in found.most_common(max(1, count // 10)) if times >= 5]
    chosen = dict.fromkeys(frequent[:count])
    known = sorted({word for row in rows for word in row})
    while len(chosen) < count:
        chosen[" ".join(rng.choices(known, k=rng.choice((2, 3))))] = None
    return list(chosen)


def with_terms(count: int) -> Callable[[Calls, list[str], int], list[float] | None]:
    """The task `lists` with so many added tokens of several words."""

    def task(calls: Calls, texts: list[str], size: int) -> list[float] | None:
        if calls.add is None:
            return None
        calls.add(_terms(count, texts))
        calls.one("warm up")
        return lists(calls, texts, size)

    return task


def load_many(calls: Calls, texts: list[str], size: int) -> list[float] | None:
    """Seconds to load a directory with 100,000 added tokens."""
    if calls.add is None:
        return None
    calls.add([f"zq{number:06d}" for number in range(MANY_TOKENS)])
    tokenizer = calls.add.__self__  # type: ignore[attr-defined]
    with tempfile.TemporaryDirectory() as directory:
        tokenizer.save_pretrained(directory)
        return [_seconds(lambda: type(tokenizer).from_pretrained(directory))]


def checksums(calls: Calls, texts: list[str], size: int) -> list[float]:
    """A number for the ids of each text."""
    return [zlib.crc32(repr(list(map(int, calls.one(text)))).encode()) for text in texts]


TASKS = {
    task.__name__: task
    for task in (
        lists,
        flat,
        padded,
        fresh,
        offsets,
        query,
        ids_of_query,
        code_points,
        added,
        checksums,
    )
}
TASKS |= {task.__name__: task for task in (load_many, broken_special_tokens)}
TASKS |= {f"terms_{count}": with_terms(count) for count in TERMS}


def main(job: str) -> None:
    """Do a task: the name of a contender, of a model and of a file of texts, and how many lines of
    it count.
    """
    name, task, model, file, lines = json.loads(job)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    texts = Path(file).read_text(encoding="utf-8").split("\n")[:lines]
    calls = CONTENDERS[name].load(model)
    calls.one("warm up")
    gc.collect()
    print(json.dumps(TASKS[task](calls, texts, sum(len(text.encode("utf-8")) for text in texts))))


if __name__ == "__main__":
    main(*sys.argv[1:])
