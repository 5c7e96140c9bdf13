"""Why a text gets other ids than those of a lock: which stage made the difference.

In: a tokenizer, a `Lock`, and what was found for a text. Out: the reason, in words, and where in
the text it lies.

The tokenizer that the lock was written with is gone, and another engine tells nothing of its
stages. So `Reasons` looks for a tokenizer like ours that gives exactly the tokens of the other
side; the two explanations side by side then say which stage it is. For the lock's side only what
the lock says is tried: its settings and its profile. For another library it is the other profile,
the model's files in that profile, and one setting changed. Where no such tokenizer is found, the
reason is not known; settings that have changed since are named.
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Iterator, Mapping
from itertools import tee
from typing import Any

from trietok.errors import TrietokError
from trietok.explaining.values import TITLES
from trietok.files.save import save_files_of
from trietok.inputs.settings import Profile
from trietok.showing.characters import visible
from trietok.showing.report import json_line
from trietok.tokenizer.auto import choose, fast_class_of
from trietok.workbench.locking.lock import Lock, LockedText, settings_of

_SWITCHES = (
    "do_lower_case",
    "strip_accents",
    "tokenize_chinese_chars",
    "do_split_on_punc",
    "clean_text",
    "composes",
)
_OF_WORDPIECE = ("max_input_chars_per_word",)
_UNKNOWN_REASON = "the reason is not known"


class Reasons:
    """Says of texts why an engine gives other ids than the lock, by our tokenizer of the model it
    has read.
    """

    def __init__(self, tokenizer: Any, engine: str, lock: Lock, model: str | None = None) -> None:
        self._tokenizer, self._engine, self._lock, self._model = tokenizer, engine, lock, model
        # Each tokenizer is made when it is first asked for; what `tee` gives, copied, starts from
        # the first again.
        (self._of_lock,), (self._of_engine,) = (
            tee(self._like_the_lock(), 1),
            tee(self._like_an_engine(), 1),
        )

    def reason(self, position: int, locked: LockedText, found: LockedText) -> tuple[int, int, str]:
        """Where one text is at fault, from the first token that differs: half-open, in code points;
        and why.
        """
        try:
            ours = self._tokenizer.explain(locked.text, verbose=False)
        except TrietokError:  # methods of the user's own, which cannot be explained
            return 0, 0, ""
        is_lock = ours.input_ids == locked.ids
        token = ours.tokens[position] if position < len(ours.tokens) else None
        start, end = (
            (token.start, token.end) if token is not None and token.text is not None else (0, 0)
        )
        why = ""
        if locked.tokens == found.tokens:
            why = (
                "vocabulary: the text is cut into the same tokens, and"
                f" “{visible(locked.tokens[position])}” has the id {locked.ids[position]} in"
                f" the lock and {found.ids[position]} now"
            )
        elif is_lock or ours.input_ids == found.ids:
            why = self._tokens(position, locked, found) or self._contrast(
                ours, is_lock, locked, found
            )
        if why:
            return start, end, why
        now = settings_of(self._tokenizer)
        changed = [
            f"{name} was {json_line(locked)} in the lock and is {json_line(now.get(name))} now"
            for name, locked in self._lock.settings.items()
            if now.get(name) != locked
        ]
        return start, end, _UNKNOWN_REASON + (f"; {', '.join(changed)}" if changed else "")

    def _tokens(self, position: int, locked: LockedText, found: LockedText) -> str:
        """The reason where a token has come or gone, or one of the template is another."""
        if position < len(found.ids) and found.ids[position] > self._lock.max_id:
            token = found.tokens[position]
            stage = TITLES[
                "added-tokens" if token in self._tokenizer.added_tokens_encoder else "wordpiece"
            ]
            return (
                f"{stage}: “{visible(token)}” is found now, and was not there when the lock was"
                " written"
            )
        vocabulary = self._tokenizer.get_vocab()
        gone = next(
            (visible(token) for token in locked.tokens[position:] if token not in vocabulary), None
        )
        return (
            ""
            if gone is None
            else f"vocabulary: the lock has the token “{gone}”, which is no token here now"
        )

    def _contrast(self, ours: Any, is_lock: bool, locked: LockedText, found: LockedText) -> str:
        """The reason that a tokenizer shows which gives the tokens of the other side."""
        wanted = found.tokens if is_lock else locked.tokens
        names = ("the lock", self._engine)
        for what, like_ours in copy.copy(self._of_engine if is_lock else self._of_lock):
            with contextlib.suppress(TrietokError):
                other = like_ours.explain(locked.text, verbose=False)
                if [token.token for token in other.tokens] != wanted:
                    continue
                contrast = (
                    ours.against(other, names=names)
                    if is_lock
                    else other.against(ours, names=names)
                )
                why = next((part.why for part in contrast.parts if part.differs), "") or "; ".join(
                    contrast.notes
                )
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
                other, what = (
                    _in_other_profile(self._tokenizer),
                    f"the {self._lock.profile} profile",
                )
                yield what, other
                changed = self._changed(other)
                if changed:
                    yield f"{what}, {_said(changed)}", _with(other, changed)

    def _changed(self, tokenizer: Any) -> dict[str, Any]:
        """The settings of the stages that the lock says otherwise."""
        locked = self._lock.settings
        return {
            name: locked[name]
            for name, now in _set(tokenizer).items()
            if name in locked and locked[name] != now
        }

    def _like_an_engine(self) -> Iterator[tuple[str, Any]]:
        """Ours in the other profile, the model's files in that profile, and ours with one switch
        turned.
        """
        other: Profile = "slow" if self._tokenizer.profile == "fast" else "fast"
        with contextlib.suppress(TrietokError):
            yield f"the {other} profile", _in_other_profile(self._tokenizer)
        if self._model is not None:
            with contextlib.suppress(TrietokError):
                yield f"the model's files in the {other} profile", choose(self._model, other).load()
        now = {
            name: value for name, value in _set(self._tokenizer).items() if isinstance(value, bool)
        }
        turned = [{name: not value} for name, value in now.items()]
        both = not now.get("do_lower_case")
        if both or now.get("strip_accents"):
            turned.append({"do_lower_case": both, "strip_accents": both})
        for switches in turned:
            yield _said(switches), _with(self._tokenizer, switches)


def _set(tokenizer: Any) -> dict[str, Any]:
    """The settings of the stages as they are, by the names that a lock has for them."""
    basic, wordpiece = (
        getattr(tokenizer, f"{name}_tokenizer", None) for name in ("basic", "wordpiece")
    )
    values = {name: getattr(basic, name) for name in _SWITCHES if hasattr(basic, name)}
    if "strip_accents" in values and values["strip_accents"] is None:
        values["strip_accents"] = values["do_lower_case"]
    values = {name: bool(value) for name, value in values.items()}
    return values | {
        name: getattr(wordpiece, name) for name in _OF_WORDPIECE if hasattr(wordpiece, name)
    }


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
    kind = (
        tokenizer.slow_tokenizer_class
        if tokenizer.profile == "fast"
        else fast_class_of(type(tokenizer))
    )
    if kind is None:
        raise TrietokError(f"{type(tokenizer).__name__} has no other profile")
    with tempfile.TemporaryDirectory(prefix="trietok-") as directory:
        save_files_of(
            tokenizer, directory, legacy_format=True if tokenizer.profile == "fast" else None
        )
        return kind.from_pretrained(directory)
