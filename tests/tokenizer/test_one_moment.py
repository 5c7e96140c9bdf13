"""A call takes attributes and tokens from one state, also where several things change one after the
other.

While a call is stopped at one of its lines, another thread makes a series of changes, one after the
other, or the same ones in the other order. What the call gives must be what it gives before them,
or after one of them; and not, for example, the tokens from before them with the padding from after
them. Calls are stopped at one line after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import trietok
from tests.conftest import SPECIAL, often
from tests.tokenizer.test_snapshots import LINES, Stopped, some_of

ENTRIES = ["a", "b", "c", "##b", "##c", "ab", "<", ">", "p", ",", "[", "]", "se", "##p"]
TEXTS = ["a <p> b, [SEP] AB c", "<p>", "ab abc , c"]
MOST = often(10)  # lines at which a call is stopped in the ordinary run


class Templating(trietok.BertTokenizer):
    """A user's class that puts other tokens around texts: its rows go through the methods."""

    def build_inputs_with_special_tokens(self, token_ids_0: Any, token_ids_1: Any = None) -> Any:
        return [*super().build_inputs_with_special_tokens(token_ids_0, token_ids_1), 5]


class Cutting(trietok.BertTokenizer):
    """A user's class with words of its own: its texts go through the methods."""

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return super()._tokenize(text)[:4]


KINDS = {
    "BertTokenizer": trietok.BertTokenizer,
    "BertTokenizerFast": trietok.BertTokenizerFast,
    "MPNetTokenizerFast": trietok.MPNetTokenizerFast,
    "rows by methods": Templating,
    "texts by methods": Cutting,
}
CALLS: dict[str, Callable[[Any], Any]] = {
    "a call": lambda t: dict(t(TEXTS[0])),
    "a batch": lambda t: dict(t(TEXTS, padding=True)),
    "a batch cut short": lambda t: dict(
        t(TEXTS, truncation=True, max_length=5, padding="max_length")
    ),
    "a pair": lambda t: dict(
        t(TEXTS[0], TEXTS[2], truncation=True, max_length=7, return_special_tokens_mask=True)
    ),
    "ids": lambda t: dict(t.prepare_for_model([7, 8], [9], padding="max_length", max_length=9)),
    "the template": lambda t: t.build_inputs_with_special_tokens([7], [8]),
    "padding": lambda t: dict(t.pad({"input_ids": [[7, 8], [9]], "token_type_ids": [[0, 0], [0]]})),
    "decoding": lambda t: t.decode([7, 8, 14, 9, 3, 18], skip_special_tokens=True),
    "decoding several": lambda t: t.batch_decode([[7, 8], [14, 9], [3, 18]]),
    "explaining": lambda t: (
        isinstance(t, Cutting) or t.explain(TEXTS[0], padding="max_length", max_length=16).input_ids
    ),
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "cls_token": lambda t: setattr(t, "cls_token", "b"),
    "sep_token": lambda t: setattr(t, "sep_token", "c"),
    "tokens": lambda t: t.add_special_tokens({"pad_token": "<p>"}),
    "padding_side": lambda t: setattr(t, "padding_side", "left"),
    "truncation_side": lambda t: setattr(t, "truncation_side", "left"),
    "model_input_names": lambda t: setattr(t, "model_input_names", ["input_ids", "attention_mask"]),
    "split_special_tokens": lambda t: setattr(t, "split_special_tokens", True),
    "clean_up_tokenization_spaces": lambda t: setattr(t, "clean_up_tokenization_spaces", False),
    "a stage": lambda t: setattr(t.basic_tokenizer, "do_lower_case", False),
    "more tokens": lambda t: t.add_tokens(["ab", "A"]),
}
# Methods of the user's see the tokenizer as it is when they are called.
LIVE = {"rows by methods": {"cls_token", "sep_token"}, "texts by methods": {"a stage", "tokens"}}


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of a kind."""

    def of(kind: str) -> Any:
        roles = dict(
            zip(
                ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"),
                SPECIAL,
                strict=True,
            )
        )
        more = {"bos_token": "[CLS]", "eos_token": "[SEP]"} if kind.startswith("MPNet") else {}
        return KINDS[kind](vocab_file(*ENTRIES, special=SPECIAL), **roles, **more)

    return of


def mixed(
    make: Callable[[str], Any], kind: str, call: Callable[[Any], Any], most: int
) -> list[str]:
    """What a call gives that it gives in no state."""
    wrong: list[str] = []
    changes = [change for name, change in CHANGES.items() if name not in LIVE.get(kind, ())]
    for series in (changes, changes[::-1]):
        tokenizer = make(kind)
        states = [call(tokenizer)]
        for change in series:
            change(tokenizer)
            states.append(call(tokenizer))
        counting = Stopped()
        first = make(kind)
        counting.run(lambda first=first: call(first))
        for line in some_of(counting.lines, most):
            tokenizer = make(kind)

            def meanwhile(
                tokenizer: Any = tokenizer, series: list[Callable[[Any], Any]] = series
            ) -> None:
                for change in series:
                    change(tokenizer)

            stopped = Stopped(line, meanwhile)
            given = stopped.run(lambda tokenizer=tokenizer: call(tokenizer))
            if given not in states:
                wrong.append(f"stopped at {stopped.place}: {given!r:.200}")
            elif call(tokenizer) != states[-1]:
                wrong.append(f"afterwards, stopped at {stopped.place}: {call(tokenizer)!r:.200}")
    return wrong


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_mixes_no_states(make, kind, name):
    assert mixed(make, kind, CALLS[name], MOST) == []


@pytest.mark.faults
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_call_mixes_no_states_at_many_lines(make, kind, name):
    assert mixed(make, kind, CALLS[name], LINES) == []


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
def test_ids_move_around_texts_when_they_move_in_them(tmp_path, kind):
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(["a", *SPECIAL, "b", "c"]), encoding="utf-8")

    def keep(tokenizer: Any) -> None:
        tokenizer.keep_only(range(1, 8))  # every id is one less

    tokenizer = KINDS[kind](path)
    states = [tokenizer("b c").input_ids]
    keep(tokenizer)
    states.append(tokenizer("b c").input_ids)
    assert states[1] == [token_id - 1 for token_id in states[0]]
    counting = Stopped()
    first = KINDS[kind](path)
    counting.run(lambda: keep(first))
    for line in range(1, counting.lines + 1):
        tokenizer = KINDS[kind](path)
        given: list[Any] = []
        stopped = Stopped(
            line, lambda given=given, tokenizer=tokenizer: given.append(tokenizer("b c").input_ids)
        )
        stopped.run(lambda tokenizer=tokenizer: keep(tokenizer))
        assert all(each in states for each in given), stopped.place
        assert tokenizer("b c").input_ids == states[1], stopped.place
