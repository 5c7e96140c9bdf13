"""Basic tokenization, said plainly: one character after the other, one word after the other."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection

ASCII_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
CHINESE = (
    "4E00-9FFF 3400-4DBF 20000-2A6DF 2A700-2B73F 2B740-2B81F 2B820-2CEAF F900-FAFF 2F800-2FA1F"
)


def tokenize(
    text: str,
    *,
    do_lower_case: bool = True,
    never_split: Collection[str] = (),
    tokenize_chinese_chars: bool = True,
    strip_accents: bool | None = None,
    do_split_on_punc: bool = True,
) -> list[str]:
    cleaned = "".join(clean(char, tokenize_chinese_chars) for char in text)
    words = unicodedata.normalize("NFC", cleaned).split()
    strip = do_lower_case if strip_accents is None else strip_accents
    result = []
    for word in words:
        if word not in never_split:
            if do_lower_case:
                word = word.lower()
            if strip:
                word = without_accents(word)
        if do_split_on_punc and word not in never_split:
            word = "".join(f" {char} " if is_punctuation(char) else char for char in word)
        result += word.split()
    return result


def clean(char: str, tokenize_chinese_chars: bool) -> str:
    category = unicodedata.category(char)
    if char in "\t\n\r" or category == "Zs":
        return " "
    if char == "\ufffd" or category[0] == "C":
        return ""
    if tokenize_chinese_chars and is_chinese(char):
        return f" {char} "
    return char


def is_chinese(char: str) -> bool:
    for block in CHINESE.split():
        first, last = block.split("-")
        if int(first, 16) <= ord(char) <= int(last, 16):
            return True
    return False


def without_accents(word: str) -> str:
    return "".join(
        char for char in unicodedata.normalize("NFD", word) if unicodedata.category(char) != "Mn"
    )


def is_punctuation(char: str) -> bool:
    return char in ASCII_PUNCTUATION or unicodedata.category(char)[0] == "P"
