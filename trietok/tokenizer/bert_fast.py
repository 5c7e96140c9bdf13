"""`BertTokenizerFast`: the ids of the Rust tokenizers behind transformers' interface, in pure
Python.

In: a tokenizer.json or a vocab.txt and transformers' parameters. Out: exactly what tokenizers
0.22.2 gives behind transformers 4.57.6's class of that name, but for the departures in
`docs/hf_compatibility.md`. A class of the fast family inherits from `RustProfile` first, and from
its slow class (roles, template, `model_input_names`) second.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trietok.errors import InputTypeError, NotSupportedError, VocabularyError
from trietok.files.formats import TOKENIZER_FILE, VOCAB_FILE
from trietok.files.json_place import NO_NORMALIZER
from trietok.files.tokenizer_json import (
    ReadFile,
    added_tokens_of,
    read_tokenizer_json,
    tokenizer_json_of_object,
)
from trietok.files.tokenizer_json_content import WordPieceDecoder
from trietok.files.tokenizer_json_writer import fast_text
from trietok.inputs.batch import pair_of
from trietok.inputs.options import (
    OF_CALLS,
    CallOptions,
    Padding,
    Side,
    TokenizeKeywords,
    Truncation,
)
from trietok.inputs.post_processors import PostProcessor, RobertaProcessing, template_processing_of
from trietok.inputs.settings import RUST
from trietok.inputs.template import RowPiece, Template
from trietok.text.added_search import AddedTokens, FastAddedTokens
from trietok.text.added_tokens import AddedToken
from trietok.text.decoding import joints_of
from trietok.text.pipeline import Pipeline, Settings
from trietok.text.vocabulary import Vocabulary
from trietok.text.wordpiece import WordpieceTokenizer
from trietok.text.words import STEPS, ComponentsTokenizer, RustBasicTokenizer
from trietok.tokenizer import vocabulary_edits as editing
from trietok.tokenizer.bert import BertTokenizer, given, known_tokens_of
from trietok.tokenizer.token_table import Token, TokenTable
from trietok.typing_compat import Self, Unpack

if TYPE_CHECKING:
    from trietok.files.tokenizer_json_content import TokenizerJson

logger = logging.getLogger("trietok")


class RustProfile(BertTokenizer):
    """The methods of the fast profile. Not used by itself: `BertTokenizerFast` inherits it."""

    vocab_files_names = {"vocab_file": VOCAB_FILE, "tokenizer_file": TOKENIZER_FILE}
    slow_tokenizer_class: Any = BertTokenizer
    basic_tokenizer: RustBasicTokenizer
    profile = "fast"
    _input_rules = RUST
    # The settings of the normalizer that the arguments override.
    _overriding: tuple[str, ...] = ("do_lower_case", "strip_accents", "tokenize_chinese_chars")
    _of_tokenize = ("pair", *OF_CALLS[2:])
    _plan_adding = staticmethod(editing.plan_listing)
    options_of_slow: tuple[str, ...] = ("do_basic_tokenize", "never_split")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__bases__[0] is RustProfile and len(cls.__bases__) == 2:
            cls.slow_tokenizer_class = cls.__bases__[1]

    def __init__(
        self,
        vocab_file: str | os.PathLike[str] | None = None,
        tokenizer_file: str | os.PathLike[str] | None = None,
        do_lower_case: bool = True,
        **kwargs: Any,
    ) -> None:
        self._file: TokenizerJson | None = None
        # settings of a tokenizer.json that do not count
        self.overridden: tuple[tuple[str, bool | None], ...] = ()
        # tokens of tokenizer_config.json and those that they replace, while the tokenizer is made
        self._saved: dict[str, AddedToken] = {}
        self._replaced: dict[str, AddedToken] = {}
        self._saved_ids = sorted(kwargs.get("added_tokens_decoder") or ())
        given = kwargs.pop("tokenizer_object", None)
        if kwargs.pop("from_slow", False):
            tokenizer_file = None
        if isinstance(given, ReadFile):
            # the caller may have named another file than the one that `from_pretrained` read
            given = given if given.path == tokenizer_file else None
        elif given is not None:
            tokenizer_file = "tokenizer_object"  # what errors call it
        if tokenizer_file is not None:
            self._file = self._read_file(tokenizer_file, given, kwargs)
        elif vocab_file is None:
            raise InputTypeError(
                f"{type(self).__name__} takes a vocab_file, a tokenizer_file or both; with"
                " from_slow a vocab_file",
                value=None,
            )
        else:
            kwargs = {name: _settled(name, value) for name, value in kwargs.items()}
        # These two are kept and saved for the slow profile; the fast profile does not use them.
        slow_options = {} if self._file else {"do_basic_tokenize": True, "never_split": None}
        slow_options.update(
            (name, kwargs.pop(name)) for name in self.options_of_slow if name in kwargs
        )
        self._without_basic = slow_options.get("do_basic_tokenize") is False
        super().__init__(vocab_file or tokenizer_file or "", do_lower_case=do_lower_case, **kwargs)
        for name in self.options_of_slow:
            del self.init_kwargs[name]
        self.init_kwargs.update(slow_options)
        if self._file is None or self._file.takes_arguments:  # added tokens stay as they are
            for name in self._overriding:
                if (said := getattr(self.basic_tokenizer, name)) != self._asked[name]:
                    self.overridden += ((name, said),)
                    setattr(self.basic_tokenizer, name, self._asked[name])
        if self._file is None:
            self._require_unknown_entry(vocab_file)
            self.post_processor = template_processing_of(self, self.rust_template)
            self.decoder: Any = WordPieceDecoder()
        else:
            self.post_processor, self.decoder = self._file.post_processor, self._file.decoder
        self._file, self._saved_ids, self._saved, self._replaced = None, [], {}, {}

    def _read_file(
        self, tokenizer_file: str | os.PathLike[str], given: Any, kwargs: dict[str, Any]
    ) -> TokenizerJson:
        """What a tokenizer.json says, or a `tokenizers.Tokenizer` that is given; the keywords take
        from it what they do not say.
        """
        file = (
            read_tokenizer_json(tokenizer_file)
            if given is None
            else tokenizer_json_of_object(given)
        )
        saved = kwargs.get("added_tokens_decoder") or {}
        kwargs["added_tokens_decoder"] = added_tokens_of(file, saved, tokenizer_file)
        kwargs.setdefault("clean_up_tokenization_spaces", False)
        self.truncation_in_file, self.padding_in_file = file.truncation, file.padding
        for side, setting in (("truncation_side", file.truncation), ("padding_side", file.padding)):
            if setting is not None:
                kwargs.setdefault(side, setting.direction.lower())
        return file

    def _require_unknown_entry(self, vocab_file: Any) -> None:
        """Raise where the unknown token is an added token alone: words are looked up in the
        vocabulary.
        """
        unknown = self.wordpiece_tokenizer.unk_token
        if unknown not in self.vocabulary:
            raise VocabularyError(
                f"{vocab_file}: the unknown token {unknown!r} is an added token and not in the"
                " vocabulary, so an unknown word has no id; add it as a line, or save the"
                " tokenizer with its tokenizer.json",
                path=vocab_file,
                token=unknown,
            )

    # ---- its parts -------------------------------------------------------------------------------

    def read_vocabulary(self, vocab_file: Any, record: Any, added: Any) -> Vocabulary:  # type: ignore[override]
        if self._file is None:
            return BertTokenizer.read_vocabulary(vocab_file, record, added)
        return Vocabulary.from_mapping(self._file.vocabulary)

    def _new_basic_tokenizer(self, **options: Any) -> RustBasicTokenizer:
        self._asked = options
        if self._file is None:
            # transformers converts a slow tokenizer, whose normalizer does nothing
            if self._without_basic:
                return RustBasicTokenizer(False, False, False)
            return RustBasicTokenizer(
                options["do_lower_case"],
                options["tokenize_chinese_chars"],
                options["strip_accents"],
            )
        switches = (self._file.normalizer or NO_NORMALIZER).switches
        components = self._file.pipeline()
        if components is None:
            return RustBasicTokenizer(*switches)
        return ComponentsTokenizer(components, *switches)

    def _new_wordpiece_tokenizer(self, vocabulary: Vocabulary, unk_token: str) -> Any:
        if self._file is None:
            return super()._new_wordpiece_tokenizer(vocabulary, unk_token)
        return WordpieceTokenizer(
            vocabulary.token_to_id,
            self._file.unk_token,
            self._file.max_input_chars_per_word,
            continuing_subword_prefix=self._file.continuing_subword_prefix,
        )

    def _no_added_tokens(self) -> AddedTokens:
        return FastAddedTokens(basic=self._basic().snapshot())

    def _basic(self) -> RustBasicTokenizer:
        """The basic tokenizer; raises for one of another kind, or with methods that no call would
        go through.
        """
        basic = self.basic_tokenizer
        if not isinstance(basic, RustBasicTokenizer):
            raise _not_called(self, f"a basic_tokenizer that is a {type(basic).__name__}")
        if basic.overrides(*_NOT_CALLED):
            own = [name for name in _NOT_CALLED if basic.overrides(name)]
            raise _not_called(self, f"{', '.join(own)} of a basic_tokenizer")
        return basic

    def _pipeline_of(self, table: TokenTable, *, live: bool, **how: Any) -> Pipeline | None:
        basic, wordpiece = self._basic(), self.wordpiece_tokenizer
        if live and not isinstance(wordpiece, WordpieceTokenizer):
            raise _not_called(self, f"a wordpiece_tokenizer that is a {type(wordpiece).__name__}")
        if not live:
            basic, wordpiece = basic.snapshot(), self._snapshot_of_wordpiece(wordpiece, table)
        assert table.vocabulary is not None
        processor = self.post_processor
        settings = Settings()  # WordPiece gives the unknown token itself
        if isinstance(processor, RobertaProcessing):
            settings = Settings(
                trims_offsets=processor.trim_offsets, keeps_one_space=processor.add_prefix_space
            )
        return Pipeline(
            basic,
            wordpiece,
            table.vocabulary,
            table.added,
            table.special_tokens,
            settings,
            live=live,
            **how,
        )

    def set_truncation_and_padding(
        self,
        padding_strategy: Padding,
        truncation_strategy: Truncation,
        max_length: int | None,
        stride: int,
        pad_to_multiple_of: int | None,
        padding_side: Side | None,
    ) -> None:
        """Check the options of a call, as a program written for transformers may ask for; nothing
        is kept.

        In transformers every call sets these anew, so they change no later call there either.

        Raises:
            InputError: an option is one that a call would refuse.
        """
        self(
            "",
            padding=padding_strategy,
            truncation=truncation_strategy,
            max_length=max_length,
            stride=stride,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
            verbose=False,
        )

    def train_new_from_iterator(
        self,
        text_iterator: Iterable[str | Iterable[str]],
        vocab_size: int,
        length: int | None = None,
        new_special_tokens: Iterable[Token] | None = None,
        special_tokens_map: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """A tokenizer like this one, with a vocabulary trained on texts.

        It has the class, the normalization, the template and the special tokens of this one; tokens
        that were added and are not special are left out, as in transformers. `docs/training.md`
        says how training goes.

        Args:
            text_iterator: texts, or lists of texts.
            vocab_size: the most tokens, special ones included.
            length: how many texts there are; not used.
            new_special_tokens: more special tokens.
            special_tokens_map: old special token → what it is called in the new tokenizer.
            **kwargs: of `trietok.train_wordpiece`, such as `min_frequency`.

        Raises:
            InputError: there is no text or no word, or an option is out of range.
            SpecialTokenError: a token that stands around texts is not special.
            VocabularyError: `vocab_size` is smaller than the special tokens and the alphabet.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
        >>> small = tokenizer.train_new_from_iterator([["low lower"], ["Lowest"]], vocab_size=24)
        >>> small.tokenize("lower"), len(small), small.encode("low")[0] == small.cls_token_id
        (['lower'], 24, True)
        """
        # Training counts words in processes, which a browser's Python does not have.
        from trietok.tokenizer.train_new import train_new

        made: Self = train_new(
            self, text_iterator, vocab_size, new_special_tokens, special_tokens_map, kwargs
        )
        return made

    def _input_pieces(self, table: TokenTable) -> tuple[tuple[RowPiece, ...], tuple[RowPiece, ...]]:
        return table.pieces_around

    @property
    def post_processor(self) -> PostProcessor | None:
        """What puts special tokens around texts. It changes with the tokens, since it holds ids of
        theirs.
        """
        processor: PostProcessor | None = self._table.post_processor
        return processor

    @post_processor.setter
    def post_processor(self, value: PostProcessor | None) -> None:
        with self._tokens.changing():
            self._tokens.table = self._table.replace(post_processor=value)

    @property
    def can_save_slow_tokenizer(self) -> bool:
        """Whether the files of the slow profile can be saved: with BERT's own stages."""
        return self.basic_tokenizer.is_berts

    def tokenize(
        self,
        text: str | Sequence[str],
        pair: str | None = None,
        add_special_tokens: bool = False,
        **kwargs: Unpack[TokenizeKeywords],
    ) -> list[str]:
        """Split a text, or a pair, into tokens; with `add_special_tokens` special tokens are
        around.

        A list or tuple of two texts is a pair, and other options are those of `encode_plus`, as in
        transformers.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
        >>> tokenizer.tokenize("The people", "say", add_special_tokens=True)
        ['[CLS]', 'the', 'people', '[SEP]', 'say', '[SEP]']
        """
        if isinstance(text, str) and pair is None and not add_special_tokens:
            keywords: dict[str, Any] = {**kwargs}
            if keywords.keys().isdisjoint(CallOptions._fields) and not self.overrides(
                "encode_plus"
            ):
                return super().tokenize(text, **keywords)
        return self.encode_plus(
            text, pair, add_special_tokens=add_special_tokens, **kwargs
        ).tokens()

    def _item(self, text: Any, text_pair: Any, is_split_into_words: bool) -> tuple[Any, Any]:
        """A list or tuple of two texts is a pair here, not a batch."""
        return (text, text_pair) if text_pair else pair_of(text, is_split_into_words, "the text")

    @property
    def do_lower_case(self) -> bool:
        """Whether texts are lower-cased."""
        return self.basic_tokenizer.do_lower_case

    @do_lower_case.setter
    def do_lower_case(self, value: bool) -> None:
        if bool(value) != self.do_lower_case:
            raise NotSupportedError(
                f"do_lower_case of {type(self).__name__} cannot be set: in transformers that"
                " changes no id until the tokenizer is saved and loaded again; load it with"
                f" do_lower_case={bool(value)}, or set tokenizer.basic_tokenizer.do_lower_case ="
                f" {bool(value)}, which counts from the next call on",
                name="do_lower_case",
            )

    def _unknown_id(self, table: TokenTable) -> int | None:
        unknown = table.roles["unk_token"]  # it may be an added token
        return None if unknown is None else table.known_id(str(unknown))

    # ---- added tokens ----------------------------------------------------------------------------

    def _as_special(self, token: AddedToken) -> AddedToken:
        return token.as_special()

    def _marked(self, token: Token) -> Token:
        return token  # `_add_role_tokens` marks it, after comparing it with the saved tokens

    def _load_added_tokens(self, decoder: Mapping[int, AddedToken]) -> None:
        """Add the tokens of tokenizer.json, then those of tokenizer_config.json, as transformers
        does.

        If the flags of a token differ, those of tokenizer_config.json are used, and texts are
        searched for both.
        """
        table = self._table
        roles, added = table.special_set, table.added
        if self._file is not None:
            added = added.with_tokens(self._file.added_tokens)
        there = added.decoder.flat()
        saved = {token_id: decoder[token_id] for token_id in self._saved_ids}
        self._saved = {token.content: token for token in saved.values()}
        marked = {
            i: token.as_special() if token.content in roles else token for i, token in saved.items()
        }
        for token_id, token in saved.items():
            known = there.get(token_id, token)  # most are the same object
            if self._file is not None and known is not token and known != token:
                logger.warning(
                    "tokenizer.json and tokenizer_config.json give the added token %r other flags"
                    " (%r and %r): those of tokenizer_config.json count, but texts are searched for"
                    " both until the tokenizer is saved",
                    token.content,
                    known,
                    token,
                )
        new = {
            i: token
            for i, token in marked.items()
            if there.get(i) is not token and there.get(i) != token
        }
        self._replaced = {there[i].content: there[i] for i in new if i in there}
        self._tokens.table = table.replace(added=added.with_tokens(new))

    def record(self) -> dict[str, Any]:
        record, added = super().record(), self._table.added
        order = added.order_that_counts()
        if order is not None:
            record["added_order"] = order
        return record

    def _add_role_tokens(self) -> None:
        """Add the tokens of the roles, except for those that exist already, or were saved with the
        same flags, or are those that saved ones replaced: of the tokens that tokenizers 0.22 adds
        at once, it leaves out what was there before.
        """
        table = self._table
        there = table.added.encoder

        def is_new(token: Token) -> bool:
            if not isinstance(token, AddedToken):
                return token not in there
            replaced = self._replaced.get(token.content)
            return token != self._saved.get(token.content) and token.as_special() != replaced

        to_add = [*filter(is_new, self.all_special_tokens_extended)]
        self._tokens.table = table.replace(roles=self._marked_roles())
        self._add_tokens(to_add, special_tokens=True)

    def _with_set(
        self, added: AddedTokens, tokens: Mapping[int, AddedToken], listed: Iterable[AddedToken]
    ) -> AddedTokens:
        fast: Any = added  # `FastAddedTokens`
        with_tokens: AddedTokens = fast.with_tokens(tokens, listed, self._basic().snapshot())
        return with_tokens

    def order_in_file(self) -> list[int]:
        """The ids of all added tokens, as tokenizer.json lists them."""
        added = self._table.added
        return added.order_that_counts() or list(added.by_id)

    @classmethod
    def settled_by_slow(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a tokenizer that is loaded without a tokenizer.json.

        transformers loads a slow tokenizer then, and uses the arguments as that tokenizer has
        changed them.
        """
        return arguments

    def _renumbered(self, new_ids: Mapping[int, int]) -> None:
        if self.post_processor is not None:
            self.post_processor = self.post_processor.renumbered(new_ids)

    # ---- text to tokens --------------------------------------------------------------------------

    def _tokenize(self, text: str, split_special_tokens: bool = False, **kwargs: Any) -> list[str]:
        words = self.basic_tokenizer.tokenize(text)
        return [piece for word in words for piece in self.wordpiece_tokenizer.pieces_of(word)]

    @property
    def rust_template(self) -> Template:
        """The template of a tokenizer that is loaded without a tokenizer.json."""
        return self.template

    # ---- the template ----------------------------------------------------------------------------

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many special tokens stand around one sequence, or around a pair."""
        return len(self._table.pieces_around[bool(pair)]) - 1 - pair

    # ---- files -----------------------------------------------------------------------------------

    def _tokenizer_json(self, path: str | os.PathLike[str]) -> str:
        return fast_text(self, path)

    # ---- ids to text -----------------------------------------------------------------------------

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text, as the WordPiece decoder of the Rust tokenizers does."""
        return self._decoded(tokens)

    # Decoding calls none of the public methods for tokens, because transformers leaves it to Rust:
    # a subclass whose `convert_ids_to_tokens` decodes would never end.

    def _decoded(self, tokens: list[str]) -> str:
        if self.decoder is None:
            return " ".join(tokens)
        return joints_of(self.decoder.prefix, self.decoder.cleanup).join(tokens)

    def _token_of(self, token_id: int) -> str:
        added = self._table.added.decoder.get(token_id)
        return super()._convert_id_to_token(token_id) if added is None else added.content

    def _joined(self, token_ids: Any, skip_special_tokens: bool, spaces: bool) -> str:
        table = self._table
        ids = [token_ids] if isinstance(token_ids, int) else token_ids
        tokens = known_tokens_of(table, ids) if type(ids) is list else None
        if tokens is None:
            tokens = self._converted(table, ids, False)
        if skip_special_tokens:
            special = table.added.once_special  # type: ignore[attr-defined]  # of the fast profile
            tokens = [token for token in tokens if token not in special]
        return self._decoded(tokens)


# The methods of a basic tokenizer that the slow profile's calls go through, and the fast profile's
# do not.
_NOT_CALLED = ("tokenize", "clean", "compose", "normalize", "normalized", *STEPS)


def _not_called(tokenizer: Any, what: str) -> NotSupportedError:
    return NotSupportedError(
        f"{type(tokenizer).__name__} does not go through {what}: set it on a slow tokenizer, whose"
        " calls do, or change texts in prepare_for_tokenization of a class of your own",
        name="basic_tokenizer",
    )


def _settled(name: str, value: Any) -> Any:
    """An argument with the flags of every `AddedToken` as they are now.

    transformers copies the arguments for the slow tokenizer, and in a copy `normalized` no longer
    follows `special`.
    """
    if isinstance(value, AddedToken) and name != "added_tokens_decoder":
        return value.replace()
    if isinstance(value, (list, tuple)):
        return [_settled(name, item) for item in value]
    if isinstance(value, dict):
        return {key: _settled(name, item) for key, item in value.items()}
    return value


class BertTokenizerFast(RustProfile):
    """BERT's tokenizer in the fast profile, with the parameters of transformers'
    `BertTokenizerFast`.

    Args:
        vocab_file: the vocab.txt, one token a line.
        tokenizer_file: a tokenizer.json; if it is given, the vocab.txt is not read.
        do_lower_case: lower-case the text. This and the next two override what a tokenizer.json
            says.
        unk_token, sep_token, pad_token, cls_token, mask_token: the tokens of the roles.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        strip_accents: True or False; None follows `do_lower_case`.
        **kwargs: `model_max_length`, `padding_side` and the others that every tokenizer takes; see
            `PreTrainedTokenizer`.

    Raises:
        FileError: a file is missing or cannot be read.
        FileFormatError: it is not what it should be, or a tokenizer.json has a component that
            trietok does not have.
        VocabularyError: the vocabulary is empty, or lacks the unknown token, or tokens and ids
            contradict each other.

    >>> tokenizer = BertTokenizerFast.from_pretrained("trietok-en")
    >>> tokenizer("The people").input_ids == tokenizer.convert_tokens_to_ids(
    ...     ["[CLS]", "the", "people", "[SEP]"]
    ... )
    True
    >>> tokenizer.is_fast, tokenizer("The people", return_offsets_mapping=True).offset_mapping
    (True, [(0, 0), (0, 3), (4, 10), (0, 0)])
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike[str] | None = None,
        tokenizer_file: str | os.PathLike[str] | None = None,
        do_lower_case: bool = True,
        unk_token: Token = "[UNK]",
        sep_token: Token = "[SEP]",
        pad_token: Token = "[PAD]",
        cls_token: Token = "[CLS]",
        mask_token: Token = "[MASK]",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**given(locals()))
