"""Ids against each other, and entries that are damaged or that no text gives."""

from __future__ import annotations

import html
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import regex

from trietok.workbench.checking.reach import Reach, unreachable
from trietok.workbench.checking.report import Finding, Severity
from trietok.workbench.checking.rules.facts import Facts
from trietok.files.formats import CONFIG_FILE, TOKENIZER_CONFIG_FILE

# Letters of other scripts, and the Latin ones that they look like.
_LATIN_LOOKS = dict(
    zip("аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХЅІЈονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxijshdqwlABEKMHOPCTYXSIJovABEZHIKMNOPTYX", strict=True)
)
_MIXED = regex.compile(r"\p{Latin}.*[\p{Cyrillic}\p{Greek}]|[\p{Cyrillic}\p{Greek}].*\p{Latin}")
_GREEK = regex.compile(r"\p{Greek}")
_FOREIGN = regex.compile(r"[\p{Cyrillic}\p{Greek}]")
_FEW_MIXED = 5  # entries: a vocabulary of many languages has more, such as Chuvash words typed with Latin letters
_INVISIBLE = regex.compile(r"[\p{Cf}\u034f\u2800\u3164\uffa0\ufe00-\ufe0f]")
# How a piece looks whose ## was damaged, or that is one of another kind of vocabulary.
_DAMAGED = regex.compile(r"[#＃][#＃\s]*\w|[▁Ġ]\p{L}|.*\ufffd|.*(?:\\u[0-9a-f]{4}|\\x[0-9a-f]{2})")
_SLOT = regex.compile(r"\[unused([0-9]{1,9})\]")
_LEAST_SEEN = 5  # entries that hold a letter
_POINTS = ".,?!-'\"():;"
_FEWEST_FOR_POINTS = 1000  # entries


def loaded_ids(facts: Facts) -> dict[int, str]:
    """The added tokens by id, with those that are added on loading."""
    if facts.slow is None:
        return {token_id: token.content for token_id, token, _ in facts.added}
    return {token_id: token.content for token_id, token in facts.slow.added_tokens_decoder.items()}


def holes(facts: Facts) -> Iterator[Finding]:
    """Ids that no token has."""
    used = sorted({*facts.by_line, *loaded_ids(facts)})
    for before, after in zip([-1, *used], used, strict=False):
        if after > before + 1:
            yield _hole(facts, before + 1, after - 1)


def _hole(facts: Facts, first: int, last: int) -> Finding:
    declared = last - first < len(facts.holes) and facts.holes.issuperset(range(first, last + 1))
    which = f"id {first} belongs" if first == last else f"ids {first} to {last} belong"
    message = f"{which} to no token" + (
        f", as {TOKENIZER_CONFIG_FILE} declares" if declared else "; transformers gives new tokens ids that are taken"
    )
    return Finding("note" if declared else "warning", "id-hole", message, token_id=first, other_id=last)


def past_the_model(facts: Facts) -> Iterator[Finding]:
    """Ids for which config.json gives the model no row, and rows that no id uses."""
    rows = facts.files.model_config.get("vocab_size")
    if type(rows) is not int or rows < 1:
        return
    encoding = {token_id: token for token, token_id in facts.line_ids.items()}
    loaded = loaded_ids(facts)
    past = sorted((token_id, token) for token_id, token in {**encoding, **loaded}.items() if token_id >= rows)
    for token_id, token in past:
        message = f"{token!r} has the id {token_id}, and the model has rows for ids up to {rows - 1} (vocab_size)"
        yield Finding("error", "id-past-model", message, CONFIG_FILE, token=token, token_id=token_id)
    needed = rows_needed(facts)
    if rows > needed:
        padded = is_padded(rows, needed)
        message = f"vocab_size is {rows}, and ids end at {needed - 1}: {rows - needed} row(s) are not used"
        if not padded:
            message += ", which is not a number padded to a multiple of 8 to 1024"
        yield Finding("note" if padded else "warning", "model-larger", message, CONFIG_FILE)


