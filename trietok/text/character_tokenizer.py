"""The subwords of a Japanese tokenizer that has an entry for each character.

In: a word. Out: its characters, each of which is an entry, or the unknown token in its place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from trietok.text.alignment import AlignedText
from trietok.text.changes import Changeable
from trietok.text.characters import normalize
from trietok.text.normal_forms import composed
from trietok.text.stages import require_text

if TYPE_CHECKING:
    from typing_extensions import Self


class CharacterTokenizer(Changeable):
    """Splits words into characters, with the parameters of transformers' `CharacterTokenizer`.

    Args:
        vocab: the entries; anything with `in`.
        unk_token: the token for a character that is no entry.
        normalize_text: compose by compatibility (NFKC) first.

    >>> CharacterTokenizer({"ア": 0, "a": 1}, "[UNK]").tokenize("ｱab")
    ['ア', 'a', '[UNK]']
    """

    def __init__(self, vocab: Mapping[str, Any], unk_token: str, normalize_text: bool = True) -> None:
        self.vocab = vocab
        self.unk_token = unk_token
        self.normalize_text = normalize_text

    def tokenize(self, text: str) -> list[str]:
        """The characters of a text."""
        require_text(text)
        if self.normalize_text:
            text = normalize("NFKC", text)
        vocab, unknown = self.vocab, self.unk_token
        return [char if char in vocab else unknown for char in text]

    def locate(self, word: AlignedText) -> AlignedText:
        """The characters of a word, each with its span: as many as `tokenize` gives."""
        return composed(word, "NFKC") if self.normalize_text else word

    def snapshot(self) -> Self:
        """A copy of the options as they are now."""
        other = type(self).__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    def without(self, entries: Collection[str]) -> CharacterTokenizer:
        """The same options without some of the entries."""
        vocab = {entry: value for entry, value in self.vocab.items() if entry not in entries}
        return CharacterTokenizer(vocab, self.unk_token, self.normalize_text)
