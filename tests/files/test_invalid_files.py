"""Directories with one thing wrong are refused with what is wrong; directories that only look wrong
are loaded.

Every folder of `data/invalid` and `data/odd_but_valid` is a small tokenizer, with an
`expected.json` beside its files.
"""

from __future__ import annotations

import json
import pathlib

import pytest

import trietok
from trietok import BertTokenizer

DATA = pathlib.Path(__file__).parents[1] / "data"
LONGEST_MESSAGE = (
    600  # characters beside the path: a message says what is wrong and does not repeat the file
)


def cases(kind: str) -> list:
    folders = sorted(path for path in (DATA / kind).iterdir() if path.is_dir())
    return [pytest.param(folder, id=folder.name) for folder in folders]


def expected(folder: pathlib.Path) -> dict:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("folder", cases("invalid"))
def test_what_is_invalid_is_refused_with_the_reason(folder):
    want = expected(folder)
    with pytest.raises(trietok.TrietokError) as caught:
        BertTokenizer.from_pretrained(folder)
    # whose parts are not to be taken for what is asked for
    message = str(caught.value).replace(str(folder), "")
    assert type(caught.value).__name__ == want["error"], message
    assert [part for part in want["message"] if part not in message] == [], message
    assert len(message) <= LONGEST_MESSAGE


@pytest.mark.parametrize("folder", cases("odd_but_valid"))
def test_what_is_odd_but_valid_is_loaded_and_saved(folder, tmp_path):
    want = expected(folder)
    tokenizer = BertTokenizer.from_pretrained(folder)
    assert {text: tokenizer.encode(text) for text in want["ids"]} == want["ids"]
    tokenizer.save_pretrained(tmp_path)
    again = BertTokenizer.from_pretrained(tmp_path)
    assert {text: again.encode(text) for text in want["ids"]} == want["ids"]
    assert (again.get_vocab(), again.special_tokens_map) == (
        tokenizer.get_vocab(),
        tokenizer.special_tokens_map,
    )
    saved = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert {key: saved.get(key) for key in want.get("kept", {})} == want.get("kept", {})
