"""`plan_rows`: every token's row is where its token is, after any history of changes."""

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
    UnknownTokenError,
    plan_rows,
    trim,
)

WORDS = ("the", "co", "##v", "##id", "vac", "##cine", "[unused0]", "[unused1]", "a", "b", "##b")
PROFILES = (BertTokenizer, BertTokenizerFast)


def token_of(tokenizer, row):
    """The token of an id, None where it has none."""
    added = tokenizer.added_tokens_decoder.get(row)
    if added is not None:
        return added.content
    tokens = tokenizer.vocabulary.tokens
    return tokens[row] if row < len(tokens) else None


def ids_of(tokenizer):
    return dict(tokenizer.get_vocab())


@pytest.fixture(params=PROFILES, ids=["slow", "fast"])
def profile(request):
    return request.param


@pytest.fixture
def before(profile, vocab_file):
    return profile(str(vocab_file(*WORDS)))


def changed(tokenizer, *changes):
    after = copy.deepcopy(tokenizer)
    for name, *arguments in changes:
        getattr(after, name)(*arguments)
    return after


# ---- the options ---------------------------------------------------------------------------------


def test_pieces(before):
    after = changed(
        before, ("add_tokens", ["covid", "☃", "bb", "vaccine bbb"]), ("add_wordpieces", ["##vid"])
    )
    plan = plan_rows(before, after, initialization="mean")
    ids, old = ids_of(after), ids_of(before)
    assert dict(plan.terms_of(ids["covid"])) == {
        old[piece]: 1 / 3 for piece in ("co", "##v", "##id")
    }
    assert dict(plan.terms_of(ids["bb"])) == {old["b"]: 0.5, old["##b"]: 0.5}
    assert dict(plan.terms_of(ids["##vid"])) == {old["##v"]: 0.5, old["##id"]: 0.5}
    terms = dict(plan.terms_of(ids["vaccine bbb"]))
    assert terms == pytest.approx(
        {old["vac"]: 0.2, old["##cine"]: 0.2, old["b"]: 0.2, old["##b"]: 0.4}
    )
    # Of a token whose pieces are all unknown, the mean of every token.
    assert dict(plan.terms_of(ids["☃"])) == {row: 1 / len(old) for row in range(len(old))}


@pytest.mark.parametrize("start", ["all", "zeros", "copy:co"])
def test_ways_that_look_at_no_pieces(before, start):
    after = changed(before, ("add_tokens", ["covid", "vaccine"]))
    plan = plan_rows(before, after, initialization=start)
    count = before.max_id + 1
    terms = {
        "all": dict.fromkeys(range(count), 1 / count),
        "zeros": {},
        "copy:co": {ids_of(before)["co"]: 1.0},
    }
    assert [dict(plan.terms_of(count + i)) for i in range(2)] == [terms[start]] * 2
    assert len(plan.sums) == 1


def test_a_function(before):
    after = changed(before, ("add_tokens", ["covid"]))
    seen = []

    def first_piece(token, pieces):
        seen.append((token, pieces))
        return {pieces[0]: 2.0}

    plan = plan_rows(before, after, initialization=first_piece)
    old = ids_of(before)
    assert seen == [("covid", [old["co"], old["##v"], old["##id"]])]
    assert plan.terms_of(after.max_id) == ((old["co"], 2.0),)


@pytest.mark.parametrize(
    ("given_weights", "error"),
    [
        ([1.0], InputTypeError),
        ({"co": 1.0}, InputTypeError),
        ({1.5: 1.0}, InputTypeError),
        ({0: None}, InputTypeError),
        ({-1: 1.0}, InputError),
        ({10**9: 1.0}, InputError),
        ({0: float("nan")}, InputError),
    ],
)
def test_a_function_that_gives_something_else(before, given_weights, error):
    after = changed(before, ("add_tokens", ["covid"]))
    with pytest.raises(error, match="'covid'"):
        plan_rows(before, after, initialization=lambda token, pieces: given_weights)


def test_no_way(before):
    for start in ("piece", "", None, 3):
        with pytest.raises(InputError):
            plan_rows(before, before, initialization=start)
    with pytest.raises(UnknownTokenError):
        plan_rows(before, before, initialization="copy:nowhere")
    with pytest.raises(InputTypeError):
        plan_rows(before, {})


# ---- odd vocabularies ----------------------------------------------------------------------------


def test_duplicate_lines(vocab_file):
    """Two lines of one token: each keeps its row, and wherever the token goes, it takes the row
    that texts use.
    """
    before = BertTokenizer(str(vocab_file("same", "x", "same", "y")))
    first, used = len(SPECIAL), ids_of(before)["same"]
    assert used == first + 2
    plan = plan_rows(before, before, initialization="mean")
    assert list(plan.sources) == list(range(before.max_id + 1))
    after = BertTokenizer(str(vocab_file("y", "x", "same")))
    plan = plan_rows(before, after, initialization="mean")
    assert [plan.sources[ids_of(after)[token]] for token in ("y", "x", "same")] == [
        first + 3,
        first + 1,
        used,
    ]
    twice = BertTokenizer(str(vocab_file("x", "same", "y", "same")))
    plan = plan_rows(before, twice, initialization="mean")
    assert list(plan.sources)[first:] == [first + 1, used, first + 3, used]
    assert plan.lost == 1


