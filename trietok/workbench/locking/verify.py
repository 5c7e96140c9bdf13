"""`verify`: whether a tokenizer still gives the ids of a lock; ours, or another library's on the
same model.

In: a tokenizer or the name of an engine, and a `Lock`. Out: a `Verified`: attributes, JSON and
text.

Of a text with other ids it says which stage made the difference (`Reasons`).
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from trietok.errors import InputError, InputTypeError, MissingDependencyError
from trietok.files.formats import ADDITIONAL
from trietok.showing.characters import number_of, visible
from trietok.showing.report import Report, json_line
from trietok.tokenizer.auto import choose
from trietok.tokenizer.fingerprint import fingerprint
from trietok.tokenizer.special_tokens import SpecialTokensMixin
from trietok.workbench.engines.process import ENGINES, EngineWork, classes_of, model_of
from trietok.workbench.engines.worker import roles_of
from trietok.workbench.locking.lock import (
    Lock,
    LockedText,
    model_there,
    settings_of,
    special_ids,
    versions_now,
)
from trietok.workbench.locking.reasons import Reasons

_MOST_TEXTS = 3  # differing texts that are shown
_MOST_TOKENS = 8  # of a differing text, from the first differing one on
_MOST_CHARACTERS = 60  # of a text or setting
_MOST_KEPT, _MOST_EXPLAINED = 100, 5
_ROLES_AND_TOKENS = ("special_tokens_map", "convert_tokens_to_ids", "convert_ids_to_tokens")
# whose version is in the lock
_LIBRARY = {
    "transformers-slow": "transformers",
    "transformers-fast": "transformers",
}
LockedAndFound = tuple[Any, Any]  # what the lock has, what is there now


class ChangedText(NamedTuple):
    """A text whose ids are not the locked ones.

    Attributes:
        number: which of the lock's texts, from 1.
        text: the text.
        locked_ids, ids: those of the lock, and those found, special tokens included.
        locked_tokens, tokens: likewise.
        position: the first token that differs, from 0.
        start, end: where that token stands in the text, half-open, in code points; equal where it
            stands for nothing there.
        why: the stage that made the difference, and how; empty from the sixth text on.
    """

    number: int
    text: str
    locked_ids: list[int]
    ids: list[int]
    locked_tokens: list[str]
    tokens: list[str]
    position: int
    start: int
    end: int
    why: str


@dataclass(frozen=True)
class Verified(Report):
    """Whether a tokenizer gives the ids of a lock. `str` says it: one line where it does, else what
    differs.

    Attributes:
        engine: who gave the ids: `"trietok"`, or the name or class of another tokenizer.
        version: its version.
        texts, ids: how many texts the lock has, and how many ids these have.
        differing: how many texts have other ids.
        changed_texts: the first of them, at most 100.
        special_ids: how many special tokens the lock has; 0 for an object of which nothing is known
            but its `encode`.
        changed_special: role → token and id in the lock, and now, where they differ; None where
            there is none now.
        changed: what else differs, such as `fingerprint`, `class` and the settings; another engine
            tells none of these.
        versions: name → the version in the lock and the one now; None where one of them is not
            known.
        truncates_to: the number of tokens to which tokenizer.json has the library `tokenizers` cut
            texts; None if to none. The ids of a lock are those of texts that are not cut.
        truncated: how many of the texts have more tokens.
        pads: whether tokenizer.json tells that library to pad texts.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> lock = trietok.lock(tokenizer, ["The people", "covid-19"])
    >>> tokenizer.add_tokens(["covid-19"])
    1
    >>> verified = trietok.verify(tokenizer, lock)
    >>> verified.ok, verified.differing, verified.changed["max_id"]
    (False, 1, (7999, 8000))
    >>> verified.changed_texts[0].why
    'added tokens cut out: “covid-19” is found now, and was not there when the lock was written'
    """

    engine: str
    version: str
    texts: int
    ids: int
    differing: int
    changed_texts: tuple[ChangedText, ...]
    special_ids: int
    changed_special: Mapping[str, LockedAndFound]
    changed: Mapping[str, LockedAndFound]
    versions: Mapping[str, LockedAndFound]
    truncates_to: int | None = None
    truncated: int = 0
    pads: bool = False
    fingerprint: str = ""

    _ANSWERS = ("ok", "summary")

    @property
    def ok(self) -> bool:
        """Whether texts and special tokens have their locked ids, no text is cut, and the
        fingerprint is the same.
        """
        return not (self.differing or self.changed_special or self.changed or self.truncated)

    @property
    def summary(self) -> str:
        """The answer in a line."""
        name = " ".join(filter(None, (self.engine, self.version)))
        texts = number_of(self.texts, "text")
        if self.ok:
            special = f"{self.special_ids} special id{'' if self.special_ids == 1 else 's'}"
            parts = (
                f"{texts}, {self.ids:,} ids and {special}"
                if self.special_ids
                else f"{texts} and {self.ids:,} ids"
            )
            fingerprint = f", fingerprint {self.fingerprint}" if self.fingerprint else ""
            return f"{name}: {parts} are as locked{fingerprint}"
        if self.differing:
            have = "has" if self.differing == 1 else "have"
            return f"{name}: {self.differing:,} of {texts} {have} other ids than the lock"
        if self.changed_special:
            return (
                f"{name}: special tokens have other ids than in the lock; the ids of {texts} are as"
                " locked"
            )
        if not self.changed:
            return f"{name}: the ids of {texts} are as locked, but {self.truncated:,} would be cut"
        return (
            f"{name}: the tokenizer is another one than the lock's, although the ids of {texts} are"
            " as locked"
        )

    def lines(self) -> Iterator[str]:
        """The report, line by line, the first of which is the summary."""
        yield self.summary
        yield from self._lengths()
        if self.ok:
            return
        for each in self.changed_texts[:_MOST_TEXTS]:
            yield from self._text(each)
        if self.differing > _MOST_TEXTS:
            yield f"  ... and {number_of(self.differing - _MOST_TEXTS, 'more text')}"
        yield from self._special_ids()
        if self.fingerprint and "fingerprint" not in self.changed:
            yield "fingerprint: as locked"
        if self.changed:
            yield "the tokenizer, in the lock -> now:"
            for name, pair in self.changed.items():
                yield "  {}: {} -> {}".format(name, *map(_value, pair))
        yield "versions, in the lock | now:"
        for name, versions in self.versions.items():
            yield "  {}: {} | {}".format(name, *(version or "(none)" for version in versions))

    _parts = lines

    def _lengths(self) -> Iterator[str]:
        """What a tokenizer.json does to texts beside what the ids show."""
        if self.truncates_to is not None:
            length = number_of(self.truncates_to, "token")
            cut = f"{self.truncated:,} of the texts {'is' if self.truncated == 1 else 'are'} longer"
            yield f"tokenizer.json cuts texts to {length}, which the lock's ids do not show; {cut}"
        if self.pads:
            yield "tokenizer.json pads texts, which the lock's ids do not show"

    def _special_ids(self) -> Iterator[str]:
        if self.changed_special:
            yield "special ids, in the lock -> now:"
            for role, (locked, now) in self.changed_special.items():
                yield f"  {role}: {_token(locked)} -> {_token(now)}"
        elif self.special_ids:
            yield f"special ids: all {self.special_ids} as locked"

    def _text(self, each: ChangedText) -> Iterator[str]:
        yield f"text {each.number}: {_cut(each.text)}"
        where = f", {each.start}-{each.end} in the text" if each.end > each.start else ""
        yield f"  from token {each.position + 1}{where}:"
        sides = (
            ("the lock", each.locked_tokens, each.locked_ids),
            (self.engine, each.tokens, each.ids),
        )
        for name, tokens, ids in sides:
            some = slice(each.position, each.position + _MOST_TOKENS)
            shown = " ".join(
                f"{visible(token)} [{i}]" for token, i in zip(tokens[some], ids[some], strict=True)
            )
            more = " ..." if len(ids) > each.position + _MOST_TOKENS else ""
            yield f"    {name}: {shown or '(no token)'}{more}"
        if each.why:
            yield f"  {each.why}"


def _cut(text: str) -> str:
    shown = repr(text[: _MOST_CHARACTERS + 1])
    return (
        shown
        if len(text) <= _MOST_CHARACTERS
        else f"{repr(text[:_MOST_CHARACTERS])[:-1]}...{shown[-1]}"
    )


def _token(found: Any) -> str:
    return "(none)" if found is None else f"{visible(str(found[0]))} [{found[1]}]"


def _value(value: Any) -> str:
    shown = value if isinstance(value, str) else json_line(value)
    return (
        shown if len(shown) <= 2 * _MOST_CHARACTERS else shown[: 2 * _MOST_CHARACTERS - 3] + "..."
    )


def verify(
    tokenizer: Any,
    lock: Lock | str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] | None = None,
) -> Verified:
    """Say whether a tokenizer gives the ids of a lock, and what differs if not.

    Args:
        tokenizer: a tokenizer of trietok; or the name of an engine, `"transformers"`,
            `"transformers-slow"`, `"transformers-fast"`, `"tokenizers"` or `"flash-tokenizer"`,
            which loads the model in a process of its own; or any other object whose `encode(text)`
            gives ids, or an object with `ids`. Its roles are compared too where it has those as
            transformers' tokenizers have them.
        lock: the lock, or the path of its file.
        model: for another engine the directory that it loads; without it, the lock's.

    Raises:
        InputError: there is no such engine, or it cannot load the model or encode a text; or an
            object's `encode` does not give ids.
        MissingDependencyError: the engine is not installed.
        FileError, FileFormatError: the lock or the model cannot be read, or the lock does not name
            a model.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> lock = trietok.lock(tokenizer, ["Naïve people"])
    >>> verify(tokenizer, lock).summary.partition(": ")[2][:65]
    '1 text, 6 ids and 5 special ids are as locked, fingerprint trieto'
    >>> cased = trietok.BertTokenizer.from_pretrained("trietok-en", do_lower_case=False)
    >>> verify(cased, lock).changed["do_lower_case"]
    (True, False)
    """
    if not isinstance(lock, Lock):
        lock = Lock.load(lock)
    if isinstance(tokenizer, str):
        return _verify_engine(tokenizer, lock, model_there(lock, model))
    if isinstance(tokenizer, SpecialTokensMixin):
        return _verify_ours(tokenizer, lock)
    if not callable(getattr(tokenizer, "encode", None)):
        raise InputTypeError(
            f"verify takes a tokenizer or the name of an engine ({', '.join(ENGINES)}), not"
            f" {tokenizer!r:.60}",
            value=tokenizer,
        )
    return _verify_object(tokenizer, lock)


# ---- who gives the ids ---------------------------------------------------------------------------


def _verify_ours(tokenizer: Any, lock: Lock) -> Verified:
    tokens_of, versions = tokenizer.convert_ids_to_tokens, versions_now()
    found = _differing(
        lock, (tokenizer.encode(each.text, verbose=False) for each in lock.texts), tokens_of
    )
    return Verified(
        engine="trietok",
        version=versions["trietok"],
        special_ids=len(lock.special_tokens),
        changed_special=_moved(_by_place(lock.special_tokens), _by_place(special_ids(tokenizer))),
        changed=_changed(tokenizer, lock),
        versions=_versions(lock, versions),
        fingerprint=fingerprint(tokenizer),
        **_texts(lock, found, Reasons(tokenizer, "trietok", lock)),
    )


def _verify_object(tokenizer: Any, lock: Lock) -> Verified:
    """Any object with `encode`: nothing is known of it but its ids, and its roles where it has
    those.
    """
    tokens_of = getattr(
        tokenizer, "convert_ids_to_tokens", lambda ids: [f"<id {token_id}>" for token_id in ids]
    )
    rows = (
        _ids(tokenizer.encode(each.text), number) for number, each in enumerate(lock.texts, start=1)
    )
    found = _differing(lock, rows, tokens_of)
    special: dict[str, LockedAndFound] | None = None
    if all(hasattr(tokenizer, name) for name in _ROLES_AND_TOKENS):
        special = _special(
            lock, roles_of(tokenizer), tokens_of([each.id for each in lock.special_tokens])
        )
    package = sys.modules.get(type(tokenizer).__module__.partition(".")[0])
    return Verified(
        engine=type(tokenizer).__name__,
        version=str(getattr(package, "__version__", "")),
        special_ids=0 if special is None else len(lock.special_tokens),
        changed_special=special or {},
        changed={},
        versions=_versions(lock, versions_now()),
        **_texts(lock, found, None),
    )


def _ids(given: Any, number: int) -> list[int]:
    """What an object's `encode` has given for a text, as ids."""
    try:
        return [operator.index(token_id) for token_id in getattr(given, "ids", given)]
    except TypeError:
        raise InputTypeError(
            f"encode gave {given!r:.60} for text {number}; verify takes an object whose"
            " encode(text) gives ids",
            value=given,
        ) from None


