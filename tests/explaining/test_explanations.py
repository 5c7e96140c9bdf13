"""Explanations of random texts: the ids are those of the call, what they state is true, and every
view can show them.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import assert_share, examples
from tests.explaining.test_notebooks import sound
from tests.strategies import (
    CALL_OPTIONS,
    CONTENTS,
    NEAR_CONTENTS,
    directory_of,
    fast_options,
    flagged_terms,
    made,
    several,
    slow_options,
    some_of,
    texts,
)
from trietok import BertTokenizer, BertTokenizerFast, TrietokError

KINDS = [BertTokenizer, BertTokenizerFast]
# An explanation holds lists of ids.
CALLS = some_of(**{name: CALL_OPTIONS[name] for name in CALL_OPTIONS if name != "return_tensors"})


@st.composite
def tokenizers(draw: st.DrawFn, kind: type | None = None) -> Any:
    """A tokenizer of either profile, with added tokens of any flags."""
    kind = kind or draw(st.sampled_from(KINDS))
    options = draw(slow_options() if kind is BertTokenizer else fast_options())
    tokenizer = kind.from_pretrained(directory_of("uncased"), **options)
    terms = made(trietok, draw(several(flagged_terms([*CONTENTS, "unaff", "llo"]))))
    tokenizer.add_tokens(terms)
    return tokenizer


TEXTS = texts(NEAR_CONTENTS, max_size=8)


def outcome(call: Any) -> Any:
    """What a call returns, or the error that it raises."""
    try:
        return call()
    except TrietokError as error:
        return type(error).__name__, str(error)


def flat(ids: Any) -> list[int]:
    is_batch = ids and isinstance(ids[0], list)
    return [token_id for row in ids for token_id in row] if is_batch else list(ids)


def assert_true(text: Any) -> None:
    """What the explanation of a text states."""
    tokens = list(text.tokens)
    accounted = {place for token in tokens for place in range(token.start, token.end)}
    for stage in text.stages:
        for change in stage.changes:
            accounted.update(range(change.start, change.end))
            assert change.before != change.after
    for token in tokens:
        if token.kind == "wordpiece":
            assert token.match is not None
            # A word of `never_split` is one token, whether or not a search finds it.
            assert token.token in (*token.match.entries[-1:], token.word_text)
        if token.unknown is not None and token.unknown.reason == "no-piece":
            covered = "".join(
                piece if number == 0 else piece[2:]
                for number, piece in enumerate(token.unknown.covered)
            )
            rest = token.unknown.left[2 if covered else 0 :]
            assert covered + rest == token.word_text
            assert token.unknown.char == rest[0]
        if token.added is not None:
            accounted.update(range(token.start - len(token.added.ate_left), token.start))
            accounted.update(range(token.end, token.end + len(token.added.ate_right)))
    # No character vanishes without a word, but for the whitespace at which words are split.
    silent = [
        char
        for place, char in enumerate(text.text)
        if place not in accounted and not char.isspace()
    ]
    assert silent == []
    assert [each.given for each in text.stages[1:]] == [each.gave for each in text.stages[:-1]]


def columns_of(line: str) -> int:
    """How many columns of a terminal a line takes."""
    shown = [char for char in line if unicodedata.category(char) not in ("Mn", "Me", "Cf")]
    return len(shown) + sum(unicodedata.east_asian_width(char) in "WF" for char in shown)


def assert_views_show(value: Any, *widths: int) -> None:
    """No view is wider than asked, or holds markup of the texts."""
    assert sound(value.to_html())
    for columns in widths:
        lines = value.to_text(columns).split("\n")
        assert max(map(columns_of, lines)) <= columns, repr(max(lines, key=columns_of))
        assert all(line == line.rstrip() for line in lines)
        "\n".join(lines).encode("utf-8")
    assert json.loads(value.to_json()) == json.loads(json.dumps(value.to_dict()))


@pytest.mark.parametrize("kind", KINDS)
def test_an_explanation_has_the_ids_of_its_call_and_states_what_is_true(kind):
    tally: Counter[str] = Counter()

    @examples(400)
    @given(tokenizers(kind), TEXTS, st.none() | TEXTS, CALLS)
    def compare(tokenizer, text, pair, options):
        if options.get("is_split_into_words"):
            text, pair = text.split(), None
        called = outcome(lambda: tokenizer(text, pair, **options)["input_ids"])
        explained = outcome(lambda: tokenizer.explain(text, pair, **options))
        if isinstance(called, tuple):
            tally["refused"] += 1
            assert explained == called
            return
        assert isinstance(explained, trietok.Explanation), explained
        assert explained.input_ids == called
        assert [token.id for row in explained.rows for token in row] == flat(called)
        for each in explained.texts:
            assert_true(each)
        tally["compared"] += 1
        tally.update({token.kind for token in explained.tokens})
        tally.update({stage.name for each in explained.texts for stage in each.stages})

    compare()
    assert_share(tally["compared"], tally["compared"] + tally["refused"], 0.4)
    kinds, stages = "wordpiece unknown added special", "clean chinese accents punctuation"
    for name in f"{kinds} {stages}".split():
        assert_share(tally[name], tally["compared"], 0.04, name)


@examples(60)
@given(tokenizers(), TEXTS, st.none() | TEXTS)
def test_any_view_shows_any_text(tokenizer, text, pair):
    explained = tokenizer.explain(text, pair)
    assert_views_show(explained, 40, 80)
    assert json.loads(explained.to_json())["input_ids"] == explained.input_ids


def test_two_explanations_differ_where_their_tokens_do():
    tally: Counter[str] = Counter()

    @examples(400)
    @given(tokenizers(), tokenizers(), TEXTS, st.none() | texts(max_size=2).filter(bool))
    def compare(left, right, text, pair):
        left, right = left.explain(text, pair), right.explain(text, pair)
        contrast = left.against(right)
        assert contrast.same_ids == (left.input_ids == right.input_ids)
        assert contrast.to_dict()["left"]["input_ids"] == left.input_ids
        differing = [part for part in contrast.parts if part.differs]
        tokens = [[each.token for row in side.rows for each in row] for side in (left, right)]
        if tokens[0] == tokens[1]:
            assert differing == []
        shown = contrast.to_text(2000)
        for part in differing:
            assert part.why
            assert part.why.rstrip() in shown
        for side in (left, right):
            assert [part.differs for part in side.against(side).parts if part.differs] == []
        assert_views_show(contrast, 80)
        tally["same" if contrast.same_ids else "other"] += 1
        tally.update(part.why.partition(" ")[0] for part in differing)

    compare()
    for kind in ("same", "other"):
        assert_share(tally[kind], tally["same"] + tally["other"], 0.1)
