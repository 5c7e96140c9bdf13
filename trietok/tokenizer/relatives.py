"""BERT's relatives: the tokenizers of other models on the same WordPiece vocabulary format.

In: what a `BertTokenizer` takes. Out: the ids, token type ids and masks that transformers 4.57.6 gives for each model.
A class says only what sets it apart: other special tokens, another template, other inputs of the model.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from trietok.errors import SpecialTokenError
from trietok.inputs.template import Template
from trietok.text.added_token import AddedToken
from trietok.tokenizer.bert import BertTokenizer
from trietok.tokenizer.dpr_reader import DPRReaderMixin
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


class DPRReaderTokenizer(DPRReaderMixin, BertTokenizer):  # type: ignore[misc]  # the call takes other arguments
    """DPR's reader: takes a question, titles and texts, and finds the best answers; see `docs/family.md`."""

    model_input_names = WITHOUT_TYPES


class RetriBertTokenizer(BertTokenizer):
    """RetriBERT: BERT without token type ids among the model's inputs, and decoding leaves spaces as they are."""

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
        super().__init__(
            vocab_file,
            do_lower_case=do_lower_case,
            do_basic_tokenize=do_basic_tokenize,
            never_split=never_split,
            unk_token=unk_token,
            sep_token=sep_token,
            pad_token=pad_token,
            cls_token=cls_token,
            mask_token=mask_token,
            tokenize_chinese_chars=tokenize_chinese_chars,
            strip_accents=strip_accents,
            **{"clean_up_tokenization_spaces": False, **kwargs},
        )


class FunnelTokenizer(BertTokenizer):
    """Funnel Transformer: other names for the special tokens, and a token type id of its own for the first.

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
        super().__init__(
            vocab_file,
            do_lower_case=do_lower_case,
            do_basic_tokenize=do_basic_tokenize,
            never_split=never_split,
            unk_token=unk_token,
            sep_token=sep_token,
            pad_token=pad_token,
            cls_token=cls_token,
            mask_token=mask_token,
            bos_token=bos_token,
            eos_token=eos_token,
            tokenize_chinese_chars=tokenize_chinese_chars,
            strip_accents=strip_accents,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            **kwargs,
        )

    @property
    def template(self) -> Template:
        cls = f"cls:{self.cls_token_type_id}"
        return Template.of(f"{cls} $A sep", f"{cls} $A sep $B:1 sep:1")


class MPNetTokenizer(BertTokenizer):
    """MPNet: `<s>` and `</s>` around texts, two `</s>` between a pair, and a mask token with `lstrip`.

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
        roles = {
            "bos_token": bos_token,
            "eos_token": eos_token,
            "unk_token": unk_token,
            "sep_token": sep_token,
            "cls_token": cls_token,
            "pad_token": pad_token,
        }
        if isinstance(mask_token, str):
            mask_token = AddedToken(mask_token, lstrip=True, special=True)
        super().__init__(
            vocab_file,
            do_lower_case=do_lower_case,
            do_basic_tokenize=do_basic_tokenize,
            never_split=never_split,
            **{role: AddedToken(t, special=True) if isinstance(t, str) else t for role, t in roles.items()},
            mask_token=mask_token,
            tokenize_chinese_chars=tokenize_chinese_chars,
            strip_accents=strip_accents,
            clean_up_tokenization_spaces=clean_up_tokenization_spaces,
            **kwargs,
        )

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
                f"question_token is a string or an AddedToken, not {question_token!r:.60}", role="question_token"
            )
        self.question_token = question_token
        super().__init__(
            vocab_file,
            do_lower_case=do_lower_case,
            do_basic_tokenize=do_basic_tokenize,
            never_split=never_split,
            unk_token=unk_token,
            sep_token=sep_token,
            pad_token=pad_token,
            cls_token=cls_token,
            mask_token=mask_token,
            question_token=question_token,
            tokenize_chinese_chars=tokenize_chinese_chars,
            strip_accents=strip_accents,
            **{"clean_up_tokenization_spaces": False, **kwargs},
        )
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
    ConvBertTokenizer,
    DistilBertTokenizer,
    DPRContextEncoderTokenizer,
    DPRQuestionEncoderTokenizer,
    DPRReaderTokenizer,
    ElectraTokenizer,
    FunnelTokenizer,
    LayoutLMTokenizer,
    LxmertTokenizer,
    MobileBertTokenizer,
    MPNetTokenizer,
    RetriBertTokenizer,
    SplinterTokenizer,
    SqueezeBertTokenizer,
)
