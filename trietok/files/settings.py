"""Checks the settings of a file before a tokenizer is made of them.

In: the JSON object of tokenizer_config.json. Out: nothing, or an error with the file, the key, what it holds and what
it should hold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from trietok.errors import FileFormatError

Check = Callable[[Any], bool]

ADDITIONAL = "additional_special_tokens"  # the role whose value is a list of tokens
# The options of the analyzers of Japanese text, and those among them that may name a file.
ANALYZER_OPTIONS = ("mecab_kwargs", "sudachi_kwargs", "jumanpp_kwargs")
_OPTIONS_WITH_PATHS = ("mecab_option", "sudachi_config_path", "sudachi_resource_dir", "sudachi_dict_type")
_SUDACHI_DICTIONARIES = ("small", "core", "full")
HIGHEST_ID = 10_000_000  # a higher one is a mistake, and would cost memory for every id below it

# The classes of trietok/family.py, without their `Tokenizer`: each loads what another has saved, with a warning.
WORDPIECE_FAMILY = (
    "Bert DistilBert Electra MobileBert ConvBert SqueezeBert LayoutLM Lxmert Funnel MPNet RetriBert Splinter "
    "DPRQuestionEncoder DPRContextEncoder DPRReader"
).split()
# A class on the same vocabulary format with stages of its own: no class of the family loads what it has saved.
JAPANESE = "BertJapaneseTokenizer"
# Names that transformers 5 writes for a tokenizer without its own class; they do not say of which kind it is.
ANY_KIND = ("TokenizersBackend", "PythonBackend")

# What transformers calls a fast tokenizer without its own class; all that it is stands in its tokenizer.json.
GENERIC_FAST = "PreTrainedTokenizerFast"


def is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value <= HIGHEST_ID


def _is_length(value: Any) -> bool:
    return type(value) in (int, float) and value > 0 and value == value // 1


def _is_list_of_str(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_token(value: Any) -> bool:
    content = value.get("content") if isinstance(value, dict) else value
    return isinstance(content, str) and content != "" and not any("\ud800" <= char <= "\udfff" for char in content)


def _is_list_of_tokens(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_token, value))


def _is_roles_or_tokens(value: Any) -> bool:
    return _is_list_of_tokens(value) or (isinstance(value, dict) and all(map(_is_token, value.values())))


def _is_templates(value: Any) -> bool:
    if isinstance(value, list):
        pairs = [(item.get("name"), item.get("template")) if isinstance(item, dict) else (None,) for item in value]
    else:
        pairs = list(value.items()) if isinstance(value, dict) else [(value,)]
    return all(isinstance(text, str) for pair in pairs for text in pair)


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    lists = [value.get("vocab_holes", []), value.get("added_order", [])]
    assigned = value.get("assigned_unused", {})
    return (
        is_id(value.get("max_id", 0))
        and all(isinstance(ids, list) and all(map(is_id, ids)) for ids in lists)
        and isinstance(assigned, dict)
        and all(isinstance(token, str) for token in assigned.values())
    )


_SETTINGS: dict[str, tuple[Check, str]] = {
    **dict.fromkeys(
        ("do_lower_case", "do_basic_tokenize", "tokenize_chinese_chars", "strip_accents"), (is_bool, "true or false")
    ),
    **dict.fromkeys(("do_word_tokenize", "do_subword_tokenize"), (is_bool, "true or false")),
    **dict.fromkeys(
        ("word_tokenizer_type", "subword_tokenizer_type"), (lambda value: isinstance(value, str), "a string")
    ),
    **dict.fromkeys(ANALYZER_OPTIONS, (lambda value: isinstance(value, dict), "an object option → value")),
    **dict.fromkeys(("clean_up_tokenization_spaces", "split_special_tokens"), (is_bool, "true or false")),
    **dict.fromkeys(("padding_side", "truncation_side"), (lambda side: side in ("left", "right"), "'left' or 'right'")),
    **dict.fromkeys(("model_max_length", "max_len"), (_is_length, "a whole number from 1")),
    "never_split": (_is_list_of_str, "a list of strings"),
    "chat_template": (_is_templates, "a template, or a list of objects with a name and a template"),
    "model_input_names": (
        lambda value: _is_list_of_str(value) and value != [],
        "a list of strings, the main input first",
    ),
    "max_embedding_rows": (lambda value: type(value) is int and value > 0, "a whole number from 1"),
    "additional_special_tokens": (_is_list_of_tokens, "a list of tokens"),
    "extra_special_tokens": (_is_roles_or_tokens, "an object role → token, or a list of tokens"),
    "added_tokens_decoder": (lambda value: isinstance(value, dict), "an object id → token"),
    "trietok": (_is_record, "what trietok wrote there"),
}
_TOKEN = (_is_token, "a token: a string, or an object with content and flags; not empty, no half of a surrogate pair")


def check_settings(settings: Mapping[str, Any], path: str | os.PathLike[str], kind: type) -> None:
    """Raise for the first invalid setting; null is always valid, and so are unknown keys.

    Args:
        settings: the JSON object.
        path: where it was read, for the error.
        kind: the class to be made; the names of its methods cannot be settings.

    Raises:
        FileFormatError: a setting is invalid.
    """
    for key, value in settings.items():
        if key == "self" or callable(getattr(kind, key, None)):
            raise FileFormatError(f"{path}: {key!r} cannot be a setting: it is a name of {kind.__name__}", path=path)
        if value is None:
            if key in ("unk_token", "model_input_names"):
                raise FileFormatError(f"{path}: {key} is null, which says nothing; leave it out or give it", path=path)
            continue
        if key == "init_inputs" and (
            not isinstance(value, list) or (value and getattr(kind, "vocab_files_names", None))
        ):
            raise FileFormatError(
                f"{path}: init_inputs is {value!r:.60}; it should be an empty list: no file says where others are",
                path=path,
            )
        role = key.endswith("_token") and (isinstance(value, dict) or key in ROLES)
        if key == "extra_special_tokens" and isinstance(value, dict):
            for own in value:
                _check_own_role(own, path, kind)
        check, wanted = _SETTINGS.get(key, _TOKEN if role else (None, ""))
        if check is not None and not check(value):
            raise FileFormatError(f"{path}: {key} is {value!r:.60}; it should be {wanted}", path=path)


def refuse_paths(settings: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Raise where the options of an analyzer name a file to open: a path that a file names is never opened.

    Args:
        settings: those that a file gives, and the caller does not.
        path: the file.

    Raises:
        FileFormatError: an option does.
    """
    for key in ANALYZER_OPTIONS:
        options = settings.get(key) or {}
        for option in _OPTIONS_WITH_PATHS:
            if options.get(option) not in (None, "", *_SUDACHI_DICTIONARIES):
                raise FileFormatError(
                    f"{path}: {key} has {option} = {options[option]!r:.60}, which may open any file of this "
                    f"machine; if you trust it, pass {key}={options!r:.200} yourself",
                    path=path,
                )


def _check_own_role(role: str, path: str | os.PathLike[str], kind: type) -> None:
    """Raise if a user's role has a name that means something else."""
    known: set[str] = getattr(kind, "known_settings", set)()
    taken = role in ROLES or role in known or hasattr(kind, role) or role.endswith(("_id", "_ids"))
    if taken or role in (*_SETTINGS, *TOKEN_KEYS, "self"):
        raise FileFormatError(
            f"{path}: extra_special_tokens cannot name a role {role!r:.60}: the name means something else", path=path
        )


TOKEN_KEYS = ("content", "__type")  # an object with one of them is a token, not roles
ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
