"""The ids of an explanation are those of the call, on random texts, tokens and options, and its
statements are true.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import SPECIAL, examples
from trietok import AddedToken, BertTokenizer, BertTokenizerFast, TrietokError
from trietok.showing.characters import width

TEXTS = 20
ENTRIES = [
    *"abcdeilnostuvxyzéÅσ.!-東京你한ʼ\u0301",
    *"##a ##b ##c ##d ##e ##i ##n ##s ##t ##ab ##ing ##ed ##é ##σ ##\u0301 ###".split(),
    *"un una the abc New new naive naïve The ##fable # ## [ ] mask cls".split(),
]
ALPHABET = [
    *"abcdeintsu  .,!-#[]ABNÉéïÅÅΣσςİıſßﬁ",
    *"\u0301\u0323\u0308\u200d\0\ud800\udfff\u0378\ue000\ufffd\ufeff\u00ad",
    *"\t\n\r\x0b\x1c\x85\u00a0\u3000\u2028東京你豈한",
    "한",
    *"😀™≠゙",
    *"un naïve the [MASK] [CLS] [SEP] [UNK] unaffable ing <a> ab AB".split(),
    "New York",
    " <a> ",
]
CONTENTS = [
    "ab",
    "AB",
    "<a>",
    "New York",
    "un",
    "é",
    "東",
    " ",
    "  ",
    "the ",
    "\t",
    "[X]",
    "naïve",
    "ing",
    "c\u0301",
    ".",
    "İ",
    "\u200d",
]


def words(draw: random.Random, most: int = 12) -> str:
    return "".join(draw.choices(ALPHABET, k=draw.randrange(most)))


def tokenizer(draw: random.Random, path: str) -> Any:
    """A tokenizer of either profile, with added tokens of any flags."""
    kind = draw.choice([BertTokenizer, BertTokenizerFast])
    options: dict[str, Any] = {
        "do_lower_case": draw.random() < 0.6,
        "strip_accents": draw.choice([None, True, False]),
    }
    options["tokenize_chinese_chars"] = draw.random() < 0.8
    if kind is BertTokenizer:
        options["never_split"] = draw.choice([None, None, ["naïve", "a.b", "New"]])
        options["do_basic_tokenize"] = draw.random() < 0.9
    made = kind(path, model_max_length=draw.choice([10, 512]), **options)
    if draw.random() < 0.2 and options.get("do_basic_tokenize", True):
        made.basic_tokenizer.do_split_on_punc = False
    for content in draw.sample(CONTENTS, draw.randrange(5)):
        flags = {
            name: draw.random() < 0.4 for name in ("single_word", "lstrip", "rstrip", "normalized")
        }
        made.add_tokens([AddedToken(content, **flags)], special_tokens=draw.random() < 0.3)
    return made


def options(draw: random.Random) -> dict[str, Any]:
    """The options of a call, some of which it refuses."""
    chosen: dict[str, Any] = {"verbose": False}
    if draw.random() < 0.5:
        chosen["truncation"] = draw.choice(
            [True, "only_first", "only_second", "longest_first", False]
        )
        chosen["max_length"] = draw.choice([0, 2, 3, 5, 8, 12, -1])
        chosen["stride"] = draw.choice([0, 0, 1, 3])
        chosen["return_overflowing_tokens"] = draw.random() < 0.4
    if draw.random() < 0.3:
        chosen["padding"] = draw.choice([True, "max_length"])
        chosen["padding_side"] = draw.choice(["left", "right"])
    if draw.random() < 0.2:
        chosen["add_special_tokens"] = False
    if draw.random() < 0.1:
        chosen["split_special_tokens"] = True
    return chosen


def outcome(call: Any) -> Any:
    """What a call returns, or the error that it raises."""
    try:
        return call()
    except (TrietokError, AttributeError) as error:
        return type(error).__name__, str(error)


def flat(ids: Any) -> list[int]:
    return (
        [token_id for row in ids for token_id in row]
        if ids and isinstance(ids[0], list)
        else list(ids)
    )


def check(made: Any, text: Any, pair: Any, chosen: dict[str, Any]) -> None:
    """One call and its explanation."""
    where = f"{type(made).__name__} {text!r} {pair!r} {chosen} {made.added_tokens_decoder}"
    called = outcome(lambda: made(text, pair, **chosen)["input_ids"])
    explained = outcome(lambda: made.explain(text, pair, **chosen))
    if isinstance(called, tuple):
        assert explained == called, where
        return
    assert isinstance(explained, trietok.Explanation), (where, explained)
    assert explained.input_ids == called, where
    assert [token.id for row in explained.rows for token in row] == flat(called), where
    for each in explained.texts:
        holds(made, each, where)


def holds(made: Any, text: trietok.explaining.tokens.ExplainedText, where: str) -> None:
    """What the explanation of a text says."""
    tokens = list(text.tokens)
    accounted = {place for token in tokens for place in range(token.start, token.end)}
    for stage in text.stages:
        for change in stage.changes:
            accounted.update(range(change.start, change.end))
            assert change.before != change.after, where
    for token in tokens:
        if token.kind == "wordpiece":
            assert token.match is not None, where
            assert token.match.entries[-1] == token.token, where
        if token.unknown is not None and token.unknown.reason == "no-piece":
            covered = "".join(
                piece if number == 0 else piece[2:]
                for number, piece in enumerate(token.unknown.covered)
            )
            rest = token.unknown.left[2 if covered else 0 :]
            assert covered + rest == token.word_text, where
            assert token.unknown.char == rest[0], where
        if token.added is not None:
            accounted.update(range(token.start - len(token.added.ate_left), token.start))
            accounted.update(range(token.end, token.end + len(token.added.ate_right)))
    # No character vanishes without a word, but for the whitespace at which words are split.
    silent = [
        char
        for place, char in enumerate(text.text)
        if place not in accounted and not char.isspace()
    ]
    assert silent == [], where
    assert [stage.given for stage in text.stages[1:]] == [
        stage.gave for stage in text.stages[:-1]
    ], where


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    file.write_text(
        "".join(f"{entry}\n" for entry in [*SPECIAL, *dict.fromkeys(ENTRIES)]), encoding="utf-8"
    )
    return str(file)


@examples(12)
@given(st.integers(0, 2**64))
def test_the_ids_are_those_of_the_call(path, seed):
    draw = random.Random(seed)
    made = tokenizer(draw, path)
    for _ in range(TEXTS):
        chosen = options(draw)
        text: Any = words(draw)
        pair: Any = words(draw, 6) if draw.random() < 0.3 else None
        if draw.random() < 0.1:
            chosen["is_split_into_words"] = True
            text, pair = [words(draw, 4) for _ in range(draw.randrange(1, 4))], None
        check(made, text, pair, chosen)


@examples(6)
@given(st.integers(0, 2**64))
def test_views_can_show_any_text(path, seed):
    draw = random.Random(seed)
    made = tokenizer(draw, path)
    explained = made.explain(words(draw), words(draw) if draw.random() < 0.3 else None)
    explained.to_html().encode("utf-8")
    assert max(map(width, explained.to_text(40).split("\n"))) <= 40
    explained.to_text(40).encode("utf-8")
    assert json.loads(explained.to_json())["input_ids"] == explained.input_ids
