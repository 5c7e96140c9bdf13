"""Rules about special tokens and their roles, and about added tokens.

In: `Facts`. Out: findings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from trietok.files.added_ids import AddedIds
from trietok.files.doubts import role_named, token_of_other_kind
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    ADDITIONAL,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
)
from trietok.tokenizer.wordpiece_vocabulary import filling
from trietok.workbench.checking.facts import ROLES_OF_BERT, UNKNOWN, Facts, rule
from trietok.workbench.checking.files import DECODER, content_of
from trietok.workbench.checking.report import (
    BY_FIX,
    NOTE,
    NOTHING_LOADS,
    RENUMBER,
    WARNING,
    Finding,
    declare,
)

_TEMPLATE_ROLES = ("cls_token", "sep_token")  # without them a call has nothing to put around a text
_USED_ROLES = {"pad_token": "padding", "mask_token": "masking"}
_NAMED_ROLES = ("cls_token", "sep_token", "pad_token", "mask_token", UNKNOWN)


ROLE_CONTRADICTION = declare(
    "role-contradiction",
    "two files disagree about a special token",
    so="transformers' versions and other readers take one or the other",
    do=BY_FIX + ", which writes what counts into both",
)


@rule(ROLE_CONTRADICTION)
def roles_of_two_files(facts: Facts) -> Iterator[Finding]:
    """special_tokens_map.json against what the config says, or what is the default where it may say
    nothing.
    """
    files = facts.files
    says = f"{SPECIAL_TOKENS_MAP_FILE} has"
    for role in ROLES_OF_BERT:
        ours = content_of(
            files.config.get(role, facts.defaults.get(role) if facts.decoder_counts else None)
        )
        theirs = content_of(files.special_map.get(role))
        if ours is not None and theirs is not None and ours != theirs:
            counts = ours if facts.decoder_counts else theirs
            message = (
                f"{role} is {ours!r} in {TOKENIZER_CONFIG_FILE}, and {says} {theirs!r}; {counts!r}"
                " counts"
            )
            known: dict[str, Any] = {"role": role, "token": theirs, "other_token": ours}
            yield Finding("warning", ROLE_CONTRADICTION, message, SPECIAL_TOKENS_MAP_FILE, **known)
    lists = [values.get(ADDITIONAL) for values in (files.config, files.special_map)]
    contents = [
        {content_of(entry) or "" for entry in value} for value in lists if isinstance(value, list)
    ]
    if len(contents) == 2 and contents[0] != contents[1]:
        differing = ", ".join(map(repr, sorted(contents[0] ^ contents[1])[:5]))
        message = (
            f"{ADDITIONAL} differs from {TOKENIZER_CONFIG_FILE}: only one of them lists {differing}"
        )
        yield Finding(
            "warning", ROLE_CONTRADICTION, message, SPECIAL_TOKENS_MAP_FILE, role=ADDITIONAL
        )


UNK_MISSING = declare(
    "unk-missing",
    so=NOTHING_LOADS,
    do='in tokenizer_config.json: "unk_token": the vocabulary\'s token for unknown words',
)


@rule(UNK_MISSING, needs="vocabulary")
def unknown_token(facts: Facts) -> Iterator[Finding]:
    """The unknown token has to be there."""
    unknown = facts.roles.get(UNKNOWN)
    if not facts.has(unknown):
        message = (
            f"the unknown token {unknown!r} is neither in the vocabulary nor an added token;"
            " nothing loads"
        )
        if unknown is None:
            message = "there is no unknown token: unk_token is null"
        yield Finding(
            "error", UNK_MISSING, message, file=facts.vocabulary_file, token=unknown, role=UNKNOWN
        )


SPECIAL_MISSING = declare(
    "special-missing",
    "a special token is in no file and is added on loading",
    so="its id is behind the model's rows, or one whose row was never trained",
    do=(
        'in tokenizer_config.json: "{role}": the token that the model was trained with; --fix'
        " writes the id down as it is"
    ),
)


@rule(SPECIAL_MISSING, needs="vocabulary slow")
def missing_tokens(facts: Facts) -> Iterator[Finding]:
    """Special tokens that loading adds, because no file holds them."""
    ids = facts.slow.added_tokens_encoder
    for role, token in [*facts.roles.items(), *((ADDITIONAL, token) for token in facts.additional)]:
        if role == UNKNOWN or facts.has(token):
            continue
        message = (
            f"the {role} {token!r} is neither in the vocabulary nor an added token; it is added on"
            " loading, as id"
        )
        message += f" {ids.get(token)}, for which a trained model has no meaning"
        known: dict[str, Any] = {"token": token, "token_id": ids.get(token), "role": role}
        yield Finding("warning", SPECIAL_MISSING, message, facts.vocabulary_file, **known)


ROLE_NULL = declare(
    "role-null",
    "a role that calls use is null",
    so="what needs the role raises or puts a wrong id into its place",
    do=(
        'in tokenizer_config.json: "{role}": the token that the model was trained with, or take the'
        " key out for the default"
    ),
)


@rule(ROLE_NULL)
def null_roles(facts: Facts) -> Iterator[Finding]:
    """Roles that a file sets to null, of those that calls use."""
    for role in (*_TEMPLATE_ROLES, *_USED_ROLES):
        if role in facts.roles or role not in facts.defaults:
            continue
        where: dict[str, Any] = {"file": TOKENIZER_CONFIG_FILE, "role": role}
        if role in _TEMPLATE_ROLES:
            message = (
                f"{role} is null: BertTokenizer raises in every call with special tokens, and fast"
                " tokenizers "
            )
            yield Finding(
                "error", ROLE_NULL, message + "put the unknown token in its place", **where
            )
        else:
            message = f"{role} is null, and {_USED_ROLES[role]} needs it"
            yield Finding("warning", ROLE_NULL, message, **where)


ROLE_EXCHANGED = declare(
    "role-exchanged",
    "a role has the token of another",
    so="every row has the wrong id in the place of the {role}",
    do='{file}: "{role}": the token of that name; the default is right if you take the key out',
)


@rule(ROLE_EXCHANGED)
def exchanged_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token has the name of another role, such as `[SEP]` for cls_token."""
    counts = Counter(facts.roles.values())
    for role in _NAMED_ROLES:
        token = facts.roles.get(role)
        if token is None or counts[token] > 1 or token == facts.defaults.get(role):
            continue
        named = role_named(token)
        if named not in (None, role):
            yield facts.role_finding(
                ROLE_EXCHANGED, f"{role} is {token!r}, which by its name is the {named}", role
            )


