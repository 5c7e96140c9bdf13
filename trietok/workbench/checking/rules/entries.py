"""Rules about ids and entries: holes between ids, entries that are damaged or that no text gives.

In: `Facts`. Out: findings.
"""

from __future__ import annotations

import html
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import regex

from trietok.files.formats import TOKENIZER_CONFIG_FILE, TOKENIZER_FILE
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.wordpiece_vocabulary import is_unused_slot
from trietok.workbench.checking.facts import Facts, rule
from trietok.workbench.checking.reach import UNREACHABLE, UNREACHABLE_PUNCTUATION, Reach
from trietok.workbench.checking.report import NOTE, RENUMBER, WARNING, Finding, declare

# Letters of other scripts, and the Latin ones that they look like.
_LATIN_LOOKS = dict(
    zip(
        "аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХЅІЈονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
        "aeopcyxijshdqwlABEKMHOPCTYXSIJovABEZHIKMNOPTYX",
        strict=True,
    )
)
_MIXED = regex.compile(r"\p{Latin}.*[\p{Cyrillic}\p{Greek}]|[\p{Cyrillic}\p{Greek}].*\p{Latin}")
_GREEK = regex.compile(r"\p{Greek}")
_FOREIGN = regex.compile(r"[\p{Cyrillic}\p{Greek}]")
# entries: a vocabulary of many languages has more, such as Chuvash words typed with Latin letters
_FEW_MIXED = 5
_INVISIBLE = regex.compile(r"[\p{Cf}\u034f\u2800\u3164\uffa0\ufe00-\ufe0f]")
# How a piece looks whose ## was damaged, or that is one of another kind of vocabulary.
_DAMAGED = regex.compile(r"[#＃][#＃\s]*\w|[▁Ġ]\p{L}|.*\ufffd|.*(?:\\u[0-9a-f]{4}|\\x[0-9a-f]{2})")
_SLOT = regex.compile(r"\[unused([0-9]{1,9})\]")
_LEAST_SEEN = 5  # entries that hold a letter
_POINTS = ".,?!-'\"():;"
_FEWEST_FOR_POINTS = 1000  # entries


ID_HOLE = declare(
    "id-hole",
    "ids without a token",
    so="transformers gives the next new token the id len(tokenizer), which is taken",
    do=RENUMBER,
)


@rule(ID_HOLE, needs="vocabulary")
def holes(facts: Facts) -> Iterator[Finding]:
    """Ids that no token has."""
    used = sorted({*facts.by_line, *facts.loaded_ids})
    renumbered: dict[int, str] = {}
    if facts.fast is not None and TOKENIZER_FILE not in facts.files.present:
        behind = facts.fast.vocab_size
        tokens = facts.fast.added_tokens_decoder.items()
        renumbered = {token_id: token.content for token_id, token in tokens if token_id > behind}
    for before, after in pairwise([-1, *used]):
        first, last = before + 1, after - 1
        if first > last:
            continue
        message = (
            f"id {first} belongs" if first == last else f"ids {first} to {last} belong"
        ) + " to no token"
        if last - first < len(facts.holes) and facts.holes.issuperset(range(first, last + 1)):
            severity, message = NOTE, f"{message}, as {TOKENIZER_CONFIG_FILE} declares"
        else:
            severity, message = (
                WARNING,
                f"{message}; transformers gives new tokens ids that are taken",
            )
        if after in renumbered:
            message += (
                f", and its fast class gives {renumbered[after]!r} an id from {first}, since there"
                f" is no {TOKENIZER_FILE}"
            )
        yield Finding(severity, ID_HOLE, message, token_id=first, other_id=last)


MIXED_SCRIPTS = declare(
    "mixed-scripts",
    "entries mix letters of several scripts",
    so="no text with the word as it is written gives the entry: its words are cut into pieces",
    do="write the word in one script; an entry of a model that was trained with it stays",
)
INVISIBLE_CHARACTER = declare(
    "invisible-character",
    "entries hold a character that nobody sees",
    so="no word of a text equals it",
    do="replace the entry by the word without the character; its id stays",
)
DAMAGED_ENTRY = declare(
    "damaged-entry",
    "entries look damaged",
    so="no word of a text equals it",
    do="replace the entry by what was meant; its id stays",
)


