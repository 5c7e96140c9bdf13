"""The normal forms of a tokenizer.json, compared with tokenizers."""

from __future__ import annotations

import random
import unicodedata

import pytest
from tokenizers import normalizers

from tests.conftest import often
from trietok.text import characters as rust_characters


def test_every_character_composes_as_in_rust():
    theirs, stride = normalizers.NFC(), often(499, nightly=1)
    for code in [*range(0xD800), *range(0xE000, 0x110000)]:
        char = chr(code)
        if code % stride and not (unicodedata.combining(char) or unicodedata.decomposition(char)):
            continue
        text = f"e{char}\u0301 e\u0323{char}\u0302 {char * 2}\u0307"
        if rust_characters.nfc(text) != theirs.normalize_str(text):
            pytest.fail(f"U+{code:04X} composes otherwise")


@pytest.mark.parametrize("name", ["NFC", "NFD"])
def test_random_texts_compose_as_in_rust(name):
    theirs, ours = getattr(normalizers, name)(), getattr(rust_characters, name.lower())
    seed = random.randrange(1 << 32)
    rng = random.Random(seed)
    # Marks before and after Unicode 9, the parts of a newer composed character, and what marks are
    # put on.
    chars = (
        "ea\u00e9\u03d2\u017f\u0301\u0307\u0323\u0344\u08d3\u1abf\u1dfa\u0c3c"
        "\U00010efd\U00011935\U00011930\U00011938"
    )
    for _ in range(often(2400)):
        text = "".join(rng.choices(chars, k=rng.randrange(12)))
        assert ours(text) == theirs.normalize_str(text), f"seed {seed}: {text!a}"
