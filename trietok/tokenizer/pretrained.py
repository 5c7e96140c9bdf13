"""The tokenizer that users subclass: added tokens around a `_tokenize` of their own. Wiring only.

In: a text. Out: tokens and ids. The order is transformers': prepare, lower-case outside the tokens that must match as
they are written, split at the added tokens, tokenize the pieces between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from trietok.errors import InputTypeError, NotSupportedError, SpecialTokenError
from trietok.inputs.call_inputs import reject_unknown
from trietok.text.added_tokens import AddedTokens
from trietok.text.alignment import Located, Span
from trietok.text.decoding import join_tokens
from trietok.text.untrusted import SpecialPolicy, refuse, special_policy
from trietok.tokenizer.added_tokens_mixin import AddedTokensMixin
from trietok.tokenizer.model_inputs import kind_of


class PreTrainedTokenizer(AddedTokensMixin):
    """A tokenizer to subclass, with the methods transformers' class of that name asks for.

    Fill in `vocab_size`, `get_vocab`, `_tokenize`, `_convert_token_to_id`, `_convert_id_to_token` and, to save,
    `save_vocabulary`; override `convert_tokens_to_string`, `build_inputs_with_special_tokens`,
    `prepare_for_tokenization` and the others where the model asks for it. Set what those need before calling
    `super().__init__`.

    >>> class Letters(PreTrainedTokenizer):
    ...     vocab_size = 3
    ...     ids = {"<unk>": 0, "a": 1, "b": 2}
    ...     def get_vocab(self):
    ...         return {**self.ids, **self.added_tokens_encoder}
    ...     def _tokenize(self, text, **kwargs):
    ...         return list(text.replace(" ", ""))
    ...     def _convert_token_to_id(self, token):
    ...         return self.ids.get(token, 0)
    ...     def _convert_id_to_token(self, index):
    ...         return list(self.ids)[index]
    >>> letters = Letters(unk_token="<unk>")
    >>> letters.add_tokens(["<x>"])
    1
    >>> letters.tokenize("ab<x>c"), letters("ab<x>c").input_ids
    (['a', 'b', '<x>', 'c'], [1, 2, 3, 0])

    Args:
        **kwargs: see `AddedTokensMixin` and `PreTrainedTokenizerBase`.
    """

    @property
    def is_fast(self) -> bool:
        return False

    def __getstate__(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "_apart": None,
            "_specials": None,  # it holds a number that may belong to another state elsewhere
            "_all_special_tokens": None,  # the order of a set differs from process to process
        }

    # ---- text to tokens ---------------------------------------------------------------------------------------------

    def tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split one text into tokens, without special tokens around it.

        Args:
            text: the text.
            **kwargs: `split_special_tokens`, `allowed_special` and `disallowed_special`, as in a call; and what
                `prepare_for_tokenization` takes.

        Raises:
            InputTypeError: `text` is not a str.
            OptionError: a keyword that nothing understands.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained("trietok-en").tokenize("The people, united!")
        ['the', 'people', ',', 'united', '!']
        """
        return self._guard.read(self._split_text, text, **kwargs)

    def _split_text(self, text: str, **kwargs: Any) -> list[str]:
        if not isinstance(text, str):
            raise InputTypeError(f"a text is a str, not {type(text).__name__}: {text!r:.60}", value=text)
        split_special_tokens = kwargs.pop("split_special_tokens", self.split_special_tokens)
        policy = special_policy(self._special_contents(), kwargs) if kwargs else None
        text, unknown = self.prepare_for_tokenization(text, **kwargs)
        reject_unknown(unknown)
        if policy is not None:
            return self._split_by_policy(text, policy)
        text = self._lowered(text, self._added, self._special_tokens())
        if split_special_tokens:
            return self._tokenize(text) if text else []
        tokens: list[str] = []
        for piece, is_token in self._added.pieces(text):
            if is_token:
                tokens.append(piece)
            else:
                tokens += self._tokenize(piece)
        return tokens

    def _lowered(self, text: str, added: AddedTokens, special_tokens: tuple[str, ...]) -> str:
        return added.lower_between(text, special_tokens) if getattr(self, "do_lower_case", False) else text

    # ---- text that must not forge special tokens --------------------------------------------------------------------

    def _special_contents(self) -> frozenset[str]:
        """Every special token: those of the roles, and added ones that are marked; worked out once for each state."""
        made_of = (self._special_tokens(), self._added.version)
        if self._specials is None or self._specials[0] != made_of:
            marked = (token.content for token in self._added.decoder.values() if token.special)
            self._specials = made_of, self._special_set().union(marked)
        return self._specials[1]

    def _split_by_policy(self, text: str, policy: SpecialPolicy) -> list[str]:
        special = self._special_contents()
        if policy.refused:
            self._refuse_specials(text, policy.refused)
        allowed = tuple(token for token in self._special_tokens() if token in policy.allowed)
        added = self._added.without(special - policy.allowed)
        tokens: list[str] = []
        for piece, is_token in added.pieces(self._lowered(text, added, allowed)):
            if is_token:
                tokens.append(piece)
            else:
                tokens += self._tokenize_plain(piece, special)
        return tokens

    def _refuse_specials(self, text: str, refused: frozenset[str]) -> None:
        """Raise where the text would ordinarily give one of these tokens."""
        for piece, is_token in self._added.pieces(self._lowered(text, self._added, self._special_tokens())):
            # An unknown word gives the unknown token, which is no forgery.
            given = [piece] if is_token else [token for token in self._tokenize(piece) if token != self.unk_token]
            for token in given:
                if token in refused:
                    refuse(token, text)

    def _tokenize_plain(self, text: str, special: frozenset[str]) -> list[str]:
        """The tokens of a text in which nothing is special; a subclass whose `_tokenize` gives such does it better."""
        tokens = self._tokenize(text)
        for token in tokens:
            if token in special and token != self.unk_token:
                raise SpecialTokenError(
                    f"{type(self).__name__} cannot take {token!r} for plain text: its _tokenize gives the special token"
                )
        return tokens

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        """Split a text that holds no added token into tokens. A subclass fills it in."""
        raise NotImplementedError(f"{type(self).__name__} has no _tokenize(text)")

    # ---- where tokens came from -------------------------------------------------------------------------------------

    def _locate(self, text: str, options: Mapping[str, Any]) -> Located:
        """The tokens of a text with their spans; a subclass whose stages can be followed fills it in."""
        raise NotSupportedError(
            f"{type(self).__name__} does not tell which characters its tokens stand for", name="return_offsets_mapping"
        )

    def _located(self, text: str, options: Mapping[str, Any]) -> Located:
        """`_locate` of one state."""
        return self._guard.read(self._locate, text, options)

    def _input_spans(self, text: Any, is_split_into_words: bool, options: Mapping[str, Any]) -> list[Span]:
        """The spans of a text, or of words, each from its word's beginning."""
        if is_split_into_words:
            return [span for word in text for span in self._input_spans(word, False, options)]
        return self._located(text, options).spans

    def fingerprint(self) -> str:
        """One hash of everything that decides ids, the same across processes, machines, and saving and reloading.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> before = tokenizer.fingerprint()
        >>> tokenizer.add_tokens(["covid-19"]), tokenizer.fingerprint() == before
        (1, False)
        """
        from trietok.tokenizer.fingerprint import fingerprint  # hashing is not needed to encode

        return fingerprint(self)

    # ---- tokens to ids and back -------------------------------------------------------------------------------------

    def convert_tokens_to_ids(self, tokens: Any) -> Any:
        """The id of a token, or the ids of a list of tokens; an unknown one has the id of the unknown token.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.convert_tokens_to_ids(["[PAD]", "no such token"]) == [0, tokenizer.unk_token_id]
        True
        """
        if tokens is None:
            return None
        if isinstance(tokens, str):
            return self._convert_token_to_id_with_added_voc(tokens)
        if not isinstance(tokens, Iterable):
            raise InputTypeError(f"tokens are a str or a list of str, not {kind_of(tokens)}", value=tokens)
        return [self._convert_token_to_id_with_added_voc(token) for token in tokens]

    def _convert_token_to_id_with_added_voc(self, token: str | None) -> int | None:
        if token is None:
            return None
        added = self._added.encoder.get(token)
        return self._convert_token_to_id(token) if added is None else added

    def _convert_token_to_id(self, token: str) -> int | None:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_token_to_id(token)")

    def convert_ids_to_tokens(self, ids: Any, skip_special_tokens: bool = False) -> Any:
        """The token of an id, or the tokens of a list of ids.

        Args:
            ids: an int, or any iterable of ids.
            skip_special_tokens: leave special tokens out of a list.

        Raises:
            TokenIdError: an id is negative or above the highest there is.
        """
        if isinstance(ids, int):
            return self._token_of(ids)
        if isinstance(ids, (str, bytes, Mapping)) or not isinstance(ids, Iterable):
            raise InputTypeError(f"ids are an int or a list of ints, not {kind_of(ids)}", value=ids)
        special = set(self.all_special_ids) if skip_special_tokens else ()
        return self._tokens_of(ids, special)

    def _tokens_of(self, ids: Iterable[Any], left_out: Collection[int]) -> list[str]:
        return [self._token_of(token_id) for token_id in map(_int_id, ids) if token_id not in left_out]

    def _token_of(self, token_id: int) -> str:
        added = self._added.decoder.get(token_id)
        return self._convert_id_to_token(token_id) if added is None else added.content

    def _convert_id_to_token(self, index: int) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no _convert_id_to_token(index)")

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text, with spaces."""
        return " ".join(tokens)

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        spaces_between_special_tokens: bool = True,
        **kwargs: Any,
    ) -> str:
        kwargs.pop("use_source_tokenizer", None)
        reject_unknown(kwargs)
        tokens = self.convert_ids_to_tokens(token_ids, skip_special_tokens=skip_special_tokens)
        if isinstance(tokens, str):
            tokens = [tokens]
        if skip_special_tokens:
            special = self._special_set()
            tokens = [token for token in tokens if token not in special]
        separator = " " if spaces_between_special_tokens else ""
        text = join_tokens(tokens, self._standing_alone(), self.convert_tokens_to_string, separator)
        if clean_up_tokenization_spaces is None:
            clean_up_tokenization_spaces = self.clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if clean_up_tokenization_spaces else text

    def _standing_alone(self) -> frozenset[str]:
        """The added tokens that decoding joins by themselves: all but the roles' that stand in the vocabulary."""
        special = self._special_tokens()
        made_of = (special, self._added.version)
        if self._apart is None or self._apart[0] != made_of:
            size = self.vocab_size
            additional = [t for t in self.additional_special_tokens if self.convert_tokens_to_ids(t) >= size]
            self._apart = made_of, frozenset(self._added.encoder.keys() - set(special) | set(additional))
        return self._apart[1]


def _int_id(token_id: Any) -> int:
    try:
        whole = int(token_id)
        if isinstance(token_id, (str, bytes)) or whole != token_id:
            raise ValueError
        return whole
    except (TypeError, ValueError):
        raise InputTypeError(f"an id is a whole number, not {kind_of(token_id)}", value=token_id) from None
