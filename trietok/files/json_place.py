"""A value inside a JSON file together with its place, so that every error can name the place.

In: a parsed JSON value, its path in the file, the file. Out: the same value with its type checked, or an error that
names the file, the JSON path, the value there and what it should be.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from trietok.errors import FileFormatError
from trietok.files.settings import HIGHEST_ID

_PLAIN_KEY = re.compile(r"\w{1,60}")
_HALF_PAIR = re.compile("[\ud800-\udfff]")  # of surrogates, which JSON can write and UTF-8 cannot


class JsonPlace(NamedTuple):
    """A JSON value and its place.

    >>> place = JsonPlace({"stride": "2"}, "truncation", "tokenizer.json")
    >>> place.member("stride").number()
    Traceback (most recent call last):
    trietok.errors.FileFormatError: tokenizer.json: truncation.stride is '2'; it should be a whole number from 0 to
    10000000
    """

    value: Any
    path: str
    file: str | os.PathLike[str]

    def error(self, problem: str) -> FileFormatError:
        """An error that begins with the file and the JSON path."""
        where = f"{os.fspath(self.file)}: {self.path}".removesuffix(": ")
        return FileFormatError(f"{where} {problem}", path=self.file)

    def wrong(self, wanted: str) -> FileFormatError:
        """The error for a value that is not `wanted`."""
        return self.error(f"is {_shown(self.value)}; it should be {wanted}")

    def member(self, key: str) -> JsonPlace:
        """The value under `key`, which must be there."""
        step = f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{key!r:.60}]"
        return JsonPlace(self.value[key], f"{self.path}{step}".removeprefix("."), self.file)

    def object(self, required: Iterable[str], optional: Iterable[str] = ()) -> JsonPlace:
        """Itself, if it is an object with these keys and no other.

        Raises:
            FileFormatError: it is something else, lacks a required key, or has one that trietok does not know.
        """
        required = tuple(required)
        if not isinstance(self.value, dict):
            raise self.wrong("an object with " + ", ".join(required))
        missing = [key for key in required if key not in self.value]
        if missing:
            raise self.error(f"has no {missing[0]!r}, which it must have")
        unknown = self.value.keys() - {*required, *optional}
        if unknown:
            known = ", ".join([*required, *optional])
            raise self.error(f"has the key {min(unknown)!r:.60}, which trietok does not know; known are {known}")
        return self

    def items(self) -> list[JsonPlace]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [JsonPlace(item, f"{self.path}[{number}]", self.file) for number, item in enumerate(self.value)]

    def text(self) -> str:
        """A string that UTF-8 can keep."""
        if not isinstance(self.value, str):
            raise self.wrong("a string")
        if _HALF_PAIR.search(self.value):
            raise self.error(f"is {_shown(self.value)}, which holds half of a surrogate pair; UTF-8 cannot keep it")
        return self.value

    def flag(self) -> bool:
        """true or false."""
        if self.value is not True and self.value is not False:
            raise self.wrong("true or false")
        return self.value

    def number(self, highest: int = HIGHEST_ID) -> int:
        """A whole number from 0; ids are such."""
        if type(self.value) is not int or not 0 <= self.value <= highest:
            raise self.wrong(f"a whole number from 0 to {highest}")
        return self.value

    def choice(self, *names: str) -> str:
        """One of a few strings."""
        if self.value not in names or not isinstance(self.value, str):
            raise self.wrong("one of " + ", ".join(names))
        return self.value


def _shown(value: Any) -> str:
    """A value as the file has it, cut short: null, true and false as JSON writes them."""
    constants = {None: "null", True: "true", False: "false"}
    return constants[value] if value is None or isinstance(value, bool) else f"{value!r:.60}"