@rule(MIXED_SCRIPTS, INVISIBLE_CHARACTER, DAMAGED_ENTRY, needs="vocabulary")
def damaged_entries(facts: Facts) -> Iterator[Finding]:
    """Entries with letters of two scripts, invisible characters, or the traces of a wrong encoding
    or vocabulary.
    """
    mixed: list[tuple[int, str]] = []
    for token_id, token in facts.by_line.items():
        if (token.isascii() and token[:1] not in "#\\&") or token_id in facts.files.odd:
            continue
        # not μm
        if _MIXED.search(token) and all(char in _LATIN_LOOKS for char in _GREEK.findall(token)):
            mixed.append((token_id, token))
        hidden = _INVISIBLE.search(token)
        if hidden and any(map(str.isalnum, token)):
            char = f"U+{ord(hidden[0]):04X} ({unicodedata.name(hidden[0], 'no name')})"
            message = f"{token!r} holds {char}, which nobody sees: it is not the word it looks like"
            yield facts.entry_finding(INVISIBLE_CHARACTER, message, token_id)
        elif meant := _meant(token):
            yield facts.entry_finding(
                DAMAGED_ENTRY, f"{token!r} looks damaged; it was probably {meant}", token_id
            )
    for token_id, token in mixed:
        foreign = _FOREIGN.findall(token)
        looks = "".join(_LATIN_LOOKS.get(char, char) for char in token)
        letters = len(token.removeprefix(facts.prefix))
        is_latin = 2 * len(foreign) < letters and all(char in _LATIN_LOOKS for char in foreign)
        message = (
            f"{token!r} mixes Latin letters with U+{ord(foreign[0]):04X}"
            f" ({unicodedata.name(foreign[0], '')})"
        )
        other = looks if is_latin else None
        message += f"; it looks like {looks!r}" if is_latin else ""
        severity = WARNING if is_latin or len(mixed) < _FEW_MIXED else NOTE
        yield facts.entry_finding(MIXED_SCRIPTS, message, token_id, severity, other_token=other)


def _meant(token: str) -> str | None:
    """What a damaged entry probably was; None for one that looks sound."""
    if _DAMAGED.match(token) and not regex.match(rf"{BERT_PREFIX}[^#＃\s]", token):
        if "\ufffd" in token:
            return "a character that was lost when the file was converted"
        if token[0] in "#＃":
            return repr(BERT_PREFIX + token.lstrip("#＃ "))
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


LETTER_MISSING = declare(
    "letter-missing",
    "letters or signs are no entries, so words with them are unknown",
    so="such words become the unknown token, whatever their other letters are",
    do=(
        "put the model's own vocab.txt there, or tokenizer.add_wordpieces([{token!r}]) and train"
        " the new row"
    ),
)


@rule(LETTER_MISSING, needs="vocabulary slow bert_stages")
def missing_letters(facts: Facts) -> Iterator[Finding]:
    """Letters that many entries hold and that are no entry themselves, so that words with them are
    unknown.
    """
    first: Counter[str] = Counter()
    inside: Counter[str] = Counter()
    for token in facts.line_ids:
        word, is_piece = token.removeprefix(facts.prefix), token.startswith(facts.prefix)
        if word.isalnum():
            first.update(() if is_piece else word[0])
            inside.update(set(word if is_piece else word[1:]))
    if not facts.prefix or not any(token.startswith(facts.prefix) for token in facts.line_ids):
        return  # a vocabulary of whole words
    wanted = [letter for letter, count in first.items() if count >= _LEAST_SEEN]
    wanted += [facts.prefix + letter for letter, count in inside.items() if count >= _LEAST_SEEN]
    if 2 * sum(token in facts.line_ids for token in wanted) < len(wanted):
        return  # words that were chosen, without an alphabet
    if len(facts.line_ids) >= _FEWEST_FOR_POINTS:
        present = [point for point in _POINTS if point in facts.line_ids]
        wanted += _POINTS if 2 * len(present) > len(_POINTS) else ()
    reach = Reach(facts.slow)
    for token in wanted:
        if token not in facts.line_ids and reach.is_reachable(token):
            message = f"{token!r} is no entry, and other entries hold it"
            message += ": a word for which no longer piece fits is unknown"
            yield Finding("warning", LETTER_MISSING, message, facts.vocabulary_file, token=token)


