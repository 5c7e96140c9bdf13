"""The numbers of new rows: kept ones bit for bit, sums rounded once to the nearest number, exactly
computed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import examples
from trietok import InputError, RowPlan
from trietok.workbench.adapting import row_blocks
from trietok.workbench.adapting.row_blocks import RowBlocks

BITS = {"F64": np.uint64, "F32": np.uint32, "F16": np.uint16, "BF16": np.uint16}
# Bits of the fraction, of the exponent.
FORMATS = {"F64": (52, 11), "F32": (23, 8), "F16": (10, 5), "BF16": (7, 8)}


def value_of(bits: int, dtype: str) -> Fraction:
    """The number that some bits stand for; they stand for one."""
    fraction_bits, exponent_bits = FORMATS[dtype]
    bias = (1 << (exponent_bits - 1)) - 1
    exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1)
    fraction = bits & ((1 << fraction_bits) - 1)
    assert exponent != (1 << exponent_bits) - 1
    size = Fraction(fraction + (1 << fraction_bits) * (exponent > 0)) * Fraction(2) ** (
        max(exponent, 1) - bias - fraction_bits
    )
    return -size if bits >> (fraction_bits + exponent_bits) else size


def nearest(number: Fraction, dtype: str) -> int:
    """The bits of the nearest number, without its sign: by bisection, as larger bits are larger
    numbers.
    """
    number = abs(number)
    fraction_bits, exponent_bits = FORMATS[dtype]
    low, high = 0, (((1 << exponent_bits) - 1) << fraction_bits) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if value_of(middle, dtype) <= number else (low, middle - 1)
    below, above = value_of(low, dtype), value_of(low + 1, dtype)
    return low + (number - below > above - number or (number - below == above - number and low % 2))


def blocks(plan, dtype, table, axis=0, name="x"):
    parts = [
        part.tobytes()
        for part in RowBlocks(plan).blocks(name, dtype, table.shape, axis, table.tobytes())
    ]
    shape = (*table.shape[:axis], plan.rows_after, *table.shape[axis + 1 :])
    return np.frombuffer(b"".join(parts), table.dtype).reshape(shape)


@st.composite
def finite_bits(draw, dtype):
    """Bits of a number that is not too large, so that small sums of such are finite."""
    fraction_bits, exponent_bits = FORMATS[dtype]
    exponent = draw(st.integers(0, (1 << exponent_bits) - 4))
    bits = draw(st.integers(0, (1 << fraction_bits) - 1)) | exponent << fraction_bits
    return bits | draw(st.integers(0, 1)) << (fraction_bits + exponent_bits)


@examples(60)
@given(data=st.data(), dtype=st.sampled_from(["F32", "F16", "BF16"]))
def test_sums_are_rounded_once(data, dtype):
    """Two terms with weights 1 and 0.5: float64 holds each product, and the sum is rounded as
    float64, then once more.

    Where float64 rounds the sum itself, what is compared with is that of float64.
    """
    table = np.array(
        data.draw(st.lists(finite_bits(dtype), min_size=2, max_size=2)), dtype=BITS[dtype]
    )[:, None]
    plan = RowPlan("A", "B", 2, 1, [~0], [((0, 1.0), (1, 0.5))])
    terms = [value_of(int(bits), dtype) for bits in table[:, 0]]
    total = Fraction(float(terms[0]) + float(terms[1]) * 0.5)
    (new,) = blocks(plan, dtype, table)[:, 0]
    sign = 1 << sum(FORMATS[dtype])
    assert int(new) & (sign - 1) == nearest(total, dtype)
    assert not total or bool(int(new) & sign) == (total < 0)


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (1 + 2**-8, 0x3F80),  # the middle of two: to the even one
        (1 + 3 * 2**-8, 0x3F82),
        (1 + 2**-8 + 2**-40, 0x3F81),  # just above the middle, which float32 does not see
        (1 + 3 * 2**-8 - 2**-40, 0x3F81),  # just below it
        (2**-134, 0x0000),  # half of the smallest number
        (2**-134 + 2**-180, 0x0001),
        (-(2**-133), 0x8001),
    ],
)
def test_bfloat16_is_rounded_once(value, bits):
    assert int(row_blocks._to_bfloat16(np, np.array([value]))[0]) == bits


@examples(60)
@given(
    data=st.data(),
    dtype=st.sampled_from(["F16", "BF16"]),
    pieces=st.lists(st.integers(0, 4), min_size=2, max_size=7),
)
def test_a_mean_is_the_nearest_number_to_the_mean(data, dtype, pieces):
    """1/3 is no float64: with a third of each, a mean in the middle of two numbers would go to
    either.
    """
    sign = 1 << sum(FORMATS[dtype])
    # near each other, so that sums are exact
    small = st.integers(15 << FORMATS[dtype][0], 16 << FORMATS[dtype][0])
    if dtype == "BF16":
        small = small.map(lambda bits: bits + (112 << 7))
    table = np.array(data.draw(st.lists(small, min_size=5, max_size=5)), dtype=BITS[dtype])[:, None]
    weights: dict[int, float] = {}
    for piece in pieces:
        weights[piece] = weights.get(piece, 0.0) + 1 / len(pieces)
    (new,) = blocks(RowPlan("A", "B", 5, 1, [~0], [tuple(weights.items())]), dtype, table)[:, 0]
    mean = sum((value_of(int(table[piece, 0]), dtype) for piece in pieces), Fraction(0)) / len(
        pieces
    )
    assert int(new) & (sign - 1) == nearest(mean, dtype)


@pytest.mark.parametrize("dtype", list(BITS))
def test_kept_rows_and_copies_keep_their_bits(dtype):
    """Among them NaNs with a message, infinities, zeros with a sign and the smallest numbers."""
    rng = np.random.default_rng(1)
    table = rng.integers(
        0, np.iinfo(BITS[dtype]).max, size=(64, 5), dtype=BITS[dtype], endpoint=True
    )
    table[3] = np.iinfo(BITS[dtype]).max  # a NaN in every format
    table[5:7] = 0
    order = rng.permutation(64)
    plan = RowPlan("A", "B", 64, 66, [*order, ~0, ~1], [((5, 1.0),), ()])
    new = blocks(plan, dtype, table)
    assert (new[:64] == table[order]).all()
    assert (new[64] == table[5]).all()
    assert (new[65] == 0).all()


@pytest.mark.parametrize("block_bytes", [1, 40, 200, 1 << 23])
@pytest.mark.parametrize(
    ("shape", "axis"), [((9, 4), 0), ((9,), 0), ((3, 9), 1), ((2, 9, 3), 1), ((2, 3, 9), 2)]
)
def test_blocks_of_any_size_and_any_axis(monkeypatch, block_bytes, shape, axis):
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", block_bytes)
    table = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    sums = [tuple((row, 0.25) for row in range(8)), ((0, 0.5), (8, 0.5)), (), ((2, 1.0),)]
    sources = [8, ~0, 0, ~1, ~1, ~2, 3, ~0, ~3, 4]
    new = blocks(RowPlan("A", "B", 9, 10, sources, sums), "F32", table, axis)
    for row, source in enumerate(sources):
        terms = [(source, 1.0)] if source >= 0 else sums[~source]
        expected = sum(
            (np.take(table, old, axis=axis) * weight for old, weight in terms), np.float32(0)
        )
        assert (np.take(new, row, axis=axis) == expected).all(), row


@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16", "F64"])
@pytest.mark.parametrize("kind", ["nan", "infinite"])
def test_a_sum_of_what_is_not_finite(dtype, kind):
    fraction_bits, exponent_bits = FORMATS[dtype]
    table = np.zeros((5, 2), dtype=BITS[dtype])
    table[3, 1] = ((1 << exponent_bits) - 1) << fraction_bits | (kind == "nan")
    for terms in (((2, 0.5), (3, 0.5)), ((3, 1.0),)):
        with pytest.raises(InputError, match="row 3 of 'x'"):
            blocks(RowPlan("A", "B", 5, 6, [0, 1, 2, 3, 4, ~0], [terms]), dtype, table)
    kept = blocks(
        RowPlan("A", "B", 5, 6, [0, 1, 2, 3, 4, ~0], [((2, 0.5), (4, 0.5))]), dtype, table
    )
    assert (kept[:5] == table).all()


def test_a_sum_that_is_too_large():
    table = np.full((2, 2), 60000, dtype=np.float16).view(np.uint16)
    with pytest.raises(InputError):
        blocks(RowPlan("A", "B", 2, 1, [~0], [((0, 1.0), (1, 1.0))]), "F16", table)


def test_types_that_cannot_be_added_up():
    table = np.arange(6, dtype=np.int8).reshape(3, 2)
    plan = RowPlan("A", "B", 3, 4, [2, 1, ~0, ~1], [((0, 1.0),), ()])
    assert blocks(plan, "I8", table).tolist() == [[4, 5], [2, 3], [0, 1], [0, 0]]
    with pytest.raises(InputError):
        blocks(RowPlan("A", "B", 3, 1, [~0], [((0, 0.5), (1, 0.5))]), "I8", table)
