"""The content of a tokenizer.json as values, and the check of its tokens and ids."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from trietok.disk import Path_
from trietok.errors import VocabularyError
from trietok.files.components import pipeline_of
from trietok.files.json_place import (
    BERT_NORMALIZER,
    BERT_PRE_TOKENIZER,
    BertNormalizer,
    JsonPlace,
)
from trietok.inputs.post_processors import PostProcessor, bare_pieces
from trietok.inputs.template import RowPiece
from trietok.text.added_tokens import AddedToken
from trietok.text.wordpiece import BERT_LONGEST_WORD, BERT_PREFIX

if TYPE_CHECKING:
    from trietok.text.pre_tokenizers import Components


# The settings of the model, by their names in the file and in a `TokenizerJson`.
WORDPIECE = ("unk_token", "continuing_subword_prefix", "max_input_chars_per_word")


class WordPieceDecoder(NamedTuple):
    """How tokens become text: `prefix` is taken off, and with `cleanup` the spaces before
    punctuation.
    """

    prefix: str = BERT_PREFIX
    cleanup: bool = True


class JsonTruncation(NamedTuple):
    """What the Rust tokenizer does to a sequence that is too long, if a call does not say
    otherwise.

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


class JsonPadding(NamedTuple):
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

    def with_id_of(self, vocabulary: Mapping[str, int]) -> JsonPadding:
        """Return the same with the id that its token has: ids may have moved since it was read."""
        return self._replace(pad_id=vocabulary.get(self.pad_token, self.pad_id))


class TokenizerJson(NamedTuple):
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
        components: the JSON of normalizer and pre-tokenizer, where they are others than BERT's;
            `pipeline_of` reads them. A BertNormalizer among them may stand in `normalizer`, too.

    >>> from trietok.files.json_place import NO_NORMALIZER
    >>> value = TokenizerJson({"[UNK]": 0, "un": 1, "##able": 2}, normalizer=NO_NORMALIZER)
    >>> value.normalizer.lowercase, [piece.type_id for piece in value.pieces(pair=True)]
    (False, [0, 1])
    """

    vocabulary: Mapping[str, int]
    unk_token: str = "[UNK]"
    continuing_subword_prefix: str = BERT_PREFIX
    max_input_chars_per_word: int = BERT_LONGEST_WORD
    normalizer: BertNormalizer | None = BertNormalizer()
    post_processor: PostProcessor | None = None
    decoder: WordPieceDecoder | None = WordPieceDecoder()
    added_tokens: Mapping[int, AddedToken] = MappingProxyType({})
    truncation: JsonTruncation | None = None
    padding: JsonPadding | None = None
    components: tuple[Any, Any] | None = None

    @property
    def takes_arguments(self) -> bool:
        """Whether the arguments of a class override the normalizer: where that is a BertNormalizer,
        and in no list.
        """
        if self.components is None:
            return self.normalizer is not None
        normalizer, _ = self.components
        return isinstance(normalizer, dict) and normalizer.get("type") == BERT_NORMALIZER

    def pipeline(self) -> Components | None:
        """Return the stages that replace BERT's own; None if the file has BERT's."""
        if self.components is None and self.normalizer is not None:
            return None
        normalizer, pre_tokenizer = self.components or _NOT_NORMALIZED
        return pipeline_of(JsonPlace(normalizer, (), ""), JsonPlace(pre_tokenizer, (), ""))[1]

    def pieces(self, pair: bool = False) -> tuple[RowPiece, ...]:
        """Return the template for one text or, with `pair`, two: texts and special tokens in order,
        with type ids.
        """
        return self.post_processor.pieces(pair) if self.post_processor else bare_pieces(pair)


_NOT_NORMALIZED = (None, {"type": BERT_PRE_TOKENIZER})


def said_of_stages(
    normalizer: BertNormalizer, pipeline: Components | None
) -> tuple[BertNormalizer | None, tuple[Any, Any] | None]:
    """Return the `normalizer` and the `components` of a TokenizerJson with these stages, which are
    those of `pipeline_of`.
    """
    if pipeline is None:
        return normalizer, None
    if pipeline.said == _NOT_NORMALIZED:
        return None, None
    return normalizer, pipeline.said


# ---- ids -----------------------------------------------------------------------------------------


def check_ids(value: TokenizerJson, path: Path_) -> None:
    """Raise if tokens and ids contradict each other, or if tokenizers 0.22.2 would give an added
    token another id.
    """
    if value.unk_token not in value.vocabulary:
        problem = f"model.unk_token is {value.unk_token!r:.60}, which is not in model.vocab; add it"
        raise ids_error(path, problem, value.unk_token)
    _check_added(value, path)
    _check_post_processor(value, path)


def _check_added(value: TokenizerJson, path: Path_) -> None:
    """Raise for an added token that gets another id when the Rust tokenizer loads the file, or has
    that of an entry.

    A token of the vocabulary keeps its id there. The others are numbered in their order from the
    number of the vocabulary's entries on, whether or not a number is an entry's id already.
    """
    vocabulary = value.vocabulary
    next_id = len(vocabulary)
    taken: dict[int, str] = {}  # by entries, among the ids from next_id on
    if any(token.content not in vocabulary for token in value.added_tokens.values()):
        taken = {entry_id: entry for entry, entry_id in vocabulary.items() if entry_id >= next_id}
    for place, (token_id, token) in enumerate(value.added_tokens.items()):
        content, is_entry = token.content, token.content in vocabulary
        rust_id = vocabulary[content] if is_entry else next_id
        if not is_entry:
            next_id += 1
        if rust_id == token_id and (is_entry or token_id not in taken):
            continue
        where = f"added_tokens[{place}] ({content!r:.60}) has the id {token_id}"
        if rust_id == token_id:
            problem = (
                f"{where}, which is that of {taken[token_id]!r:.60} in model.vocab; the Rust"
                " tokenizer numbers it so because model.vocab leaves ids without a token; give"
                " every id a token"
            )
            raise ids_error(path, problem, content, None, token_id)
        why = (
            "that is its id in model.vocab"
            if is_entry
            else "tokens that are not in model.vocab are numbered in their order from"
            f" {len(vocabulary)}, the number of its entries, whatever ids they have (ids without a"
            " token are not counted)"
        )
        problem = f"{where}, and the Rust tokenizer would give it {rust_id}: {why}"
        raise ids_error(path, problem, content, rust_id, token_id)


def _check_post_processor(value: TokenizerJson, path: Path_) -> None:
    """Raise for a special token around texts whose id is another token's, or no token's."""
    if value.post_processor is None:
        return
    added = {token.content: token_id for token_id, token in value.added_tokens.items()}
    for where, special, token_id in value.post_processor.special_ids():
        known_id = added.get(special, value.vocabulary.get(special))
        if known_id == token_id:
            continue
        problem = f"post_processor.{where} gives {special!r:.60} the id {token_id}"
        if known_id is not None:
            problem += f"; everywhere else it has {known_id}"
            raise ids_error(path, problem, special, known_id, token_id)
        if token_id not in value.added_tokens and token_id not in value.vocabulary.values():
            raise ids_error(path, f"{problem}, which no token has", special, None, token_id)


def ids_error(
    path: Path_,
    problem: str,
    token: str | None = None,
    expected_id: int | None = None,
    found_id: int | None = None,
) -> VocabularyError:
    """Return the error for tokens and ids of a file that do not agree."""
    told = f"{os.fspath(path)}: {problem}"
    return VocabularyError(told, path=path, token=token, expected_id=expected_id, found_id=found_id)