# Added tokens: against each other, against the vocabulary and against what they are said to be.


ADDED_CONTENT_TWICE = declare(
    "added-content-twice",
    "an added token has several ids",
    so="one token has two ids; what reads both files does not load",
    do=RENUMBER,
)
ADDED_ID_TWICE = declare(
    "added-id-twice",
    "two added tokens have one id",
    so="two tokens share one embedding row; what reads both files does not load",
    do=RENUMBER,
)
ID_CLASH = declare(
    "id-clash",
    "an added token has the id of another token",
    so="two tokens share one embedding row; what reads both files does not load",
    do=RENUMBER,
)
ADDED_ID_DIFFERS = declare(
    "added-id-differs",
    "an added token stands in the vocabulary under another id",
    so="one token has two ids; what reads both files does not load",
    do=RENUMBER,
)
ADDED_TOKENS_CONTRADICTION = declare(
    "added-tokens-contradiction",
    "two files disagree about an added token",
    so="which of the two counts depends on the program",
    do="correct {file}, or " + RENUMBER,
)


@rule(
    ADDED_CONTENT_TWICE,
    ADDED_ID_TWICE,
    ID_CLASH,
    ADDED_ID_DIFFERS,
    ADDED_TOKENS_CONTRADICTION,
    needs="vocabulary",
)
def contradictions(facts: Facts) -> Iterator[Finding]:
    """Added tokens against each other, and each against the vocabulary."""
    ids = AddedIds()
    for token_id, token, name in facts.added:
        content, clash = token.content, ids.add(token_id, token, name)
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if clash is not None:
            is_id, in_one_file = isinstance(clash.other, int), clash.other_source == name
            code = ADDED_CONTENT_TWICE if is_id else ADDED_ID_TWICE
            which = f"and also {clash.other}" if is_id else f"and so has {clash.other!r}"
            message = (
                f"{content!r} has the id {token_id},"
                f" {which}{'' if in_one_file else f' in {clash.other_source}'}"
            )
            other: dict[str, Any] = {"other_id" if is_id else "other_token": clash.other}
            yield Finding(
                "error",
                code if in_one_file else ADDED_TOKENS_CONTRADICTION,
                message,
                **known,
                **other,
            )
        elif (
            facts.decoder_counts
            and name == ADDED_TOKENS_FILE
            and facts.by_line.get(token_id) != content
        ):
            message = (
                f"{content!r}, id {token_id}, is not in {DECODER}, so for transformers it does not"
                " exist"
            )
            yield Finding("warning", ADDED_TOKENS_CONTRADICTION, message, **known)
        line, own_id = facts.by_line.get(token_id), facts.line_ids.get(content)
        if line == content or (token_id in facts.holes and line == filling(token_id)):
            continue
        message = f"the added token {content!r} has the id {token_id}, "
        if line is not None:
            which = f"which is that of {line!r} on line {token_id + 1} of the vocabulary"
            yield Finding("error", ID_CLASH, message + which, other_token=line, **known)
        if own_id is not None:
            which = f"and {own_id} in the vocabulary"
            yield Finding("error", ADDED_ID_DIFFERS, message + which, other_id=own_id, **known)


SPECIAL_UNMARKED = declare(
    "special-unmarked",
    "a special token is not marked as one",
    so=(
        "readers that go by the file, as `tokenizers` does, keep the token when special tokens are"
        " skipped"
    ),
    do='{file}: "special": true in the entry of {token!r}; --fix does it for tokenizer_config.json',
)


@rule(SPECIAL_UNMARKED, needs="vocabulary")
def special_flags(facts: Facts) -> Iterator[Finding]:
    """A special token that is not marked as one."""
    role_of = {token: role for role, token in facts.roles.items()}
    # as files with flags have them; what two files say alike, once
    marked: dict[tuple[int, str, bool], str] = {}
    for name, pairs in (
        (TOKENIZER_CONFIG_FILE, facts.files.decoder),
        (TOKENIZER_FILE, facts.files.fast),
    ):
        for token_id, token in pairs:
            marked.setdefault((token_id, token.content, token.special), name)
    for (token_id, content, is_special), name in marked.items():
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if content in role_of and not is_special:
            role = role_of[content]
            message = f"{content!r} is the {role} and has special: false"
            yield Finding("warning", SPECIAL_UNMARKED, message, role=role, **known)


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


OTHER_VOCABULARY = declare(
    "other-vocabulary",
    so="most words of a text become the unknown token",
    do="put the model's own vocab.txt there, one token a line",
)


@rule(OTHER_VOCABULARY, needs="vocabulary")
def other_vocabulary(facts: Facts) -> Iterator[Finding]:
    """A file of another kind, such as a list of words with counts."""
    odd = token_of_other_kind(facts.vocabulary or [])
    if odd is not None:
        message = f"it holds {odd!r} and many more lines that are no tokens of WordPiece"
        yield Finding("warning", OTHER_VOCABULARY, message, facts.vocabulary_file, token=odd)
