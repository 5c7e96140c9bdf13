"""A user's script: mypy --strict and pyright find nothing to say, and know the types that it
asserts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import assert_type

import trietok
from trietok import (
    AddedToken,
    AutoTokenizer,
    BatchEncoding,
    BertTokenizer,
    BertTokenizerFast,
    PaddingStrategy,
)

tokenizer = BertTokenizer.from_pretrained("trietok-en", model_max_length=128)
assert_type(tokenizer, BertTokenizer)
fast = BertTokenizerFast.from_pretrained(Path("trietok-en"), do_lower_case=False)
assert_type(fast, BertTokenizerFast)
assert_type(
    AutoTokenizer.from_pretrained("trietok-en", use_fast=False), trietok.PreTrainedTokenizer
)

# Ids, as lists and as tensors.
assert_type(tokenizer.encode("The people"), list[int])
assert_type(
    tokenizer.encode(["the", "people"], ["say"], max_length=8, truncation="longest_first"),
    list[int],
)
array = tokenizer.encode("The people", return_tensors="np")
assert_type(array.shape, tuple[Any, ...])
assert_type(tokenizer.tokenize("The people", split_special_tokens=True), list[str])
assert_type(fast.tokenize(["The people", "say"], add_special_tokens=True), list[str])
assert_type(tokenizer.convert_tokens_to_ids("the"), int)
assert_type(tokenizer.convert_tokens_to_ids(["the"]), list[int])
assert_type(tokenizer.convert_ids_to_tokens(134), str)
assert_type(tokenizer.decode(tokenizer("The people").input_ids, skip_special_tokens=True), str)
assert_type(tokenizer.decode(array), str)

# Calls: a text, pairs, words, arrays; every form of the options.
batch = tokenizer(
    ["a text", "a longer text"],
    padding=True,
    truncation="only_first",
    max_length=4,
    return_tensors="np",
)
assert_type(batch, BatchEncoding)
tokenizer("a", "b", padding="max_length", padding_side="left")
tokenizer(
    text=["a"],
    text_target=["b"],
    padding=PaddingStrategy.LONGEST,
    return_tensors=trietok.TensorType.NUMPY,
)
tokenizer([("a", "b"), ("c", "d")], split_special_tokens=True)
tokenizer(np.array(["a", "b"]), np.array(["c", "d"], dtype=object), padding=True)
tokenizer.pad([{"input_ids": [2, 3]}, {"input_ids": [2]}], padding="longest", return_tensors="np")

# What trietok adds.
assert_type(tokenizer.count("a text"), int)
assert_type(tokenizer.count(["a text"], ["a pair"], add_special_tokens=False), list[int])
assert_type(fast.chunks("a text", 8, overlap=2, at="sentence"), list[trietok.Chunk])
assert_type(tokenizer.encode_flat(["a text"], truncation=True, max_length=8), trietok.FlatIds)

# Results, by attribute and by item.
ids: list[list[int]] = batch.input_ids
mask: list[list[int]] = batch["attention_mask"]
assert_type(batch.word_ids(0), list[int | None])
assert_type(batch.char_to_token(0, 1), int | None)
values: dict[str, Any] = dict(batch)

# Roles: read as a str or None, set to a token of any kind.
assert_type(tokenizer.pad_token, str | None)
assert_type(tokenizer.mask_token_id, int | None)
assert_type(tokenizer.additional_special_tokens, list[str])
tokenizer.pad_token = AddedToken("[PAD]", special=True)
tokenizer.additional_special_tokens = ["[SUBJ]", AddedToken("[OBJ]")]

# Reports, each with the same methods.
compared = trietok.compare(tokenizer, fast, ["a text"])
assert_type(compared, trietok.Comparison)
assert_type((compared.ok, compared.to_json(indent=2), compared.to_html()), tuple[bool, str, str])
assert_type(trietok.verify(tokenizer, trietok.lock(tokenizer)).changed_texts[0].why, str)


class Shouting(BertTokenizer):
    """A class with a keyword of its own says so in `__call__`, for type checkers only."""

    if TYPE_CHECKING:

        def __call__(self, *args: Any, shout: bool = False, **kwargs: Any) -> BatchEncoding: ...

    def prepare_for_tokenization(
        self, text: str, is_split_into_words: bool = False, *, shout: bool = False, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        return (text.upper() if shout else text), kwargs


shouting = Shouting.from_pretrained("trietok-en")
assert_type(shouting, Shouting)
assert_type(shouting("people", shout=True, padding=True), BatchEncoding)


class Letters(trietok.PreTrainedTokenizer):
    """A class of one's own, with the methods that `PreTrainedTokenizer` asks for."""

    ids = {"<unk>": 0, "a": 1}

    @property
    def vocab_size(self) -> int:
        return len(self.ids)

    def get_vocab(self) -> dict[str, int]:
        return {**self.ids, **self.added_tokens_encoder}

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return list(text)

    def _convert_token_to_id(self, token: str) -> int:
        return self.ids.get(token, 0)

    def _convert_id_to_token(self, index: int) -> str:
        return list(self.ids)[index]


assert_type(Letters(unk_token="<unk>").encode("a"), list[int])
