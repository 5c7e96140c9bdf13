"""`RowPlan`: plans of plans, the way back, models with spare rows."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trietok import InputError, InputTypeError, RowPlan

WEIGHTS = st.sampled_from([0.5, 0.25, 1.0, -2.0, 3.0])  # their products and sums are exact


@st.composite
def plans(draw, before="A", after="B", rows_before=None, may_lose=True):
    rows_before = draw(st.integers(1, 6)) if rows_before is None else rows_before
    old = st.integers(0, rows_before - 1)
    sums = draw(
        st.lists(
            st.lists(st.tuples(old, WEIGHTS), max_size=3, unique_by=lambda term: term[0]),
            max_size=3,
        )
    )
    sums = [tuple(terms) for terms in sums]
    any_source = st.integers(-len(sums), rows_before - 1)
    if may_lose:
        sources = draw(st.lists(any_source, max_size=8))
    else:
        sources = draw(st.permutations(range(rows_before))) + draw(st.lists(any_source, max_size=3))
    return RowPlan(before, after, rows_before, len(sources), sources, sums)


@st.composite
def chains(draw):
    first = draw(plans("A", "B"))
    second = (
        draw(plans("B", "C", first.rows_after)) if first.rows_after else RowPlan("B", "C", 0, 0, [])
    )
    third = (
        draw(plans("C", "D", second.rows_after))
        if second.rows_after
        else RowPlan("C", "D", 0, 0, [])
    )
    return first, second, third


def carried_out(plan: RowPlan, rows: list[tuple[float, ...]]) -> list[tuple[float, ...]]:
    """The rows that a plan makes of rows."""
    width = len(rows[0]) if rows else 0
    return [
        tuple(
            sum(weight * rows[old][column] for old, weight in plan.terms_of(row))
            for column in range(width)
        )
        for row in range(plan.rows_after)
    ]


def table(rows: int) -> list[tuple[float, ...]]:
    rng = random.Random(rows)
    return [(float(rng.randint(-8, 8)), float(row)) for row in range(rows)]


@given(chains())
def test_plans_in_a_row_are_one_plan(chain):
    first, second, third = chain
    rows = table(first.rows_before)
    assert carried_out(first.then(second), rows) == carried_out(second, carried_out(first, rows))
    left, right = first.then(second).then(third), first.then(second.then(third))
    assert list(left.sources) == list(right.sources) or carried_out(left, rows) == carried_out(
        right, rows
    )
    assert [max(source, -1) for source in left.sources] == [
        max(source, -1) for source in right.sources
    ]
    assert [dict(left.terms_of(row)) for row in range(left.rows_after)] == [
        dict(right.terms_of(row)) for row in range(right.rows_after)
    ]


@given(plans(may_lose=False))
def test_the_way_back(plan):
    there_and_back = plan.then(plan.inverse())
    assert list(there_and_back.sources) == list(range(plan.rows_before))
    assert (there_and_back.before, there_and_back.after) == ("A", "A")


@given(plans())
def test_a_plan_that_loses_rows_has_no_way_back(plan):
    if plan.lost:
        with pytest.raises(InputError):
            plan.inverse()
    else:
        plan.inverse()


@given(plans())
def test_what_is_counted(plan):
    assert plan.kept + plan.made == plan.rows_after
    assert plan.lost == plan.rows_before - len({source for source in plan.sources if source >= 0})
    new = plan.new_rows_of()
    assert len(new) == plan.rows_before - plan.lost
    assert all(plan.sources[row] == old for old, row in new.items())


def test_numbers_that_contradict_one_another():
    for arguments in (
        (3, 2, [0]),
        (3, 1, [3]),
        (3, 1, [~0]),
        (3, 1, [0], [((3, 1.0),)]),
        (3, 1, [0], [((0, float("inf")),)]),
    ):
        with pytest.raises(InputError):
            RowPlan("A", "B", *arguments)
    plan = RowPlan("A", "B", 3, 1, [0])
    with pytest.raises(InputError):
        plan.then(plan)
    with pytest.raises(InputTypeError):
        plan.then("plan")


ADDING = RowPlan("A", "B", 3, 5, [0, 1, 2, ~0, ~0], [((0, 1.0),)])
DROPPING = RowPlan("A", "B", 3, 2, [0, 2])


@pytest.mark.parametrize(
    ("plan", "rows", "multiple_of", "sources"),
    [
        (ADDING, 3, 1, [0, 1, 2, -1, -1]),
        (ADDING, 3, 8, [0, 1, 2, -1, -1, None, None, None]),
        (ADDING, 4, 1, [0, 1, 2, -1, -1]),  # the spare row is taken over
        (ADDING, 7, 1, [0, 1, 2, -1, -1, 5, 6]),
        (ADDING, 7, 8, [0, 1, 2, -1, -1, 5, 6, None]),
        (DROPPING, 8, 1, [0, 2]),  # rows are lost anyway: spare ones go, too
        (DROPPING, 8, 4, [0, 2, None, None]),
    ],
)
def test_a_model_with_spare_rows(plan, rows, multiple_of, sources):
    fitted = plan.for_model(rows, multiple_of)
    assert (fitted.rows_before, fitted.rows_after) == (rows, len(sources))
    for row, source in enumerate(sources):
        if source is None:
            assert fitted.terms_of(row) == ()
        else:
            assert fitted.sources[row] == source


def test_a_model_that_is_too_small():
    with pytest.raises(InputError):
        ADDING.for_model(2)
    for multiple_of in (0, -8, 2.0, True):
        with pytest.raises(InputError):
            ADDING.for_model(3, multiple_of)
