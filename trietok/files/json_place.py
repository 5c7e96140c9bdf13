"""Read a JSON value at a place in a file; and read BERT's normalizer, which nearly all files have.

Readers such as `JsonPlace.text` return the value, or raise an error that names the place, the value
and what it should be.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from trietok.disk import HALF_PAIR, HIGHEST_ID, Path_
from trietok.errors import FileFormatError


class JsonPlace(NamedTuple):
    """A JSON value, its place, and its file, all of which an error about it names.

    Attributes:
        value: the value.
        steps: the keys and the numbers of list items that lead to it from the whole.
        file: the path of the file.

    >>> place = JsonPlace({"stride": "2"}, ("truncation",), "tokenizer.json")
    >>> place.member("stride").number()
    Traceback (most recent call last):
    trietok.errors.FileFormatError: tokenizer.json: truncation.stride is '2'; it should be a whole
    number from 0 to 10000000
    """

    value: Any
    steps: tuple[str | int, ...]
    file: Path_

    @property
    def path(self) -> str:
        """The steps in one string, such as `post_processor.pair[2]`."""
        path = ""
        for step in self.steps:
            is_plain = isinstance(step, str) and step.replace("_", "a").isalnum()
            is_plain = is_plain and len(str(step)) <= 60
            path += f".{step}" if is_plain else f"[{step!r:.60}]"
        return path.removeprefix(".")

    def error(self, problem: str) -> FileFormatError:
        """Return an error that begins with the file and the JSON path."""
        where = f"{os.fspath(self.file)}: {self.path}".removesuffix(": ")
        return FileFormatError(f"{where} {problem}", path=self.file)

    def wrong(self, wanted: str) -> FileFormatError:
        """Return the error for a value that is not `wanted`."""
        is_constant = self.value is None or isinstance(self.value, bool)
        shown = json.dumps(self.value) if is_constant else f"{self.value!r:.60}"
        return self.error(f"is {shown}; it should be {wanted}")

    def member(self, key: str) -> JsonPlace:
        """Return the value under `key` of an object, None if there is none."""
        return JsonPlace(self.value.get(key), (*self.steps, key), self.file)

    def object(self, required: Iterable[str], optional: Iterable[str] = ()) -> JsonPlace:
        """Return itself, if it is an object with these keys and no other."""
        required = tuple(required)
        if not isinstance(self.value, dict):
            raise self.wrong("an object with " + ", ".join(required))
        for key in required:
            if key not in self.value:
                raise self.error(f"has no {key!r}, which it must have")
        known = {*required, *optional}
        if not self.value.keys() <= known:
            unknown = min(self.value.keys() - known)
            raise self.error(
                f"has the key {unknown!r:.60}, which trietok does not know; known are"
                f" {', '.join((*required, *optional))}"
            )
        return self

    def members(
        self, optional: Mapping[str, Reader] = MappingProxyType({}), /, **required: Reader
    ) -> dict[str, Any]:
        """Return what the readers make of the members of an object with these keys and no other."""
        self.object(required, optional)
        readers = {**required, **optional}
        return {key: read(self.member(key)) for key, read in readers.items() if key in self.value}

    def settings(
        self, optional: Mapping[str, Reader] = MappingProxyType({}), /, **required: Reader
    ) -> dict[str, Any]:
        """Return the members of a component without its type, which `component_type` has read."""
        said = self.members(optional, type=JsonPlace.text, **required)
        del said["type"]
        return said

    def items(self) -> list[JsonPlace]:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [
            JsonPlace(item, (*self.steps, number), self.file)
            for number, item in enumerate(self.value)
        ]

    def if_set(self, read: Reader) -> Any:
        """Return what a reader makes of the value; None if the value is null."""
        return None if self.value is None else read(self)

    def text(self) -> str:
        """Return a string that UTF-8 can keep."""
        if not isinstance(self.value, str):
            raise self.wrong("a string")
        if not self.value.isascii() and re.search(HALF_PAIR, self.value):
            raise self.error(
                f"is {self.value!r:.60}, which holds half of a surrogate pair; UTF-8 cannot keep it"
            )
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def number(self, highest: int = HIGHEST_ID) -> int:
        """Return a whole number from 0; ids are such."""
        if type(self.value) is not int or not 0 <= self.value <= highest:
            raise self.wrong(f"a whole number from 0 to {highest}")
        return self.value

    def choice(self, *names: str) -> str:
        """Return one of a few strings."""
        if self.value not in names:
            raise self.wrong("one of " + ", ".join(names))
        return str(self.value)


Reader = Callable[[JsonPlace], Any]


def component_type(place: JsonPlace, *known: str) -> str:
    """Return the type of a component, if trietok has it."""
    kind = place.value.get("type") if isinstance(place.value, dict) else None
    if not isinstance(kind, str):
        raise place.wrong(f"an object with a type: {', '.join(known)}")
    if kind not in known:
        raise place.error(
            f"is of type {kind!r:.60}, a component that trietok does not have; it has"
            f" {', '.join(known)}. The tokenizers package loads such a file"
        )
    return kind


# ---- BERT's normalizer ---------------------------------------------------------------------------


class BertNormalizer(NamedTuple):
    """What happens to a text before it is cut into words; `NO_NORMALIZER` leaves it as it is.

    Attributes:
        clean_text: whether control characters are deleted and every whitespace becomes a space.
        handle_chinese_chars: whether Chinese characters get spaces around.
        strip_accents: whether accents are deleted; None means that they are if `lowercase` is true.
        lowercase: whether letters become lower case.
    """

    clean_text: bool = True
    handle_chinese_chars: bool = True
    strip_accents: bool | None = None
    lowercase: bool = True

    @property
    def switches(self) -> tuple[bool, bool, bool | None, bool]:
        """The arguments of a `RustBasicTokenizer`."""
        return self.lowercase, self.handle_chinese_chars, self.strip_accents, self.clean_text


NO_NORMALIZER = BertNormalizer(
    clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False
)
BERT_NORMALIZER, BERT_PRE_TOKENIZER = "BertNormalizer", "BertPreTokenizer"


def bert_normalizer(place: JsonPlace) -> BertNormalizer:
    """Return a BertNormalizer."""
    said = place.settings(
        {"strip_accents": lambda value: value.if_set(JsonPlace.flag)},
        clean_text=JsonPlace.flag,
        handle_chinese_chars=JsonPlace.flag,
        lowercase=JsonPlace.flag,
    )
    return BertNormalizer(**said)
