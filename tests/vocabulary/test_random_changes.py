"""Fingerprints and comparisons of tokenizers that were changed at random."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests import strategies
from tests.conftest import assert_share, examples
from trietok import BertTokenizer, compare

# No two begin alike but for their case: which of two that do is kept from lower-casing is the order
# of adding.
CONTENTS = ["<y>", "zz", "Ü", "東", "京 都", "x", "é", "Q", "[S]", "don't", "_"]
HISTORIES = strategies.histories(CONTENTS, own=True)
RECIPES = st.tuples(strategies.slow_options(), HISTORIES)
TEXTS = st.lists(strategies.texts(CONTENTS, max_size=8), min_size=1, max_size=5)
PARTS = ("moved", "gained", "lost", "flags", "roles", "settings", "duplicates")
RAN: Counter[str] = Counter()


def made(recipe: tuple[dict[str, Any], list[strategies.Change]]) -> BertTokenizer:
    """A tokenizer made by a recipe; changes that are refused are left out."""
    options, changes = recipe
    tokenizer = BertTokenizer(strategies.directory_of("unused") / "vocab.txt", **options)
    for change in changes:
        try:
            strategies.apply(trietok, tokenizer, change)
        except (trietok.TrietokError, ValueError, TypeError):
            RAN["refused"] += 1
        else:
            RAN["made"] += 1
    return tokenizer


def ids_of(tokenizer: BertTokenizer, text: str) -> list[int] | None:
    """The ids of a text; None if a role's token has no id."""
    try:
        return tokenizer.encode(text)
    except trietok.SpecialTokenError:
        return None


def assert_fingerprints_tell_whether_ids_differ(a: Any, b: Any, texts: list[str]) -> None:
    comparison = compare(a, b, texts)
    same = comparison.fingerprints[0] == comparison.fingerprints[1]
    assert same == (not any(getattr(comparison, name) for name in PARTS))
    ids = [[ids_of(tokenizer, text) for text in texts] for tokenizer in (a, b)]
    if ids[0] != ids[1]:
        assert not same
        assert comparison.differing or None in (ids[0][0], ids[1][0])
    RAN["same" if same else "different"] += 1
    json.dumps(comparison.to_dict())


def test_ids_that_differ_show_in_the_fingerprint_and_in_a_part_of_the_comparison():
    RAN.clear()

    @examples(120)
    @given(RECIPES, st.one_of(st.none(), RECIPES), TEXTS, st.randoms())
    def run(recipe, other, texts, rng):
        if other is None:  # the same changes in another order: often the same tokenizer
            options, changes = recipe
            other = options, rng.sample(changes, len(changes))
        assert_fingerprints_tell_whether_ids_differ(made(recipe), made(other), texts)

    run()
    assert_share(RAN["made"], RAN["made"] + RAN["refused"], 0.3)
    for kind in ("same", "different"):
        assert_share(RAN[kind], RAN["same"] + RAN["different"], 0.2, kind)
