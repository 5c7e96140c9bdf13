"""The real nanotoken and tokie, for which the default tests have stand-ins, give the same ids."""

from __future__ import annotations

import pytest

import trietok
from tests.conftest import needs

pytestmark = pytest.mark.clients


@pytest.mark.parametrize("name", ["nanotoken", "tokie"])
def test_it_gives_the_ids_of_the_fast_profile(tmp_path, name):
    needs(name)
    tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
    tokenizer.save_pretrained(tmp_path)
    texts = ["The people, united!", "naïve 東京 [MASK] unaffable", "a\tb " * 50]
    verified = trietok.verify(name, trietok.lock(tokenizer, texts), model=tmp_path)
    assert verified.ok, str(verified)
