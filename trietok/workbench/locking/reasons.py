"""Why a text has other ids than the lock: which stage made the difference.

In: the tokenizer, a text, the locked tokens and ids, and those found. Out: a sentence.

The tokenizer that the lock was written with is gone, and another engine tells nothing of its stages. So `Reasons`
looks for a tokenizer like ours that gives exactly the tokens of the other side; the two explanations side by side then
say which stage it is. For the lock's side only what the lock says is tried: its settings and its profile. For another
library it is the other profile, the model's files in that profile, and one setting changed. Where no such tokenizer is
found, the reason is not known; settings that have changed since are named.
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trietok.errors import TrietokError, told_as
from trietok.explaining.values import TITLES
from trietok.files.formats import json_line
from trietok.files.save import save_files_of
from trietok.workbench.locking.lock_file import Lock
from trietok.workbench.locking.make_lock import settings_of
from trietok.showing.characters import visible
from trietok.tokenizer.auto import fast_class_of, load_any

_SWITCHES = ("do_lower_case", "strip_accents", "tokenize_chinese_chars", "do_split_on_punc", "clean_text", "composes")
_OF_WORDPIECE = ("max_input_chars_per_word",)


class Side(NamedTuple):
    """The tokens and ids of a text."""

    tokens: list[str]
    ids: list[int]


class Reason(NamedTuple):
    """Where the text is at fault, half-open, in code points; and why."""

    start: int
    end: int
    why: str


class Reasons:
    """Says of texts why their ids differ.

    Args:
        tokenizer: our tokenizer of the model.
        engine: who gave the ids that are not the locked ones.
        lock: the lock.
        model: where another engine has read its files.
    """

    def __init__(self, tokenizer: Any, engine: str, lock: Lock, model: str | None = None) -> None:
        self._tokenizer = tokenizer
        self._engine = engine
        self._lock = lock
        self._model = model
        self._of_lock, self._of_engine = _Kept(self._like_the_lock()), _Kept(self._like_an_engine())

    def reason(self, text: str, position: int, locked: Side, found: Side) -> Reason:
        """The reason for one text, from the first token that differs."""
        try:
            ours = self._tokenizer.explain(text, verbose=False)
        except TrietokError:  # methods of the user's own, which cannot be explained
            return Reason(0, 0, "")
        is_lock = ours.input_ids == locked.ids
        token = ours.tokens[position] if position < len(ours.tokens) else None
        start, end = (token.start, token.end) if token is not None and token.text is not None else (0, 0)
        why = self._vocabulary(position, locked, found)
        if not why and (is_lock or ours.input_ids == found.ids):
            why = self._tokens(position, locked, found) or self._contrast(ours, text, is_lock, locked, found)
        return Reason(start, end, why or self._not_known())

    def _not_known(self) -> str:
        """What to say where no tokenizer shows the reason."""
        now = settings_of(self._tokenizer)
        changed = [
            f"{name} was {json_line(locked)} in the lock and is {json_line(now.get(name))} now"
            for name, locked in self._lock.settings.items()
            if now.get(name) != locked
        ]
        return "the reason is not known" + (f"; {', '.join(changed)}" if changed else "")

    def _vocabulary(self, position: int, locked: Side, found: Side) -> str:
        """The reason where the tokens are the same and have other ids."""
        if locked.tokens != found.tokens:
            return ""
        token = visible(locked.tokens[position])
        return (
            f"vocabulary: the text is cut into the same tokens, and “{token}” has the id {locked.ids[position]} in the "
            f"lock and {found.ids[position]} now"
        )

    def _tokens(self, position: int, locked: Side, found: Side) -> str:
        """The reason where a token has come or gone, or one of the template is another."""
        vocabulary = self._tokenizer.get_vocab()
        if position < len(found.ids) and found.ids[position] > self._lock.max_id:
            token = found.tokens[position]
            stage = TITLES["added-tokens" if token in self._tokenizer.added_tokens_encoder else "wordpiece"]
            return f"{stage}: “{visible(token)}” is found now, and was not there when the lock was written"
        gone = next((token for token in locked.tokens[position:] if token not in vocabulary), None)
        if gone is not None:
            return f"vocabulary: the lock has the token “{visible(gone)}”, which is none here now"
        return ""

    def _contrast(self, ours: Any, text: str, is_lock: bool, locked: Side, found: Side) -> str:
        """The reason that a tokenizer shows which gives the tokens of the other side."""
        wanted = found if is_lock else locked
        names = ("the lock", self._engine)
        for what, like_ours in self._of_engine if is_lock else self._of_lock:
            with contextlib.suppress(TrietokError):
                other = like_ours.explain(text, verbose=False)
                if [token.token for token in other.tokens] != wanted.tokens:
                    continue
                contrast = ours.against(other, names=names) if is_lock else other.against(ours, names=names)
                why = next((part.why for part in contrast.parts if part.differs), "") or "; ".join(contrast.notes)
                if why:
                    does = f"{self._engine} does as trietok with" if is_lock else "the lock had"
                    return f"{why} ({does} {what})"
        return ""

    def _like_the_lock(self) -> Iterator[tuple[str, Any]]:
        """Ours with the lock's settings, and in its profile."""
        changed = self._changed(self._tokenizer)
        if changed:
            yield _said(changed), _with(self._tokenizer, changed)
        if self._tokenizer.profile != self._lock.profile:
            with contextlib.suppress(TrietokError):
                other, what = _in_other_profile(self._tokenizer), f"the {self._lock.profile} profile"
                yield what, other
                changed = self._changed(other)
                if changed:
                    yield f"{what}, {_said(changed)}", _with(other, changed)

    def _changed(self, tokenizer: Any) -> dict[str, Any]:
        """The settings of the stages that the lock says otherwise."""
        locked = self._lock.settings
        return {name: locked[name] for name, now in _set(tokenizer).items() if name in locked and locked[name] != now}

    def _like_an_engine(self) -> Iterator[tuple[str, Any]]:
        """Ours in the other profile, the model's files in that profile, and ours with one switch turned."""
        other = "slow" if self._tokenizer.profile == "fast" else "fast"
        with contextlib.suppress(TrietokError):
            yield f"the {other} profile", _in_other_profile(self._tokenizer)
        if self._model is not None:
            with contextlib.suppress(TrietokError):
                yield f"the model's files in the {other} profile", load_any(self._model, fast=other == "fast")
        now = {name: value for name, value in _set(self._tokenizer).items() if isinstance(value, bool)}
        turned = [{name: not value} for name, value in now.items()]
        both = not now.get("do_lower_case")
        if both or now.get("strip_accents"):
            turned.append({"do_lower_case": both, "strip_accents": both})
        for switches in turned:
            yield _said(switches), _with(self._tokenizer, switches)


