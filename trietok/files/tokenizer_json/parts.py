"""The content of a tokenizer.json as plain values: `TokenizerJson` and its parts.

In: the values. Out: the same values by name. Nothing here reads, writes or checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from trietok.inputs.pieces import Piece
from trietok.inputs.post_processors import PostProcessor, bare_pieces
from trietok.text.added_token import AddedToken
from trietok.text.bpe import BpeParts


@dataclass(frozen=True)
class BertNormalizer:
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


NO_NORMALIZER = BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)


@dataclass(frozen=True)
class WordPieceDecoder:
    """How tokens become text: `prefix` is taken off, and with `cleanup` the spaces before punctuation."""

    prefix: str = "##"
    cleanup: bool = True


@dataclass(frozen=True)
class BpeDecoder:
    """How the tokens of a byte-pair encoding become text: `suffix` becomes a space, but at the end."""

    suffix: str = "</w>"


@dataclass(frozen=True)
class Truncation:
    """What the Rust tokenizer does to a sequence that is too long, if a call does not say otherwise.

    Attributes:
        direction: "Right" or "Left": the end that is cut off.
        max_length: in tokens, special tokens included.
        strategy: "LongestFirst", "OnlyFirst" or "OnlySecond".
        stride: how many tokens the next piece repeats.
    """

    direction: str = "Right"
    max_length: int = 512
    strategy: str = "LongestFirst"
    stride: int = 0


@dataclass(frozen=True)
class Padding:
    """How the Rust tokenizer fills up sequences, if a call does not say otherwise.

    Attributes:
        strategy: "BatchLongest", or the length in tokens to fill up to.
        direction: "Right" or "Left": the end that is filled.
        pad_to_multiple_of: the length becomes a multiple of it; None or 0 for any length.
        pad_id: the id to fill with.
        pad_type_id: its token type id.
        pad_token: its token.
    """

    strategy: str | int = "BatchLongest"
    direction: str = "Right"
    pad_to_multiple_of: int | None = None
    pad_id: int = 0
    pad_type_id: int = 0
    pad_token: str = "[PAD]"

    def with_id_of(self, vocabulary: Mapping[str, int]) -> Padding:
        """The same with the id that its token has: ids may have moved since it was read."""
        return replace(self, pad_id=vocabulary.get(self.pad_token, self.pad_id))


@dataclass(frozen=True)
class TokenizerJson:
    """Everything a tokenizer.json says.

    Attributes:
        vocabulary: token → id, as the file has it.
        unk_token: the token for a word that the vocabulary cannot cover.
        continuing_subword_prefix: what marks an entry that continues a word.
        max_input_chars_per_word: longest word, in code points, that is tried.
        normalizer: None leaves a text as it is.
        post_processor: None adds no special tokens.
        decoder: None joins tokens with spaces.
        added_tokens: id → token, in the order of the file.
        truncation: None where the file sets none.
        padding: None where the file sets none.
        bpe: the model, where that is a byte-pair encoding and not WordPiece. Then `unk_token`,
            `continuing_subword_prefix` and `max_input_chars_per_word` say nothing.
        composes: whether the normalizer ends with NFC; of a byte-pair encoding only.
        splits_punctuation: whether the pre-tokenizer is BertPreTokenizer; else WhitespaceSplit, of a byte-pair
            encoding without a normalizer only.

    >>> value = TokenizerJson({"[UNK]": 0, "un": 1, "##able": 2}, normalizer=NO_NORMALIZER)
    >>> value.normalizer.lowercase, [piece.type_id for piece in value.pieces(pair=True)]
    (False, [0, 1])
    """

    vocabulary: Mapping[str, int]
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = "##"
    max_input_chars_per_word: int = 100
    normalizer: BertNormalizer | None = field(default_factory=BertNormalizer)
    post_processor: PostProcessor | None = None
    decoder: WordPieceDecoder | BpeDecoder | None = field(default_factory=WordPieceDecoder)
    added_tokens: Mapping[int, AddedToken] = field(default_factory=dict)
    truncation: Truncation | None = None
    padding: Padding | None = None
    bpe: BpeParts | None = None
    composes: bool = False
    splits_punctuation: bool = True

    def pieces(self, pair: bool = False) -> tuple[Piece, ...]:
        """The template for one text or, with `pair`, two: texts and special tokens in order, with type ids."""
        return bare_pieces(pair) if self.post_processor is None else self.post_processor.pieces(pair)
