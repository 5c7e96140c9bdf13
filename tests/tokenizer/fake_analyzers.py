"""Analyzers of Japanese text that are not installed everywhere, in a few lines each: words are runs
of one script.

In: nothing. Out: modules that stand in for fugashi with a dictionary, for sudachipy and for rhoknp.
"""

from __future__ import annotations

import re
import types
from itertools import groupby
from pathlib import Path

SUDACHI_LIMIT = 1000


def script(char: str) -> str:
    if char.isspace():
        return "space"
    if "\u3041" <= char <= "\u3096":
        return "hiragana"
    if "\u30a1" <= char <= "\u30fc":
        return "katakana"
    return "other" if char.isalnum() else f"sign {char}"


def runs(text: str) -> list[tuple[str, int]]:
    """The runs of one script, each with its start."""
    if any("\ud800" <= char <= "\udfff" for char in text):
        text.encode()  # as all three do
    found, start = [], 0
    for _, chars in groupby(text, script):
        word = "".join(chars)
        found.append((word, start))
        start += len(word)
    return found


class Word:
    def __init__(self, text: str, start: int) -> None:
        self.text, self.start = text, start


class MecabWord(Word):
    @property
    def surface(self) -> str:
        return self.text


class GenericTagger:
    made = 0

    def __init__(self, options: str) -> None:
        if options.endswith("-d /nope"):
            raise RuntimeError(
                "\nFailed.\n--- ERROR DETAILS ---\nparam.cpp(69) no such file: /nope/dicrc\n---"
            )
        type(self).made += 1
        self.options = options
        self.is_busy = False

    def __call__(self, text: str) -> list[MecabWord]:
        assert not self.is_busy, "two threads at once"
        self.is_busy = True
        text = text.partition("\0")[0]  # a string of C ends there
        words = [MecabWord(*run) for run in runs(text) if not run[0].isspace()]
        self.is_busy = False
        return words

    def __reduce__(self):
        raise TypeError("a tagger cannot be pickled")


class SudachiWord(Word):
    def surface(self) -> str:
        # as a projection may write it
        return "ー" + self.text if self.text == "データ" else self.text

    def begin(self) -> int:
        return self.start

    def end(self) -> int:
        return self.start + len(self.text)


class SudachiError(Exception):
    pass


class SudachiDictionary:
    def __init__(self, **options) -> None:
        self.options = options

    def create(self, mode, **projection):
        def tokenize(text):
            if len(text) > SUDACHI_LIMIT:
                raise SudachiError("Input is too long")
            return [SudachiWord(*run) for run in runs(text)]

        return types.SimpleNamespace(tokenize=tokenize, mode=mode, **projection)


class Jumanpp:
    has_program = True

    def is_available(self) -> bool:
        return self.has_program

    def apply_to_sentence(self, text: str):
        words = [Word(re.sub(" ", "␣", word), start) for word, start in runs(text)]
        return types.SimpleNamespace(morphemes=words)


def modules(folder: Path) -> dict[str, types.ModuleType]:
    """The modules by name; `folder` is where the dictionaries are."""

    def module(name: str, **values) -> types.ModuleType:
        made = types.ModuleType(name)
        vars(made).update(values)
        return made

    modes = types.SimpleNamespace(SplitMode=types.SimpleNamespace(A="a", B="b", C="c"))
    dictionary = module("sudachipy.dictionary", Dictionary=SudachiDictionary)
    tokenizer = module("sudachipy.tokenizer", Tokenizer=modes)
    return {
        "fugashi": module("fugashi", GenericTagger=type("GenericTagger", (GenericTagger,), {})),
        "unidic_lite": module("unidic_lite", DICDIR=str(folder)),
        "ipadic": module("ipadic", DICDIR=str(folder)),
        "unidic": module("unidic", DICDIR=str(folder / "none")),
        "sudachipy": module("sudachipy", dictionary=dictionary, tokenizer=tokenizer),
        "sudachipy.dictionary": dictionary,
        "sudachipy.tokenizer": tokenizer,
        "rhoknp": module("rhoknp", Jumanpp=Jumanpp),
    }
