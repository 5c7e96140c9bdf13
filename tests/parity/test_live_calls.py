"""trietok and transformers run the same programs: tokenizers of all classes are made, changed and
called, and each step has the same outcome.
"""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import pytest
from hypothesis import given

from tests import strategies
from tests.conftest import assert_share, examples
from tests.parity.programs import METHODS, Call, Made, Program, compare, programs, run, tokenizers
from tests.strategies import ADDITIONAL, Change


def test_programs_have_the_same_outcomes(kernel: str) -> None:
    """The counts that are printed say how many steps were compared, and what came of them."""
    counts: Counter[tuple[str, str]] = Counter()

    @examples(200)
    @given(programs())
    def each(program: Program) -> None:
        run(program, kernel, counts)

    each()
    verdicts: Counter[str] = Counter()
    for (_, verdict), count in counts.items():
        verdicts[verdict] += count
    print(f"{verdicts.total()} steps compared: {dict(verdicts.most_common())}")
    assert_share(verdicts["values"], verdicts.total(), 0.5)
    for name in METHODS:  # few programs may have none: they draw several calls of one method
        assert_share(counts[name, "values"], verdicts.total(), 0.0015, name)


RAGGED = {"add_special_tokens": False, "return_tensors": "np"}
# What the search has found once.
FOUND: list[Change | Call] = [
    Call("__call__", (["", "a b c"],), RAGGED),
    Call("__call__", (["a b", "", "c"],), RAGGED),
    ("set additional", ["<a>", "<a>"]),
    ("set additional", [6, 6]),
    ("roles", ({ADDITIONAL: ["<a>", "<a>"]}, True)),
    ("roles", ({ADDITIONAL: ["<a>", "<a>"]}, False)),
    ("add", ([{"content": "hello", "rstrip": True}, "hello"], False)),
    ("add", ([{"content": "[X]", "rstrip": True}, "[X]"], True)),
    ("add", (["[X]", {"content": "[X]", "rstrip": True}], True)),
]


@pytest.mark.parametrize("step", FOUND)
def test_steps_that_once_differed_have_equal_values(step: Change | Call) -> None:
    counts: Counter[tuple[str, str]] = Counter()
    run(Program([Made("BertTokenizer", "uncased", {}, [])], [step]), "", counts)
    assert [verdict for _, verdict in counts] == ["values"]


@functools.cache
def built_in(kind: str, kernel: str) -> tuple[Any, Any]:
    return tokenizers(kind, "trietok-en")


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
@examples(40)
@given(text=strategies.long_texts(["unbelievable", "Wikipedia", "naïve café", "O'Neill's"]))
def test_the_built_in_vocabulary_gives_the_same_ids_and_texts(
    kernel: str, kind: str, text: str
) -> None:
    theirs, ours = built_in(kind, kernel)
    if compare(Call("__call__", (text,), {}), theirs, ours) == "values":
        ids = ours(text).input_ids
        assert compare(Call("decode", (ids,), {}), theirs, ours) == "values"
        assert compare(Call("decode", (ids, True), {}), theirs, ours) == "values"
