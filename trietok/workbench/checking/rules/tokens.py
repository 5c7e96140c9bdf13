"""Rules about special tokens and their roles, and about added tokens.

In: `Facts`. Out: findings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trietok.files.added_ids import AddedIds
from trietok.files.doubts import role_named
from trietok.files.formats import (
    ADDED_TOKENS_FILE,
    ADDITIONAL,
    SPECIAL_TOKENS_MAP_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
)
from trietok.text.added_tokens import AddedToken
from trietok.text.wordpiece import BERT_PREFIX
from trietok.tokenizer.wordpiece_vocabulary import filling, is_unused_slot
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
# a decoder begins and ends with BERT's tokens
_MAY_SHARE = (
    {"bos_token", "cls_token"},
    {"eos_token", "sep_token"},
)
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


SHARED_ROLE = declare(
    "shared-role",
    "one token plays several roles",
    so="a model and a loss cannot tell the roles apart",
    do="in tokenizer_config.json: give each of {role} a token of its own",
)


@rule(SHARED_ROLE, needs="vocabulary")
def shared_roles(facts: Facts) -> Iterator[Finding]:
    """One token in several roles."""
    for token, roles in _by_token(facts).items():
        # as <s> is in MPNet
        shared_by_default = len({facts.defaults.get(role, role) for role in roles}) == 1
        if len(roles) > 1 and not shared_by_default and set(roles) not in _MAY_SHARE:
            message = f"{token!r} is {' and '.join(roles)}: one id for all of them"
            yield Finding("warning", SHARED_ROLE, message, token=token, role=" ".join(roles))


def _by_token(facts: Facts) -> dict[str, list[str]]:
    by_token: dict[str, list[str]] = {}
    for role, token in facts.roles.items():
        by_token.setdefault(token, []).append(role)
    return by_token


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
    shared = {token for token, roles in _by_token(facts).items() if len(roles) > 1}
    for role in _NAMED_ROLES:
        token = facts.roles.get(role)
        if token is None or token in shared or token == facts.defaults.get(role):
            continue
        named = role_named(token)
        if named not in (None, role):
            yield facts.role_finding(
                ROLE_EXCHANGED, f"{role} is {token!r}, which by its name is the {named}", role
            )


ROLE_ORDINARY = declare(
    "role-ordinary",
    "a role has an ordinary word as its token",
    so=(
        "decoding with skip_special_tokens drops the word, and a text with it forges the special"
        " token"
    ),
    do=(
        '{file}: "{role}": the token that the model was trained with, or take the key out for the'
        " default"
    ),
)


@rule(ROLE_ORDINARY, needs="vocabulary")
def ordinary_words_as_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token is a word that texts hold."""
    for role, token in facts.roles.items():
        if token in facts.line_ids and is_ordinary(token):
            message = (
                f"{role} is {token!r}, a word of the vocabulary: wherever a text holds it, it is"
                f" the {role}"
            )
            yield facts.role_finding(ROLE_ORDINARY, message, role, token_id=facts.id_of(token))


ROLE_UNUSED = declare(
    "role-unused",
    so="the {role} has a row that no training has changed, so the model makes nothing of it",
    do=(
        '{file}: "{role}": the token that the model was trained with, or take the key out for the'
        " default"
    ),
)


