"""BERT's relatives in the fast profile: the fast twin of each class of the family.

In: what a `BertTokenizerFast` takes. Out: the ids, token type ids, masks and offsets that transformers 4.57.6 gives for
each model's fast class. A class says only what sets it apart from its slow twin.
"""

from __future__ import annotations

import os
from typing import Any

from trietok.inputs.template import Template
from trietok.text.added_tokens import AddedToken
from trietok.tokenizer.bert_fast import BertTokenizerFast, RustProfile
from trietok.tokenizer.relatives import (
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
from trietok.tokenizer.token_table import Token


class DistilBertTokenizerFast(RustProfile, DistilBertTokenizer):
    """`DistilBertTokenizer` in the fast profile."""

    slow_tokenizer_class = DistilBertTokenizer


class ElectraTokenizerFast(RustProfile, ElectraTokenizer):
    """`ElectraTokenizer` in the fast profile."""

    slow_tokenizer_class = ElectraTokenizer


class MobileBertTokenizerFast(RustProfile, MobileBertTokenizer):
    """`MobileBertTokenizer` in the fast profile."""

    slow_tokenizer_class = MobileBertTokenizer


class ConvBertTokenizerFast(RustProfile, ConvBertTokenizer):
    """`ConvBertTokenizer` in the fast profile."""

    slow_tokenizer_class = ConvBertTokenizer


class SqueezeBertTokenizerFast(RustProfile, SqueezeBertTokenizer):
    """`SqueezeBertTokenizer` in the fast profile."""

    slow_tokenizer_class = SqueezeBertTokenizer


class LayoutLMTokenizerFast(RustProfile, LayoutLMTokenizer):
    """`LayoutLMTokenizer` in the fast profile."""

    slow_tokenizer_class = LayoutLMTokenizer


class LxmertTokenizerFast(RustProfile, LxmertTokenizer):
    """`LxmertTokenizer` in the fast profile."""

    slow_tokenizer_class = LxmertTokenizer


class DPRContextEncoderTokenizerFast(RustProfile, DPRContextEncoderTokenizer):
    """`DPRContextEncoderTokenizer` in the fast profile."""

    slow_tokenizer_class = DPRContextEncoderTokenizer


class DPRQuestionEncoderTokenizerFast(RustProfile, DPRQuestionEncoderTokenizer):
    """`DPRQuestionEncoderTokenizer` in the fast profile."""

    slow_tokenizer_class = DPRQuestionEncoderTokenizer


class DPRReaderTokenizerFast(RustProfile, DPRReaderTokenizer):  # type: ignore[misc]  # the call takes other arguments
    """`DPRReaderTokenizer` in the fast profile."""

    slow_tokenizer_class = DPRReaderTokenizer


class RetriBertTokenizerFast(RustProfile, RetriBertTokenizer):
    """`RetriBertTokenizer` in the fast profile."""

    slow_tokenizer_class = RetriBertTokenizer


class FunnelTokenizerFast(RustProfile, FunnelTokenizer):
    """`FunnelTokenizer` in the fast profile."""

    slow_tokenizer_class = FunnelTokenizer


_MPNET_ROLES = {
    **dict.fromkeys(("bos_token", "cls_token"), "<s>"),
    **dict.fromkeys(("eos_token", "sep_token"), "</s>"),
    "unk_token": "[UNK]",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
}


class MPNetTokenizerFast(RustProfile, MPNetTokenizer):
    """`MPNetTokenizer` in the fast profile.

    Token type ids, where they are asked for, are 1 for a second text, and the special tokens are searched in the
    normalized text, so that `<S>` is `<s>` where the text is lower-cased.
    """

    slow_tokenizer_class = MPNetTokenizer
    _overriding = ("lowercase", "strip_accents")

    def __init__(
        self,
        vocab_file: str | os.PathLike[str] | None = None,
        tokenizer_file: str | os.PathLike[str] | None = None,
        do_lower_case: bool = True,
        bos_token: Token = "<s>",
        eos_token: Token = "</s>",
        sep_token: Token = "</s>",
        cls_token: Token = "<s>",
        unk_token: Token = "[UNK]",
        pad_token: Token = "<pad>",
        mask_token: Token = "<mask>",
        tokenize_chinese_chars: bool = True,
        strip_accents: bool | None = None,
        **kwargs: Any,
    ) -> None:
        roles = {
            "bos_token": bos_token,
            "eos_token": eos_token,
            "sep_token": sep_token,
            "cls_token": cls_token,
            "unk_token": unk_token,
            "pad_token": pad_token,
            "mask_token": mask_token,
        }
        super().__init__(
            vocab_file,
            tokenizer_file,
            do_lower_case,
            **{
                role: AddedToken(token, lstrip=role == "mask_token") if isinstance(token, str) else token
                for role, token in roles.items()
            },
            tokenize_chinese_chars=tokenize_chinese_chars,
            strip_accents=strip_accents,
            **kwargs,
        )

    @classmethod
    def settled_by_slow(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        roles = {role: arguments.get(role, token) for role, token in _MPNET_ROLES.items()}
        return {
            **arguments,
            **{
                role: AddedToken(token, lstrip=role == "mask_token", special=True) if isinstance(token, str) else token
                for role, token in roles.items()
            },
        }

    @property
    def template(self) -> Template:
        # Only what is made of ids; texts go by the Rust template. They differ once one of the roles is changed.
        return Template.of("bos $A eos", "bos $A eos eos $B eos")

    @property
    def rust_template(self) -> Template:
        return Template.of("cls $A sep", "cls $A sep sep $B:1 sep:1")


class SplinterTokenizerFast(RustProfile, SplinterTokenizer):
    """`SplinterTokenizer` in the fast profile; the question token is one of the additional special tokens."""

    slow_tokenizer_class = SplinterTokenizer
    _overriding = ("lowercase", "strip_accents")

    def __init__(self, *args: Any, question_token: Any = "[QUESTION]", **kwargs: Any) -> None:
        kwargs.setdefault("additional_special_tokens", [question_token])
        super().__init__(*args, question_token=question_token, **kwargs)

    @property
    def rust_template(self) -> Template:
        if self.padding_side == "right":
            return self.template
        return Template.of("cls $A sep", "cls $A sep $B:1 question '.' sep:1")


FAST_CLASSES: tuple[type[RustProfile], ...] = (
    BertTokenizerFast,
    ConvBertTokenizerFast,
    DistilBertTokenizerFast,
    DPRContextEncoderTokenizerFast,
    DPRQuestionEncoderTokenizerFast,
    DPRReaderTokenizerFast,
    ElectraTokenizerFast,
    FunnelTokenizerFast,
    LayoutLMTokenizerFast,
    LxmertTokenizerFast,
    MobileBertTokenizerFast,
    MPNetTokenizerFast,
    RetriBertTokenizerFast,
    SplinterTokenizerFast,
    SqueezeBertTokenizerFast,
)
