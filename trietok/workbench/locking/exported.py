"""What `export` has written, and the texts whose ids the file's readers give otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from trietok.showing.characters import visible

_MOST_CHARACTERS = 60


class ExportedText(NamedTuple):
    """A text to which the file's readers give other ids.

    Attributes:
        number: which of the texts, from 1.
        text: the text.
        ids, readers_ids: those of the tokenizer, and those of the file's readers, special tokens included.
        tokens, readers_tokens: those from the first stretch that differs, on either side.
        start, end: that stretch in the text, half-open, in code points.
        why: the stage that makes the difference, and how.
    """

    number: int
    text: str
    ids: list[int]
    readers_ids: list[int]
    tokens: list[str]
    readers_tokens: list[str]
    start: int
    end: int
    why: str


@dataclass(frozen=True)
class Exported:
    """A file that was written from a tokenizer. `str` says what its readers do otherwise.

    Attributes:
        path: the file.
        reader: who reads such a file: the class whose ids its readers give.
        texts: how many texts were tried.
        differing: how many of them get other ids from the file's readers.
        examples: the first of them.
        options: what a vocab.txt does not say, and its readers have to be told: option → value.
        checked: engine and version → how many texts got other ids there than is said here.

    >>> import os, tempfile, trietok
    >>> path = os.path.join(tempfile.mkdtemp(), "tokenizer.json")
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> exported = trietok.export(tokenizer, "tokenizer.json", path, texts=["The people", "a\\u0378b"])
    >>> exported.differing, exported.examples[0].why
    (1, 'cleaned: the tokenizer deletes U+0378 <reserved-0378>, the reader does not')
    """

    path: str
    reader: str
    texts: int
    differing: int
    examples: tuple[ExportedText, ...]
    options: dict[str, Any]
    checked: dict[str, int]

    @property
    def same_ids(self) -> bool:
        """Whether every text gets the same ids, and every library that was asked agrees."""
        return not self.differing and not any(self.checked.values())

    @property
    def summary(self) -> str:
        """What was written, and how many texts differ, in a line."""
        texts = f"{self.texts:,} text{'' if self.texts == 1 else 's'}"
        if not self.differing:
            return f"{self.path}: written; {self.reader} gives the same ids for {texts}"
        return f"{self.path}: written; {self.reader} gives other ids for {self.differing:,} of {texts}"

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {
            "path": self.path,
            "reader": self.reader,
            "same_ids": self.same_ids,
            "summary": self.summary,
            "texts": self.texts,
            "differing": self.differing,
            "examples": [each._asdict() for each in self.examples],
            "options": self.options,
            "checked": self.checked,
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The report, line by line, the first of which is the summary."""
        yield self.summary
        for each in self.examples:
            text = each.text if len(each.text) <= _MOST_CHARACTERS else each.text[:_MOST_CHARACTERS] + "..."
            yield f"text {each.number}, {each.start}-{each.end}: {text!r}"
            yield f"    the tokenizer: {_joined(each.tokens)}"
            yield f"    the reader:    {_joined(each.readers_tokens)}"
            yield f"  {each.why}"
        if self.differing > len(self.examples):
            left = self.differing - len(self.examples)
            yield f"  ... and {left:,} more text{'' if left == 1 else 's'}"
        if self.options:
            yield "the file does not say: " + ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        for name, differing in self.checked.items():
            texts = f"{self.texts:,} text{'' if self.texts == 1 else 's'}"
            if differing:
                yield f"{name}: on {differing:,} of {texts} its ids are not those that were foretold"
            else:
                yield f"{name}: the ids that were foretold, on {'the ' if self.texts == 1 else 'all '}{texts}"


def _joined(tokens: list[str]) -> str:
    return " ".join(map(visible, tokens)) or "(no token)"