@rule(ROLE_UNUSED, needs="vocabulary")
def unused_slots_as_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token is a slot such as `[unused5]`, whose row no training has changed."""
    for role, token in facts.roles.items():
        if is_unused_slot(token) and facts.has(token):
            # a decoder's begin and end may be meant so
            severity = WARNING if role in _NAMED_ROLES else NOTE
            message = f"{role} is {token!r}, a slot of the vocabulary that stands for nothing"
            default = facts.defaults.get(role)
            if default is not None and facts.has(default):
                message += f"; {default!r}, id {facts.id_of(default)}, is there and has no role"
            known: dict[str, Any] = {"token_id": facts.id_of(token), "other_token": default}
            yield facts.role_finding(ROLE_UNUSED, message, role, severity, **known)


def is_ordinary(token: str) -> bool:
    """Whether it looks like a word or a piece of one: letters and digits, perhaps behind the mark
    of a piece.
    """
    return token.removeprefix(BERT_PREFIX).replace(" ", "").isalnum()


# Added tokens: against each other, against the vocabulary and against what they are said to be.

_FEWEST_WORDS = 50  # fewer tell nothing
_MANY_CUT = 20  # words: a name or a term that is chosen with care is part of fewer
_SHOWN = 5  # words


ADDED_CONTENT_TWICE = declare(
    "added-content-twice",
    "an added token has several ids",
    so="one token has two ids; nothing loads",
    do=RENUMBER,
)
ADDED_ID_TWICE = declare(
    "added-id-twice",
    "two added tokens have one id",
    so="two tokens share one embedding row; nothing loads",
    do=RENUMBER,
)
ID_CLASH = declare(
    "id-clash",
    "an added token has the id of another token",
    so="two tokens share one embedding row; nothing loads",
    do=RENUMBER,
)
ADDED_ID_DIFFERS = declare(
    "added-id-differs",
    "an added token stands in the vocabulary under another id",
    so="one token has two ids; nothing loads",
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
WORD_MARKED_SPECIAL = declare(
    "word-marked-special",
    "a word is marked as a special token",
    so="decoding with skip_special_tokens drops the word",
    do=(
        '{file}: "special": false in the entry of {token!r}, or name it in'
        " additional_special_tokens"
    ),
)


@rule(SPECIAL_UNMARKED, WORD_MARKED_SPECIAL, needs="vocabulary")
def special_flags(facts: Facts) -> Iterator[Finding]:
    """A special token that is not marked as one, and a word that is."""
    assigned = facts.files.record.get("assigned_unused")
    special = {*facts.special, *map(str, assigned.values() if isinstance(assigned, dict) else ())}
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
        elif (
            is_special
            and content not in special
            and content in facts.line_ids
            and is_ordinary(content)
        ):
            message = f"{content!r} is a word, plays no role, and has special: true"
            yield Finding("warning", WORD_MARKED_SPECIAL, message, **known)


ADDED_CUTS_WORDS = declare(
    "added-cuts-words",
    "an added token is part of many words",
    so="such words become fragments, and every text gets longer and worse",
    do='tokenizer.remove_tokens([{token!r}]), or "single_word": true in its entry in {file}',
)


@rule(ADDED_CUTS_WORDS, needs="vocabulary")
def tokens_that_cut_words(facts: Facts) -> Iterator[Finding]:
    """An added token that is part of the vocabulary's words, and is cut out of each; many of them
    are a mistake.

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
        parts = {
            word[i : i + n] for n in lengths if n < len(word) for i in range(len(word) - n + 1)
        }
        for part in parts & by_content.keys():
            cut.setdefault(part, []).append(word)
    for content, its_words in cut.items():
        token_id, token, name = by_content[content]
        message = (
            f"{token.content!r} is an added token and is cut out of every word that holds it: "
        )
        message += (
            f"{len(its_words)} of the vocabulary's {len(words)} words are never given whole,"
            " such as "
        )
        message += ", ".join(map(repr, its_words[:_SHOWN]))
        severity = WARNING if len(its_words) >= _MANY_CUT else NOTE
        yield Finding(
            severity, ADDED_CUTS_WORDS, message, name, token=token.content, token_id=token_id
        )


def _searched(facts: Facts, token: AddedToken) -> str:
    """What is looked for in texts: a token that is not special is lower-cased with them."""
    return (
        token.content.lower()
        if facts.setting("do_lower_case") and not token.special
        else token.content
    )


ADDED_EDGE_SPACE = declare(
    "added-edge-space",
    so=(
        "it is not found at the end of a text or beside punctuation, and takes the space out of"
        " others"
    ),
    do='{file}: the token without the space; "lstrip" and "rstrip" are for spaces around it',
)
ADDED_SHADOWS = declare(
    "added-shadows",
    "an added token keeps an entry from being given, or is one",
    so=(
        "the ids of texts are others than the model was trained with wherever the token stands in a"
        " word or alone"
    ),
    do="tokenizer.remove_tokens([{token!r}]), unless it is meant so",
)


@rule(ADDED_EDGE_SPACE, ADDED_SHADOWS, needs="vocabulary")
def shadows(facts: Facts) -> Iterator[Finding]:
    """An added token that keeps an entry, or another added token, from being given; or that only
    whitespace tells.
    """
    first: dict[str, tuple[str, int]] = {}
    for token_id, token, name in facts.added:
        content, searched = token.content, _searched(facts, token)
        known: dict[str, Any] = {"file": name, "token": content, "token_id": token_id}
        if content.strip() != content:
            message = "has whitespace before or after it, and is found only together with it"
            yield Finding(
                "warning", ADDED_EDGE_SPACE, f"the added token {content!r} {message}", **known
            )
        other, other_id = first.setdefault(searched, (content, token_id))
        entry_id = facts.line_ids.get(searched)
        if other != content and other_id != token_id:
            message = (
                f"the added tokens {other!r} and {content!r} are both searched as {searched!r}"
            )
            message += ", so one is never given"
            yield Finding(
                "warning", ADDED_SHADOWS, message, other_token=other, other_id=other_id, **known
            )
        elif entry_id is not None and entry_id != token_id and searched != content:
            message = f"the added token {content!r}, id {token_id}, is searched as {searched!r}"
            message += f", so the entry of that name, id {entry_id}, is never given"
            yield Finding(
                "warning", ADDED_SHADOWS, message, other_token=searched, other_id=entry_id, **known
            )
        elif (
            entry_id == token_id
            and content.startswith(facts.prefix)
            and content not in facts.special
        ):
            message = "is a piece of the vocabulary, and is now found in texts as it is written"
            yield Finding("note", ADDED_SHADOWS, f"the added token {content!r} {message}", **known)
