"""The tokenizer that users subclass: what it inherits, explanations, loading and saving.

In: a name, a directory or settings. Out: a tokenizer. What it does with texts and ids has a module
for each noun: `calls`, `encoding` (ids alone), `model_inputs`, `conversion` (tokens to ids and
back, and decoding), `added`; its settings and its moment are in `state`.
"""

from __future__ import annotations

import os
from itertools import islice
from typing import TYPE_CHECKING, Any

from trietok.errors import (
    InputError,
    InputTypeError,
    NotSupportedError,
    kind_of,
)
from trietok.files.load import load
from trietok.files.save import save
from trietok.inputs.options import CallKeywords, CallOptions, Text
from trietok.text.added_tokens import convert_added_tokens
from trietok.tokenizer.added import AddedTokensMixin
from trietok.tokenizer.calls import CallsMixin
from trietok.tokenizer.conversion import ConversionMixin
from trietok.tokenizer.encoding import EncodingMixin
from trietok.tokenizer.fingerprint import fingerprint
from trietok.tokenizer.model_inputs import ModelInputsMixin
from trietok.typing_compat import Self, Unpack

if TYPE_CHECKING:
    from trietok.explaining.explanation import Explanation


MOST_IN_REPR = 10  # added tokens


class PreTrainedTokenizer(
    CallsMixin, EncodingMixin, ModelInputsMixin, ConversionMixin, AddedTokensMixin
):
    """A tokenizer to subclass, with the methods transformers' class of that name asks for.

    Every tokenizer takes the parameters below as keywords, when it is made and in
    `from_pretrained`.

    Fill in `vocab_size`, `get_vocab`, `_tokenize`, `_convert_token_to_id`, `_convert_id_to_token`
    and, to save, `save_vocabulary`; override `convert_tokens_to_string`,
    `build_inputs_with_special_tokens`, `prepare_for_tokenization` and the others where the model
    asks for it. Set what those need before calling `super().__init__`.

    >>> class Letters(PreTrainedTokenizer):
    ...     vocab_size = 3
    ...     ids = {"<unk>": 0, "a": 1, "b": 2}
    ...
    ...     def get_vocab(self):
    ...         return {**self.ids, **self.added_tokens_encoder}
    ...
    ...     def _tokenize(self, text, **kwargs):
    ...         return list(text.replace(" ", ""))
    ...
    ...     def _convert_token_to_id(self, token):
    ...         return self.ids.get(token, 0)
    ...
    ...     def _convert_id_to_token(self, index):
    ...         return list(self.ids)[index]
    >>> letters = Letters(unk_token="<unk>")
    >>> letters.add_tokens(["<x>"])
    1
    >>> letters.tokenize("ab<x>c"), letters("ab<x>c").input_ids
    (['a', 'b', '<x>', 'c'], [1, 2, 3, 0])

    Args:
        added_tokens_decoder: id → `AddedToken`, of a tokenizer that was saved.
        max_embedding_rows: how many rows the model's embeddings have, if that number is fixed:
            adding a token whose id would have no row is then an error.
        model_max_length: the longest sequence the model takes, in tokens; what truncation and
            `max_length` padding use when a call gives no `max_length`.
        padding_side, truncation_side: `"right"` or `"left"`.
        model_input_names: what a call returns by default, the main input first.
        clean_up_tokenization_spaces: whether decoding takes out the spaces before punctuation.
        split_special_tokens: treat special tokens in a text as ordinary text.
        chat_template: a chat template, or a dict name → template. trietok saves it with the
            tokenizer and does not render it.
        extra_special_tokens: more roles, as a dict role → token; a list of tokens, as in
            transformers 5, gives additional special tokens.
        name_or_path: where the tokenizer was loaded from.
        **kwargs: a token for each role (`pad_token`, ...), and anything else, which is kept and
            saved.

    Raises:
        InputError: a side is neither right nor left.
        AttributeError: a keyword has the name of a method.
    """

    pretrained_vocab_files_map: dict[str, dict[str, str]] = {}
    slow_tokenizer_class: type[PreTrainedTokenizer] | None = None

    # ---- calls -----------------------------------------------------------------------------------

    def explain(
        self,
        text: Text,
        pair: Text | None = None,
        *,
        text_pair: Text | None = None,
        **options: Unpack[CallKeywords],
    ) -> Explanation:
        """Why a text, or a pair, has the ids that a call gives it: what each stage did, and why
        each token is one.

        Args:
            text, pair: a str each; with `is_split_into_words` a list of words each. `text_pair`, as
                a call has it, is another name of `pair`.
            **options: those of a call.

        Returns:
            An `Explanation`. Its `input_ids` are those of the call.

        Raises:
            InputTypeError: `text` is a batch, or a text is given as tokens.
            NotSupportedError: a class has stages of its own, so its ids cannot be explained.
            TrietokError: whatever a call raises for the text and the options.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> token = tokenizer.explain("unaffable").tokens[2]
        >>> token.token, token.match.entries
        ('##aff', ('##a', '##af', '##aff'))
        """
        if text_pair is not None:
            if pair is not None:
                raise InputError("pair and text_pair are the same; give one of them")
            pair = text_pair
        pinned = self._pinned()
        moment = pinned._now()
        input_ids = pinned(text, pair, **options)["input_ids"]
        words = bool(options.get("is_split_into_words"))
        for given in (text, pair):
            if isinstance(given, (list, tuple)) and (
                not words or isinstance(next(iter(given), ""), (list, tuple))
            ):
                raise InputTypeError(
                    f"explain takes one text, or two as a pair, not {kind_of(given)}; call it"
                    " for each text",
                    value=given,
                )
        # Explanations and their views take a tenth of the time to import all else.
        from trietok.explaining.explanation import ONLY_WORDPIECE, explain

        others: dict[str, Any] = {**options, "return_tensors": None}
        named = {name: others.pop(name) for name in CallOptions._fields if name in others}
        plan = moment.builder.plan(CallOptions(**named))
        first, second = self._item(text, pair, words)
        vocabulary = moment.table.vocabulary
        if vocabulary is None:
            raise NotSupportedError(ONLY_WORDPIECE, name="explain")
        of = type(self).__name__, self.name_or_path, self.profile, vocabulary
        texts = (first,) if second is None else (first, second)
        return explain(*of, plan, moment.stages_for(others, words), texts, input_ids)

    # ---- files -----------------------------------------------------------------------------------

    @classmethod
    def from_pretrained(
        cls,
        pretrained_model_name_or_path: str | os.PathLike[str],
        *init_inputs: Any,
        cache_dir: str | os.PathLike[str] | None = None,
        force_download: bool = False,
        local_files_only: bool = False,
        token: str | bool | None = None,
        revision: str = "main",
        trust_remote_code: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Load a tokenizer from a directory, a vocabulary file, a built-in name or the hub.

        Args:
            pretrained_model_name_or_path: a directory as `save_pretrained` or transformers writes
                it; a vocab.txt; a built-in name such as `trietok-en`; or a name on the HuggingFace
                hub (needs the `hub` extra).
            cache_dir, force_download, local_files_only, token, revision: how to ask the hub; see
                `docs/saving.md`.
            trust_remote_code: accepted and ignored: no code of a model is ever run.
            **kwargs: `subfolder` names a folder below; all others go to the tokenizer and override
                what its files say.

        Raises:
            FileError: there is nothing of that name, or a file cannot be read; or it is a hub name,
                and huggingface_hub is not installed. It is an `OSError`.
            FileFormatError: a file does not hold what it should.

        >>> import trietok
        >>> trietok.BertTokenizer.from_pretrained(
        ...     "trietok-en", model_max_length=128
        ... ).model_max_length
        128
        """
        hub_options = {
            "cache_dir": cache_dir,
            "force_download": force_download,
            "local_files_only": local_files_only,
            "token": token,
            "revision": revision,
        }

        tokenizer: Self = load(cls, pretrained_model_name_or_path, init_inputs, hub_options, kwargs)
        return tokenizer

    def class_to_save(self) -> dict[str, Any]:
        """What tokenizer_config.json says of the class: the slow one, since `AutoTokenizer` finds
        either from it.
        """
        return {
            "tokenizer_class": (
                type(self).__name__.removesuffix("Fast" if self.profile == "fast" else "")
            )
        }

    def save_pretrained(
        self,
        save_directory: str | os.PathLike[str],
        legacy_format: bool | None = None,
        filename_prefix: str | None = None,
        push_to_hub: bool = False,
        *,
        tokenizer_json: bool | None = None,
        **kwargs: Any,
    ) -> tuple[str, ...]:
        """Write the tokenizer's files to a directory, which is made if need be, as transformers
        writes them.

        Args:
            save_directory: where to.
            legacy_format: True for a vocab.txt, False for a tokenizer.json, None for both; the slow
                profile writes a tokenizer.json only where `tokenizer_json` asks for it, or one is
                there that gives other ids.
            filename_prefix: put before every file's name, with a hyphen.
            tokenizer_json: True to write a tokenizer.json in the slow profile too. A program that
                reads that file gets the ids of the fast profile, which equal those of the slow
                profile except for what `docs/profiles.md` lists. False to have none in the
                directory afterwards. By default, one that is there stays as it is if it has the
                tokens, settings and template of this tokenizer, and is written again if not.

        Returns:
            The paths of the files written.

        Raises:
            FileError: a file cannot be written.
            VocabularyError: a token cannot be kept in its file, the unknown token is None, or a
                role has a token that is not added. Nothing is written.
            NotSupportedError: the files, or a tokenizer.json that is to be written or is there,
                cannot hold all of the tokenizer: such as `continuing_subword_prefix` in the slow
                profile. Nothing is written.
        """
        return save(
            self,
            save_directory,
            legacy_format,
            filename_prefix,
            push_to_hub,
            tokenizer_json=tokenizer_json,
            **kwargs,
        )

    convert_added_tokens = staticmethod(convert_added_tokens)

    def __repr__(self) -> str:
        tokens = self.added_tokens_decoder
        added = "".join(
            f"\t{token_id}: {token!r},\n"
            for token_id, token in islice(tokens.items(), MOST_IN_REPR)
        )
        if len(tokens) > MOST_IN_REPR:
            added += f"\t… {len(tokens) - MOST_IN_REPR:,} more\n"
        return (
            f"{type(self).__name__}(name_or_path='{self.name_or_path}',"
            f" vocab_size={self.vocab_size}, model_max_length={self.model_max_length},"
            f" is_fast={self.is_fast}, padding_side='{self.padding_side}',"
            f" truncation_side='{self.truncation_side}', special_tokens={self.special_tokens_map},"
            f" clean_up_tokenization_spaces={self.clean_up_tokenization_spaces},"
            f" added_tokens_decoder={{\n{added}}}\n)"
        )

    # ---- text to tokens --------------------------------------------------------------------------

    def fingerprint(self) -> str:
        """A hash of every setting and token that affects ids: `trietok-1:` and 64 hexadecimal
        digits (SHA-256).

        Tokenizers with equal fingerprints give equal ids. It includes the vocabulary, the added
        tokens with their flags, the roles, and the settings of every stage; settings that affect no
        id, such as `model_max_length`, are left out. It is the same in every process and on every
        machine, and after saving and loading. Of a subclass it includes the name, not the code.

        >>> import trietok
        >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        >>> before = tokenizer.fingerprint()
        >>> tokenizer.add_tokens(["covid-19"]), tokenizer.fingerprint() == before
        (1, False)
        """
        return fingerprint(self)
