"""`Watch`: is told what each stage makes of a text, while the stages cut a text into tokens with spans.

In: what a stage was given and what it gave. Out: nothing; a `Watch` that keeps what it is told can explain the tokens
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from trietok.text.alignment import AlignedText

StageName = Literal[
    "lower-case-around-tokens",
    "added-tokens",
    "clean",
    "chinese",
    "compose",
    "compatibility",
    "words",
    "whitespace",
    "lower-case",
    "accents",
    "normalized-added-tokens",
    "punctuation",
    "wordpiece",
    "characters",
]
Rejected = tuple[int, int, str]  # where an added token stands that `single_word` does not allow there, and its content


class Watch:
    """Is told what the stages do, in the order in which they do it. This one takes no notice."""

    def changed(self, stage: StageName, before: AlignedText, after: AlignedText) -> None:
        """A stage has been given `before`, and gave `after`, which may be the same.

        The cleaning of a text sets Chinese characters apart in the same pass: its `after` is that of `"chinese"`.
        """

    def cut(self, stage: StageName, whole: AlignedText, rejected: Sequence[Rejected]) -> None:
        """`whole` is about to be cut at the added tokens in it, without the `rejected` ones."""

    def part(self, stage: StageName, part: AlignedText, content: str | None) -> None:
        """The next part of the text: an added token, or what lies between two where `content` is None."""
        if content is None:
            self.between(stage, part)
        else:
            self.token(stage, part, content)

    def token(self, stage: StageName, part: AlignedText, content: str) -> None:
        """The next part of the text is an added token, which this stage has found."""

    def between(self, stage: StageName, part: AlignedText) -> None:
        """The next part of the text lies between the added tokens that this stage looks for."""

    def split(self, cleaned: AlignedText, start: int, end: int, is_kept: bool) -> None:
        """A word lies between whitespace; `is_kept` if it is left as it is."""

    def analyzed(self, text: AlignedText, start: int, end: int) -> None:
        """An analyzer of Japanese has found a word."""

    def word(self, text: AlignedText, start: int, end: int, pieces: Sequence[str]) -> None:
        """WordPiece has been given the word from `start` to `end`, and gave its pieces."""
