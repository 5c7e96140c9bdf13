"""`plan_rows` and `RowPlan`: where each row of a model comes from, step by step or at once."""

from __future__ import annotations

import contextlib
import copy
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SPECIAL, examples
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    RowPlan,
    UnknownTokenError,
    plan_rows,
    trim,
)

WORDS = ("the", "co", "##v", "##id", "vac", "##cine", "[unused0]", "[unused1]", "a", "b", "##b")
FIRST = len(SPECIAL)
PROFILES = (BertTokenizer, BertTokenizerFast)


# ---- from two tokenizers -------------------------------------------------------------------------


def test_a_function_gives_the_weights_of_a_new_token(small):
    before = small(*WORDS)
    after = copy.deepcopy(before)
    after.add_tokens(["covid"])
    seen = []

    def first_piece(token, pieces):
        seen.append((token, before.convert_ids_to_tokens(pieces)))
        return {pieces[0]: 2.0}

    plan = plan_rows(before, after, initialization=first_piece)
    assert seen == [("covid", ["co", "##v", "##id"])]
    assert plan.terms_of(after.max_id) == ((FIRST + 1, 2.0),)
    other = small("covid", "b", "the", "☃")
    plan = plan_rows(before, other, initialization="mean")
    assert list(plan.sources)[FIRST + 1 : FIRST + 3] == [FIRST + 9, FIRST]
    assert dict(plan.terms_of(FIRST)) == dict.fromkeys(range(FIRST + 1, FIRST + 4), 1 / 3)
    assert len(plan.terms_of(FIRST + 3)) == before.max_id + 1  # no piece is known
    for weights, error in (
        ([1.0], InputTypeError),
        ({"co": 1.0}, InputTypeError),
        ({0: None}, InputTypeError),
        ({-1: 1.0}, InputError),
        ({10**9: 1.0}, InputError),
        ({0: float("nan")}, InputError),
    ):
        with pytest.raises(error, match="'covid'"):
            plan_rows(before, after, initialization=lambda *_, weights=weights: weights)
    for initialization in ("piece", "", None, 3, "distil"):
        with pytest.raises(InputError):
            plan_rows(before, after, initialization=initialization)
    with pytest.raises(UnknownTokenError):
        plan_rows(before, after, initialization="copy:nowhere")
    with pytest.raises(InputTypeError):
        plan_rows(before, {})


def test_of_duplicate_lines_the_token_takes_the_row_that_texts_used(vocab_file):
    before = BertTokenizer(vocab_file("same", "x", "same", "y"))
    plan = plan_rows(before, before)
    assert list(plan.sources) == list(range(before.max_id + 1))
    after = BertTokenizer(vocab_file("y", "x", "same", name="after.txt"))
    assert list(plan_rows(before, after).sources)[FIRST:] == [FIRST + 3, FIRST + 1, FIRST + 2]
    twice = BertTokenizer(vocab_file("x", "same", "y", "same", name="twice.txt"))
    plan = plan_rows(before, twice)
    assert list(plan.sources)[FIRST:] == [FIRST + 1, FIRST + 2, FIRST + 3, FIRST + 2]
    assert plan.lost == 1
    trimmed = trim(before, ["same"])  # to the id where the other line stood
    assert trimmed.plan.sources[FIRST] == FIRST + 2
    assert plan_rows(before, trimmed.tokenizer) == trimmed.plan


def test_a_removed_token_leaves_a_spare_row_or_zeros_where_its_row_has_moved(vocab_file):
    before = BertTokenizer(vocab_file("x", "y"))
    after = BertTokenizer(vocab_file("z", "w", "y", name="new.txt"))
    after.add_tokens(["x", "v"])
    hole = copy.deepcopy(after)
    hole.remove_tokens(["x"])
    assert list(plan_rows(after, hole).sources) == list(range(FIRST + 5))
    assert plan_rows(hole, after).terms_of(FIRST + 3)  # its old id had no token: it is a new one
    plan = plan_rows(before, hole)
    assert plan.terms_of(FIRST + 3) == ()
    assert plan.sources[FIRST + 2] == FIRST + 1


