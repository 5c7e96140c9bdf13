"""Directories as transformers before 4.34 wrote them: without an `added_tokens_decoder` in
tokenizer_config.json. Most are in `data/odd_but_valid`; these are what only one class does, or decodes.
"""

from __future__ import annotations

import json

import pytest

from tests.conftest import SPECIAL
from trietok import AddedToken, BertTokenizer, BertTokenizerFast

CLASSES = pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
BEHIND = len(SPECIAL) + 2  # the first id behind the vocabulary


@pytest.fixture
def directory(tmp_path):
    """A function that writes a vocab.txt of the special tokens, `a` and `b`, with these JSON files
    beside it.
    """

    def write(config=None, roles=None, added=None):
        (tmp_path / "vocab.txt").write_text(
            "\n".join([*SPECIAL, "a", "b"]) + "\n", encoding="utf-8"
        )
        for name, value in [
            ("tokenizer_config", config),
            ("special_tokens_map", roles),
            ("added_tokens", added),
        ]:
            if value is not None:
                (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
        return tmp_path

    return write


def flagged(content: str, **flags: bool) -> dict:
    """A token as special_tokens_map.json had it."""
    return {
        "content": content,
        "lstrip": False,
        "normalized": True,
        "rstrip": False,
        "single_word": False,
        **flags,
    }


@CLASSES
def test_the_mask_token_stays_where_it_is_an_additional_special_token_too(kind, directory):
    roles = {"mask_token": "[MASK]", "additional_special_tokens": ["<e>", "[MASK]"]}
    tokenizer = kind.from_pretrained(directory(None, roles, {"<e>": BEHIND, "<f>": BEHIND + 1}))
    assert (tokenizer.mask_token, tokenizer.mask_token_id) == ("[MASK]", 4)
    assert not tokenizer.added_tokens_decoder[BEHIND + 1].special


@pytest.mark.parametrize(("text", "ids"), [("<E>", [2, BEHIND, 3]), ("<e>", [2, 1, 1, 1, 3])])
def test_the_fast_tokenizer_looks_for_what_added_tokens_json_says_first(directory, text, ids):
    """The map says that it is normalized, which comes too late: the flag changes, but not what is
    looked for.
    """
    path = directory(None, {"eos_token": flagged("<E>")}, {"<E>": BEHIND})
    tokenizer = BertTokenizerFast.from_pretrained(path)
    assert tokenizer.added_tokens_decoder[BEHIND].normalized
    assert tokenizer.encode(text) == ids


def test_the_fast_tokenizer_makes_special_what_a_role_names(directory):
    tokenizer = BertTokenizerFast.from_pretrained(
        directory(None, None, {"[MASK]": 4, "<e>": BEHIND})
    )
    assert tokenizer.added_tokens_decoder[4] == AddedToken("[MASK]", normalized=True, special=True)
    assert tokenizer.decode([5, 4, BEHIND], skip_special_tokens=True) == "a <e>"
