"""Where the ids of a tokenizer are probably not those that its files mean: what loading warns of.

In: a tokenizer that has been loaded, and where its files are. Out: sentences. `trietok check` looks
at more, and shares the rules that are here: each is cheap, and silent about the directories that
people publish.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trietok.disk import entries_in, read_vocab_bytes, read_vocab_lines
from trietok.errors import TrietokError
from trietok.files.formats import (
    CONFIG_FILE,
    ROLES,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
)

_FEWEST_CASED = 100  # fewer words with letters that have two cases tell nothing
_CASED_SHARE = (
    0.25  # of all words: below it the vocabulary is mainly of a script without case, as Chinese
)
_FEWEST_CAPITALS = 20
_CAPITALS_SHARE = (
    0.05  # of the words with case: a cased vocabulary has far more, an uncased one none
)
_SAMPLE = 1000  # entries: what they say is looked at in all
_ODD_SHARE = 0.2  # of the entries
_ODD = r"[▁Ġ\"']\S|.*\w[ \t,;|]"  # how the lines of other kinds of vocabularies look
_IN_ODD = "▁Ġ\"' \t,;|"  # each of them has one of these
_DOUBLED_SHARE = 0.01
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


def near_names(directory: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Files whose names are almost those of a tokenizer's files: the name that is there, and the
    one that is read.

    A name in other letters, which only some disks tell apart, is almost the same; and where there
    is no file of the right name, so is one with what a browser or a download puts behind it.
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
            yield name, meant


def doubts(
    tokenizer: Any,
    found: Mapping[str, str],
    in_files: Mapping[str, int],
    model: Mapping[str, Any],
    given: Collection[str],
) -> Iterator[str]:
    """What is doubtful about a tokenizer with a WordPiece vocabulary; O(entries) in the worst case,
    mostly of 1,000.

    Args:
        tokenizer: it, just loaded.
        found: name of the file → its path.
        in_files: the added tokens that the files hold, with their ids.
        model: what config.json holds.
        given: the settings that the caller has chosen.
    """
    tokens = tokenizer.vocabulary.tokens
    sample = [token for token in tokens[:: max(1, len(tokens) // _SAMPLE)] if token]
    odd = token_of_other_kind(tokens)
    source = TOKENIZER_FILE if TOKENIZER_FILE in found and VOCAB_FILE not in found else VOCAB_FILE
    if odd is not None:
        yield (
            f"{source} holds {odd!r} and many more that are no tokens of WordPiece: it is another"
            " kind of file"
        )
    yield from _about_case(tokenizer, sample, tokens, given)
    doubled = len(tokens) - len(tokenizer.vocabulary.holes) - len(tokenizer.vocabulary.token_to_id)
    roles = {
        role: str(token) for role, token in tokenizer.special_tokens_map.items() if role in ROLES
    }
    if doubled > max(10, _DOUBLED_SHARE * len(tokens)):
        yield f"{source} holds {doubled} tokens twice, and the later line of each is its id"
    for role in roles.keys() - set(given):
        yield from _about_role(tokenizer, role, roles[role], in_files, model.get(f"{role}_id"))
    yield from _about_rows(tokenizer, model)
    if tokenizer.profile == "fast" and TOKENIZER_FILE in found and VOCAB_FILE in found:
        yield from _about_two_vocabularies(tokenizer, found[VOCAB_FILE])
    for name, value in getattr(tokenizer, "overridden", ()):
        if name not in given and TOKENIZER_FILE in found:
            here = getattr(tokenizer.basic_tokenizer, name)
            says = f"{here} counts, of {TOKENIZER_CONFIG_FILE} or by default"
            yield f"{name} is {value} in {TOKENIZER_FILE}, and {says}"


def token_of_other_kind(tokens: Sequence[str | None]) -> str | None:
    """Return a token that WordPiece does not have, if many of the tokens are so; else None."""
    sample = [token for token in tokens[:: max(1, len(tokens) // _SAMPLE)] if token]
    fewest = max(10, _ODD_SHARE * len(sample))
    # of most vocabularies, the pattern need not be compiled
    if sum(map("".join(sample).count, _IN_ODD)) <= fewest:
        return None
    odd = [token for token in sample if re.match(_ODD, token)]
    return odd[0] if len(odd) > fewest else None


def words_among(tokens: Iterable[str | None]) -> Iterator[str]:
    """The words and pieces of words among tokens, without the prefix that continues a word: letters
    only.
    """
    for token in tokens:
        word = (token or "").removeprefix("##")
        if word.isalpha():
            yield word


def _about_case(
    tokenizer: Any, sample: list[str], tokens: Iterable[str | None], given: Collection[str]
) -> Iterator[str]:
    lowers = getattr(getattr(tokenizer, "basic_tokenizer", None), "do_lower_case", None)
    if (
        "do_lower_case" in given
        or lowers is None
        or case_of(words_among(sample))[0] is not (not lowers)
    ):
        return
    told, said = case_of(words_among(tokens))
    if told is (not lowers):
        yield f"{said}, and do_lower_case is {lowers}; do_lower_case={not lowers} is probably meant"


def _about_role(
    tokenizer: Any, role: str, token: str, in_files: Mapping[str, int], in_model: Any
) -> Iterator[str]:
    token_id = tokenizer.convert_tokens_to_ids(token)
    if role in ("cls_token", "sep_token", "pad_token"):
        if role_named(token) not in (None, role):
            yield f"the {role} is {token}, which by its name is the {role_named(token)}"
        if token not in tokenizer.vocabulary and token not in in_files:
            yield (
                f"the {role} {token} is in no file; it is added as id {token_id}, for which no"
                " model is trained"
            )
    if type(in_model) is int and in_model != token_id:
        yield (
            f"{role}_id is {in_model} in {CONFIG_FILE}, and the {role} {token} has the id"
            f" {token_id}"
        )


def _about_rows(tokenizer: Any, model: Mapping[str, Any]) -> Iterator[str]:
    rows, needed = model.get("vocab_size"), tokenizer.max_id + 1
    if type(rows) is not int or rows < 1 or rows == needed:
        return
    says = (
        f"{CONFIG_FILE} gives the model {rows} rows (vocab_size), and the tokenizer has"
        f" {needed} ids"
    )
    if rows < needed:
        yield f"{says}: the last have no row"
    elif not is_padded(rows, needed):
        yield f"{says}: the vocabulary lacks lines, or is that of another model"


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


def _about_two_vocabularies(tokenizer: Any, path: str) -> Iterator[str]:
    """Whether vocab.txt has the tokens of the tokenizer.json that was read; mostly one comparison
    of bytes.
    """
    tokens = tokenizer.vocabulary.tokens
    try:
        if not tokenizer.vocabulary.holes and _are_lines(tokens, read_vocab_bytes(path)):
            return
        lines = read_vocab_lines(path)
    except (TrietokError, OSError) as error:
        yield f"{error}; {TOKENIZER_FILE} is read in its place"
        return
    ids, known = (
        {line: token_id for token_id, line in enumerate(lines) if line},
        tokenizer.get_vocab(),
    )
    other = [token for token, token_id in ids.items() if known.get(token) != token_id]
    other += [token for token in tokenizer.vocabulary.token_to_id if token not in ids]
    if other:
        says = (
            f"{len(other)} tokens have other ids in {VOCAB_FILE} or stand in one of the two only,"
            f" such as {other[0]!r}"
        )
        yield (
            f"{TOKENIZER_FILE} and {VOCAB_FILE} are of different models: {says}; {TOKENIZER_FILE}"
            " counts"
        )
