"""Texts that try each rule of a tokenizer, with what it makes of them: what a port of it has to
give, too.

In: a tokenizer, a seed. Out: `Vector`s, which a program in any language can read as lines of JSON.
The texts are made of the tokenizer's own entries, and of the characters that ports of WordPiece get
wrong.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest
from typing import Any, NamedTuple

from trietok.errors import InputTypeError
from trietok.inputs.profiles import Profile
from trietok.text.characters import normalize


class Vector(NamedTuple):
    """A text with what a tokenizer makes of it.

    Attributes:
        about: the rule that the text tries, such as `"accents"`.
        profile: `"slow"` or `"fast"`.
        text, text_pair: one text, or a pair; `text_pair` is None for one.
        options: those of the call: `add_special_tokens`, and `max_length` in tokens or None.
        ids, tokens: those of the call.
        spans: where each token stands in its text, half-open, in code points; (0, 0) for special
            tokens around.
    """

    about: str
    profile: Profile
    text: str
    text_pair: str | None
    options: dict[str, Any]
    ids: list[int]
    tokens: list[str]
    spans: list[tuple[int, int]]

    def question(self, number: int) -> dict[str, Any]:
        """What a program is told, as JSON has it: all but the answers."""
        return {
            "number": number,
            "text": self.text,
            "text_pair": self.text_pair,
            "options": self.options,
        }


# ---- the texts -----------------------------------------------------------------------------------

_ACCENTED = "àéîõüçñåøłđħøœßşžǖệṩậở"
_CASED = "İIıiŞşẞßΣσςΆΐŉǅǆﬀﬁÅKΩⅣⓐＡａ𐐀𝐀ᲀꭰᏸ"
_SPACES = "\t\n\r\x0b\x0c\x1c\x1d\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u200b\ufeff"
_CONTROLS = (
    "\0\x01\x08\x1b\x7f\x80\x9f\xad\u0378\u0600\u061c\u200c\u200d\u200e\u2060\ufffd\ue000"
    "\U000e0001\U0010ffff"
)
_CHINESE = "一鿿㐀䶿豈\ufaff𠀀𪛟𪜀𫠟𬺰丽\u2e80々〇㇀㊀㍻\U00030000"
_SCRIPTS = (
    *(
        "абвгдёйієї",
        "αβγδάέήίϊΰ",
        "אבגדהוּשׁ",
        "ابتثجحآأؤي",
        "कखगघक्षि",
        "กขคงจฉาำ่้",
        "ကခဂဃာိ",
        "ខគឃងា",
    ),
    *("가각갂힣각ㄱ", "あいうガギパーヽ", "ابپچکگی", "አበገደ", "ႠႡᲐᲑა", "தமிழ்", "ᚠᚢᚦ", "𐍈𐌰𐌱"),
)
_EMOJI = ("😀", "👍🏽", "👩‍👩‍👧", "🇩🇪", "☕️", "1️⃣", "🏴‍☠️")
_ASCII_SIGNS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


class _Texts:
    """Makes the texts; each method makes one that tries the rule that its name says."""

    def __init__(self, tokenizer: Any, rng: random.Random) -> None:
        self._rng, self._longest = rng, tokenizer.wordpiece_tokenizer.max_input_chars_per_word
        prefix: str = tokenizer.wordpiece_tokenizer.continuing_subword_prefix
        self._special = [str(token) for token in tokenizer.all_special_tokens]
        self._added = [
            str(token) for token in tokenizer.get_added_vocab() if token not in self._special
        ]
        entries = [token for token in tokenizer.vocab if token not in self._special]
        self._starts = [token for token in entries if not token.startswith(prefix)] or ["a"]
        self._words = [
            token for token in self._starts if token.isalpha() and len(token) > 1
        ] or self._starts
        self._rests = [
            token.removeprefix(prefix) for token in entries if token.startswith(prefix)
        ] or [""]
        self._prefix = prefix

    def make(self, number: int) -> Iterator[tuple[str, str]]:
        """So many texts, those of all rules in turn, each with the name of its rule."""
        rules = [name for name in vars(type(self)) if not name.startswith("_") and name != "make"]
        for place in range(number):
            name = rules[place % len(rules)]
            yield name.replace("_", " "), getattr(self, name)()

    def _some(self, choices: Sequence[str], most: int = 4) -> list[str]:
        return self._rng.choices(choices, k=self._rng.randint(1, most))

    def _within(self, characters: Sequence[str]) -> str:
        """Words with some of the characters in them, before them, behind them and between them."""
        parts = chain.from_iterable(
            zip_longest(self._some(self._words, 6), self._some(characters, 6), fillvalue="")
        )
        return "".join(part + self._rng.choice(["", "", " "]) for part in parts)

    def words(self) -> str:
        return " ".join(self._some(self._words, 12))

    def letter_case(self) -> str:
        words = self._some(self._words, 8)
        return " ".join(
            self._rng.choice([word.upper(), word.title(), word[:1] + word[1:].upper()])
            for word in words
        )

    def special_casing(self) -> str:
        return self._within(_CASED)

    def pieces(self) -> str:
        return " ".join(
            "".join(self._some(self._starts, 2) + self._some(self._rests, 4)) for _ in range(4)
        )

    def continuation_mark(self) -> str:
        rests = (self._prefix + rest for rest in self._some(self._rests))
        return self._within([self._prefix, f" {self._prefix}", *rests])

    def unknown_words(self) -> str:
        return self._within(["☃", "ᚠᚢ", "𐍈", "䷀", "ꙮ"])

    def accents(self) -> str:
        return self._within([*_ACCENTED, *(normalize("NFD", char) for char in _ACCENTED)])

    def marks(self) -> str:
        marks = "\u0300\u0301\u0323\u0327\u0345\u05b4\u0e31\u3099\u20dd\u0488\u093f"
        return self._within(["".join(self._some(marks, 5)) for _ in range(4)])

    def ascii_signs(self) -> str:
        return self._within(["".join(self._some(_ASCII_SIGNS, 3)) for _ in range(5)])

    def unicode_signs(self) -> str:
        return self._within(".,-!¡¿«»§¶·–—‘’“”…‰′※⁈、。「」，！？؟।፡՞€£¥¢©®™°±×÷≤→■♥№")

    def whitespace(self) -> str:
        return self._within(_SPACES)

    def control_characters(self) -> str:
        return self._within(_CONTROLS)

    def chinese_characters(self) -> str:
        return self._within(_CHINESE)

    def scripts(self) -> str:
        return " ".join("".join(self._some(self._rng.choice(_SCRIPTS), 8)) for _ in range(3))

    def emoji(self) -> str:
        return self._within(_EMOJI)

    def digits(self) -> str:
        return self._within(["2024", "3.14", "1,000", "٣٤", "½", "x2", "10²", "１２", "Ⅻ"])

    def long_words(self) -> str:
        length = self._longest + self._rng.choice([-1, 0, 1, 2])
        unit = self._rng.choice(
            [self._rng.choice(self._words), "a", "é", "e\u0301", "я", "世", "\U00010348", "."]
        )
        return f"{self._rng.choice(self._words)} {(unit * (length // len(unit) + 1))[:length]} end"

    def special_tokens(self) -> str:
        token = self._rng.choice(self._special or ["[SEP]"])
        return self._within(
            [token, token.lower(), f" {token} ", token[:-1], token[1:], f"{token[:2]} {token[2:]}"]
        )

    def added_tokens(self) -> str:
        token = self._rng.choice(self._added or self._special or ["[SEP]"])
        return self._within(
            [token, token.upper(), f" {token} ", f"{token}s", f"x{token}", token * 2]
        )

    def little(self) -> str:
        return self._rng.choice(
            ["", " ", "\u0301", "\u200b", ".", self._prefix, "\ufeff", "a", "\U0001f600"]
        )

    def random_characters(self) -> str:
        planes = self._rng.choices([0x250, 0x3000, 0x10000, 0x20000, 0x110000], k=6)
        numbers = [self._rng.randrange(plane) for plane in planes]
        return self._within(
            [chr(number) for number in numbers if not 0xD800 <= number < 0xE000] or ["\0"]
        )


PLAIN: dict[str, Any] = {"add_special_tokens": True, "max_length": None}


def vectors(
    tokenizer: Any, texts: Iterable[str] = (), *, limit: int = 1000, seed: int = 0
) -> Iterator[Vector]:
    """What a tokenizer makes of texts that try each of its rules; the same seed makes the same
    texts.

    Args:
        tokenizer: a `BertTokenizer`, or one of its family, of either profile.
        texts: texts of your own, which come first.
        limit: how many texts are made; every tenth is half of a pair, every tenth is cut, every
            tenth has no special tokens around.
        seed: what the texts depend on, beside the vocabulary.

    Raises:
        InputTypeError: the tokenizer has no WordPiece vocabulary, or a text is no str.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> made = list(vectors(tokenizer, ["Naïve"], limit=40))
    >>> len(made), made[0].about, made[0].tokens, made[0].spans[1]
    (41, 'your texts', ['[CLS]', 'n', '##ai', '##ve', '[SEP]'], (0, 1))
    """
    if not hasattr(tokenizer, "wordpiece_tokenizer"):
        raise InputTypeError(
            f"vectors are made for WordPiece, not for a {type(tokenizer).__name__}", value=tokenizer
        )
    given = (("your texts", text) for text in texts)
    made = list(_Texts(tokenizer, random.Random(seed)).make(limit))
    for number, (about, text) in enumerate(chain(given, made)):
        which = number % 10 if about != "your texts" else -1
        options = {
            **PLAIN,
            **({"max_length": 8} if which == 8 else {"add_special_tokens": which != 9}),
        }
        pair = made[number % len(made) - 1][1] if which == 7 else None
        yield _vector(tokenizer, about, text, pair, options)


def call_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a vector as those of a call."""
    length = options["max_length"]
    cut = {} if length is None else {"truncation": True, "max_length": length}
    return {"add_special_tokens": options["add_special_tokens"], **cut}


def _vector(
    tokenizer: Any, about: str, text: str, pair: str | None, options: dict[str, Any]
) -> Vector:
    found = tokenizer(
        text, pair, return_offsets_mapping=True, verbose=False, **call_options(options)
    )
    ids = found["input_ids"]
    tokens, spans = (
        tokenizer.convert_ids_to_tokens(ids),
        [tuple(span) for span in found["offset_mapping"]],
    )
    return Vector(about, tokenizer.profile, text, pair, options, ids, tokens, spans)
