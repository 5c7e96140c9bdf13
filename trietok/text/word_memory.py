"""The cache of words: which ids WordPiece cuts each into.

In: a word, as the stages give it. Out: its ids. Encoders with the same vocabulary share it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trietok.text.memory import IdTuple, Memory

if TYPE_CHECKING:
    from trietok.text.kernel._kernel import Vocabulary as KernelVocabulary
    from trietok.text.stages import Stages


class WordMemory(Memory):
    """A cache word → ids. It depends on vocabulary and WordPiece only, so encoders share it."""

    __slots__ = (
        *("_also_added", "_longest", "_unknown", "_unknown_ids", "_vocab", "_wordpiece"),
        *("kernel_vocabulary", "stages"),
    )

    def __init__(self, stages: Stages, limit: int) -> None:
        super().__init__(self._ids_of_word, limit)
        self.stages = stages
        self._vocab = stages.vocab
        self._wordpiece = stages.wordpiece
        self._longest = (
            stages.wordpiece.max_input_chars_per_word
            if stages.wordpiece.vocab is stages.vocab
            else -1
        )
        # The entries that are added tokens too, perhaps with another id; tokens added later beside
        # them are none.
        self._also_added = frozenset(stages.vocab.keys() & stages.added.encoder.flat().keys())
        self._unknown = stages.wordpiece.unk_token
        self._unknown_ids: IdTuple | None = None
        self.kernel_vocabulary: KernelVocabulary | None = (
            None  # what the kernels of these encoders share
        )

    def _ids_of_word(self, word: str) -> IdTuple:
        token_id = self._vocab.get(word)
        if token_id is not None and len(word) <= self._longest and word not in self._also_added:
            return (token_id,)
        if self.kernel_vocabulary is not None:
            ids = self.kernel_vocabulary.ids(word)
            if ids is not None:
                return tuple(ids)
        pieces = self._wordpiece.pieces_of(word)
        # the commonest of those that are added tokens too
        if len(pieces) == 1 and pieces[0] is self._unknown:
            if self._unknown_ids is None:
                self._unknown_ids = (self.stages.to_id(self._unknown),)
            return self._unknown_ids
        if self._also_added.isdisjoint(pieces):
            try:
                return tuple(map(self._vocab.__getitem__, pieces))
            except KeyError:  # of a WordPiece stage with entries of its own
                pass
        return tuple(map(self.stages.to_id, pieces))