class _Kept:
    """What an iterator gives, made when it is first asked for and kept for the next time."""

    def __init__(self, made: Iterator[tuple[str, Any]]) -> None:
        self._kept: list[tuple[str, Any]] = []
        self._made = made

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        yield from self._kept
        for each in self._made:
            self._kept.append(each)
            yield each


def _set(tokenizer: Any) -> dict[str, Any]:
    """The settings of the stages as they are, by the names that a lock has for them."""
    basic, wordpiece = (getattr(tokenizer, f"{name}_tokenizer", None) for name in ("basic", "wordpiece"))
    values = {name: getattr(basic, name) for name in _SWITCHES if hasattr(basic, name)}
    if "strip_accents" in values and values["strip_accents"] is None:
        values["strip_accents"] = values["do_lower_case"]
    values = {name: bool(value) for name, value in values.items()}
    return values | {name: getattr(wordpiece, name) for name in _OF_WORDPIECE if hasattr(wordpiece, name)}


def _with(tokenizer: Any, changed: Mapping[str, Any]) -> Any:
    """A tokenizer with other settings; the setting that follows another stays as it is."""
    other = copy.deepcopy(tokenizer)
    for name, value in {**_set(other), **changed}.items():
        stage = other.wordpiece_tokenizer if name in _OF_WORDPIECE else other.basic_tokenizer
        with contextlib.suppress(AttributeError):  # `composes` belongs to the class
            setattr(stage, name, value)
    return other


def _said(switches: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in switches.items())


def _in_other_profile(tokenizer: Any) -> Any:
    """The same tokenizer in the other profile."""
    kind = tokenizer.slow_tokenizer_class if tokenizer.profile == "fast" else fast_class_of(type(tokenizer))
    if kind is None:
        raise TrietokError(f"{type(tokenizer).__name__} has no other profile")
    with tempfile.TemporaryDirectory(prefix="trietok-") as directory, told_as(directory, ""):
        save_files_of(tokenizer, directory, legacy_format=True if tokenizer.profile == "fast" else None)
        return kind.from_pretrained(directory)
