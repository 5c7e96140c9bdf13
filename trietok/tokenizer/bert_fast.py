"""`BertTokenizerFast`: the ids of the Rust tokenizers behind transformers' interface, in pure Python.

In: a tokenizer.json or a vocab.txt and transformers' parameters. Out: exactly what tokenizers 0.22.2 gives behind
transformers 4.57.6's class of that name, but for the departures in `docs/hf_compatibility.md`.
"""

from __future__ import annotations

import os
from typing import Any

from trietok.tokenizer.rust_profile import RustProfile
from trietok.tokenizer.token_table import Token


class BertTokenizerFast(RustProfile):
    """BERT's tokenizer in the fast profile, with the parameters of transformers' `BertTokenizerFast`.

    Args:
        vocab_file: the vocab.txt, one token a line.
        tokenizer_file: a tokenizer.json; if it is given, the vocab.txt is not read.
        do_lower_case: lower-case the text. This and the next two override what a tokenizer.json says.
        unk_token, sep_token, pad_token, cls_token, mask_token: the tokens of the roles.
        tokenize_chinese_chars: make every Chinese character a word of its own.
        strip_accents: True or False; None follows `do_lower_case`.
        **kwargs: `model_max_length`, `padding_side` and the others that every tokenizer takes; see
            `PreTrainedTokenizer`.

    Raises:
        FileError: a file is missing or cannot be read.
        FileFormatError: it is not what it should be, or a tokenizer.json has a component that trietok does not have.
        VocabularyError: the vocabulary is empty, or lacks the unknown token, or tokens and ids contradict each other.

    >>> tokenizer = BertTokenizerFast.from_pretrained("trietok-en")
    >>> tokenizer("The people").input_ids == tokenizer.convert_tokens_to_ids(["[CLS]", "the", "people", "[SEP]"])
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
        super().__init__(
            vocab_file,
            tokenizer_file,
            do_lower_case,
            unk_token=unk_token,
            sep_token=sep_token,
            pad_token=pad_token,
            cls_token=cls_token,
            mask_token=mask_token,
            tokenize_chinese_chars=tokenize_chinese_chars,
            strip_accents=strip_accents,
            **kwargs,
        )
