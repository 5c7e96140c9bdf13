"""What the conversions for clients share: to import a client's package, and what they ask of a tokenizer."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import trietok
from trietok.errors import MissingDependencyError, NotSupportedError


def package(name: str, needed_by: str) -> Any:
    """The package, imported.

    Raises:
        MissingDependencyError: it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # the package is there, and lacks one of its own
            raise
        raise MissingDependencyError(f"{needed_by} needs the package {name}: pip install {name}", extra=name) from None


def class_of_ours(tokenizer: Any) -> type[Any]:
    """The class of a tokenizer, or the nearest class of trietok that it inherits from."""
    kinds: tuple[type[Any], ...] = type(tokenizer).__mro__
    found: type[Any] = next(kind for kind in kinds if getattr(trietok, kind.__name__, None) is kind)
    return found


def has_methods_of_its_own(tokenizer: Any) -> bool:
    """Whether a class of a user's changes how texts are encoded."""
    moment = tokenizer._now()
    return not moment.is_plain or moment.goes_by_methods


def refuse_what_no_file_says(tokenizer: Any, name: str) -> None:
    """Raise a NotSupportedError for a fast tokenizer that finds added tokens as they were before they were added again.

    A copy, and whatever reads its tokenizer.json, would find them in other texts, or skip others when decoding.
    """
    if tokenizer.profile == "fast" and tokenizer._table.added.remembers(tokenizer.basic_tokenizer):
        raise NotSupportedError(
            f"this {type(tokenizer).__name__} looks for an added token as it was before it was added again with "
            "other flags, or before the normalization was changed, which no file says; save the tokenizer, load it, "
            f"and pass {name} what was loaded, which has the ids that transformers gives then",
            name=name,
        )


def kind_of(value: Any) -> str:
    """What something is that is no tokenizer of trietok, for a message.

    >>> kind_of("trietok-en"), kind_of(str)
    ('a str', 'the class str')
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    owner = type(value).__module__.partition(".")[0]
    whose = f"{owner}'" if owner in ("transformers", "tokenizers") else "a"
    return f"{whose} {type(value).__name__}"
