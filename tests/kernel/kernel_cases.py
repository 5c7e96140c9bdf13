"""Random tokenizers and texts that are hard for the compiled kernel; used by `test_kernel.py` and
`fuzz_kernel.py`.
"""

from __future__ import annotations

import contextlib
import pathlib
import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import trietok
from trietok.text.kernel import choosing as kernel
from trietok.text.text_encoder import TextEncoder

CHARACTERS = [
    chr(code)
    for code in (*range(0xD800), *range(0xE000, 0x33480), *range(0xE0000, 0xE0200), 0x10FFFF)
]
ODD = (
    "≠≮≯ÅÄ\0\t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x7f\x85\xa0\u2028\u2029\u200b\u3000\ufeff\ufffdΣσςİıKſẞßΆ΅ὰάﬀ가각ᄀ"
    " ᅡᆨ豈丽"
)
COMBINING = "\u0301\u0308\u0323\u0338\u0327\u05b4\u064b\u0653\u093c\u094d\u0e38\u1161\u11a8\u302e\u3099\U0001d165"
BENGALI_TAMIL = "কেি\u09be\u09d7যোৌ\u0bbe\u0b94ெகெ\u0bd7"
# What composes, what does not, marks of several classes, and what is deleted and keeps nothing
# apart.
COMPOSING = "aeE=<!\u0301\u0316\u0323\u0302\u0338\u200b\0\ufffdᄀ\u1161\u11a8가ê"
LOCATED = 4  # of so many texts one is encoded with its spans, which takes longer
CONTEXTS = (
    "{}",
    "{0}{0}",
    "a{}b",
    "A{}\u0301",
    "={}",
    "{}\u0338!",
    "世{}世",
    "ᄀ{}",
    "각{}",
    "ো{}",
    "e\u0323{}",
    "\u0301{}\u0323 x",
)
ADDED = [
    *"<ent> <a> =x o-o A.B covid-19 zq0001 café New CamelCase 世界 ing k ß e\u0301 Ünï ##ing x -"
    " [new] İ ΑΣ".split(" "),
    *("new york", "the of and", "A B", "café [new]", "世 界", "e\u0301 x"),
]


@contextlib.contextmanager
def kernel_of(name: str) -> Iterator[None]:
    """Encoders that are made here use this kernel, from their first text on."""
    with kernel.using_kernel(name, text_before_kernel=0) as is_there:
        assert is_there
        yield


def compiled_kernel(
    entries: Sequence[str],
    classify: Callable[[int], Any],
    hand_over: Callable[[str], Any],
    *,
    stay_apart: Callable[[str], bool] = bool,
    compose: Callable[[str], str | None] = lambda part: None,
    plain: Callable[[str], list[int]] = list,  # type: ignore[assignment]
    settle: Callable[[str], tuple[int, ...]] = lambda form: (),
    fold: Callable[[str], Any] = str.encode,
    terms: Sequence[str] = (),
    patterns: Any = None,
    limit: int = 1 << 20,
    module: Any = None,
) -> Any:
    """A compiled kernel by itself. Ids are places in `entries`; the unknown one is that after the
    last.
    """
    module = kernel._kernel if module is None else module
    ids = {entry: number for number, entry in enumerate(entries)}
    vocabulary = kernel.vocabulary_of(ids, "##", len(ids), 100)
    steps = lambda chunk: (1, len(chunk))  # noqa: E731
    return module.Kernel(
        *(
            vocabulary,
            patterns,
            (module.Terms(sorted(terms)),) if terms else (),
            classify,
            stay_apart,
            compose,
            hand_over,
            plain,
            steps,
            fold,
            settle,
        ),
        *(bytes(range(128)), (0x4E00, 0x9000), limit, bytes(range(16))),
    )


@cache
def pools() -> tuple[Sequence[str], ...]:
    """Characters that do something to each other, by what they do."""
    marks = [char for char in CHARACTERS if unicodedata.category(char)[0] == "M"]
    changing = [
        char
        for char in CHARACTERS
        if any(unicodedata.normalize(form, char) != char for form in ("NFC", "NFD"))
        or char.lower() != char
    ]
    bases = sorted({unicodedata.normalize("NFD", char)[0] for char in changing})
    signs = [
        char
        for char in CHARACTERS
        if unicodedata.category(char)[0] in "PSZC" and ord(char) < 0x10000
    ]
    return (
        "abcdefgh THE ing.,!?[]()'-#_ 0123456789 ",
        "the of and in to café naïve ",
        "世界中文字、。",
        "αβγδεάέὰ ́̈̀",
        "ािী্ँంనేతమിള",
        BENGALI_TAMIL,
        COMBINING,
        *[COMPOSING] * 4,
        ODD,
        marks,
        changing,
        bases,
        signs,
        CHARACTERS,
    )


