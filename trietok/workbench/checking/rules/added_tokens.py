"""Added tokens: against each other, against the vocabulary and against what they are said to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trietok.workbench.checking.files import DECODER
from trietok.workbench.checking.report import Finding, Severity
from trietok.workbench.checking.rules.facts import Facts
from trietok.workbench.checking.rules.roles import is_ordinary
from trietok.files.formats import ADDED_TOKENS_FILE, TOKENIZER_CONFIG_FILE, TOKENIZER_FILE
from trietok.text.added_token import AddedToken
from trietok.tokenizer.bert import filling

_FEWEST_WORDS = 50  # fewer tell nothing
_MANY_CUT = 20  # words: a name or a term that is chosen with care is part of fewer
_SHOWN = 5  # words


def contradictions(facts: Facts) -> Iterator[Finding]:
    """Added tokens against each other, and each against the vocabulary."""
    by_id: dict[int, tuple[str, str]] = {}
    by_content: dict[str, tuple[int, str]] = {}
    for token_id, token, name in facts.added:
        content = token.content
        other, other_file = by_id.setdefault(token_id, (content, name))
        other_id, its_file = by_content.setdefault(content, (token_id, name))
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if other != content:
            code = "added-id-twice" if other_file == name else "added-tokens-contradiction"
            message = f"{content!r} has the id {token_id}, and so has {other!r}{_in(other_file, name)}"
            yield Finding("error", code, message, other_token=other, **known)
        elif other_id != token_id:
            code = "added-content-twice" if its_file == name else "added-tokens-contradiction"
            message = f"{content!r} has the id {token_id}, and also {other_id}{_in(its_file, name)}"
            yield Finding("error", code, message, other_id=other_id, **known)
        elif facts.decoder_counts and name == ADDED_TOKENS_FILE and facts.by_line.get(token_id) != content:
            message = f"{content!r}, id {token_id}, is not in {DECODER}, so for transformers it does not exist"
            yield Finding("warning", "added-tokens-contradiction", message, **known)
        yield from _line_of(facts, content, token_id, known)


def _line_of(facts: Facts, content: str, token_id: int, known: dict[str, Any]) -> Iterator[Finding]:
    line = facts.by_line.get(token_id)
    if line == content or (token_id in facts.holes and line == filling(token_id)):
        return
    if line is not None:
        message = f"the added token {content!r} has the id {token_id}, which is that of {line!r} on line "
        message += f"{token_id + 1} of the vocabulary"
        yield Finding("error", "id-clash", message, other_token=line, **known)
    own_id = facts.line_ids.get(content)
    if own_id is not None:
        message = f"the added token {content!r} has the id {token_id}, and {own_id} in the vocabulary"
        yield Finding("error", "added-id-differs", message, other_id=own_id, **known)


def _in(file: str, here: str) -> str:
    return "" if file == here else f" in {file}"


def special_flags(facts: Facts) -> Iterator[Finding]:
    """A special token that is not marked as one, and a word that is."""
    assigned = facts.files.record.get("assigned_unused")
    chosen = set(map(str, assigned.values())) if isinstance(assigned, dict) else set()
    special = {*facts.roles.values(), *facts.additional, *chosen}
    role_of = {token: role for role, token in facts.roles.items()}
    for token_id, token, name in _with_flags(facts):
        known: dict[str, Any] = {"file": name, "token": token.content, "token_id": token_id}
        if token.content in role_of and not token.special:
            role = role_of[token.content]
            message = f"{token.content!r} is the {role} and has special: false"
            yield Finding("warning", "special-unmarked", message, role=role, **known)
        elif token.special and token.content not in special and _is_word(facts, token.content):
            message = f"{token.content!r} is a word, plays no role, and has special: true"
            yield Finding("warning", "word-marked-special", message, **known)


def _with_flags(facts: Facts) -> Iterator[tuple[int, AddedToken, str]]:
    """The added tokens as files with flags have them; a token that two files mark alike stands once."""
    seen: set[tuple[int, str, bool]] = set()
    in_config, in_json = facts.files.decoder, facts.files.fast
    for name, pairs in ((TOKENIZER_CONFIG_FILE, in_config), (TOKENIZER_FILE, in_json)):
        for token_id, token in pairs:
            key = (token_id, token.content, token.special)
            if key not in seen:
                seen.add(key)
                yield token_id, token, name


def _is_word(facts: Facts, content: str) -> bool:
    return content in facts.line_ids and is_ordinary(content)


def tokens_that_cut_words(facts: Facts) -> Iterator[Finding]:
    """An added token that is part of the vocabulary's words, and is cut out of each; many of them are a mistake.

    Cost: O(letters of the vocabulary) for each length that an added token of letters has.
    """
    by_content: dict[str, tuple[int, AddedToken, str]] = {}
    for token_id, token, name in facts.added:
        if not token.single_word and is_ordinary(token.content):
            by_content.setdefault(_searched(facts, token), (token_id, token, name))
    lengths = sorted({len(content) for content in by_content})
    words = [word for word in facts.words if len(word) > 1] if lengths else []
    if len(words) < _FEWEST_WORDS:
        return
    cut: dict[str, list[str]] = {}
    for word in words:
        parts = {word[i : i + n] for n in lengths if n < len(word) for i in range(len(word) - n + 1)}
        for part in parts & by_content.keys():
            cut.setdefault(part, []).append(word)
    for content, its_words in cut.items():
        token_id, token, name = by_content[content]
        message = f"{token.content!r} is an added token and is cut out of every word that holds it: "
        message += f"{len(its_words)} of the vocabulary's {len(words)} words are never given whole, such as "
        message += ", ".join(map(repr, its_words[:_SHOWN]))
        severity: Severity = "warning" if len(its_words) >= _MANY_CUT else "note"
        yield Finding(severity, "added-cuts-words", message, name, token=token.content, token_id=token_id)


def _searched(facts: Facts, token: AddedToken) -> str:
    """What is looked for in texts: a token that is not special is lower-cased with them."""
    return token.content.lower() if facts.setting("do_lower_case") and not token.special else token.content


def shadows(facts: Facts) -> Iterator[Finding]:
    """An added token that keeps an entry, or another added token, from being given; or that only whitespace tells."""
    special = {*facts.roles.values(), *facts.additional}
    first: dict[str, tuple[str, int]] = {}
    for token_id, token, name in facts.added:
        content, searched = token.content, _searched(facts, token)
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if content.strip() != content:
            message = (
                f"the added token {content!r} has whitespace before or after it, and is found only together with it"
            )
            yield Finding("warning", "added-edge-space", message, **known)
        other, other_id = first.setdefault(searched, (content, token_id))
        entry_id = facts.line_ids.get(searched)
        if other != content and other_id != token_id:
            message = (
                f"the added tokens {other!r} and {content!r} are both searched as {searched!r}, so one is never given"
            )
            yield Finding("warning", "added-shadows", message, other_token=other, other_id=other_id, **known)
        elif entry_id is not None and entry_id != token_id and searched != content:
            message = (
                f"the added token {content!r}, id {token_id}, is searched as {searched!r}, so the entry of that name"
            )
            message += f", id {entry_id}, is never given"
            yield Finding("warning", "added-shadows", message, other_token=searched, other_id=entry_id, **known)
        elif entry_id == token_id and content.startswith("##") and content not in special:
            message = (
                f"the added token {content!r} is a piece of the vocabulary, and is now found in texts as it is written"
            )
            yield Finding("note", "added-shadows", message, **known)
