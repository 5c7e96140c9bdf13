"""BERT's relatives: the tokenizers of other models on the same WordPiece vocabulary format.

In: what a `BertTokenizer` takes. Out: the ids, token type ids and masks that transformers 4.57.6
gives for each model. A class says only what sets it apart: other special tokens, another template,
other inputs of the model. DPR's reader takes a question with many passages.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from trietok.errors import InputError, OptionError, SpecialTokenError
from trietok.inputs.batch_encoding import BatchEncoding
from trietok.inputs.options import Padding, Truncation
from trietok.inputs.template import Template
from trietok.inputs.tensors import Tensors
from trietok.text.added_tokens import AddedToken
from trietok.text.aligned import Ids
from trietok.tokenizer.bert import BertTokenizer, given
from trietok.tokenizer.token_table import Token

WITHOUT_TYPES = ["input_ids", "attention_mask"]


class DistilBertTokenizer(BertTokenizer):
    """DistilBERT: BERT without token type ids among the model's inputs."""

    model_input_names = WITHOUT_TYPES


class ElectraTokenizer(BertTokenizer):
    """ELECTRA: as BERT."""


class MobileBertTokenizer(BertTokenizer):
    """MobileBERT: as BERT."""


class ConvBertTokenizer(BertTokenizer):
    """ConvBERT: as BERT."""


class SqueezeBertTokenizer(BertTokenizer):
    """SqueezeBERT: as BERT."""


class LayoutLMTokenizer(BertTokenizer):
    """LayoutLM: as BERT; the boxes are the caller's."""


class LxmertTokenizer(BertTokenizer):
    """LXMERT: as BERT."""


class DPRContextEncoderTokenizer(BertTokenizer):
    """DPR's encoder of passages: as BERT."""


class DPRQuestionEncoderTokenizer(BertTokenizer):
    """DPR's encoder of questions: as BERT."""


class DPRReaderTokenizer(BertTokenizer):
    """DPR's reader: takes a question, titles and texts; see `docs/profiles.md`."""

    model_input_names = WITHOUT_TYPES

    def __call__(  # type: ignore[override]  # the call takes other arguments
        self,
        questions: Any,
        titles: Any = None,
        texts: Any = None,
        padding: Padding = False,
        truncation: Truncation = False,
        max_length: int | None = None,
        return_tensors: Tensors = None,
        return_attention_mask: bool | None = None,
        **kwargs: Any,
    ) -> BatchEncoding:
        """Encode questions with the titles and texts of passages: [CLS] question [SEP] title [SEP]
        text.

        Args:
            questions: one question for all passages, or a question for each.
            titles, texts: of the passages, as a str or a list of str. Without one of them, or both,
                the call is that of any tokenizer, and the one that is given is the second text.
            truncation: cut each row off at `max_length`, at its end.
            padding, max_length, return_tensors, return_attention_mask: those of any call.
            **kwargs: for a call without titles or texts only.

        Returns:
            A `BatchEncoding` with `input_ids` and `attention_mask`, a row for each passage.

        Raises:
            InputError: there are not as many titles as texts.
            OptionError: another keyword together with titles and texts.

        >>> import trietok
        >>> from trietok.files.model_files import built_in_directory
        >>> tokenizer = trietok.DPRReaderTokenizer(built_in_directory("trietok-en") / "vocab.txt")
        >>> rows = tokenizer(
        ...     "What is it?", titles=["A thing", "A word"], texts=["It is old.", "It is new."]
        ... )
        >>> tokenizer.decode(rows.input_ids[1])
        '[CLS] what is it? [SEP] a word [SEP] it is new.'
        """
        plain: Callable[..., BatchEncoding] = super().__call__
        if titles is None or texts is None:
            kwargs |= {"truncation": truncation, "return_attention_mask": return_attention_mask}
            kwargs |= {
                "padding": padding,
                "max_length": max_length,
                "return_tensors": return_tensors,
            }
            return plain(questions, texts if titles is None else titles, **kwargs)
        for name in kwargs:
            raise OptionError(
                f"a call with titles and texts takes no {name!r}; see DPRReaderTokenizer", name=name
            )
        titles = [titles] if isinstance(titles, str) else titles
        texts = [texts] if isinstance(texts, str) else texts
        questions = [questions] * len(titles) if isinstance(questions, str) else questions
        if len(titles) != len(texts):
            raise InputError(
                f"there are {len(titles)} titles and {len(texts)} texts; give one of each for a"
                " passage"
            )
        fronts: Any = plain(questions, titles, padding=False, truncation=False)["input_ids"]
        ends: Any = plain(texts, add_special_tokens=False, padding=False, truncation=False)[
            "input_ids"
        ]
        stop = max_length if truncation else None
        rows: dict[str, list[Ids]] = {
            "input_ids": [(a + b)[:stop] for a, b in zip(fronts, ends, strict=True)]
        }
        if return_attention_mask is not False:
            pad = self.pad_token_id
            rows["attention_mask"] = [
                [int(token_id != pad) for token_id in row] for row in rows["input_ids"]
            ]
        return self.pad(rows, padding=padding, max_length=max_length, return_tensors=return_tensors)