def _verify_engine(engine: str, lock: Lock, model: str) -> Verified:
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}; there are {', '.join(ENGINES)}")
    ours = choose(model, lock.profile).load()
    about = model_of(model, ours, [lock.tokenizer_class, *classes_of(ours)])
    texts, rows = [each.text for each in lock.texts], [each.ids for each in lock.texts]
    asked = [each.id for each in lock.special_tokens]
    answer = _compared(engine, about, texts, rows, most=_MOST_KEPT, asked=asked)
    found = {
        each["line_number"]: LockedText("", list(map(str, each["their_tokens"])), each["their_ids"])
        for each in answer["differences"]
    }
    versions = {**versions_now(), _LIBRARY.get(engine, engine): answer["version"]}
    longest = answer["file_options"].get("truncation")
    return Verified(
        engine=engine,
        version=answer["version"],
        special_ids=len(lock.special_tokens),
        changed_special=_special(lock, answer["roles"], answer["asked"]),
        changed={},
        versions=_versions(lock, versions),
        truncates_to=longest,
        truncated=0 if longest is None else sum(len(each.ids) > longest for each in lock.texts),
        pads="padding" in answer["file_options"],
        **_texts(lock, found, Reasons(ours, engine, lock, model), answer["differing"]),
    )


def _compared(
    engine: str,
    model: dict[str, Any],
    texts: Iterable[str],
    rows: Iterable[list[int]],
    **options: Any,
) -> dict[str, Any]:
    """What an engine answers whose ids of some texts are compared with these; it may not be
    installed, or fail.
    """
    with EngineWork(model) as work:
        work.write_texts(texts)
        work.write_ids(rows)
        answer = work.run(engine, **options)
    if answer.get("missing"):
        raise MissingDependencyError(f"{engine} is {answer['problem']}", extra=engine)
    if "problem" in answer:
        name = " ".join(filter(None, (engine, answer["version"])))
        raise InputError(
            f"{name}: {answer['problem'].replace('cannot encode line', 'cannot encode text')}"
        )
    return answer


