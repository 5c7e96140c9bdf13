"""Contenders of `trietok bench` that the default tests stand in for: they load a saved tokenizer
and give its ids.
"""

from __future__ import annotations

import pytest

import trietok
from trietok.benchmarking import validate

pytestmark = pytest.mark.clients


@pytest.mark.parametrize("name", ["nanotoken", "tokie"])
def test_it_gives_the_ids_of_the_fast_profile(tmp_path, name):
    pytest.importorskip(name)
    trietok.BertTokenizerFast.from_pretrained("trietok-en").save_pretrained(tmp_path)
    texts = ["The people, united!", "naïve 東京 [MASK] unaffable", "a\tb " * 50]
    (agreement,) = validate(texts, tmp_path, engines=[name], profile="fast")
    assert agreement.ok, str(agreement)
