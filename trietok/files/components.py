"""The parts of a tokenizer.json that few files have: stages other than BERT's.

Normalizer and pre-tokenizer become BERT's normalizer and a `Components`. An unknown component is an
error that names it and its place in the file. A Sequence runs its components one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from trietok.files.json_place import (
    BERT_NORMALIZER,
    BERT_PRE_TOKENIZER,
    NO_NORMALIZER,
    BertNormalizer,
    JsonPlace,
    bert_normalizer,
    component_type,
)
from trietok.files.patterns import Pattern, compiled, literal, meet, ranges_of
from trietok.text.normalizers import LOWERCASE, STRIP_ACCENTS, NormalForm, Replace, Step, Strip
from trietok.text.pre_tokenizers import (
    BEHAVIORS,
    Components,
    CutAtMatches,
    OfBert,
    digits_cut,
    punctuation_cut,
    whitespace_cuts,
)
from trietok.text.words import RustBasicTokenizer

_MOST_STEPS = 200  # of a normalizer
_MOST_GROWTH = 100  # how many times as long it may make a text
_MOST_TRIED = 100_000  # characters of a text whose growth is worked out
_GROWING = ("a", "中", "\ufdfa", "İ", "ΐ")  # what the steps other than Replace make most of


def pipeline_of(
    normalizer: JsonPlace, pre_tokenizer: JsonPlace
) -> tuple[BertNormalizer, Components | None]:
    """Return the BertNormalizer that comes first, and the stages after it.

    The stages are None if they are BERT's pre-tokenizer alone. Without a BertNormalizer, the first
    value is `NO_NORMALIZER`. If the normalizer is null or in a Sequence, transformers ignores the
    arguments of the class, so the stages are a `Components`.
    """
    steps = []
    if normalizer.value is not None:
        steps = _in_sequence(normalizer, "normalizers", _NORMALIZERS)
    cuts = _in_sequence(pre_tokenizer, "pretokenizers", _PRE_TOKENIZERS)
    of_bert = NO_NORMALIZER
    if [kind for kind, _ in steps] == [BERT_NORMALIZER]:
        of_bert = bert_normalizer(steps[0][1])
        if [*steps, *cuts] == [(BERT_NORMALIZER, normalizer), (BERT_PRE_TOKENIZER, pre_tokenizer)]:
            pre_tokenizer.object(("type",))
            return of_bert, None
        steps = []
    is_berts = not steps and [kind for kind, _ in cuts] == [BERT_PRE_TOKENIZER]
    made = tuple(_NORMALIZERS[kind](place) for kind, place in steps)
    _check_growth(normalizer, made)
    cut = tuple(each for kind, place in cuts for each in _PRE_TOKENIZERS[kind](place))
    return of_bert, Components(made, cut, is_berts, (normalizer.value, pre_tokenizer.value))


def _in_sequence(place: JsonPlace, key: str, known: Iterable[str]) -> list[tuple[str, JsonPlace]]:
    """Return the components of a Sequence with their types, those of Sequences in it too; or the
    one that is no Sequence.
    """
    kind = component_type(place, *known, "Sequence")
    if kind != "Sequence":
        return [(kind, place)]
    found = place.object(("type", key)).member(key).items()
    return [each for item in found for each in _in_sequence(item, key, known)]


# ---- normalizers ---------------------------------------------------------------------------------


def _of_bert(place: JsonPlace) -> Step:
    return OfBert(RustBasicTokenizer(*bert_normalizer(place).switches))


def _without_settings(place: JsonPlace) -> Step:
    place.object(("type",))
    return _STEPS[place.value["type"]]


def _pattern(place: JsonPlace) -> Pattern:
    """Return a pattern: a string, or a regular expression that means the same in Python."""
    value = place.value
    if not isinstance(value, dict) or value.keys() not in ({"String"}, {"Regex"}):
        raise place.wrong('an object {"String": ...} or {"Regex": ...}')
    (kind,) = value
    said = place.member(kind)
    if not said.text():
        raise said.wrong("at least one character")
    if kind == "String":
        return literal(said.value)
    try:
        return compiled(said.value)
    except ValueError as error:
        raise said.error(
            f"is {said.value!r:.60}, a regular expression that trietok refuses: {error}"
        ) from None


def _replace(place: JsonPlace) -> Step:
    return Replace(**place.settings(pattern=_pattern, content=JsonPlace.text))


def _strip(place: JsonPlace) -> Step:
    said = place.settings(strip_left=JsonPlace.flag, strip_right=JsonPlace.flag)
    return Strip(said["strip_left"], said["strip_right"])


_STEPS: Mapping[str, Step] = {
    **{form: NormalForm(form) for form in ("NFC", "NFD", "NFKC", "NFKD")},
    "Lowercase": LOWERCASE,
    "StripAccents": STRIP_ACCENTS,
}
_NORMALIZERS: Mapping[str, Callable[[JsonPlace], Step]] = {
    BERT_NORMALIZER: _of_bert,
    **dict.fromkeys(_STEPS, _without_settings),
    "Replace": _replace,
    "Strip": _strip,
}


# ---- how long a text may become ------------------------------------------------------------------


def _check_growth(place: JsonPlace, steps: Sequence[Step]) -> None:
    """Raise if steps can make a text many times as long: 26 times a Replace of `a` by `aa` make 67
    million characters of one.
    """
    if len(steps) > _MOST_STEPS:
        raise place.error(f"has {len(steps):,} steps, and {_MOST_STEPS:,} are the most")
    growth = [1.0] * len(steps)  # of what a Replace step matches, by itself and the steps after it
    for number in reversed(range(len(steps))):
        step = steps[number]
        if isinstance(step, Replace):
            longest = _longest(step.content, growth[number + 1 :], steps[number + 1 :])
            growth[number] = max(1.0, longest / step.pattern.shortest)
    longest = max(_longest(text, growth, steps) for text in _GROWING)
    if max([longest, *growth]) > _MOST_GROWTH:
        raise place.error(
            f"may make a text more than {_MOST_GROWTH} times as long, because its steps change what"
            " others of them have written"
        )


def _longest(text: str, growth: Sequence[float], steps: Sequence[Step]) -> float:
    """How long a text becomes at most in some steps, of which the growth is known.

    A Replace step may match all characters that a match of it may hold, since others may stand
    before and behind the text. What another step makes of the text is tried.
    """
    more, most = 0.0, dict.fromkeys(text, 1.0)  # `most`: how often each character may be written
    for factor, step in zip(growth, steps, strict=True):
        if len(text) > _MOST_TRIED:
            return math.inf
        if isinstance(step, Replace):
            for char in most if factor > 1 else ():
                if meet(ranges_of(char), step.pattern.alphabet):
                    most[char] = max(most[char], factor)
        else:
            more += sum(most[char] - 1 for char in text)
            text = step(text)
            most = dict.fromkeys(text, 1.0)
    return len(text) + more + sum(most[char] - 1 for char in text)


# ---- pre-tokenizers ------------------------------------------------------------------------------


def _whitespace(place: JsonPlace) -> tuple[CutAtMatches, ...]:
    place.object(("type",))
    return whitespace_cuts(place.value["type"])


def _behavior(place: JsonPlace) -> Any:
    return place.choice(*BEHAVIORS)


def _punctuation(place: JsonPlace) -> tuple[CutAtMatches, ...]:
    said = place.settings({"behavior": _behavior})
    return (punctuation_cut(said.get("behavior", "Isolated")),)


def _digits(place: JsonPlace) -> tuple[CutAtMatches, ...]:
    said = place.settings(individual_digits=JsonPlace.flag)
    return (digits_cut(said["individual_digits"]),)


def _split(place: JsonPlace) -> tuple[CutAtMatches, ...]:
    said = place.settings(pattern=_pattern, behavior=_behavior, invert=JsonPlace.flag)
    return (CutAtMatches(**said),)


def _char_delimiter(place: JsonPlace) -> tuple[CutAtMatches, ...]:
    delimiter = place.settings(delimiter=JsonPlace.text)["delimiter"]
    if len(delimiter) != 1:
        raise place.member("delimiter").wrong("one character")
    return (CutAtMatches(literal(delimiter), "Removed"),)


_PRE_TOKENIZERS: Mapping[str, Callable[[JsonPlace], tuple[CutAtMatches, ...]]] = {
    **dict.fromkeys((BERT_PRE_TOKENIZER, "Whitespace", "WhitespaceSplit"), _whitespace),
    "Punctuation": _punctuation,
    "Digits": _digits,
    "Split": _split,
    "CharDelimiterSplit": _char_delimiter,
}