TOKENS = st.lists(
    st.sampled_from(["covid", "vaccine", "cov", "zoo", "ab", "bb", "☃", "New York", "[X]"]),
    min_size=1,
    max_size=3,
    unique=True,
)
ENTRIES = st.lists(st.sampled_from(["covid", "cov", "##vid", "##ab", "bb"]), max_size=2)
SLOTS = st.sampled_from(["[unused0]", "[unused1]"])
STEPS = st.one_of(
    st.tuples(st.just("add_tokens"), TOKENS),
    st.tuples(st.just("add_wordpieces"), ENTRIES),
    st.tuples(st.just("assign_unused"), SLOTS, st.sampled_from(["covid", "zoo"])),
    st.tuples(st.just("remove"), st.booleans(), st.integers(0, 5)),
)


def take(tokenizer: BertTokenizer, step) -> None:
    """One step of a history, where the tokenizer allows it."""
    if step[0] == "remove":
        removable = sorted(set(tokenizer.get_added_vocab()) - set(SPECIAL))
        if removable:
            tokenizer.remove_tokens([removable[step[2] % len(removable)]], compact=step[1])
        return
    with contextlib.suppress(ValueError, KeyError):  # no slot is left, or the token is known
        getattr(tokenizer, step[0])(*step[1:])


@examples(60)
@given(kind=st.sampled_from(PROFILES), steps=st.lists(STEPS, min_size=1, max_size=6))
def test_the_plans_of_the_steps_are_the_plan_of_the_whole(kind, steps, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "histories.txt"
    path.write_text("".join(f"{token}\n" for token in (*SPECIAL, *WORDS)), encoding="utf-8")
    states = [kind(path)]
    for step in steps:
        states.append(copy.deepcopy(states[-1]))
        take(states[-1], step)
    composed, *others = itertools.starmap(plan_rows, itertools.pairwise(states))
    for plan in others:
        composed = composed.then(plan)
    direct = plan_rows(states[0], states[-1])
    assert (composed.before, composed.after) == (direct.before, direct.after)
    assert (composed.rows_before, composed.rows_after) == (direct.rows_before, direct.rows_after)
    old = states[0].get_vocab()
    for token, row in states[-1].get_vocab().items():
        if all(token in state.get_vocab() for state in states):
            assert composed.sources[row] == direct.sources[row] == old[token], token
        elif token not in old:
            for plan in (composed, direct):
                assert plan.sources[row] < 0, token
                assert sum(weight for _, weight in plan.terms_of(row)) == pytest.approx(1), token


# ---- plans of plans ------------------------------------------------------------------------------

ADDING = RowPlan("A", "B", 3, 5, [0, 1, 2, ~0, ~0], [((0, 1.0),)])
DROPPING = RowPlan("A", "B", 3, 2, [0, 2])


def test_a_plan_without_losses_has_a_way_back_and_fits_models_with_spare_rows():
    there_and_back = ADDING.then(ADDING.inverse())
    assert list(there_and_back.sources) == [0, 1, 2]
    assert (there_and_back.before, there_and_back.after) == ("A", "A")
    assert (ADDING.kept, ADDING.made, ADDING.lost, DROPPING.lost) == (3, 2, 0, 1)
    assert list(ADDING.for_model(4).sources) == [0, 1, 2, -1, -1]  # the spare row is taken over
    more = ADDING.for_model(7, 8)
    assert list(more.sources)[:7] == [0, 1, 2, -1, -1, 5, 6]
    assert (more.rows_before, more.rows_after, more.terms_of(7)) == (7, 8, ())
    assert list(DROPPING.for_model(8).sources) == [0, 2]  # rows are lost anyway: spare ones go, too
    for wrong in ((2, 1), (3, 0), (3, -8), (3, 2.0), (3, True)):
        with pytest.raises(InputError):
            ADDING.for_model(*wrong)
    for impossible in (DROPPING.inverse, lambda: DROPPING.then(DROPPING)):
        with pytest.raises(InputError):
            impossible()
    with pytest.raises(InputTypeError):
        DROPPING.then("plan")
    for sources, *sums in (
        ([0], [((3, 1.0),)]),
        ([0], [((0, float("inf")),)]),
        ([3],),
        ([~0],),
        ([0, 0],),
    ):
        with pytest.raises(InputError):
            RowPlan("A", "B", 3, 1, sources, *sums)