def write_vocabulary_of_characters(directory: pathlib.Path) -> str:
    """A vocabulary of characters that compose, what they compose to and marks, so that each shows
    in the ids.
    """
    single = {
        char
        for char in (*COMPOSING, *COMBINING, *BENGALI_TAMIL, *ODD, *map(chr, range(0x21, 0x7F)))
        if char
    }
    pairs = {unicodedata.normalize("NFC", a + b) for a in single for b in single}
    composed = {char for char in pairs if len(char) == 1}
    entries = sorted(
        char for char in single | composed | {char.lower() for char in single} if char.isprintable()
    )
    entries = [char for char in entries if not char.isspace()]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    lines = [*special, *entries, *(f"##{char}" for char in entries)]
    (directory / "vocab.txt").write_text(
        "".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n"
    )
    return str(directory)


def random_text(rng: random.Random, tokens: Sequence[str]) -> str:
    """A text of a few kinds of characters, added tokens, and added tokens with something amiss."""
    chosen = rng.choices(pools(), k=rng.randrange(1, 4))
    parts: list[str] = []
    for _ in range(rng.randrange(1, 24)):
        draw = rng.random()
        token = rng.choice(tokens)
        at = rng.randrange(len(token) + 1)
        if draw < 0.1:
            parts.append(" ")
        elif draw < 0.15:
            parts.append(token)
        elif draw < 0.17:
            parts.append(token.swapcase())
        elif draw < 0.19:
            parts.append(
                token[:at] + rng.choice("\u200b\0\u0308\u0301\x0b\u0323\ufffd\xad") + token[at:]
            )
        elif draw < 0.2:
            parts.append(
                "".join(
                    rng.choice([c, c + "\u0308", unicodedata.normalize("NFC", c + "\u0301")])
                    for c in token
                )
            )
        elif draw < 0.22:
            parts.append(token[:at])
        elif draw < 0.225:
            parts.append("\ud800")
        elif draw < 0.23:
            parts.append(
                rng.choice(pools()[0]) * rng.choice([14, 15, 16, 17, 99, 101, 254, 255, 256, 300])
            )
        else:
            parts.append(rng.choice(rng.choice(chosen)))
    return "".join(parts)


class Recipe:
    """How to make a tokenizer, twice alike: a profile, a directory, options, and a history of
    changes.

    Args:
        rng: chance.
        directories: where vocabularies are.
    """

    def __init__(self, rng: random.Random, directories: Sequence[str]) -> None:
        # Splinter's does not compose.
        self.kind = rng.choice(
            [trietok.BertTokenizer, trietok.BertTokenizerFast, trietok.SplinterTokenizer]
        )
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
        self.added = [
            trietok.AddedToken(
                content,
                lstrip=rng.random() < 0.1,
                rstrip=rng.random() < 0.1,
                single_word=rng.random() < 0.1,
                normalized=rng.random() < 0.7,
                special=rng.random() < 0.2,
            )
            for content in rng.sample(ADDED, rng.choice([0, 0, 1, 3, 7]))
        ]

    def __repr__(self) -> str:
        return (
            f"{self.kind.__name__}, {self.directory}, {self.options}, {self.longest}, {self.added}"
        )

    def make(self) -> Any:
        """A tokenizer by this recipe, which has encoded something before its tokens were added."""
        tokenizer = self.kind.from_pretrained(self.directory, **self.options)
        tokenizer("Some text, before.")
        if self.kind is not trietok.BertTokenizerFast:
            tokenizer.basic_tokenizer.do_split_on_punc = self.splits_punctuation
            if self.longest is not None:
                tokenizer.wordpiece_tokenizer.max_input_chars_per_word = self.longest
        if self.added:
            tokenizer.add_tokens(self.added)
        return tokenizer


def differences(recipe: Recipe, texts: Sequence[str]) -> list[str]:
    """The texts that are not the same with the kernel: worked out, remembered, in a batch, with
    details, as words.
    """
    located = texts[::LOCATED]
    with kernel_of("plain"):
        plain = recipe.make()
        expected = [plain(text)["input_ids"] for text in texts]
        spans = [plain(text, return_offsets_mapping=True)["offset_mapping"] for text in located]
        stages = TextEncoder(plain.text_encoder.stages)
        details = [
            [stages.locate(text), stages.locate_words(re.split("[,a]", text))] for text in located
        ]
    with kernel_of("compiled"):
        compiled = recipe.make()
        first = [compiled(text)["input_ids"] for text in texts]
        again = [compiled(text)["input_ids"] for text in texts]
        batch = compiled(list(texts))["input_ids"]
        first_spans = [
            compiled(text, return_offsets_mapping=True)["offset_mapping"] for text in located
        ]
        spans_again = [
            compiled(text, return_offsets_mapping=True)["offset_mapping"] for text in located
        ]
        own = compiled.text_encoder
        details_here = [
            [own.locate(text), own.locate_words(re.split("[,a]", text))] for text in located
        ]
    rows = zip(texts, expected, first, again, batch, strict=True)
    different = [text for text, ids, *others in rows if any(other != ids for other in others)]
    of_spans = zip(located, spans, first_spans, spans_again, strict=True)
    of_details = zip(located, details, details_here, strict=True)
    different += [text for text, right, other in of_details if other != right]
    return different + [
        text for text, right, *others in of_spans if any(other != right for other in others)
    ]