SLOT_REPLACED = declare(
    "slot-replaced",
    "entries stand in the place of unused slots",
    so="the row is a slot's, which published models never trained",
    do=(
        "nothing if you chose the word and train the model with it; else put the model's own"
        " vocabulary there"
    ),
)


@rule(SLOT_REPLACED, needs="vocabulary slow bert_stages")
def replaced_slots(facts: Facts) -> Iterator[Finding]:
    """Entries in the midst of a run of unused slots: words that were written into slots, or lines
    that were damaged.
    """
    slots = {
        id_: int(match[1])
        for id_, token in facts.by_line.items()
        if (match := _SLOT.fullmatch(token))
    }
    ids = sorted(slots)
    if not ids:
        return
    meant = {
        *facts.special,
        *map(str, (facts.files.record.get("assigned_unused") or {}).values()),
        *facts.added_ids,
    }
    reach = Reach(facts.slow)
    # where [unused0] would be; many vocabularies begin with [unused1]
    zero = ids[0] - slots[ids[0]]
    if slots[ids[0]] > 1 and zero >= 0:
        ids.insert(0, zero - 1)
        slots[zero - 1] = -1
    for before, after in pairwise(ids):
        # Numbers that go on have others between the runs, as [UNK] in BERT's own vocabulary; `fix`
        # makes single slots.
        is_gap = 1 < after - before == slots[after] - slots[before] and after - before <= len(ids)
        if not is_gap or (before - 1 not in slots and after + 1 not in slots):
            continue
        for token_id in range(before + 1, after):
            token = facts.by_line.get(token_id)
            if not token or token in meant or token_id in facts.files.odd:
                continue
            slot = f"[unused{slots[before] + token_id - before}]"
            message = f"{token!r} stands in the place of {slot}"
            if reach.is_reachable(token):
                message += "; its row has no meaning unless the model was trained with it"
                yield facts.entry_finding(SLOT_REPLACED, message, token_id, "note", odd=False)
            else:
                message += f", and no text gives it: {reach.reason(token)[1]}"
                yield facts.entry_finding(SLOT_REPLACED, message, token_id, other_token=slot)


@rule(*UNREACHABLE, needs="vocabulary slow bert_stages")
def unreachable_entries(facts: Facts) -> Iterator[Finding]:
    """Entries that no text gives; but not special and added tokens, nor slots such as `[unused1]`,
    which wait.

    Cost: some microseconds an entry: half a second for 100,000.
    """
    # The readers of tokenizer.json may have another prefix, and what one of them gives some text
    # gives.
    prefixes = (facts.prefix,) if facts.files.is_json_alone else (BERT_PREFIX, facts.prefix)
    reach = Reach(facts.slow, prefixes)
    for token, token_id in facts.slow.vocab.items():
        if (
            token
            and not reach.is_reachable(token)
            and not is_unused_slot(token)
            and token_id not in facts.files.odd
        ):
            code, why = reach.reason(token)
            is_word = (
                code == UNREACHABLE_PUNCTUATION
                and token[0] not in "<["
                and any(map(str.isalnum, token))
            )
            severity = (
                WARNING if is_word or len(token.removeprefix(facts.prefix).split()) > 1 else NOTE
            )
            yield facts.entry_finding(
                code, f"no text gives {token!r}: {why}", token_id, severity, odd=False
            )
