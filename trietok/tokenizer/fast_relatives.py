"""BERT's relatives in the fast profile: the fast twin of each class of the family.

In: what a `BertTokenizerFast` takes. Out: the ids, token type ids, masks and offsets that
transformers 4.57.6 gives for each model's fast class. A class says only what sets it apart from its
slow twin.
"""

from __future__ import annotations

import os
from typing import Any

from trietok.inputs.template import Template
from trietok.tokenizer import relatives as slow
from trietok.tokenizer.bert import given
from trietok.tokenizer.bert_fast import BertTokenizerFast, RustProfile
from trietok.tokenizer.token_table import Token


class DistilBertTokenizerFast(RustProfile, slow.DistilBertTokenizer):
    """`DistilBertTokenizer` in the fast profile."""


class ElectraTokenizerFast(RustProfile, slow.ElectraTokenizer):
    """`ElectraTokenizer` in the fast profile."""


class MobileBertTokenizerFast(RustProfile, slow.MobileBertTokenizer):
    """`MobileBertTokenizer` in the fast profile."""


class ConvBertTokenizerFast(RustProfile, slow.ConvBertTokenizer):
    """`ConvBertTokenizer` in the fast profile."""


class SqueezeBertTokenizerFast(RustProfile, slow.SqueezeBertTokenizer):
    """`SqueezeBertTokenizer` in the fast profile."""


class LayoutLMTokenizerFast(RustProfile, slow.LayoutLMTokenizer):
    """`LayoutLMTokenizer` in the fast profile."""


class LxmertTokenizerFast(RustProfile, slow.LxmertTokenizer):
    """`LxmertTokenizer` in the fast profile."""


class DPRContextEncoderTokenizerFast(RustProfile, slow.DPRContextEncoderTokenizer):
    """`DPRContextEncoderTokenizer` in the fast profile."""


class DPRQuestionEncoderTokenizerFast(RustProfile, slow.DPRQuestionEncoderTokenizer):
    """`DPRQuestionEncoderTokenizer` in the fast profile."""


class DPRReaderTokenizerFast(RustProfile, slow.DPRReaderTokenizer):
    """`DPRReaderTokenizer` in the fast profile."""


class RetriBertTokenizerFast(RustProfile, slow.RetriBertTokenizer):
    """`RetriBertTokenizer` in the fast profile."""


class FunnelTokenizerFast(RustProfile, slow.FunnelTokenizer):
    """`FunnelTokenizer` in the fast profile."""


class MPNetTokenizerFast(RustProfile, slow.MPNetTokenizer):
    """`MPNetTokenizer` in the fast profile.

    Token type ids, where they are asked for, are 1 for a second text, and the special tokens are
    searched in the normalized text, so that `<S>` is `<s>` where the text is lower-cased.
    """

    _overriding = ("do_lower_case", "strip_accents")

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
        super().__init__(**{**given(locals()), **slow.mpnet_roles(locals(), special=False)})

    @classmethod
    def settled_by_slow(cls, arguments: dict[str, Any]) -> dict[str, Any]:
        return {**arguments, **slow.mpnet_roles(arguments, special=True)}

    @property
    def template(self) -> Template:
        # Only what is made of ids; texts go by the Rust template. They differ once one of the roles
        # is changed.
        return Template.of("bos $A eos", "bos $A eos eos $B eos")

    @property
    def rust_template(self) -> Template:
        return Template.of("cls $A sep", "cls $A sep sep $B:1 sep:1")


class SplinterTokenizerFast(RustProfile, slow.SplinterTokenizer):
    """`SplinterTokenizer` in the fast profile; the question token is one of the additional special
    tokens.
    """

    _overriding = ("do_lower_case", "strip_accents")

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
    DistilBertTokenizerFast,
    ElectraTokenizerFast,
    MobileBertTokenizerFast,
    ConvBertTokenizerFast,
    SqueezeBertTokenizerFast,
    LayoutLMTokenizerFast,
    LxmertTokenizerFast,
    DPRContextEncoderTokenizerFast,
    DPRQuestionEncoderTokenizerFast,
    DPRReaderTokenizerFast,
    RetriBertTokenizerFast,
    FunnelTokenizerFast,
    MPNetTokenizerFast,
    SplinterTokenizerFast,
)