def test_the_id_that_encodes_takes_the_row_that_texts_were_encoded_with(vocab_file):
    """Another line of the token may have stood at that very id, with a row that no text ever
    used.
    """
    before = BertTokenizer(str(vocab_file("same", "x", "same")))
    trimmed = trim(before, ["same"])
    assert ids_of(trimmed.tokenizer)["same"] == len(SPECIAL)
    plan = plan_rows(before, trimmed.tokenizer)
    assert plan.sources[len(SPECIAL)] == len(SPECIAL) + 2
    assert plan.sources == trimmed.plan.sources


def test_a_removed_token_leaves_its_row_as_a_spare_one(before):
    with_three = changed(before, ("add_tokens", ["covid", "vaccine", "zoo"]))
    count = before.max_id + 1
    removed = changed(with_three, ("remove_tokens", ["vaccine"]))
    plan = plan_rows(with_three, removed, initialization="mean")
    assert (plan.kept, plan.moved, plan.lost, plan.made) == (count + 3, 0, 0, 0)
    compact = copy.deepcopy(with_three)
    compact.remove_tokens(["vaccine"], compact=True)
    plan = plan_rows(with_three, compact, initialization="mean")
    assert list(plan.sources)[count:] == [count, count + 2]
    assert plan.lost == 1


def test_a_hole_whose_token_has_moved_is_zeros(vocab_file):
    """Else two rows would be those of one token."""
    before = BertTokenizer(str(vocab_file("x", "y")))
    after = BertTokenizer(str(vocab_file("z", "w", "y")))
    after.add_tokens(["x", "v"])
    hole = copy.deepcopy(after)
    hole.remove_tokens(["x"])
    back = plan_rows(hole, after, initialization="mean")
    assert back.terms_of(ids_of(after)["x"])  # its old id had no token: it is a new one
    plan = plan_rows(before, hole, initialization="mean")
    assert plan.terms_of(len(SPECIAL) + 3) == ()
    assert plan.sources[len(SPECIAL) + 2] == len(SPECIAL) + 1


def test_vocabularies_of_two_models(vocab_file, profile):
    before = profile(str(vocab_file(*WORDS)))
    after = profile(str(vocab_file("covid", "b", "the", "##id", "##v", "☃", "zoo")))
    plan = plan_rows(before, after, initialization="mean")
    old, new = ids_of(before), ids_of(after)
    for token, row in new.items():
        if token in old:
            assert plan.sources[row] == old[token]
        else:
            assert plan.sources[row] < 0
    assert dict(plan.terms_of(new["covid"])).keys() == {
        old[piece] for piece in ("co", "##v", "##id")
    }
    assert len(plan.terms_of(new["☃"])) == len(old)


# ---- histories -----------------------------------------------------------------------------------

TOKENS = st.lists(
    st.sampled_from(["covid", "vaccine", "cov", "zoo", "ab", "bb", "☃", "New York", "[X]"]),
    min_size=1,
    max_size=3,
    unique=True,
)
STEPS = st.one_of(
    st.tuples(st.just("add_tokens"), TOKENS),
    st.tuples(
        st.just("add_wordpieces"),
        st.lists(st.sampled_from(["covid", "cov", "##vid", "##ab", "bb"]), max_size=2),
    ),
    st.tuples(
        st.just("assign_unused"),
        st.sampled_from(["[unused0]", "[unused1]"]),
        st.sampled_from(["covid", "zoo"]),
    ),
    st.tuples(st.just("remove"), st.booleans(), st.integers(0, 5)),
)


def taken(tokenizer, step):
    """One step of a history, where the tokenizer allows it."""
    if step[0] == "remove":
        removable = sorted(set(tokenizer.get_added_vocab()) - set(SPECIAL))
        if removable:
            tokenizer.remove_tokens([removable[step[2] % len(removable)]], compact=step[1])
        return
    # no unused entry is left, or the token is there already
    with contextlib.suppress(ValueError, KeyError):
        getattr(tokenizer, step[0])(*step[1:])


@examples(60)
@given(profile=st.sampled_from(PROFILES), steps=st.lists(STEPS, min_size=1, max_size=6))
def test_step_by_step_or_at_once(profile, steps, tmp_path_factory):
    """A token that is there all the time has its row, by the plans of the steps as by the one of
    the whole.
    """
    path = tmp_path_factory.getbasetemp() / "histories.txt"
    path.write_text("".join(f"{token}\n" for token in (*SPECIAL, *WORDS)), encoding="utf-8")
    states = [profile(str(path))]
    for step in steps:
        states.append(copy.deepcopy(states[-1]))
        taken(states[-1], step)
    plans = [
        plan_rows(earlier, later, initialization="mean")
        for earlier, later in itertools.pairwise(states)
    ]
    composed = plans[0]
    for plan in plans[1:]:
        composed = composed.then(plan)
    direct = plan_rows(states[0], states[-1])
    assert (composed.before, composed.after) == (direct.before, direct.after)
    assert (composed.rows_before, composed.rows_after) == (direct.rows_before, direct.rows_after)
    old = ids_of(states[0])
    for token, row in ids_of(states[-1]).items():
        if all(token in ids_of(state) for state in states):
            assert composed.sources[row] == direct.sources[row] == old[token], token
        elif token not in old:
            for plan in (composed, direct):
                assert plan.sources[row] < 0, token
                assert sum(weight for _, weight in plan.terms_of(row)) == pytest.approx(1), token