class RetriBertTokenizer(BertTokenizer):
    """RetriBERT: BERT without token type ids among the model's inputs, and decoding leaves spaces
    as they are.
    """

    model_input_names = WITHOUT_TYPES

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = None,
        unk_token: Token = "[UNK]",
        sep_token: Token = "[SEP]",
        pad_token: Token = "[PAD]",
        cls_token: Token = "[CLS]",
        mask_token: Token = "[MASK]",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**given({"clean_up_tokenization_spaces": False, **locals()}))


class FunnelTokenizer(BertTokenizer):
    """Funnel Transformer: other names for the special tokens, and a token type id of its own for
    the first.

    Attributes:
        cls_token_type_id: the token type id of `<cls>`.
    """

    cls_token_type_id: int = 2

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = None,
        unk_token: Token = "<unk>",
        sep_token: Token = "<sep>",
        pad_token: Token = "<pad>",
        cls_token: Token = "<cls>",
        mask_token: Token = "<mask>",
        bos_token: Token = "<s>",
        eos_token: Token = "</s>",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_up_tokenization_spaces: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**given(locals()))

    @property
    def template(self) -> Template:
        cls = f"cls:{self.cls_token_type_id}"
        return Template.of(f"{cls} $A sep", f"{cls} $A sep $B:1 sep:1")


_MPNET_ROLES = {
    **dict.fromkeys(("bos_token", "cls_token"), "<s>"),
    **dict.fromkeys(("eos_token", "sep_token"), "</s>"),
    **{"unk_token": "[UNK]", "pad_token": "<pad>", "mask_token": "<mask>"},
}


def mpnet_roles(arguments: Mapping[str, Any], *, special: bool) -> dict[str, Any]:
    """MPNet's roles as `AddedToken`; the mask token is the one that takes the spaces before it."""
    roles = {role: arguments.get(role, token) for role, token in _MPNET_ROLES.items()}
    return {
        role: (
            AddedToken(token, lstrip=role == "mask_token", special=special)
            if isinstance(token, str)
            else token
        )
        for role, token in roles.items()
    }


class MPNetTokenizer(BertTokenizer):
    """MPNet: `<s>` and `</s>` around texts, two `</s>` between a pair, and a mask token with
    `lstrip`.

    The model has no token type ids; where they are asked for, all are 0.
    """

    model_input_names = WITHOUT_TYPES

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = None,
        bos_token: Token = "<s>",
        eos_token: Token = "</s>",
        sep_token: Token = "</s>",
        cls_token: Token = "<s>",
        unk_token: Token = "[UNK]",
        pad_token: Token = "<pad>",
        mask_token: Token = "<mask>",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        clean_up_tokenization_spaces: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{**given(locals()), **mpnet_roles(locals(), special=True)})

    @property
    def template(self) -> Template:
        return Template.of("cls $A sep", "cls $A sep sep $B sep")

    def get_vocab(self) -> dict[str, int]:
        table = self._table
        return {**table.added.ids_by_content, **table.entries}


class SplinterTokenizer(BertTokenizer):
    """Splinter: `[QUESTION] .` after the question of a pair; no composing to NFC.

    The question is the first of a pair, and the second where `padding_side` is `"left"`.

    Args:
        question_token: the placeholder for the answer. It has no role, and a text cannot give it.
        **kwargs: the other arguments are those of `BertTokenizer`.

    Raises:
        SpecialTokenError: `question_token` is no token. All else is as in `BertTokenizer`.
    """

    def __init__(
        self,
        vocab_file: str | os.PathLike[str],
        do_lower_case: bool = True,
        do_basic_tokenize: bool = True,
        never_split: Iterable[str] | None = None,
        unk_token: Token = "[UNK]",
        sep_token: Token = "[SEP]",
        pad_token: Token = "[PAD]",
        cls_token: Token = "[CLS]",
        mask_token: Token = "[MASK]",
        question_token: Token = "[QUESTION]",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(question_token, (str, AddedToken)):
            raise SpecialTokenError(
                f"question_token is a string or an AddedToken, not {question_token!r:.60}",
                role="question_token",
            )
        self.question_token = question_token
        super().__init__(**given({"clean_up_tokenization_spaces": False, **locals()}))
        if do_basic_tokenize:
            self.basic_tokenizer.composes = False

    @property
    def question_token_id(self) -> int:
        """The id of the question token."""
        token_id: int = self.convert_tokens_to_ids(str(self.question_token))
        return token_id

    @property
    def template(self) -> Template:
        if self.padding_side == "right":
            return Template.of("cls $A sep", "cls $A ~question ~'.' sep $B:1 sep:1")
        return Template.of("cls $A sep", "cls $A sep $B:1 ~question:1 ~'.':1 sep:1")


CLASSES: tuple[type[BertTokenizer], ...] = (
    BertTokenizer,
    DistilBertTokenizer,
    ElectraTokenizer,
    MobileBertTokenizer,
    ConvBertTokenizer,
    SqueezeBertTokenizer,
    LayoutLMTokenizer,
    LxmertTokenizer,
    DPRContextEncoderTokenizer,
    DPRQuestionEncoderTokenizer,
    DPRReaderTokenizer,
    RetriBertTokenizer,
    FunnelTokenizer,
    MPNetTokenizer,
    SplinterTokenizer,
)
