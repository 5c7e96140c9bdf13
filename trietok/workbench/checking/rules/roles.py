"""Special tokens and their roles: what a check finds in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trietok.workbench.checking.files import content_of
from trietok.workbench.checking.report import Finding, Severity
from trietok.workbench.checking.rules.facts import ROLES, UNKNOWN, Facts
from trietok.files.formats import SPECIAL_TOKENS_MAP_FILE, TOKENIZER_CONFIG_FILE
from trietok.files.settings import ADDITIONAL
from trietok.tokenizer.bert import is_unused_slot

_TEMPLATE_ROLES = ("cls_token", "sep_token")  # without them a call has nothing to put around a text
_USED_ROLES = {"pad_token": "padding", "mask_token": "masking"}
_MAY_SHARE = ({"bos_token", "cls_token"}, {"eos_token", "sep_token"})  # a decoder begins and ends with BERT's tokens
_NAMED_ROLES = ("cls_token", "sep_token", "pad_token", "mask_token", UNKNOWN)


def roles_of_two_files(facts: Facts) -> Iterator[Finding]:
    """special_tokens_map.json against what the config says, or what is the default where it may say nothing."""
    files = facts.files
    says = f"{SPECIAL_TOKENS_MAP_FILE} has"
    for role in ROLES:
        ours = content_of(files.config.get(role, facts.defaults.get(role) if facts.decoder_counts else None))
        theirs = content_of(files.special_map.get(role))
        if ours is not None and theirs is not None and ours != theirs:
            counts = ours if facts.decoder_counts else theirs
            message = f"{role} is {ours!r} in {TOKENIZER_CONFIG_FILE}, and {says} {theirs!r}; {counts!r} counts"
            yield _contradiction(message, role, theirs, ours)
    lists = [values.get(ADDITIONAL) for values in (files.config, files.special_map)]
    contents = [{content_of(entry) or "" for entry in value} for value in lists if isinstance(value, list)]
    if len(contents) == 2 and contents[0] != contents[1]:
        differing = ", ".join(map(repr, sorted(contents[0] ^ contents[1])[:5]))
        message = f"{ADDITIONAL} differs from {TOKENIZER_CONFIG_FILE}: only one of them lists {differing}"
        yield _contradiction(message, ADDITIONAL, None, None)


def _contradiction(message: str, role: str, token: str | None, other: str | None) -> Finding:
    return Finding(
        "warning",
        "role-contradiction",
        message,
        file=SPECIAL_TOKENS_MAP_FILE,
        role=role,
        token=token,
        other_token=other,
    )


def shared_roles(facts: Facts) -> Iterator[Finding]:
    """One token in several roles."""
    for token, roles in _by_token(facts).items():
        shared_by_default = len({facts.defaults.get(role, role) for role in roles}) == 1  # as <s> is in MPNet
        if len(roles) > 1 and not shared_by_default and set(roles) not in _MAY_SHARE:
            message = f"{token!r} is {' and '.join(roles)}: one id for all of them"
            yield Finding("warning", "shared-role", message, token=token, role=" ".join(roles))


def _by_token(facts: Facts) -> dict[str, list[str]]:
    by_token: dict[str, list[str]] = {}
    for role, token in facts.roles.items():
        by_token.setdefault(token, []).append(role)
    return by_token


def unknown_token(facts: Facts) -> Iterator[Finding]:
    """The unknown token has to be there."""
    unknown = facts.roles.get(UNKNOWN)
    if not facts.has(unknown):
        message = f"the unknown token {unknown!r} is neither in the vocabulary nor an added token; nothing loads"
        if unknown is None:
            message = "there is no unknown token: unk_token is null"
        yield Finding("error", "unk-missing", message, file=facts.vocabulary_file, token=unknown, role=UNKNOWN)


def missing_tokens(facts: Facts) -> Iterator[Finding]:
    """Special tokens that loading adds, because no file holds them."""
    if facts.slow is None:
        return
    ids = facts.slow.added_tokens_encoder
    for role, token in facts.missing_roles():
        message = f"the {role} {token!r} is neither in the vocabulary nor an added token; it is added on loading, as id"
        message += f" {ids.get(token)}, for which a trained model has no meaning"
        yield Finding(
            "warning",
            "special-missing",
            message,
            file=facts.vocabulary_file,
            token=token,
            token_id=ids.get(token),
            role=role,
        )


def null_roles(facts: Facts) -> Iterator[Finding]:
    """Roles that a file sets to null, of those that calls use."""
    for role in (*_TEMPLATE_ROLES, *_USED_ROLES):
        if role in facts.roles or role not in facts.defaults:
            continue
        where: dict[str, Any] = {"file": TOKENIZER_CONFIG_FILE, "role": role}
        if role in _TEMPLATE_ROLES:
            message = f"{role} is null: BertTokenizer raises in every call with special tokens, and fast tokenizers "
            yield Finding("error", "role-null", message + "put the unknown token in its place", **where)
        else:
            message = f"{role} is null, and {_USED_ROLES[role]} needs it"
            yield Finding("warning", "role-null", message, **where)


def exchanged_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token has the name of another role, such as `[SEP]` for cls_token."""
    shared = {token for token, roles in _by_token(facts).items() if len(roles) > 1}
    for role in _NAMED_ROLES:
        token = facts.roles.get(role)
        if token is None or token in shared or token == facts.defaults.get(role):
            continue
        named = token.strip("[]<>|").lower() + "_token"
        if named != role and named in _NAMED_ROLES:
            message = f"{role} is {token!r}, which by its name is the {named}"
            yield Finding("warning", "role-exchanged", message, file=_file_of(facts, role), token=token, role=role)


def ordinary_words_as_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token is a word that texts hold."""
    for role, token in facts.roles.items():
        if token in facts.line_ids and is_ordinary(token):
            message = f"{role} is {token!r}, a word of the vocabulary: wherever a text holds it, it is the {role}"
            yield Finding(
                "warning",
                "role-ordinary",
                message,
                file=_file_of(facts, role),
                token=token,
                token_id=facts.id_of(token),
                role=role,
            )


def unused_slots_as_roles(facts: Facts) -> Iterator[Finding]:
    """A role whose token is a slot such as `[unused5]`, whose row no training has changed."""
    for role, token in facts.roles.items():
        if is_unused_slot(token) and facts.has(token):
            severity: Severity = (
                "warning" if role in _NAMED_ROLES else "note"
            )  # a decoder's begin and end may be meant so
            message = f"{role} is {token!r}, a slot of the vocabulary that stands for nothing"
            default = facts.defaults.get(role)
            if default is not None and facts.has(default):
                message += f"; {default!r}, id {facts.id_of(default)}, is there and has no role"
            known: dict[str, Any] = {"file": _file_of(facts, role), "token": token, "token_id": facts.id_of(token)}
            yield Finding(severity, "role-unused", message, other_token=default, role=role, **known)


def is_ordinary(token: str) -> bool:
    """Whether it looks like a word or a piece of one: letters and digits, perhaps behind `##`."""
    return token.removeprefix("##").replace(" ", "").isalnum()


def _file_of(facts: Facts, role: str) -> str:
    in_map = not facts.decoder_counts and role in facts.files.special_map
    return SPECIAL_TOKENS_MAP_FILE if in_map else TOKENIZER_CONFIG_FILE
