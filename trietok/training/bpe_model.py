"""A trained byte-pair encoding: words to tokens and ids, and the files.

In: vocabulary and merges. Out: a `Bpe`, whose words are split by `BpeTokenizer`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from trietok.errors import VocabularyError
from trietok.files.tokenizer_json.bpe import MARKS
from trietok.text.bpe import BpeParts, BpeTokenizer
from trietok.text.read_only import ReadOnlyDict
from trietok.training.bpe_files import read_bpe, save_bpe

_REMEMBERED = 10_000  # words
_LONGEST_REMEMBERED = 256  # characters; so the cache stays below a few megabytes


class Bpe:
    """Splits words by merges: the earliest merge that applies is made first, the leftmost of several.

    Args:
        vocab: token → id.
        merges: the pairs of tokens, in the order they were learnt.
        unk_token: stands for a character that the vocabulary does not hold; None leaves such characters out.
        continuing_subword_prefix: marks a token that continues a word.
        end_of_word_suffix: marks a token at the end of a word.
        special_tokens: the tokens that `save` lists as special.

    >>> bpe = Bpe({"l": 0, "o": 1, "w": 2, "lo": 3, "low": 4}, [("l", "o"), ("lo", "w")])
    >>> bpe.tokenize("lowlo"), bpe.encode("lowlo")
    (['low', 'lo'], [4, 3])

    Attributes:
        vocab, merges: as given, read-only.

    Raises:
        VocabularyError: a merge has or makes a token that is not in the vocabulary, or the unknown or a special
            token is not.
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        merges: Iterable[tuple[str, str]],
        *,
        unk_token: str | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        special_tokens: Iterable[str] = (),
    ) -> None:
        self.vocab: ReadOnlyDict[str, int] = ReadOnlyDict(vocab)
        self.merges = tuple((left, right) for left, right in merges)
        self.unk_token = unk_token
        self.continuing_subword_prefix = continuing_subword_prefix
        self.end_of_word_suffix = end_of_word_suffix
        self.special_tokens = tuple(special_tokens)
        parts = (self.vocab, self.merges, unk_token, continuing_subword_prefix, end_of_word_suffix)
        self._splitter = BpeTokenizer(BpeParts(*parts))
        self._check_tokens()
        self._remembered: dict[str, tuple[str, ...]] = {}

    @classmethod
    def from_directory(cls, directory: str | os.PathLike[str]) -> Bpe:
        """Load what `save` or `trietok train bpe` wrote.

        A `Bpe` splits words; the caller splits the text into words. For the directories of the command, that is done by
        `BasicTokenizer(do_lower_case=...)`, with False unless the command was given `--uncased`.

        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = Bpe({"l": 0, "o": 1, "lo": 2}, [("l", "o")]).save(folder)
        >>> Bpe.from_directory(folder).tokenize("lolo")
        ['lo', 'lo']

        Raises:
            FileError: vocab.json, merges.txt or tokenizer.json is missing or cannot be read.
            FileFormatError: one of them is damaged, they disagree, or tokenizer.json holds what `Bpe` does not do.
            VocabularyError: as `Bpe`.
        """
        parts, special_tokens = read_bpe(Path(directory))
        marks = {name: getattr(parts, name) for name in MARKS}
        return cls(parts.vocab, parts.merges, **marks, special_tokens=special_tokens)

    def _check_tokens(self) -> None:
        for token in self.special_tokens:
            if token not in self.vocab:
                raise VocabularyError(
                    f"the special token {token!r} is not in the vocabulary; add it, or leave it out of special_tokens",
                    token=token,
                )

    def tokenize(self, word: str) -> list[str]:
        """Split one word into tokens. O(n log n) for n characters."""
        tokens = self._remembered.get(word)
        if tokens is None:
            tokens = tuple(self._splitter.pieces_of(word))
            if len(word) <= _LONGEST_REMEMBERED:
                if len(self._remembered) >= _REMEMBERED:
                    self._remembered = {}
                self._remembered[word] = tokens
        return list(tokens)

    def encode(self, word: str) -> list[int]:
        """The ids of a word's tokens."""
        return [self.vocab[token] for token in self.tokenize(word)]

    def save(self, directory: str | os.PathLike[str], *, do_lower_case: bool | None = None) -> list[Path]:
        """Write vocab.json, merges.txt, tokenizer.json and tokenizer_config.json, all of them or none.

        tokenizers loads tokenizer.json, and transformers the directory. Both then make words of a text first:

        Args:
            directory: where to; made if need be.
            do_lower_case: None splits texts at whitespace only; True or False also splits at punctuation, as BERT does
                it, and True lower-cases and strips accents.

        Returns:
            The files' paths.

        Raises:
            FileError: something cannot be written; the old files are as they were.
            VocabularyError: a token of a merge holds whitespace, which merges.txt cannot keep, or a token half of a
                surrogate pair.
        """
        return save_bpe(self._splitter.parts, self.special_tokens, Path(directory), do_lower_case)
