"""A JSON value and its place in a file, and the part of a tokenizer.json that nearly all have:
BERT's normalizer.

In: a value that was parsed, where it stands, and the file's path. Out: what it should be, read by
readers such as `JsonPlace.text`; or an error that names the place, the value there and what it
should be.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from trietok.disk import HALF_PAIR, HIGHEST_ID
from trietok.errors import FileFormatError


class JsonPlace(NamedTuple):
    """A JSON value and its place, so that every error can name the place, the value there and what
    it should be.

    >>> place = JsonPlace({"stride": "2"}, "truncation", "tokenizer.json")
    >>> place.member("stride").number()
    Traceback (most recent call last):
    trietok.errors.FileFormatError: tokenizer.json: truncation.stride is '2'; it should be a whole
    number from 0 to 10000000
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
        return self.error(f"is {_shown_value(self.value)}; it should be {wanted}")

    def member(self, key: str) -> JsonPlace:
        """The value under `key`, which must be there."""
        is_plain = len(key) <= 60 and key.replace("_", "a").isalnum()
        step = f".{key}" if is_plain else f"[{key!r:.60}]"
        return JsonPlace(self.value[key], f"{self.path}{step}".removeprefix("."), self.file)

    def object(self, required: Iterable[str], optional: Iterable[str] = ()) -> JsonPlace:
        """Itself, if it is an object with these keys and no other."""
        required = tuple(required)
        if not isinstance(self.value, dict):
            raise self.wrong("an object with " + ", ".join(required))
        missing = [key for key in required if key not in self.value]
        if missing:
            raise self.error(f"has no {missing[0]!r}, which it must have")
        unknown = self.value.keys() - {*required, *optional}
        if unknown:
            known = ", ".join([*required, *optional])
            raise self.error(
                f"has the key {min(unknown)!r:.60}, which trietok does not know; known are {known}"
            )
        return self

    def members(
        self, required: Mapping[str, Reader], optional: Mapping[str, Reader] | None = None
    ) -> dict[str, Any]:
        """What the readers make of the members of an object with these keys and no other; a `type`
        is not read.
        """
        place, readers = self.object(required, optional or ()), {**required, **(optional or {})}
        return {
            key: read(place.member(key))
            for key, read in readers.items()
            if key in place.value and key != "type"
        }

    def items(self) -> list[JsonPlace]:
        """The items of a list."""
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [
            JsonPlace(item, f"{self.path}[{number}]", self.file)
            for number, item in enumerate(self.value)
        ]

    def text(self) -> str:
        """A string that UTF-8 can keep."""
        if not isinstance(self.value, str):
            raise self.wrong("a string")
        if not self.value.isascii() and re.search(HALF_PAIR, self.value):
            raise self.error(
                f"is {_shown_value(self.value)}, which holds half of a surrogate pair; UTF-8 cannot"
                " keep it"
            )
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


Reader = Callable[[JsonPlace], Any]


def _shown_value(value: Any) -> str:
    """A value as the file has it, cut short: null, true and false as JSON writes them."""
    constants = {None: "null", True: "true", False: "false"}
    return constants[value] if value is None or isinstance(value, bool) else f"{value!r:.60}"


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
    def strips(self) -> bool:
        return self.lowercase if self.strip_accents is None else self.strip_accents

    @property
    def switches(self) -> tuple[bool, bool, bool | None, bool]:
        """The arguments of a `RustBasicTokenizer`."""
        return self.lowercase, self.handle_chinese_chars, self.strip_accents, self.clean_text


NO_NORMALIZER = BertNormalizer(
    clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False
)
BERT_NORMALIZER, BERT_PRE_TOKENIZER = "BertNormalizer", "BertPreTokenizer"
TYPE: dict[str, Reader] = {"type": JsonPlace.text}
_NORMALIZER = TYPE | dict.fromkeys(
    ("clean_text", "handle_chinese_chars", "lowercase"), JsonPlace.flag
)


def component_type(place: JsonPlace, *known: str) -> str:
    """The type of a component, if trietok has it."""
    kind = place.value.get("type") if isinstance(place.value, dict) else None
    if not isinstance(kind, str):
        raise place.wrong(f"an object with a type: {', '.join(known)}")
    if kind not in known:
        raise place.error(
            f"is of type {kind!r:.60}, a component that trietok does not have; it has"
            f" {', '.join(known)}. The tokenizers package loads such a file"
        )
    return kind


def bert_normalizer(place: JsonPlace) -> BertNormalizer:
    """A BertNormalizer."""
    component_type(place, BERT_NORMALIZER)
    optional = {"strip_accents": lambda value: None if value.value is None else value.flag()}
    return BertNormalizer(**place.members(_NORMALIZER, optional))