# ---- what differs --------------------------------------------------------------------------------


def _differing(lock: Lock, rows: Iterable[list[int]], tokens_of: Any) -> dict[int, LockedText]:
    """What was found for the texts whose ids are not those of the lock, by their numbers from 1."""
    numbered = enumerate(zip(lock.texts, rows, strict=True), start=1)
    return {
        number: LockedText(locked.text, list(map(str, tokens_of(ids))), ids)
        for number, (locked, ids) in numbered
        if ids != locked.ids
    }


def _texts(
    lock: Lock, found: dict[int, LockedText], reasons: Reasons | None, differing: int | None = None
) -> dict[str, Any]:
    """The counts, and the texts whose ids differ; where `found` holds only the first, `differing`
    is how many do.
    """
    return {
        "texts": len(lock.texts),
        "ids": sum(len(each.ids) for each in lock.texts),
        "differing": len(found) if differing is None else differing,
        "changed_texts": tuple(
            _changed_text(
                number,
                lock.texts[number - 1],
                found[number],
                reasons if place < _MOST_EXPLAINED else None,
            )
            for place, number in enumerate(islice(found, _MOST_KEPT))
        ),
    }


def _changed_text(
    number: int, locked: LockedText, found: LockedText, reasons: Reasons | None
) -> ChangedText:
    pairs = zip(locked.ids, found.ids, strict=False)
    shorter = min(len(locked.ids), len(found.ids))
    position = next((place for place, (one, other) in enumerate(pairs) if one != other), shorter)
    where_and_why = (0, 0, "") if reasons is None else reasons.reason(position, locked, found)
    sides = locked.ids, found.ids, locked.tokens, found.tokens
    return ChangedText(number, locked.text, *sides, position, *where_and_why)