def highest_id(facts: Facts) -> int:
    """The highest id that a token has, -1 if there is none."""
    return max(max(facts.by_line, default=-1), max(loaded_ids(facts), default=-1))


def rows_needed(facts: Facts) -> int:
    """How many rows a model needs; ids of tokens that were removed stay reserved, and have theirs."""
    return 1 + max(highest_id(facts), -1 if facts.slow is None else facts.slow.max_id)


def is_padded(rows: int, needed: int) -> bool:
    """Whether so many rows are `needed` ones made up to a multiple of a power of two, as is done for speed.

    >>> is_padded(30528, 30522), is_padded(31000, 30522)
    (True, False)
    """
    return any(rows == -(-needed // size) * size for size in (8, 16, 32, 64, 128, 256, 512, 1024))


def damaged_entries(facts: Facts) -> Iterator[Finding]:
    """Entries with letters of two scripts, invisible characters, or the traces of a wrong encoding or vocabulary."""
    mixed: list[tuple[int, str]] = []
    for token_id, token in facts.by_line.items():
        if (token.isascii() and token[:1] not in "#\\&") or token_id in facts.files.odd:
            continue
        if _MIXED.search(token):
            mixed.append((token_id, token))
        hidden = _INVISIBLE.search(token)
        if hidden and any(map(str.isalnum, token)):
            name = unicodedata.name(hidden[0], "no name")
            message = (
                f"{token!r} holds U+{ord(hidden[0]):04X} ({name}), which nobody sees: it is not the word it looks like"
            )
            yield _entry(facts, "warning", "invisible-character", message, token_id, token)
        elif meant := _meant(token):
            message = f"{token!r} looks damaged; it was probably {meant}"
            yield _entry(facts, "warning", "damaged-entry", message, token_id, token)
    mixed = [pair for pair in mixed if all(char in _LATIN_LOOKS for char in _GREEK.findall(pair[1]))]  # not μm
    for token_id, token in mixed:
        foreign = _FOREIGN.findall(token)
        looks = "".join(_LATIN_LOOKS.get(char, char) for char in token)
        is_latin = 2 * len(foreign) < len(token.removeprefix("##")) and all(char in _LATIN_LOOKS for char in foreign)
        message = f"{token!r} mixes Latin letters with U+{ord(foreign[0]):04X} ({unicodedata.name(foreign[0], '')})"
        other = looks if is_latin else None
        message += f"; it looks like {looks!r}" if is_latin else ""
        severity: Severity = "warning" if is_latin or len(mixed) < _FEW_MIXED else "note"
        yield _entry(facts, severity, "mixed-scripts", message, token_id, token, other_token=other)


def _entry(
    facts: Facts, severity: Severity, code: str, message: str, token_id: int, token: str, **known: Any
) -> Finding:
    """A finding about an entry, which is not looked at further."""
    facts.files.odd.add(token_id)
    line = facts.line_number(token_id)
    return Finding(severity, code, message, facts.vocabulary_file, line, token, token_id, **known)


def _meant(token: str) -> str | None:
    """What a damaged entry probably was; None for one that looks sound."""
    if _DAMAGED.match(token) and not regex.match(r"##[^#＃\s]", token):
        if "\ufffd" in token:
            return "a character that was lost when the file was converted"
        if token[0] in "#＃":
            return repr("##" + token.lstrip("#＃ "))
        return "a piece of another kind of vocabulary, or an escaped character"
    if token.startswith("&") and html.unescape(token) != token:
        return repr(html.unescape(token))
    for encoding in ("latin-1", "cp1252"):
        try:
            decoded = token.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
        if decoded != token:
            return f"{decoded!r}, read as {encoding}"
    return None


def missing_letters(facts: Facts) -> Iterator[Finding]:
    """Letters that many entries hold and that are no entry themselves, so that words with them are unknown."""
    first: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for token in facts.line_ids:
        word, is_piece = token.removeprefix("##"), token.startswith("##")
        if word.isalnum():
            first.update(() if is_piece else word[0])
            inside.update(set(word if is_piece else word[1:]))
    if facts.slow is None or not any(token.startswith("##") for token in facts.line_ids):
        return  # a vocabulary of whole words
    wanted = [letter for letter, count in first.items() if count >= _LEAST_SEEN]
    wanted += ["##" + letter for letter, count in inside.items() if count >= _LEAST_SEEN]
    if 2 * sum(token in facts.line_ids for token in wanted) < len(wanted):
        return  # words that were chosen, without an alphabet
    if len(facts.line_ids) >= _FEWEST_FOR_POINTS:
        present = [point for point in _POINTS if point in facts.line_ids]
        wanted += _POINTS if 2 * len(present) > len(_POINTS) else ()
    reach = Reach(facts.slow)
    for token in wanted:
        if token not in facts.line_ids and reach.is_reachable(token):
            message = (
                f"{token!r} is no entry, and other entries hold it: a word for which no longer piece fits is unknown"
            )
            yield Finding("warning", "letter-missing", message, facts.vocabulary_file, token=token)


def replaced_slots(facts: Facts) -> Iterator[Finding]:
    """Entries in the midst of a run of unused slots: words that were written into slots, or lines that were damaged."""
    slots = {id_: int(match[1]) for id_, token in facts.by_line.items() if (match := _SLOT.fullmatch(token))}
    special = {*facts.roles.values(), *facts.additional}
    ids = sorted(slots)
    if not ids or facts.slow is None:
        return
    special.update(map(str, (facts.files.record.get("assigned_unused") or {}).values()))
    reach = Reach(facts.slow)
    zero = ids[0] - slots[ids[0]]  # where [unused0] would be; many vocabularies begin with [unused1]
    if slots[ids[0]] > 1 and zero >= 0:
        ids.insert(0, zero - 1)
        slots[zero - 1] = -1
    for before, after in pairwise(ids):
        # Numbers that go on have others between the runs, as [UNK] in BERT's own vocabulary; `fix` makes single slots.
        is_gap = 1 < after - before == slots[after] - slots[before] and after - before <= len(ids)
        if not is_gap or (before - 1 not in slots and after + 1 not in slots):
            continue
        for token_id in range(before + 1, after):
            token = facts.by_line.get(token_id)
            if not token or token in special or token in facts.added_ids or token_id in facts.files.odd:
                continue
            slot = f"[unused{slots[before] + token_id - before}]"
            message = f"{token!r} stands in the place of {slot}"
            if reach.is_reachable(token):
                message += "; its row has no meaning unless the model was trained with it"
                yield Finding(
                    "note",
                    "slot-replaced",
                    message,
                    facts.vocabulary_file,
                    facts.line_number(token_id),
                    token,
                    token_id,
                )
            else:
                message += f", and no text gives it: {reach.reason(token)[1]}"
                yield _entry(facts, "warning", "slot-replaced", message, token_id, token, other_token=slot)


def unreachable_entries(facts: Facts) -> Iterator[Finding]:
    """Entries that no text gives."""
    if facts.slow is None:
        return
    if hasattr(facts.slow, "stage_settings"):  # stages that are not BERT's
        return
    for entry in unreachable(facts.slow):
        if entry.token and entry.token_id not in facts.files.odd:
            is_word = (
                entry.code == "unreachable-punctuation"
                and entry.token[0] not in "<["
                and any(map(str.isalnum, entry.token))
            )
            yield Finding(
                "warning" if is_word or len(entry.token.removeprefix("##").split()) > 1 else "note",
                entry.code,
                f"no text gives {entry.token!r}: {entry.why}",
                file=facts.vocabulary_file,
                line_number=facts.line_number(entry.token_id),
                token=entry.token,
                token_id=entry.token_id,
            )
