"""What every tokenizer shares beside its calls: its settings, decoding, loading and saving.

In: the arguments a tokenizer is made with. Out: a tokenizer whose settings can be read, changed and saved.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from trietok import log
from trietok.errors import InputError
from trietok.inputs.options import VERY_LARGE_INTEGER
from trietok.inputs.tensors import to_python
from trietok.text.added_token import convert_added_tokens
from trietok.text.bulk import bulk
from trietok.text.decoding import clean_up_tokenization
from trietok.tokenizer.trusted_spans import TrustedSpansMixin

_SETTINGS = (
    "name_or_path",
    "model_max_length",
    "max_len",
    "padding_side",
    "truncation_side",
    "model_input_names",
    "clean_up_tokenization_spaces",
    "split_special_tokens",
    "chat_template",
    "extra_special_tokens",
    "added_tokens_decoder",
    "max_embedding_rows",
)


class PreTrainedTokenizerBase(TrustedSpansMixin):
    """What every tokenizer shares. Inherit `PreTrainedTokenizer` to write one of your own.

    Args:
        model_max_length: the longest sequence the model takes, in tokens; what truncation and `max_length` padding
            use when a call gives no `max_length`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_input_names: what a call returns by default, the main input first.
        clean_up_tokenization_spaces: whether decoding takes out the spaces before punctuation.
        split_special_tokens: treat special tokens in a text as ordinary text.
        extra_special_tokens: roles of the user's own, as a dict role → token; a list of tokens, as transformers 5 has
            it, counts as additional special tokens.
        name_or_path: where the tokenizer was loaded from.
        **kwargs: a token for each role (`pad_token`, ...), and anything else, which is kept and saved.

    Raises:
        InputError: a side is neither right nor left.
        AttributeError: a keyword has the name of a method.
    """

    vocab_files_names: dict[str, str] = {}
    pretrained_vocab_files_map: dict[str, dict[str, str]] = {}
    slow_tokenizer_class: type[PreTrainedTokenizerBase] | None = None

    def __init__(self, **kwargs: Any) -> None:
        for key in kwargs:
            if callable(getattr(type(self), key, None)):
                raise AttributeError(f"{key} conflicts with the method {key} in {type(self).__name__}")
        self.init_inputs: tuple[Any, ...] = ()
        self.init_kwargs: dict[str, Any] = copy.deepcopy(kwargs)
        self.deprecation_warnings: dict[str, bool] = {}  # what has been warned of once, by key
        self.name_or_path: str = kwargs.pop("name_or_path", "")
        max_length = kwargs.pop("model_max_length", kwargs.pop("max_len", None))
        if isinstance(max_length, float) and max_length.is_integer():  # files may say 512.0, and a slice takes no float
            max_length = int(max_length)
        self.model_max_length: int = VERY_LARGE_INTEGER if max_length is None else max_length
        for name in ("padding_side", "truncation_side"):
            side = kwargs.pop(name, getattr(self, name))
            if side not in ("right", "left"):
                raise InputError(f"{name} is 'right' or 'left', not {side!r}")
            setattr(self, name, side)
        self.model_input_names = kwargs.pop("model_input_names", self.model_input_names)
        self.clean_up_tokenization_spaces: bool = kwargs.pop("clean_up_tokenization_spaces", False)
        self.chat_template: Any = kwargs.pop("chat_template", None)  # kept and saved, not used
        self.split_special_tokens: bool = kwargs.pop("split_special_tokens", False)
        extra = kwargs.pop("extra_special_tokens", None) or {}
        if not isinstance(extra, Mapping):
            kwargs["additional_special_tokens"] = [*(kwargs.get("additional_special_tokens") or ()), *extra]
            self.init_kwargs.pop("extra_special_tokens")
            extra = {}
        self.extra_special_tokens: dict[str, Any] = dict(extra)
        super().__init__(**kwargs)
        self._set_model_specific_special_tokens(self.extra_special_tokens)
        self._warn_of_misspellings(kwargs)

    @classmethod
    def known_settings(cls) -> set[str]:
        """The names of the settings that the class and those it inherits take."""
        known = set(_SETTINGS)
        for kind in cls.__mro__:
            code = getattr(vars(kind).get("__init__"), "__code__", None)
            known.update(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ())
        return known

    def _warn_of_misspellings(self, keywords: Iterable[str]) -> None:
        """Any keyword is kept and saved, as in transformers; one that looks like a known one was meant to be that."""
        known = {*self.known_settings(), *self.SPECIAL_TOKENS_ATTRIBUTES}
        for keyword in keywords:
            if keyword not in known:
                import difflib  # 2 ms: only where a keyword is unknown

                for meant in difflib.get_close_matches(keyword, known, n=1, cutoff=0.85):
                    log.warning("the keyword %r changes nothing; did you mean %r?", keyword, meant)

    # ---- what a kind of tokenizer fills in --------------------------------------------------------------------------

    @property
    def is_fast(self) -> bool:
        """Whether this class gives the results of transformers' Rust tokenizers."""
        raise NotImplementedError

    @property
    def vocab_size(self) -> int:
        """The number of different tokens without the added ones; see `max_id` for embedding rows."""
        raise NotImplementedError(f"{type(self).__name__} has no vocab_size")

    def __len__(self) -> int:
        """The number of different tokens with the added ones."""
        raise NotImplementedError

    def get_vocab(self) -> dict[str, int]:
        """The whole vocabulary with the added tokens: token → id."""
        raise NotImplementedError(f"{type(self).__name__} has no get_vocab()")

    def convert_tokens_to_string(self, tokens: list[str]) -> str:
        """Join tokens to a text."""
        raise NotImplementedError(f"{type(self).__name__} has no convert_tokens_to_string(tokens)")

    def save_vocabulary(self, save_directory: str, filename_prefix: str | None = None) -> tuple[str, ...]:
        """Write the vocabulary file; return its path."""
        raise NotImplementedError(
            f"{type(self).__name__} has no save_vocabulary(save_directory, filename_prefix); return () there "
            "if it has no file"
        )

    def _decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        raise NotImplementedError

    @property
    def added_tokens_decoder(self) -> Mapping[int, Any]:
        """The added tokens by id."""
        raise NotImplementedError

    # ---- decoding ---------------------------------------------------------------------------------------------------

    def decode(
        self,
        token_ids: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> str:
        """Ids back to text.

        Args:
            token_ids: an id, a list of ids, or an array or tensor of shape (sequence,).
            skip_special_tokens: leave special tokens out.
            clean_up_tokenization_spaces: take out the spaces before punctuation; None for the tokenizer's own setting.
            **kwargs: `spaces_between_special_tokens`, True by default.

        Raises:
            TokenIdError: an id is negative or above the highest there is.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> tokenizer.decode(tokenizer.encode("The people, united!"), skip_special_tokens=True)
        'the people, united!'
        """
        return self._guard.read(
            self._decode,
            to_python(token_ids),
            skip_special_tokens=skip_special_tokens,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            **kwargs,
        )

    def batch_decode(
        self,
        sequences: Any,
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """`decode` for every sequence of a list, or every row of an array or tensor of shape (batch, sequence)."""
        return [
            self.decode(sequence, skip_special_tokens, clean_up_tokenization_spaces, **kwargs) for sequence in sequences
        ]

    clean_up_tokenization = staticmethod(clean_up_tokenization)

    # ---- files ------------------------------------------------------------------------------------------------------

    def holding(self) -> AbstractContextManager[None]:
        """Around a long look at the tokenizer: changes by other threads wait until it is over."""
        return self._guard.holding()

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: Any,
        *init_inputs: Any,
        cache_dir: Any = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
        revision: str = "main",
        trust_remote_code: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Load a tokenizer from a directory, a vocabulary file, a built-in name or the hub.

        Args:
            pretrained_model_name_or_path: a directory as `save_pretrained` or transformers writes it; a vocab.txt; a
                built-in name such as `trietok-en`; or a name on the HuggingFace hub (needs the `hub` extra).
            cache_dir, force_download, local_files_only, token, revision: how to ask the hub; see `docs/hub.md`.
            trust_remote_code: taken and ignored: no code of a model is ever run.
            **kwargs: `subfolder` names a folder below; all others go to the tokenizer, before what its files say.

        Raises:
            FileError: there is nothing of that name, or a file cannot be read. It is an `OSError`.
            FileFormatError: a file does not hold what it should.
            MissingDependencyError: it is a hub name and huggingface_hub is not installed.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained("trietok-en", model_max_length=128).model_max_length
        128
        """
        hub_options = {
            "cache_dir": cache_dir,
            "force_download": force_download,
            "local_files_only": local_files_only,
            "token": token,
            "revision": revision,
        }
        from trietok.files.load import load  # what is loaded from strings needs no files

        with bulk():
            return load(cls, pretrained_model_name_or_path, *init_inputs, hub_options=hub_options, **kwargs)

    def save_pretrained(
        self,
        save_directory: Any,
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        *,
        tokenizer_json: bool = False,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Write the tokenizer's files to a directory, which is made if need be, as transformers writes them.

        Args:
            save_directory: where to.
            legacy_format: True for a vocab.txt, False for a tokenizer.json, None for both; the slow profile writes a
                tokenizer.json only where `tokenizer_json` asks for it.
            filename_prefix: put before every file's name, with a hyphen.
            tokenizer_json: write a tokenizer.json in the slow profile too. Who reads that file gets the ids of the
                Rust profile, with which those of the slow one agree but for what `docs/profiles.md` lists.

        Returns:
            The paths of the files written.

        Raises:
            FileError: a file cannot be written.
            VocabularyError: a token cannot be kept in its file.
            NotSupportedError: `tokenizer_json`, and the tokenizer has what such a file cannot say. Nothing is written.
        """
        from trietok.files.save import save  # not needed to encode

        return save(
            self, save_directory, legacy_format, filename_prefix, push_to_hub, tokenizer_json=tokenizer_json, **kwargs
        )

    convert_added_tokens = staticmethod(convert_added_tokens)

    def __repr__(self) -> str:
        added = "".join(f"\t{token_id}: {token!r},\n" for token_id, token in self.added_tokens_decoder.items())
        return (
            f"{type(self).__name__}(name_or_path='{self.name_or_path}', vocab_size={self.vocab_size}, "
            f"model_max_length={self.model_max_length}, is_fast={self.is_fast}, padding_side='{self.padding_side}', "
            f"truncation_side='{self.truncation_side}', special_tokens={self.special_tokens_map}, "
            f"clean_up_tokenization_spaces={self.clean_up_tokenization_spaces}, "
            f"added_tokens_decoder={{\n{added}}}\n)"
        )
