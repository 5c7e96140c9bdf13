"""Two tokenizers alike, one with the compiled kernel and one in plain Python, and what a user can
see of them; used by the tests and by the programs that run under sanitizers.
"""

from __future__ import annotations

import gc
import pathlib
import random
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import trietok
from tests.conftest import using_kernel
from tests.strategies import CONTENTS, FLAGS, MARKS, ROLE_TOKENS, SCRIPTS, random_text

LOCATED = 4  # of so many texts one is encoded with its spans, which takes longer
KINDS = (trietok.BertTokenizer, trietok.BertTokenizerFast, trietok.SplinterTokenizer)


class Twins:
    """A tokenizer in plain Python, and the same one with a kernel from its first text on.

    Args:
        make: makes a tokenizer; called twice.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        with using_kernel("plain"):
            self.plain = make()
            self.plain("")
        with using_kernel("compiled"):
            self.compiled = make()
            self.compiled("")

    def different(self, texts: Sequence[str]) -> list[str]:
        """The texts, or the whole batches, of which the kernel gives anything else."""
        texts = list(texts)
        found = []
        expected = [self.plain(text).input_ids for text in texts]
        for _ in range(2):  # worked out, and remembered
            ids = [self.compiled(text).input_ids for text in texts]
            found += [text for text, a, b in zip(texts, expected, ids, strict=True) if a != b]
        found += [
            text
            for text in texts[::LOCATED]
            if located(self.plain, text) != located(self.compiled, text)
        ]
        for name, read in BATCHES.items():
            if read(self.plain, texts) != read(self.compiled, texts):
                found.append(f"{name} of {texts}")
        return found


def located(tokenizer: Any, text: str) -> list[Any]:
    """Tokens, spans and word numbers of a text, and of its parts as words."""
    options = {"return_offsets_mapping": True, "add_special_tokens": False}
    whole = tokenizer(text, **options)
    words = tokenizer(re.split("[,a]", text), is_split_into_words=True, **options)
    return [[dict(encoding), encoding.tokens(), encoding.word_ids()] for encoding in (whole, words)]


def _columns(tokenizer: Any, texts: list[str]) -> Any:
    padded = tokenizer(
        texts,
        texts[::-1],
        padding=True,
        truncation=True,
        max_length=24,
        return_tensors="np",
        return_special_tokens_mask=True,
    )
    return {name: (str(column.dtype), column.tolist()) for name, column in padded.items()}


def _flat(tokenizer: Any, texts: list[str]) -> Any:
    return [column if column is None else [*column] for column in tokenizer.encode_flat(texts)]


BATCHES: dict[str, Callable[[Any, list[str]], Any]] = {
    "a batch": lambda tokenizer, texts: dict(tokenizer(texts)),
    "padded columns of pairs": _columns,
    "flat ids": _flat,
    "counts": lambda tokenizer, texts: tokenizer.count(texts),
}


def kernels_alive() -> int:
    """How many compiled kernels there are."""
    return sum(type(each).__name__ == "Kernel" for each in gc.get_objects())


def threads_that_helped(tokenizer: Any) -> int:
    """How many threads have taken a part of a tokenizer's batches, besides those that called it."""
    return int(tokenizer.snapshot().pipeline.kernel.info()["helped"])


def write_characters(directory: pathlib.Path) -> pathlib.Path:
    """A vocabulary of characters that compose, what they compose to and marks, so that each shows
    in the ids.
    """
    single = {*"".join(SCRIPTS), *"".join(MARKS), *map(chr, range(0x21, 0x7F))}
    pairs = {unicodedata.normalize("NFC", a + b) for a in single for b in single}
    composed = {char for char in pairs if len(char) == 1}
    entries = sorted(
        char
        for char in single | composed | {char.lower() for char in single}
        if char.isprintable() and not char.isspace()
    )
    lines = [*ROLE_TOKENS, *entries, *(f"##{char}" for char in entries)]
    path = directory / "vocab.txt"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return directory


class Recipe:
    """How to make a tokenizer, twice alike: a class, a directory, options, and added tokens.

    Args:
        rng: chance.
        directories: where vocabularies are.
    """

    def __init__(self, rng: random.Random, directories: Sequence[pathlib.Path]) -> None:
        self.kind = rng.choice(KINDS)  # Splinter's does not compose
        self.directory = rng.choice(directories)
        self.options: dict[str, Any] = {}
        if rng.random() < 0.5:
            self.options = {
                "do_lower_case": rng.random() < 0.5,
                "strip_accents": rng.choice([None, True, False]),
                "tokenize_chinese_chars": rng.random() < 0.7,
                "cache_limit": rng.choice([64_000_000, 2_000_000]),
            }
        self.splits_punctuation = rng.random() > 0.1
        self.longest = rng.choice([None, None, None, 3, 8, 200])
        shares = dict(zip(FLAGS, (0.1, 0.1, 0.1, 0.7, 0.2), strict=True))
        self.added = [
            trietok.AddedToken(
                content, **{flag: rng.random() < share for flag, share in shares.items()}
            )
            for content in rng.sample(CONTENTS, rng.choice([0, 0, 1, 3, 7]))
        ]

    def __repr__(self) -> str:
        return (
            f"{self.kind.__name__}, {self.directory.name}, {self.options}, {self.splits_punctuation},"
            f" {self.longest}, {self.added}"
        )

    def make(self) -> Any:
        """A tokenizer by this recipe, which has encoded something before its tokens were added."""
        tokenizer = self.kind(f"{self.directory}/vocab.txt", **self.options)
        tokenizer("Some text, before.")
        if self.kind is not trietok.BertTokenizerFast:
            tokenizer.basic_tokenizer.do_split_on_punc = self.splits_punctuation
            if self.longest is not None:
                tokenizer.wordpiece_tokenizer.max_input_chars_per_word = self.longest
        if self.added:
            tokenizer.add_tokens(self.added)
        return tokenizer

    def texts(self, rng: random.Random, count: int) -> list[str]:
        """Random texts with its added tokens in them."""
        tokens = [token.content for token in self.added] or ["[CLS]", "[SEP]"]
        return [random_text(rng, tokens) for _ in range(count)]
