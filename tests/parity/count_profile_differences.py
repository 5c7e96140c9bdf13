"""Count where the slow profile and the Rust tokenizers give different ids, by cause, for the page
on profiles.

    python tests/parity/count_profile_differences.py MODELS CORPORA [LINES]

MODELS and CORPORA are directories with a folder for each model and a text file for each corpus, a
text a line. The slow profile is `trietok.BertTokenizer`, which equals transformers'
`BertTokenizer`; the other is transformers' `BertTokenizerFast`. A cause counts for a text when the
Rust pipeline with only that rule taken from the slow one gives other ids, so a text can have
several causes.
"""

from __future__ import annotations

import os
import pathlib
import random
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")

import transformers

import trietok
from tests.reference import basic_tokenizer
from trietok.text.characters import is_chinese_char, is_in, lower_case, lower_each, nfd
from trietok.text.wordpiece import WordpieceTokenizer

Change = Callable[[str], str]
PAIRS = [
    *[("en", "bert-base-uncased"), ("en", "bert-base-cased"), ("udhr", "bert-base-uncased")],
    *[("udhr", "bert-base-multilingual-cased"), ("udhr", "bert-base-multilingual-uncased")],
    *[
        ("zh", "bert-base-chinese"),
        ("ja", "bert-base-chinese"),
        ("ja", "bert-base-multilingual-cased"),
    ],
]


@dataclass(frozen=True)
class Rules:
    """Each rule as Rust has it."""

    deleted: Change = lambda char: (
        "" if is_in("deleted", char) else " " if is_in("space", char) else char
    )
    chinese: Callable[[str], bool] = lambda char: is_in("chinese", char)
    compose: Change = lambda text: text
    lower: Change = lambda text: text.translate(lower_case())
    decompose: Change = nfd
    mark: Callable[[str], bool] = lambda char: is_in("marks", char)
    punctuation: Callable[[str], bool] = lambda char: is_in("punctuation", char)

    def words(self, text: str, lower: bool) -> list[str]:
        text = "".join(map(self.deleted, text))
        text = "".join(f" {char} " if self.chinese(char) else char for char in text)
        text = self.compose(text)
        if lower:
            text = self.lower("".join(char for char in self.decompose(text) if not self.mark(char)))
        return "".join(f" {char} " if self.punctuation(char) else char for char in text).split()


RUST = Rules()
CAUSES = {
    "deleted characters": {"deleted": lambda char: basic_tokenizer.clean(char, False)},
    "Chinese ranges": {"chinese": lambda char: is_chinese_char(ord(char))},
    "NFC": {"compose": lambda text: unicodedata.normalize("NFC", text)},
    "lower case": {"lower": lower_each},
    "NFD": {"decompose": lambda text: unicodedata.normalize("NFD", text)},
    "marks": {"mark": lambda char: unicodedata.category(char) == "Mn"},
    "punctuation": {"punctuation": basic_tokenizer.is_punctuation},
}


class Model:
    def __init__(self, directory: pathlib.Path) -> None:
        self.slow = trietok.BertTokenizer.from_pretrained(directory)
        self.fast = transformers.BertTokenizerFast.from_pretrained(str(directory))
        self.pieces: WordpieceTokenizer = self.slow.wordpiece_tokenizer

    def ids(self, rules: Rules, text: str) -> list[int]:
        words = rules.words(text, self.slow.do_lower_case)
        pieces = [piece for word in words for piece in self.pieces.tokenize(word)]
        ids: list[int] = self.slow.convert_tokens_to_ids(pieces)
        return ids

    def differing(self, texts: Sequence[str]) -> list[str]:
        found = []
        for begin in range(0, len(texts), 20_000):
            batch = texts[begin : begin + 20_000]
            fast = self.fast(list(batch), return_attention_mask=False, return_token_type_ids=False)[
                "input_ids"
            ]
            found += [
                text for text, ids in zip(batch, fast, strict=True) if self.slow.encode(text) != ids
            ]
        return found

    def causes(self, texts: Iterable[str]) -> Counter[str]:
        counts: Counter[str] = Counter()
        for text in texts:
            rust = self.ids(RUST, text)
            causes = [
                name for name, rule in CAUSES.items() if self.ids(changed(rule), text) != rust
            ]
            counts.update(causes or ["several together"])
        return counts


def changed(rule: Mapping[str, Any]) -> Rules:
    return replace(RUST, **rule)


def random_tokens(lines: Sequence[str], make: Any, seed: int = 0, count: int = 300) -> list[Any]:
    """Added tokens as people add them: words, phrases, marked words; flags at random."""
    rng = random.Random(seed)
    words = sorted({word for line in lines[:2000] for word in line.split()})
    shapes = (
        lambda w: w,
        lambda w: w[:6],
        lambda w: f"{w} {rng.choice(words)}",
        lambda w: f"<{w[:8]}>",
    )
    contents = {rng.choice(shapes)(rng.choice(words)) for _ in range(count)}
    tokens = []
    for content in sorted(contents):
        special = rng.random() < 0.3
        flags = {name: rng.random() < 0.3 for name in ("lstrip", "rstrip")}
        tokens.append(make(content, special=special, normalized=not special, **flags))
    return tokens


def show(
    name: str, texts: int, differing: int, causes: Counter[str], added: int | None = None
) -> None:
    parts = ", ".join(f"{cause} {count:,}" for cause, count in causes.most_common())
    more = "" if added is None else f" | with added tokens {added:,} more"
    print(f"{name:46} texts {texts:9,} | differ {differing:7,} | {parts}{more}", flush=True)


def main(models: pathlib.Path, corpora: pathlib.Path, limit: int | None) -> None:
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    for name in ("bert-base-uncased", "bert-base-multilingual-cased"):
        model = Model(models / name)
        texts = [
            f"a{char}b"
            for char in (characters[:: len(characters) // limit] if limit else characters)
        ]
        differing = model.differing(texts)
        show(f"code points, {name}", len(texts), len(differing), model.causes(differing))
    for corpus, name in PAIRS:
        model = Model(models / name)
        text = (corpora / f"{corpus}.txt").read_bytes().decode()
        lines = [line for line in text.split("\n") if line][:limit]
        differing = model.differing(lines)
        causes = model.causes(differing)
        model.slow.add_tokens(random_tokens(lines, trietok.AddedToken))
        model.fast.add_tokens(random_tokens(lines, transformers.AddedToken))
        added = len(set(model.differing(lines)) - set(differing))
        show(f"{corpus}, {name}", len(lines), len(differing), causes, added)


if __name__ == "__main__":
    main(
        pathlib.Path(sys.argv[1]),
        pathlib.Path(sys.argv[2]),
        int(sys.argv[3]) if len(sys.argv) > 3 else None,
    )
