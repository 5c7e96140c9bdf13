"""`verify`: whether a tokenizer still gives the ids of a lock; ours, or another library's on the same model.

In: a tokenizer or the name of an engine, and a `Lock`. Out: a `Verified`.
"""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from trietok.workbench.engines.process import OTHERS, EngineWork, classes_of, model_of
from trietok.workbench.engines.worker import roles_of
from trietok.errors import InputError, InputTypeError, MissingDependencyError
from trietok.files.settings import ADDITIONAL
from trietok.workbench.locking.lock_file import Lock, LockedText, model_there
from trietok.workbench.locking.make_lock import settings_of, special_ids, versions_now
from trietok.workbench.locking.reasons import Reasons, Side
from trietok.workbench.locking.verified import Change, ChangedText, Verified
from trietok.tokenizer.auto import load_any
from trietok.tokenizer.fingerprint import fingerprint
from trietok.tokenizer.special_tokens import SpecialTokensMixin

_MOST_KEPT, _MOST_EXPLAINED = 100, 5
_ROLES_AND_TOKENS = ("special_tokens_map", "convert_tokens_to_ids", "convert_ids_to_tokens")
_LIBRARY = {"transformers-slow": "transformers", "transformers-fast": "transformers"}  # whose version is in the lock


def verify(
    tokenizer: Any, lock: Lock | str | os.PathLike[str], *, model: str | os.PathLike[str] | None = None
) -> Verified:
    """Say whether a tokenizer gives the ids of a lock, and what differs if not.

    Args:
        tokenizer: a tokenizer of trietok; or the name of an engine, `"transformers"`, `"transformers-slow"`,
            `"transformers-fast"`, `"tokenizers"` or `"flash-tokenizer"`, which loads the model in a process of its own;
            or any other object whose `encode(text)` gives ids, or an object with `ids`. Its roles are compared too
            where it has those as transformers' tokenizers have them.
        lock: the lock, or the path of its file.
        model: for another engine the directory that it loads; without it, the lock's.

    Raises:
        InputError: there is no such engine, or it cannot load the model or encode a text; or an object's `encode` does
            not give ids.
        MissingDependencyError: the engine is not installed.
        FileError, FileFormatError: the lock or the model cannot be read, or the lock does not name a model.

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
            f"verify takes a tokenizer or the name of an engine ({', '.join(OTHERS)}), not {tokenizer!r:.60}",
            value=tokenizer,
        )
    return _verify_object(tokenizer, lock)


# ---- who gives the ids ----------------------------------------------------------------------------------------------


def _verify_ours(tokenizer: Any, lock: Lock) -> Verified:
    def found() -> Iterator[Side]:
        for each in lock.texts:
            ids = tokenizer.encode(each.text, verbose=False)
            yield Side(_tokens(each, ids, tokenizer.convert_ids_to_tokens), ids)

    reasons = Reasons(tokenizer, "trietok", lock)
    versions = versions_now()
    return Verified(
        engine="trietok",
        version=versions["trietok"],
        special_ids=len(lock.special_tokens),
        changed_special=_moved(_by_place(lock.special_tokens), _by_place(special_ids(tokenizer))),
        changed=_changed(tokenizer, lock),
        versions=_versions(lock, versions),
        fingerprint=fingerprint(tokenizer),
        **_texts(lock, list(found()), reasons),
    )


def _verify_object(tokenizer: Any, lock: Lock) -> Verified:
    """Any object with `encode`: nothing is known of it but its ids, and its roles where it has those."""
    tokens_of = getattr(tokenizer, "convert_ids_to_tokens", _no_tokens)
    found = []
    for number, each in enumerate(lock.texts, start=1):
        ids = _ids(tokenizer.encode(each.text), number)
        found.append(Side(_tokens(each, ids, tokens_of), ids))
    special: dict[str, Change] | None = None
    if all(hasattr(tokenizer, name) for name in _ROLES_AND_TOKENS):
        special = _special(lock, roles_of(tokenizer), tokens_of([each.id for each in lock.special_tokens]))
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
            f"encode gave {given!r:.60} for text {number}; verify takes an object whose encode(text) gives ids",
            value=given,
        ) from None


def _verify_engine(engine: str, lock: Lock, model: str) -> Verified:
    if engine not in OTHERS:
        raise InputError(f"there is no engine {engine!r}; there are {', '.join(OTHERS)}")
    ours = load_any(model, fast=lock.profile == "fast")
    with EngineWork(model_of(model, ours, [lock.tokenizer_class, *classes_of(ours)])) as work:
        work.write_texts(each.text for each in lock.texts)
        work.write_ids(each.ids for each in lock.texts)
        asked = [each.id for each in lock.special_tokens]
        answer = work.run(engine, "compare_ids", most=_MOST_KEPT, whole=True, asked=asked)
    if "problem" in answer:
        raise_problem(engine, answer)
    found: list[Side | None] = [None] * len(lock.texts)
    for each in answer["differences"]:
        found[each["line_number"] - 1] = Side(list(map(str, each["their_tokens"])), each["their_ids"])
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


def raise_problem(engine: str, answer: Mapping[str, Any]) -> NoReturn:
    """The error for an engine that could not do its work.

    Raises:
        MissingDependencyError: it is not installed.
        InputError: anything else.
    """
    problem = str(answer["problem"])
    if answer.get("missing"):
        raise MissingDependencyError(f"{engine} is {problem}", extra=engine)
    name = " ".join(filter(None, (engine, answer["version"])))
    raise InputError(f"{name}: {problem.replace('cannot encode line', 'cannot encode text')}")


# ---- what differs ---------------------------------------------------------------------------------------------------


def _texts(
    lock: Lock, found: Sequence[Side | None], reasons: Reasons | None, differing: int | None = None
) -> dict[str, Any]:
    """The counts, and the texts whose ids differ.

    None in `found` stands for ids that are as locked, or were not kept; where some were not, `differing` is the count.
    """
    pairs = [
        (number, locked, side)
        for number, (locked, side) in enumerate(zip(lock.texts, found, strict=True), start=1)
        if side is not None and side.ids != locked.ids
    ]
    return {
        "texts": len(lock.texts),
        "ids": sum(len(each.ids) for each in lock.texts),
        "differing": len(pairs) if differing is None else differing,
        "changed_texts": tuple(
            _changed_text(*pair, reasons if place < _MOST_EXPLAINED else None)
            for place, pair in enumerate(pairs[:_MOST_KEPT])
        ),
    }


def _changed_text(number: int, locked: LockedText, found: Side, reasons: Reasons | None) -> ChangedText:
    pairs = zip(locked.ids, found.ids, strict=False)
    shorter = min(len(locked.ids), len(found.ids))
    position = next((place for place, (one, other) in enumerate(pairs) if one != other), shorter)
    start, end, why = 0, 0, ""
    if reasons is not None:
        start, end, why = reasons.reason(locked.text, position, Side(locked.tokens, locked.ids), found)
    return ChangedText(
        number, locked.text, locked.ids, found.ids, locked.tokens, found.tokens, position, start, end, why
    )


def _changed(tokenizer: Any, lock: Lock) -> dict[str, Change]:
    """What differs of the tokenizer beside the ids of texts and special tokens."""
    pairs: dict[str, Change] = {
        "fingerprint": (lock.fingerprint, fingerprint(tokenizer)),
        "class": (lock.tokenizer_class, type(tokenizer).__name__),
        "profile": (lock.profile, tokenizer.profile),
        "tokens": (lock.tokens, len(tokenizer)),
        "max_id": (lock.max_id, tokenizer.max_id),
        "added_tokens": (lock.added_tokens, len(tokenizer.added_tokens_decoder)),
    }
    settings = settings_of(tokenizer)
    pairs |= {name: (lock.settings.get(name), settings.get(name)) for name in {**lock.settings, **settings}}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _by_place(special: Any) -> dict[str, tuple[str, int]]:
    """Token and id by role; of a role with several tokens the role has a number."""
    places: dict[str, tuple[str, int]] = {}
    for role, token, token_id in special:
        number = 0
        while (place := f"{role}[{number}]" if role == ADDITIONAL else role) in places:
            number += 1
        places[place] = token, token_id
    return places


def _special(lock: Lock, roles: Iterable[Sequence[Any]] | None, asked: Sequence[str | None]) -> dict[str, Change]:
    """The special tokens that are others in another library.

    Args:
        lock: the lock.
        roles: role, token and id of each there; None if it knows no roles.
        asked: what tokens it has at the locked ids.
    """
    locked = _by_place(lock.special_tokens)
    there: dict[str, tuple[str, int] | None] = {
        place: None if token is None else (token, token_id)
        for (place, (_, token_id)), token in zip(locked.items(), asked, strict=True)
    }
    if roles is not None:
        named = _by_place(roles)
        if not any(place.startswith(ADDITIONAL) for place in named):  # transformers 5 does not list them
            named |= {place: pair for place, pair in there.items() if place.startswith(ADDITIONAL) and pair}
        there = {**named}
    return _moved(locked, there)


def _moved(locked: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Change]:
    return {
        place: (locked.get(place), there.get(place))
        for place in {**locked, **there}
        if locked.get(place) != there.get(place)
    }


def _versions(lock: Lock, now: Mapping[str, str]) -> dict[str, Change]:
    return {name: (lock.versions.get(name), now.get(name)) for name in {**lock.versions, **now}}


def _tokens(locked: LockedText, ids: list[int], tokens_of: Any) -> list[str]:
    return locked.tokens if ids == locked.ids else list(map(str, tokens_of(ids)))


def _no_tokens(ids: list[int]) -> list[str]:
    return [f"<id {token_id}>" for token_id in ids]
