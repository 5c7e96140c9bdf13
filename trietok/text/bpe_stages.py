"""The stages of a byte-pair encoding that is loaded from a tokenizer.json, and their fast path.

In: a text. Out: its tokens, ids and spans. Around words everything is as in the fast profile of BERT: added tokens,
normalization, the cut into words. The words are split by merges.
"""

from __future__ import annotations

from trietok.text.alignment import AlignedText, Span
from trietok.text.bpe import BpeTokenizer
from trietok.text.rust_chunk_encoder import RustChunkEncoder
from trietok.text.rust_stages import RustStages
from trietok.text.watch import StageName


class BpeStages(RustStages):
    """`RustStages` with a `BpeTokenizer` in place of WordPiece."""

    wordpiece: BpeTokenizer  # type: ignore[assignment]

    @property
    def order(self) -> tuple[StageName, ...]:
        return super().order[:-1]  # all but WordPiece

    def spans_of(self, word: AlignedText, start: int, end: int, pieces: list[str]) -> list[Span]:
        """The spans of the tokens; a character that is left out belongs to none."""
        places = self.wordpiece.places_of(word.text[start:end])
        return [word.span(start + first, start + behind) for _, first, behind in places]


class BpeChunkEncoder(RustChunkEncoder):
    """`RustChunkEncoder` for `BpeStages`: the compiled kernel knows WordPiece only, and so do the cached spans."""

    def _can_hand_over(self) -> bool:
        return False

    def _has_chunked_spans(self, text: str) -> bool:
        return False
