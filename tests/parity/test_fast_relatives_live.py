"""The fast classes of BERT and its relatives beside transformers: what a class says, and its calls.

Their directories are compared by test_interop.py.
"""

from __future__ import annotations

import functools
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests import strategies
from tests.conftest import assert_share, examples
from tests.parity.comparing import assert_same_encodings, different, outcome, plain
from tests.parity.directories import FAMILY, class_of, said_by, vocabulary_file
from tests.strategies import BOOL, OPTIONAL_BOOL, some_of

NAMES = [f"{kind}Fast" for kind in FAMILY]
ROLE_TEXTS = ["<s>", " <mask>", "a <mask> b", "[QUESTION]", "[MASK]", "<sep>", "<unk>", "<cls>"]
CALLS = some_of(
    add_special_tokens=BOOL,
    padding=(False, True, "max_length"),
    truncation=(False, True, "only_first"),
    max_length=(8, 12, 16),
    stride=(0, 1),
    return_special_tokens_mask=BOOL,
    return_token_type_ids=OPTIONAL_BOOL,
    return_attention_mask=OPTIONAL_BOOL,
    return_overflowing_tokens=BOOL,
)


@functools.cache
def both(name: str, padding_side: str = "right") -> tuple[Any, Any]:
    """The class of transformers and that of trietok, on a vocabulary with the roles of each."""
    with tempfile.TemporaryDirectory() as root:
        path = str(vocabulary_file("every role", Path(root)))
        theirs, ours = (
            class_of(library, name)(path, padding_side=padding_side, model_max_length=40)
            for library in (transformers, trietok)
        )
    return theirs, ours


@pytest.mark.parametrize("name", NAMES)
def test_a_class_says_the_same_as_in_transformers(name):
    theirs, ours = both(name)
    assert different(said_by(theirs), said_by(ours)) is None
    assert ours.slow_tokenizer_class.__name__ == theirs.slow_tokenizer_class.__name__
    assert ours.do_lower_case == theirs.do_lower_case
    if name == "SplinterTokenizerFast":  # transformers does not set its question_token
        return
    for pair in (False, True):
        assert ours.num_special_tokens_to_add(pair) == theirs.num_special_tokens_to_add(pair)
    ids = [*range(len(ours)), *range(len(ours) - 1, 0, -3)]
    for options in ({}, {"skip_special_tokens": True}):
        assert ours.decode(ids, **options) == theirs.decode(ids, **options)
    parts = (ids[5:8], ids[9:11])
    want = theirs.build_inputs_with_special_tokens(*parts)
    assert ours.build_inputs_with_special_tokens(*parts) == want


def test_random_calls_give_the_same_masks_offsets_and_windows():
    counts: Counter[str] = Counter()

    @examples(120)
    @given(
        st.sampled_from(NAMES),
        strategies.texts(ROLE_TEXTS).filter(strategies.is_valid),
        st.none() | strategies.short_texts(),
        CALLS,
        st.sampled_from(["left", "right"]),
    )
    def compare(name, text, pair, options, padding_side):
        theirs, ours = both(name, padding_side)
        if "DPRReader" in name:  # whose calls take titles and texts
            theirs, ours = theirs.encode_plus, ours.encode_plus
        options = {"return_offsets_mapping": True, **options}
        want, their_error = outcome_of_rust(lambda: theirs(text, pair, **options))
        got, our_error = outcome(lambda: ours(text, pair, **options))
        counts["returned" if their_error is None else "refused"] += 1
        if their_error is not None:
            assert isinstance(our_error, trietok.TrietokError), (their_error, our_error, got)
            return
        assert our_error is None, our_error
        assert list(got) == list(want)
        assert plain(dict(got)) == plain(dict(want))
        for their_encoding, our_encoding in zip(want.encodings, got.encodings, strict=True):
            assert_same_encodings(their_encoding, our_encoding)

    compare()
    assert_share(counts["returned"], counts.total(), 0.4)


def outcome_of_rust(call: Any) -> tuple[Any, BaseException | None]:
    """What a call returns, or its error: a panic of the Rust library is no Exception."""
    try:
        return call(), None
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        return None, error
