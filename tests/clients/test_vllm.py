"""The classes for vLLM: what its `TokenizerLike` asks for, and the arguments with which it
loads.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import trietok
from trietok.clients.vllm import TrietokSlowTokenizer, TrietokTokenizer

pytest.importorskip("transformers")
# The members of the protocol in vLLM 0.33.0.
METHODS = """
    num_special_tokens_to_add __hash__ __len__ __call__ get_vocab get_added_vocab encode
    apply_chat_template convert_tokens_to_ids convert_tokens_to_string decode
    convert_ids_to_tokens
""".split()
PROPERTIES = """
    all_special_tokens all_special_ids bos_token_id eos_token_id pad_token_id is_fast vocab_size
    max_token_id max_chars_per_token truncation_side
""".split()


@pytest.mark.parametrize(
    ("kind", "profile"), [(TrietokTokenizer, "fast"), (TrietokSlowTokenizer, "slow")]
)
def test_a_directory_is_loaded_as_vllm_loads_it(kind: Any, profile: str, tmp_path: Path) -> None:
    saved = trietok.BertTokenizer.from_pretrained("trietok-en")
    saved.add_tokens(["covid-19"])
    saved.save_pretrained(tmp_path)
    tokenizer = kind.from_pretrained(
        tmp_path,
        trust_remote_code=False,
        revision=None,
        download_dir=None,
        truncation_side="left",
        code_revision=None,
    )
    assert tokenizer.profile == profile
    assert all(callable(getattr(tokenizer, name)) for name in METHODS)
    for name in PROPERTIES:
        getattr(tokenizer, name)
    assert tokenizer.truncation_side == "left"
    assert tokenizer.max_token_id == 8000
    assert tokenizer.max_chars_per_token == max(map(len, saved.get_vocab()))
    assert tokenizer.encode(
        "covid-19", truncation=None, max_length=None, add_special_tokens=True
    ) == [2, 8000, 3]
    assert tokenizer(
        "covid-19", text_pair=None, add_special_tokens=True, truncation=False, max_length=None
    ).input_ids == [2, 8000, 3]
    assert {tokenizer: 1}[tokenizer] == 1


def test_the_protocol_is_the_one_of_vllm() -> None:
    protocol = pytest.importorskip("vllm.tokenizers.protocol").TokenizerLike
    members = {name for name in vars(protocol) if not name.startswith("_") or name in METHODS}
    assert members - {"from_pretrained"} == {*METHODS, *PROPERTIES}
    assert "download_dir" in inspect.signature(protocol.from_pretrained).parameters
