"""The texts that are measured: what the repository holds, and what is made to be slow."""

from __future__ import annotations

import json
import pathlib
import random
import re
from collections.abc import Callable

from trietok.files.model_files import built_in_directory

ROOT = pathlib.Path(__file__).parent.parent.parent


def lines() -> list[str]:
    """Every different line of the pages in docs/ and of the texts in tests/parity/golden/, in one order.

    Those that are no UTF-8 are left out: not every tokenizer takes them.
    """
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [line for page in pages for line in page.read_text(encoding="utf-8").split("\n")]
    for golden in sorted((ROOT / "tests" / "parity" / "golden").glob("*.jsonl")):
        found += [
            json.loads(line)["text"] for line in golden.read_text(encoding="ascii").splitlines()
        ]
    return [
        line for line in dict.fromkeys(found) if line and not re.search("[\ud800-\udfff]", line)
    ]


def size(texts: list[str]) -> int:
    """The bytes of texts in UTF-8."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def words() -> list[str]:
    """The words of the built-in vocabulary that are letters only."""
    vocabulary = (
        (built_in_directory("trietok-en") / "vocab.txt").read_text(encoding="utf-8").split("\n")
    )
    return [token for token in vocabulary if re.fullmatch("[a-z]{2,}", token)]


def _seeded(make: Callable[[random.Random, int], str]) -> Callable[[int], str]:
    """The text of a seed that is always the same, so that a longer text is of the same kind."""
    return lambda length: make(random.Random(5), length)[:length]


def _repeated(part: str) -> Callable[[int], str]:
    return lambda length: (part * (length // len(part) + 1))[:length]


def _words_that_match_nothing(rng: random.Random, length: int) -> str:
    """Words of 99 letters: as long as a word may be but one, and none of them is in the
    vocabulary.
    """
    return " ".join("".join(rng.choices("etaoinshr", k=99)) for _ in range(length // 100 + 1))


def _code_points(rng: random.Random, length: int) -> str:
    """Any code points but surrogates."""
    return "".join(
        chr(rng.choice([rng.randrange(32, 0xD800), rng.randrange(0xE000, 0x30000)]))
        for _ in range(length)
    )


def _unique_words(rng: random.Random, length: int) -> str:
    return " ".join(f"w{rng.randrange(10**9)}" for _ in range(length // 3))


def _sentence(rng: random.Random, length: int) -> str:
    known = words()
    return " ".join(rng.choice(known) for _ in range(length // 2))


# name → a function from the code points wanted to a text of so many
ADVERSARIAL: dict[str, Callable[[int], str]] = {
    "words of the vocabulary": _seeded(_sentence),
    "the same without spaces": _seeded(
        lambda rng, length: _sentence(rng, length * 3).replace(" ", "")
    ),
    "one word of a": _repeated("a"),
    "words of 99 a": _repeated("a" * 99 + " "),
    "words of 99 that match nothing": _seeded(_words_that_match_nothing),
    "punctuation only": _seeded(
        lambda rng, length: "".join(rng.choices("[](){}<>!?.,;:", k=length))
    ),
    "unclosed special tokens": _repeated("[MAS[CL[SE[PA[UN"),
    "special tokens only": _repeated("[MASK][CLS]"),
    "combining marks": _repeated("e" + "\u0301" * 9),
    "combining marks out of order": _repeated("\u0301\u0316"),
    "random code points": _seeded(_code_points),
    "Chinese characters": _seeded(
        lambda rng, length: "".join(chr(rng.randrange(0x4E00, 0x9FA6)) for _ in range(length))
    ),
    "unique words": _seeded(_unique_words),
    "spaces only": _repeated(" "),
    "deleted characters": _repeated("a\x00\ufffd\x0b"),
}
