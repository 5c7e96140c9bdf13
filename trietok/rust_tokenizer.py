"""The Rust profile of a tokenizer: what the classes of the fast family have in common.

In: the arguments of a tokenizer, and what a tokenizer.json says. Out: the ids, tokens, spans and rows that tokenizers
0.22.2 gives behind transformers 4.57.6. A class puts `RustProfile` before the class of the slow profile, whose roles,
template and inputs of the model it shares.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trietok.added_token import AddedToken
from trietok.aligned_text import Located, Span
from trietok.bert import BertTokenizer
from trietok.bulk import bulk
from trietok.call_inputs import reject_unknown
from trietok.decoding import ARTIFACTS
from trietok.errors import InputTypeError
from trietok.pieces_around import Piece
from trietok.post_processors import PostProcessor, RobertaProcessing, bare_pieces
from trietok.remembering import is_stage
from trietok.rust_added_tokens import RustAddedTokens
from trietok.rust_basic_tokenizer import RustBasicTokenizer
from trietok.rust_calls import RustCallsMixin
from trietok.rust_chunk_encoder import RustChunkEncoder
from trietok.rust_spans import RustStages, locate, trim_offsets
from trietok.special_tokens import Token
from trietok.templates import Template, template_processing_of
from trietok.tokenizer_parts import WordPieceDecoder
from trietok.untrusted import SpecialPolicy, special_policy
from trietok.vocab_files import TOKENIZER_FILE, VOCAB_FILE
from trietok.vocabulary import Vocabulary
from trietok.wordpiece import WordpieceTokenizer

if TYPE_CHECKING:
    from trietok.tokenizer_parts import TokenizerJson

is_stage(RustBasicTokenizer, "tokenize", "clean", "rust_cleaning_table", "normalized", "normalize", "words")

_ARTIFACTS = (*ARTIFACTS[:7], (" do not", " don't"), *ARTIFACTS[7:])
# What `_located` and `_text_ids` take beside a text.
Options = Mapping[str, Any]


class RustProfile(RustCallsMixin, BertTokenizer):
    """What makes a tokenizer one of the Rust profile. Not used by itself: `BertTokenizerFast` inherits it."""

    vocab_files_names = {"vocab_file": VOCAB_FILE, "tokenizer_file": TOKENIZER_FILE}
    _basic_class = RustBasicTokenizer
    _encoder_class = RustChunkEncoder
    slow_tokenizer_class: Any = BertTokenizer
    basic_tokenizer: RustBasicTokenizer
    _added: RustAddedTokens
    # Which of the normalizer's settings the arguments override.
    _overriding: tuple[str, ...] = ("lowercase", "strip_accents", "handle_chinese_chars")

    def __init__(
        self,
        vocab_file: str | os.PathLike[str] | None = None,
        tokenizer_file: str | os.PathLike[str] | None = None,
        do_lower_case: bool = True,
        **kwargs: Any,
    ) -> None:
        self._file: TokenizerJson | None = None
        if tokenizer_file is not None:
            from trietok.fast_files import added_tokens_of
            from trietok.tokenizer_json import read_tokenizer_json

            self._file = read_tokenizer_json(tokenizer_file)
            kwargs["added_tokens_decoder"] = added_tokens_of(self._file, kwargs.get("added_tokens_decoder") or {})
            kwargs.setdefault("clean_up_tokenization_spaces", False)
            for side, setting in (("truncation_side", self._file.truncation), ("padding_side", self._file.padding)):
                if setting is not None:
                    kwargs.setdefault(side, setting.direction.lower())
        elif vocab_file is None:
            raise InputTypeError(f"{type(self).__name__} takes a vocab_file, a tokenizer_file or both", value=None)
        kwargs.update(do_basic_tokenize=True, never_split=None)  # of the slow profile only
        super().__init__(vocab_file or tokenizer_file or "", do_lower_case=do_lower_case, **kwargs)
        self._override_normalizer(kwargs)
        if self._file is None:
            self.post_processor: PostProcessor | None = template_processing_of(self, self._rust_template)
            self.decoder: WordPieceDecoder | None = WordPieceDecoder()
        else:
            self.post_processor, self.decoder = self._file.post_processor, self._file.decoder
        self._file = None

    # ---- what it is made of -----------------------------------------------------------------------------------------

    def read_vocabulary(self, vocab_file: Any, record: Any, added: Any) -> Vocabulary:  # type: ignore[override]
        if self._file is None:
            return BertTokenizer.read_vocabulary(vocab_file, record, added)
        return Vocabulary.from_mapping(self._file.vocabulary)

    def _new_basic_tokenizer(self, **options: Any) -> RustBasicTokenizer:
        self._asked = {
            "lowercase": options["do_lower_case"],
            "strip_accents": options["strip_accents"],
            "handle_chinese_chars": options["tokenize_chinese_chars"],
        }
        if self._file is None:
            return RustBasicTokenizer(
                options["do_lower_case"], options["tokenize_chinese_chars"], options["strip_accents"]
            )
        from trietok.tokenizer_parts import NO_NORMALIZER

        said = self._file.normalizer or NO_NORMALIZER
        return RustBasicTokenizer(said.lowercase, said.handle_chinese_chars, said.strip_accents, said.clean_text)

    def _override_normalizer(self, kwargs: Options) -> None:
        """Put the arguments in the place of what the file says; added tokens stay as the file normalizes them."""
        if self._file is None or self._file.normalizer is None:
            return
        for name in self._overriding:
            attribute = _ATTRIBUTES[name]
            if getattr(self.basic_tokenizer, attribute) != self._asked[name]:
                setattr(self.basic_tokenizer, attribute, self._asked[name])

    def _new_wordpiece_tokenizer(self, unk_token: str) -> WordpieceTokenizer:
        if self._file is None:
            return super()._new_wordpiece_tokenizer(unk_token)
        return WordpieceTokenizer(
            self.vocabulary.token_to_id,
            self._file.unk_token,
            self._file.max_input_chars_per_word,
            continuing_subword_prefix=self._file.continuing_subword_prefix,
        )

    def _new_added_tokens(self) -> RustAddedTokens:
        return RustAddedTokens(basic=self.basic_tokenizer)

    @property
    def is_fast(self) -> bool:
        return True

    @property
    def can_save_slow_tokenizer(self) -> bool:
        """Whether the files of the slow profile can be saved: always."""
        return True

    def tokenize(
        self, text: str, pair: str | None = None, add_special_tokens: bool = False, **kwargs: Any
    ) -> list[str]:
        """Split a text, or a pair, into tokens; with `add_special_tokens` those of the template are around.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
        >>> tokenizer.tokenize("The people", "say", add_special_tokens=True)
        ['[CLS]', 'the', 'people', '[SEP]', 'say', '[SEP]']
        """
        if pair is None and not add_special_tokens:
            return super().tokenize(text, **kwargs)
        ids = self.encode_plus(text, pair, add_special_tokens=add_special_tokens, **kwargs).input_ids
        tokens: list[str] = self.convert_ids_to_tokens(ids)
        return tokens

    # ---- added tokens -----------------------------------------------------------------------------------------------

    def _add_role_tokens(self) -> None:
        there = self._added.encoder
        missing = [token for token in self.all_special_tokens_extended if str(token) not in there]
        self._add_tokens(missing, special_tokens=True)

    def _content_to_add(self, token: AddedToken, special_tokens: bool, is_plain: bool) -> str:
        return token.content

    def _add_tokens(self, new_tokens: Sequence[Token], special_tokens: bool = False) -> int:
        with self._guard.changing(), bulk():
            to_set, listed, new = self._plan_listing(new_tokens, special_tokens)
            if to_set:
                self._added.set_listed(to_set, listed)
            size = self._sizes.there("len")
            self._sizes.begin_another_state(len=None if size is None else size + new)
        return len(listed)

    def _plan_listing(
        self, new_tokens: Sequence[Token], special_tokens: bool
    ) -> tuple[dict[int, AddedToken], list[AddedToken], int]:
        """What adding comes to: the token of each id, all that is to be listed, and how many have a new id."""
        decoder, there, known_ids = self._added.decoder, self._added.encoder, self._known_ids()
        first_id = next_id = self.max_id + 1
        to_set: dict[int, AddedToken] = {}
        ids: dict[str, int] = {}
        listed: dict[AddedToken, None] = {}
        for given in new_tokens:
            token = AddedToken.of(given)
            if special_tokens:
                token = token.as_special()
            content = token.content
            self._check_addable(content)
            known_id = there.get(content)
            if token in listed or (known_id is not None and decoder[known_id] == token):
                continue
            token_id = ids.get(content, there.get(content, known_ids.get(content)))
            if token_id is None:
                token_id, next_id = next_id, next_id + 1
            ids[content] = token_id
            to_set.pop(token_id, None)
            to_set[token_id] = token
            listed[token] = None
        self._require_rows(next_id if next_id > first_id else 0)
        return to_set, list(listed), next_id - first_id

    def _close_holes(self, left: set[int]) -> dict[int, int]:
        new_ids = super()._close_holes(left)
        if self.post_processor is not None:
            self.post_processor = self.post_processor.renumbered(new_ids)
        return new_ids

    # ---- text to tokens ---------------------------------------------------------------------------------------------

    def _is_rememberable(self) -> bool:
        return True

    def _stages(self) -> RustStages:
        return RustStages(self.basic_tokenizer, self.wordpiece_tokenizer, self.vocab, self._added)

    @property
    def _trims_offsets(self) -> bool:
        return isinstance(self.post_processor, RobertaProcessing) and self.post_processor.trim_offsets

    def _input_spans(self, text: Any, is_split_into_words: bool, options: Options) -> list[Span]:
        if self._trims_offsets and not is_split_into_words:
            return self._located(text, options).spans
        return super()._input_spans(text, is_split_into_words, options)

    def _locate(self, text: str, options: Options) -> Located:
        located = self._locate_untrimmed(text, options)
        if isinstance(self.post_processor, RobertaProcessing) and self.post_processor.trim_offsets:
            trim_offsets(located, self.post_processor.add_prefix_space)
        return located

    def _locate_untrimmed(self, text: str, options: Options) -> Located:
        if not isinstance(text, str):
            raise InputTypeError(f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text)
        kept = dict(options)
        as_text = kept.pop("split_special_tokens", self.split_special_tokens)
        policy = special_policy(self._special_contents(), kept) if kept else None
        text, unknown = self.prepare_for_tokenization(text, **kept)
        reject_unknown(unknown)
        if policy is None:
            return locate(text, self._stages(), self._added.contents_special if as_text else ())
        return self._locate_by_policy(text, policy)

    def _locate_by_policy(self, text: str, policy: SpecialPolicy) -> Located:
        special = self._special_contents()
        if policy.refused:
            self._refuse_specials(text, policy.refused)
        stages = self._stages()
        located = locate(text, stages, special - policy.allowed)
        if special.isdisjoint(located.tokens):
            return located
        return locate(text, stages._replace(wordpiece=self._ordinary_wordpiece(special)), special - policy.allowed)

    def _refuse_specials(self, text: str, refused: Collection[str]) -> None:
        from trietok.untrusted import refuse

        for token_id in locate(text, self._stages()).ids:
            token = self._token_of(token_id)
            if token in refused and token != self.unk_token:
                refuse(token, text)

    def _split_text(self, text: str, **kwargs: Any) -> list[str]:
        return self._locate(text, kwargs).tokens

    def _plain_ids(self, text: str, options: Options) -> list[int]:
        return self._located(text, options).ids

    def _tokenize(self, text: str, split_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        words = self.basic_tokenizer.tokenize(text)
        return [piece for word in words for piece in self.wordpiece_tokenizer.pieces_of(word)]

    @property
    def _rust_template(self) -> Template:
        """What stands around texts where only a vocab.txt says what a tokenizer is."""
        return self.template

    # ---- the template -----------------------------------------------------------------------------------------------

    def _pieces_around(self, pair: bool, add_special_tokens: bool) -> tuple[Piece, ...]:
        pieces = bare_pieces(pair) if self.post_processor is None else self.post_processor.pieces(pair)
        return pieces if add_special_tokens else tuple(piece for piece in pieces if piece.sequence is not None)

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many special tokens stand around one sequence, or around a pair."""
        return len(self._pieces_around(pair, True)) - 1 - pair

    # ---- files ------------------------------------------------------------------------------------------------------

    def _write_tokenizer_json(self, path: str | os.PathLike[str]) -> None:
        from trietok.fast_files import write  # not needed to encode

        write(path, self)

    # ---- ids to text ------------------------------------------------------------------------------------------------

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text, as the WordPiece decoder of the Rust tokenizers does."""
        if self.decoder is None:
            return " ".join(tokens)
        prefix = self.decoder.prefix
        parts: list[str] = []
        for token in tokens:
            if parts:
                token = token[len(prefix) :] if token.startswith(prefix) else f" {token}"
            parts.append(_cleaned_up(token) if self.decoder.cleanup else token)
        return "".join(parts)

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        spaces_between_special_tokens: bool = True,  # of the slow profile only
        **kwargs: Any,
    ) -> str:
        kwargs.pop("use_source_tokenizer", None)
        reject_unknown(kwargs)
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        tokens = self.convert_ids_to_tokens(ids)
        if skip_special_tokens:
            special = self._added.contents_special
            tokens = [token for token in tokens if token not in special]
        text = self.convert_tokens_to_string(tokens)
        clean_up = clean_up_tokenization_spaces
        if clean_up is None:
            clean_up = self.clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if clean_up else text


def _cleaned_up(token: str) -> str:
    """A token without the artifacts of tokenization that the WordPiece decoder knows; it has one more than Python."""
    for artifact, original in _ARTIFACTS:
        token = token.replace(artifact, original)
    return token


_ATTRIBUTES = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "handle_chinese_chars": "tokenize_chinese_chars",
}
