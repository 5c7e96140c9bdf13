"""Why a text has other ids than the lock: which stage made the difference.

In: the tokenizer, a text, the locked tokens and ids, and those found. Out: a sentence.

The tokenizer that the lock was written with is gone, and another engine tells nothing of its stages. So `Reasons`
looks for a tokenizer like ours, with one setting changed or in the other profile, that gives exactly the tokens of the
other side; the two explanations side by side then say which stage it is. Where no such tokenizer is found, what is said
is what trietok knows of its own token there.
"""

from __future__ import annotations

import contextlib
import copy
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trietok.errors import TrietokError
from trietok.explaining.values import TITLES
from trietok.files.save import save_files_of
from trietok.showing.characters import visible
from trietok.tokenizer.auto import fast_class_of

_STAGE_OF_KIND = {"added": "added-tokens", "special": "template", "kept": "added-tokens"}
_SWITCHES = ("do_lower_case", "strip_accents", "tokenize_chinese_chars", "do_split_on_punc", "clean_text", "composes")


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
        settings: those of the lock.
        max_id: that of the lock.
    """

    def __init__(self, tokenizer: Any, engine: str, settings: Mapping[str, Any], max_id: int) -> None:
        self._tokenizer = tokenizer
        self._engine = engine
        self._settings = settings
        self._max_id = max_id
        self._made: list[tuple[str, Any]] = []
        self._not_made = self._tokenizers()

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
        if not why and token is not None:
            stage = TITLES[_STAGE_OF_KIND.get(token.kind, "wordpiece")]
            whose = "the locked token" if is_lock else "the token now"
            why = f"{stage}, of {whose}, {visible(token.token)}: {token.story[0]}"
        return Reason(start, end, why)

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
        if position < len(found.ids) and found.ids[position] > self._max_id:
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
        for what, like_ours in self._others():
            with contextlib.suppress(TrietokError):
                other = like_ours.explain(text, verbose=False)
                if [token.token for token in other.tokens] != wanted.tokens:
                    continue
                contrast = ours.against(other) if is_lock else other.against(ours)
                why = next((part.why for part in contrast.parts if part.differs), "") or "; ".join(contrast.notes)
                if why:
                    why = why.replace("the left", "the lock").replace("the right", self._engine)
                    return (
                        f"{why} ({self._engine} does as trietok with {what})"
                        if is_lock
                        else f"{why} (the lock had {what})"
                    )
        return ""

    def _others(self) -> Iterator[tuple[str, Any]]:
        """Those of `_tokenizers`, each made once and when it is first asked for."""
        yield from self._made
        for each in self._not_made:
            self._made.append(each)
            yield each

    def _tokenizers(self) -> Iterator[tuple[str, Any]]:
        """Tokenizers like ours: with the lock's settings, in the other profile, with one switch turned."""
        now = {name: value for name, value in self._switched(self._tokenizer).items() if name in self._settings}
        changed = {name: self._settings[name] for name, value in now.items() if self._settings[name] != value}
        if changed:
            yield _said(changed), self._with(changed)
        with contextlib.suppress(TrietokError):
            other = "slow" if self._tokenizer.is_fast else "fast"
            yield f"the {other} profile", _in_other_profile(self._tokenizer)
        for name, value in now.items():
            yield _said({name: not value}), self._with({name: not value})
        if now.get("do_lower_case") and now.get("strip_accents"):
            both = {"do_lower_case": False, "strip_accents": False}
            yield _said(both), self._with(both)
        elif not now.get("do_lower_case"):
            both = {"do_lower_case": True, "strip_accents": True}
            yield _said(both), self._with(both)

    @staticmethod
    def _switched(tokenizer: Any) -> dict[str, bool]:
        basic = getattr(tokenizer, "basic_tokenizer", None)
        values = {name: getattr(basic, name) for name in _SWITCHES if hasattr(basic, name)}
        if "strip_accents" in values and values["strip_accents"] is None:
            values["strip_accents"] = values["do_lower_case"]
        return {name: bool(value) for name, value in values.items()}

    def _with(self, switches: Mapping[str, bool]) -> Any:
        """Ours with other switches; the setting that follows another stays as it is."""
        other = copy.deepcopy(self._tokenizer)
        values = {**self._switched(other), **switches}
        for name, value in values.items():
            with contextlib.suppress(AttributeError):  # `composes` belongs to the class
                setattr(other.basic_tokenizer, name, value)
        return other


def _said(switches: Mapping[str, bool]) -> str:
    return ", ".join(f"{name}={value}" for name, value in switches.items())


def _in_other_profile(tokenizer: Any) -> Any:
    """The same tokenizer in the other profile."""
    kind = tokenizer.slow_tokenizer_class if tokenizer.is_fast else fast_class_of(type(tokenizer))
    if kind is None:
        raise TrietokError(f"{type(tokenizer).__name__} has no other profile")
    with tempfile.TemporaryDirectory(prefix="trietok-") as directory:
        save_files_of(tokenizer, directory, legacy_format=True if tokenizer.is_fast else None)
        return kind.from_pretrained(directory)
