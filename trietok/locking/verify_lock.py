"""`verify`: whether a tokenizer still gives the ids of a lock; ours, or another library's on the same model.

In: a tokenizer or the name of an engine, and a `Lock`. Out: a `Verified`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

from trietok.engines.process import ENGINES, EngineWork, classes_of, model_of
from trietok.errors import InputError, InputTypeError, MissingDependencyError
from trietok.locking.lock_file import Lock, LockedText, model_there
from trietok.locking.make_lock import profile_of, settings_of, special_ids, versions_now
from trietok.locking.reasons import Reasons, Side
from trietok.locking.verified import Change, ChangedText, Verified
from trietok.tokenizer.auto import load_any
from trietok.tokenizer.fingerprint import fingerprint
from trietok.tokenizer.special_tokens import SpecialTokensMixin

OTHERS = tuple(name for name in ENGINES if name != "trietok")
_MOST_KEPT, _MOST_EXPLAINED = 100, 5
_LIBRARY = {"transformers-slow": "transformers", "transformers-fast": "transformers"}  # whose version is in the lock


def verify(
    tokenizer: Any, lock: Lock | str | os.PathLike[str], *, model: str | os.PathLike[str] | None = None
) -> Verified:
    """Say whether a tokenizer gives the ids of a lock, and what differs if not.

    Args:
        tokenizer: a tokenizer of trietok; or the name of an engine, `"transformers"`, `"transformers-slow"`,
            `"transformers-fast"`, `"tokenizers"` or `"flash-tokenizer"`, which loads the model in a process of its own;
            or any other object whose `encode(text)` gives ids, or an object with `ids`.
        lock: the lock, or the path of its file.
        model: for another engine the directory that it loads; without it, the lock's.

    Raises:
        InputError: there is no such engine, or it cannot load the model or encode a text.
        MissingDependencyError: the engine is not installed.
        FileError, FileFormatError: the lock or the model cannot be read, or the lock does not name a model.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> lock = trietok.lock(tokenizer, ["Naïve people"])
    >>> verify(tokenizer, lock).summary[:80]
    'trietok 0.1.0: 1 text, 6 ids and 5 special ids are as locked, fingerprint trieto'
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

    reasons = Reasons(tokenizer, "trietok", lock.settings, lock.max_id)
    versions = versions_now()
    special: dict[str, Change] = {}
    there = _by_place(special_ids(tokenizer))
    locked = _by_place(lock.special_tokens)
    for place in {**locked, **there}:
        if locked.get(place) != there.get(place):
            special[place] = (locked.get(place), there.get(place))
    return Verified(
        engine="trietok",
        version=versions["trietok"],
        special_ids=len(lock.special_tokens),
        changed_special=special,
        changed=_changed(tokenizer, lock),
        versions=_versions(lock, versions),
        fingerprint=fingerprint(tokenizer),
        **_texts(lock, list(found()), reasons),
    )


def _verify_object(tokenizer: Any, lock: Lock) -> Verified:
    """Any object with `encode`: nothing is known of it but its ids."""
    found = []
    for each in lock.texts:
        given = tokenizer.encode(each.text)
        ids = list(getattr(given, "ids", given))
        found.append(Side(_tokens(each, ids, getattr(tokenizer, "convert_ids_to_tokens", _no_tokens)), ids))
    package = sys.modules.get(type(tokenizer).__module__.partition(".")[0])
    return Verified(
        engine=type(tokenizer).__name__,
        version=str(getattr(package, "__version__", "")),
        special_ids=0,
        changed_special={},
        changed={},
        versions=_versions(lock, versions_now()),
        **_texts(lock, found, None),
    )


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
    places = _by_place(lock.special_tokens).items()
    special: dict[str, Change] = {
        place: ((token, token_id), (there, token_id))
        for (place, (token, token_id)), there in zip(places, answer["asked"], strict=True)
        if there != token
    }
    versions = {**versions_now(), _LIBRARY.get(engine, engine): answer["version"]}
    texts = _texts(lock, found, Reasons(ours, engine, lock.settings, lock.max_id))
    return Verified(
        engine=engine,
        version=answer["version"],
        special_ids=len(lock.special_tokens),
        changed_special=special,
        changed={},
        versions=_versions(lock, versions),
        **{**texts, "differing": answer["differing"]},
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


def _texts(lock: Lock, found: Sequence[Side | None], reasons: Reasons | None) -> dict[str, Any]:
    """The counts, and the texts whose ids differ; None stands for ids that are as locked, or were not kept."""
    changed: list[ChangedText] = []
    differing = 0
    for number, (locked, side) in enumerate(zip(lock.texts, found, strict=True), start=1):
        if side is None or side.ids == locked.ids:
            continue
        differing += 1
        if len(changed) < _MOST_KEPT:
            changed.append(_changed_text(number, locked, side, reasons if len(changed) < _MOST_EXPLAINED else None))
    return {
        "texts": len(lock.texts),
        "ids": sum(len(each.ids) for each in lock.texts),
        "differing": differing,
        "changed_texts": tuple(changed),
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
        "profile": (lock.profile, profile_of(tokenizer)),
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
        while (place := f"{role}[{number}]" if role == "additional_special_tokens" else role) in places:
            number += 1
        places[place] = token, token_id
    return places


def _versions(lock: Lock, now: Mapping[str, str]) -> dict[str, Change]:
    return {name: (lock.versions.get(name), now.get(name)) for name in {**lock.versions, **now}}


def _tokens(locked: LockedText, ids: list[int], tokens_of: Any) -> list[str]:
    return locked.tokens if ids == locked.ids else list(map(str, tokens_of(ids)))


def _no_tokens(ids: list[int]) -> list[str]:
    return [f"<id {token_id}>" for token_id in ids]
