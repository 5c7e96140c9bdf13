"""What is doubtful about a tokenizer that was loaded: its ids are probably not those of its model.

Loading logs these findings, and `trietok check` lists them. They are cheap, and there are none for
the directories that people publish.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trietok.disk import entries_in, read_vocab_bytes, read_vocab_lines
from trietok.errors import TrietokError
from trietok.files.findings import Finding, first_of
from trietok.files.formats import (
    ADDITIONAL,
    CONFIG_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
)

_FEWEST_CASED = 100  # fewer words with letters that have two cases tell nothing
# Of all words: below it the vocabulary is mainly of a script without case, such as Chinese.
_CASED_SHARE = 0.25
_FEWEST_CAPITALS = 20
# Of the words with case: a cased vocabulary has far more, an uncased one none.
_CAPITALS_SHARE = 0.05
_SAMPLE = 1000  # entries: what they say is looked at in all
_ODD_SHARE = 0.2  # of the entries
_ODD = r"[▁Ġ\"']\S|.*\w[ \t,;|]"  # how the lines of other kinds of vocabularies look
_IN_ODD = "▁Ġ\"' \t,;|"  # each of them has one of these
_DOUBLED_SHARE = 0.01  # of the tokens: more are another kind of file
_LINES_AT_ONCE = 500
_NAME = (
    r"(?i)(?:copy of )?([\w.-]+?)(?: ?\(\d+\)| - copy)?(\.(?:txt|json|jinja))(?: ?\(\d+\))?"
    r"(?:\.(?:txt|gz|zip|bz2|xz|zst|part|partial|download|crdownload|incomplete|\d)|~)*"
)


def case_of(words: Iterable[str]) -> tuple[bool | None, str]:
    """Whether words are those of lower-cased texts, None where they do not tell it; and what tells
    it, in words.

    >>> case_of([f"{letter}{other}a" for letter in "abcdefghijkl" for other in "ABCDEFGHIJKL"])
    (False, 'the vocabulary is cased: 144 of its 144 words with letters of two cases have capitals')
    """
    number = lower = capital = 0
    for word in words:
        number += 1
        if word.lower() != word:
            capital += 1
        elif word.upper() != word:
            lower += 1
    cased = lower + capital
    of_them = f"{capital} of its {cased} words with letters of two cases have capitals"
    if cased >= _FEWEST_CASED and capital >= max(_FEWEST_CAPITALS, _CAPITALS_SHARE * cased):
        return False, f"the vocabulary is cased: {of_them}"
    if cased >= _FEWEST_CASED and capital * 1000 < cased and cased >= _CASED_SHARE * number:
        return True, f"the vocabulary is uncased: {of_them}"
    return None, of_them


def is_padded(rows: int, needed: int) -> bool:
    """Whether so many rows are `needed` ones made up to a multiple of a power of two, as is done
    for speed.

    >>> is_padded(30528, 30522), is_padded(31000, 30522)
    (True, False)
    """
    return any(rows == -(-needed // size) * size for size in (8, 16, 32, 64, 128, 256, 512, 1024))


def role_named(token: str) -> str | None:
    """The role that a special token has by its name: cls_token for `[CLS]`; None for a name that is
    not known.
    """
    role = token.strip("[]<>|").lower() + "_token"
    return (
        role if role in ("cls_token", "sep_token", "pad_token", "mask_token", "unk_token") else None
    )


def near_names(directory: str, names: Collection[str]) -> Iterator[Finding]:
    """Yield a finding for each file whose name is almost that of a tokenizer's file.

    Such a name differs in the case of letters. If there is no file of the right name, what a
    browser or a download appends to it counts too.
    """
    there = {entry.name for entry in entries_in(directory)}
    by_lower = {name.lower(): name for name in names}
    stems = [name.partition(".")[0] for name in by_lower]
    for name in sorted(there.difference(names)):
        if not any(map(name.lower().replace(" ", "_").__contains__, stems)):
            continue  # as most do, so that the pattern need not be compiled
        match = re.fullmatch(_NAME, name)
        meant = by_lower.get((match[1] + match[2]).lower().replace(" ", "_")) if match else None
        if meant is not None and (name.lower() == meant.lower() or meant not in there):
            message = f"it is not read, since its name is not {meant}; rename it"
            yield Finding("warning", "name-not-read", message, name)


def doubts(
    tokenizer: Any,
    found: Mapping[str, str],
    in_files: Collection[str],
    model: Mapping[str, Any],
    given: Collection[str],
) -> Iterator[Finding]:
    """Yield what is doubtful about a tokenizer with a WordPiece vocabulary.

    O(entries) in the worst case, but mostly 1,000 of them are looked at.

    Args:
        tokenizer: it, just loaded.
        found: name of the file → its path.
        in_files: the added tokens that the files hold.
        model: what config.json holds.
        given: the settings that the caller has chosen.
    """
    source = VOCAB_FILE if VOCAB_FILE in found or TOKENIZER_FILE not in found else TOKENIZER_FILE
    yield from _about_vocabulary(tokenizer.vocabulary, source)
    if "do_lower_case" not in given:
        yield from _about_case(tokenizer)
    for role, value in tokenizer.special_tokens_map.items():
        if role not in given:
            tokens = value if isinstance(value, list) else [value]
            yield from _about_role(tokenizer, role, list(map(str, tokens)), in_files)
    yield from model_token_ids(tokenizer, CONFIG_FILE, model, given)
    yield from _about_rows(tokenizer, model)
    if tokenizer.profile == "fast" and TOKENIZER_FILE in found and VOCAB_FILE in found:
        yield from _about_two_vocabularies(tokenizer, found[VOCAB_FILE])
    for name, value in getattr(tokenizer, "overridden", ()):
        if name not in given and TOKENIZER_FILE in found:
            here = as_json(getattr(tokenizer.basic_tokenizer, name))
            message = (
                f"{name} is {as_json(value)} here; {here} counts, of {TOKENIZER_CONFIG_FILE} or by"
                " default"
            )
            yield Finding("warning", "tokenizer-json-setting", message, TOKENIZER_FILE)


def as_json(value: Any) -> str:
    """Return a setting as a file has it: `true`, `null`, or what it is."""
    return json.dumps(value) if value is None or isinstance(value, bool) else repr(value)


def _about_vocabulary(vocabulary: Any, source: str) -> Iterator[Finding]:
    odd = _token_of_other_kind(vocabulary.tokens)
    if odd is not None:
        message = f"it holds {odd!r} and many more that are no tokens of WordPiece"
        yield Finding("warning", "other-vocabulary", message, source, token=odd)
    doubled = len(vocabulary.tokens) - len(vocabulary.holes) - len(vocabulary.token_to_id)
    if doubled > max(10, _DOUBLED_SHARE * len(vocabulary.tokens)):
        message = f"it holds {doubled} tokens twice, and only one line of each counts"
        yield Finding("warning", "other-vocabulary", message, source)


def _token_of_other_kind(tokens: Sequence[str | None]) -> str | None:
    """Return a token that WordPiece does not have, if many of the tokens are so; else None."""
    sample = _sample(tokens)
    fewest = max(10, _ODD_SHARE * len(sample))
    # of most vocabularies, the pattern need not be compiled
    if sum(map("".join(sample).count, _IN_ODD)) <= fewest:
        return None
    odd = [token for token in sample if re.match(_ODD, token)]
    return odd[0] if len(odd) > fewest else None


def _sample(tokens: Sequence[str | None]) -> list[str]:
    return [token for token in tokens[:: max(1, len(tokens) // _SAMPLE)] if token]


def _words_among(tokens: Iterable[str | None]) -> Iterator[str]:
    """Yield the words and pieces of words among tokens, without `##`: those of letters only."""
    for token in tokens:
        word = (token or "").removeprefix("##")
        if word.isalpha():
            yield word


def _about_case(tokenizer: Any) -> Iterator[Finding]:
    basic, tokens = getattr(tokenizer, "basic_tokenizer", None), tokenizer.vocabulary.tokens
    lowers = getattr(basic, "do_lower_case", None)
    if lowers is None or case_of(_words_among(_sample(tokens)))[0] is not (not lowers):
        return
    lowered, reason = case_of(_words_among(tokens))
    if lowered is (not lowers):
        message = (
            f"{reason}, and do_lower_case is {lowers}; do_lower_case={not lowers} is probably meant"
        )
        yield Finding("warning", "vocabulary-case", message, TOKENIZER_CONFIG_FILE)


def _about_role(
    tokenizer: Any, role: str, tokens: list[str], in_files: Collection[str]
) -> Iterator[Finding]:
    for token in tokens:
        token_id = tokenizer.convert_tokens_to_ids(token)
        known: dict[str, Any] = {"token": token, "token_id": token_id, "role": role}
        is_used = role in ("cls_token", "sep_token", "pad_token")
        named = role_named(token)
        if named not in (None, role) and (is_used or role == "mask_token"):
            message = f"the {role} is {token!r}, which by its name is the {named}"
            yield Finding("warning", "role-exchanged", message, TOKENIZER_CONFIG_FILE, **known)
        if token not in tokenizer.vocabulary and token not in in_files:
            message = (
                f"the {role} {token!r} is in no file; it is added as id {token_id}, for which no"
                " model is trained"
            )
            yield Finding("warning" if is_used else "note", "special-missing", message, **known)


def model_token_ids(
    tokenizer: Any, file: str, config: Mapping[str, Any], given: Collection[str] = ()
) -> Iterator[Finding]:
    """Yield a finding for each role whose token has another id than a configuration says."""
    for role, value in tokenizer.special_tokens_map.items():
        known_id = config.get(f"{role}_id")
        if role in given or role == ADDITIONAL or known_id is None or isinstance(known_id, list):
            continue
        token, token_id = str(value), tokenizer.convert_tokens_to_ids(str(value))
        if type(known_id) is not int or known_id != token_id:
            message = (
                f"{role}_id is {known_id!r:.60}, and the {role} {token!r} has the id {token_id}"
            )
            yield Finding(
                "warning",
                "model-token-id",
                message,
                file,
                token=token,
                token_id=token_id,
                role=role,
            )


def _about_rows(tokenizer: Any, model: Mapping[str, Any]) -> Iterator[Finding]:
    rows, needed = model.get("vocab_size"), tokenizer.max_id + 1
    if type(rows) is not int or rows < 1 or rows == needed:
        return
    message = f"vocab_size is {rows}, and ids go up to {needed - 1}"
    if rows < needed:
        ids = tokenizer.get_vocab().items()
        past = [(token, token_id) for token, token_id in ids if token_id >= rows]
        if past:
            token, token_id = past[0]
            tokens = first_of([token for token, _ in past])
            message += f"; there is no embedding row for {tokens}"
            known: dict[str, Any] = {"token": token, "token_id": token_id}
            yield Finding("error", "id-past-model", message, CONFIG_FILE, **known)
    elif is_padded(rows, needed):
        yield Finding("note", "model-larger", f"{message}; the rest is padding", CONFIG_FILE)
    else:
        message += ": the vocabulary lacks lines, or is that of another model"
        yield Finding("warning", "model-larger", message, CONFIG_FILE)


def _are_lines(tokens: list[str], raw: bytes) -> bool:
    """Whether tokens are the lines of a file; some at a time, since most are ASCII alone."""
    place = 0
    for start in range(0, len(tokens), _LINES_AT_ONCE):
        some = "\n".join((*tokens[start : start + _LINES_AT_ONCE], "")).encode(
            "utf-8", "surrogatepass"
        )
        if not raw.startswith(some, place):
            return False
        place += len(some)
    return place == len(raw)


def _about_two_vocabularies(tokenizer: Any, path: str) -> Iterator[Finding]:
    """Compare vocab.txt with the tokenizer.json that was read; mostly one comparison of bytes."""
    tokens = tokenizer.vocabulary.tokens
    try:
        if not tokenizer.vocabulary.holes and _are_lines(tokens, read_vocab_bytes(path)):
            return
        lines = read_vocab_lines(path)
    except (TrietokError, OSError) as error:
        message = f"{error}; {TOKENIZER_FILE} is read in its place"
        yield Finding("warning", "tokenizer-json-differs", message)
        return
    ids = {line: token_id for token_id, line in enumerate(lines) if line}
    known = tokenizer.get_vocab()
    other = [token for token, token_id in ids.items() if known.get(token) != token_id]
    other += [token for token in tokenizer.vocabulary.token_to_id if token not in ids]
    if other:
        token, more = other[0], len(other) - 1
        here, there = known.get(token), ids.get(token)
        message = (
            f"{token!r} has {_id_or_none(here)} here and {_id_or_none(there)} in {VOCAB_FILE}"
            f"{f', and {more} more tokens differ' if more else ''}; fast tokenizers read this file"
        )
        known_ids: dict[str, Any] = {"token_id": here, "other_id": there}
        yield Finding(
            "error", "tokenizer-json-differs", message, TOKENIZER_FILE, token=token, **known_ids
        )


def _id_or_none(token_id: int | None) -> str:
    return "no id" if token_id is None else f"the id {token_id}"