def _changed(tokenizer: Any, lock: Lock) -> dict[str, LockedAndFound]:
    """What differs of the tokenizer beside the ids of texts and special tokens."""
    now = {
        "fingerprint": fingerprint(tokenizer),
        "class": type(tokenizer).__name__,
        "profile": tokenizer.profile,
        "tokens": len(tokenizer),
        "max_id": tokenizer.max_id,
        "added_tokens": len(tokenizer.added_tokens_decoder),
    }
    locked = {name: getattr(lock, "tokenizer_class" if name == "class" else name) for name in now}
    return _moved({**locked, **lock.settings}, {**now, **settings_of(tokenizer)})


def _by_place(special: Any) -> dict[str, tuple[str, int]]:
    """Token and id by role; of a role with several tokens the role has a number."""
    places: dict[str, tuple[str, int]] = {}
    for role, token, token_id in special:
        number = 0
        while (place := f"{role}[{number}]" if role == ADDITIONAL else role) in places:
            number += 1
        places[place] = token, token_id
    return places


def _special(
    lock: Lock, roles: Iterable[Sequence[Any]] | None, asked: Sequence[str | None]
) -> dict[str, LockedAndFound]:
    """The special tokens that are others in another library: by its roles, if it knows any, or at
    the locked ids.
    """
    locked = _by_place(lock.special_tokens)
    there: dict[str, tuple[str, int] | None] = {
        place: None if token is None else (token, token_id)
        for (place, (_, token_id)), token in zip(locked.items(), asked, strict=True)
    }
    if roles is not None:
        named = _by_place(roles)
        # transformers 5 does not list them
        if not any(place.startswith(ADDITIONAL) for place in named):
            named |= {
                place: pair
                for place, pair in there.items()
                if place.startswith(ADDITIONAL) and pair
            }
        there = {**named}
    return _moved(locked, there)


def _moved(locked: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, LockedAndFound]:
    return {
        place: (locked.get(place), there.get(place))
        for place in {**locked, **there}
        if locked.get(place) != there.get(place)
    }


def _versions(lock: Lock, now: Mapping[str, str]) -> dict[str, LockedAndFound]:
    return {name: (lock.versions.get(name), now.get(name)) for name in {**lock.versions, **now}}
