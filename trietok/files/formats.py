"""Names and formats of the files of a tokenizer directory.

Settings are checked here before a tokenizer is made from them. An error names the file, and the
line or the key.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from trietok.disk import HALF_PAIR as HALF_PAIR
from trietok.disk import HIGHEST_ID as HIGHEST_ID
from trietok.disk import LARGEST_FILE, Path_, checked_name, read_text, replacing
from trietok.errors import (
    FileFormatError,
    InputError,
    InputTypeError,
    VocabularyError,
    as_file_error,
)

Check = Callable[[Any], bool]

ADDITIONAL = "additional_special_tokens"  # the role whose value is a list of tokens

# The classes of trietok/tokenizer/relatives.py, without their `Tokenizer`: each loads what another
# has saved, with a warning.
WORDPIECE_FAMILY = (
    "Bert DistilBert Electra MobileBert ConvBert SqueezeBert LayoutLM Lxmert Funnel MPNet RetriBert"
    " Splinter DPRQuestionEncoder DPRContextEncoder DPRReader"
).split()
# A class on the same vocabulary format with stages of its own: no class of the family loads what it
# has saved.
JAPANESE = "BertJapaneseTokenizer"
# The class of what `trietok train bpe --recipe chinese` writes.
RECIPE_CLASS = "ChineseBpeTokenizer"
# Names that transformers 5 writes for a tokenizer without its own class; they do not say of which
# kind it is.
ANY_KIND = ("TokenizersBackend", "PythonBackend")

# What transformers calls a fast tokenizer without its own class; all that it is stands in its
# tokenizer.json.
GENERIC_FAST = "PreTrainedTokenizerFast"


def is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value <= HIGHEST_ID


def _is_list_of_str(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_token(value: Any) -> bool:
    content = value.get("content") if isinstance(value, dict) else value
    return (
        isinstance(content, str)
        and content != ""
        and not any("\ud800" <= char <= "\udfff" for char in content)
    )


def _is_list_of_tokens(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_token, value))


def _is_roles_or_tokens(value: Any) -> bool:
    return _is_list_of_tokens(value) or (
        isinstance(value, dict) and all(map(_is_token, value.values()))
    )


def _is_templates(value: Any) -> bool:
    if isinstance(value, list):
        pairs = [
            (item.get("name"), item.get("template")) if isinstance(item, dict) else (None,)
            for item in value
        ]
    else:
        pairs = list(value.items()) if isinstance(value, dict) else [(value,)]
    return all(isinstance(text, str) for pair in pairs for text in pair)


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    lists = [value.get("vocab_holes", []), value.get("added_order", []), [value.get("max_id", 0)]]
    assigned = value.get("assigned_unused", {})
    return (
        all(isinstance(ids, list) and all(map(is_id, ids)) for ids in lists)
        and isinstance(assigned, dict)
        and all(isinstance(token, str) for token in assigned.values())
    )


_FLAGS = (
    "do_lower_case do_basic_tokenize tokenize_chinese_chars strip_accents do_word_tokenize"
    " do_subword_tokenize clean_up_tokenization_spaces split_special_tokens"
).split()
_SETTINGS: dict[str, tuple[Check, str]] = {
    **dict.fromkeys(_FLAGS, (lambda value: isinstance(value, bool), "true or false")),
    **dict.fromkeys(
        ("word_tokenizer_type", "subword_tokenizer_type"),
        (lambda text: isinstance(text, str), "a string"),
    ),
    "mecab_kwargs": (lambda value: isinstance(value, dict), "an object option → value"),
    **dict.fromkeys(
        ("padding_side", "truncation_side"),
        (lambda side: side in ("left", "right"), "'left' or 'right'"),
    ),
    **dict.fromkeys(
        ("model_max_length", "max_len"),
        (
            lambda size: type(size) in (int, float) and size > 0 and size == size // 1,
            "a whole number from 1",
        ),
    ),
    "never_split": (_is_list_of_str, "a list of strings"),
    "chat_template": (_is_templates, "a template, or a list of objects with a name and a template"),
    "model_input_names": (
        lambda names: _is_list_of_str(names) and bool(names),
        "a list of strings, the main input first",
    ),
    "max_embedding_rows": (lambda value: type(value) is int and value > 0, "a whole number from 1"),
    ADDITIONAL: (_is_list_of_tokens, "a list of tokens"),
    "extra_special_tokens": (_is_roles_or_tokens, "an object role → token, or a list of tokens"),
    "added_tokens_decoder": (lambda value: isinstance(value, dict), "an object id → token"),
    "trietok": (_is_record, "what trietok wrote there"),
}
_TOKEN = (
    _is_token,
    (
        "a token: a string, or an object with content and flags; not empty, no half of a surrogate"
        " pair"
    ),
)


def wrong_settings(
    settings: Mapping[str, Any], path: str | os.PathLike[str], kind: type
) -> Iterator[tuple[str, FileFormatError]]:
    """Yield each invalid setting with its error; null is always valid, and so are unknown keys.

    `kind` is the class to be made, and the names of its methods cannot be settings; `path` is for
    the errors.
    """
    for key, value in settings.items():
        problem = _wrong(key, value, kind)
        if problem:
            yield key, FileFormatError(f"{path}: {problem}", path=path)


def _wrong(key: str, value: Any, kind: type) -> str:
    """What is wrong with a setting; empty if it is valid."""
    if key == "self" or callable(getattr(kind, key, None)):
        return f"{key!r} cannot be a setting: it is a name of {kind.__name__}"
    if value is None:
        says_nothing = key in ("unk_token", "model_input_names")
        return f"{key} is null; remove the key, or give it a value" if says_nothing else ""
    if key == "init_inputs" and (
        not isinstance(value, list) or (value and getattr(kind, "vocab_files_names", None))
    ):
        return (
            f"init_inputs is {value!r:.60}; it should be an empty list: no file says where"
            " others are"
        )
    if key == "extra_special_tokens" and isinstance(value, dict):
        known = {*ROLES, *_SETTINGS, *TOKEN_KEYS, "self", *getattr(kind, "known_settings", set)()}
        for role in value:
            if role in known or hasattr(kind, role) or role.endswith(("_id", "_ids")):
                return (
                    f"extra_special_tokens cannot name a role {role!r:.60}: the name means"
                    " something else"
                )
    is_token = key.endswith("_token") and (isinstance(value, dict) or key in ROLES)
    check, wanted = _SETTINGS.get(key, _TOKEN if is_token else (None, ""))
    return "" if check is None or check(value) else f"{key} is {value!r:.60}; it should be {wanted}"


def refuse_paths(settings: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Raise where the options of MeCab, in a file's settings, may name a file to open: such is
    never opened.
    """
    options = settings.get("mecab_kwargs") or {}
    if options.get("mecab_option") not in (None, ""):
        raise FileFormatError(
            f"{path}: mecab_kwargs has mecab_option = {options['mecab_option']!r:.60}, which may"
            " open any file of this machine; if you trust it, pass"
            f" mecab_kwargs={options!r:.200} yourself",
            path=path,
        )


TOKEN_KEYS = ("content", "__type")  # an object with one of them is a token, not roles
ROLES = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


VOCAB_FILE = "vocab.txt"
ADDED_TOKENS_FILE = "added_tokens.json"
SPECIAL_TOKENS_MAP_FILE = "special_tokens_map.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
TOKENIZER_FILE = "tokenizer.json"
CHAT_TEMPLATE_FILE = "chat_template.jinja"
TOKENIZER_FILES = (
    *(VOCAB_FILE, ADDED_TOKENS_FILE, SPECIAL_TOKENS_MAP_FILE),
    *(TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, CHAT_TEMPLATE_FILE),
)
CHAT_TEMPLATE_FOLDER = "additional_chat_templates"  # of those with other names
CONFIG_FILE = "config.json"  # the model's, not the tokenizer's
BPE_VOCAB_FILE, MERGES_FILE = "vocab.json", "merges.txt"
RECIPE_LOG_FILE = "train.log"  # of the Chinese recipe, beside its vocab.txt
RESULT_FILE, LEFT_TO_RIGHT_FILE = "result.txt", "result_left_to_right.txt"  # its texts
RECIPE_FILES = (RECIPE_LOG_FILE, RESULT_FILE, LEFT_TO_RIGHT_FILE)
# what makes words in a tokenizer.json of `Bpe.save`
BPE_SPLITTING = (
    "WhitespaceSplit",
    "BertPreTokenizer",
)
RECORD = "trietok"  # the key of tokenizer_config.json for the settings that only trietok has


def has_tokenizer_json(directory: Path_) -> bool:
    """Whether this is a directory with a tokenizer.json."""
    return os.path.isfile(os.path.join(directory, TOKENIZER_FILE))


def added_tokens_of_tokenizer_json(content: Mapping[str, Any], path: Path_) -> list[dict[str, Any]]:
    """The `added_tokens` of the object in a tokenizer.json.

    Raises:
        FileFormatError: it has no list of objects.
    """
    tokens = content.get("added_tokens")
    if not isinstance(tokens, list) or not all(isinstance(token, dict) for token in tokens):
        raise FileFormatError(f"{os.fspath(path)} has no list 'added_tokens' of objects", path=path)
    return tokens


def write_vocab_lines(path: Path_, tokens: list[str]) -> None:
    """Write one token a line, so that reading the file gives the same list.

    Raises:
        VocabularyError: see `vocab_lines_text`.
        FileError: the file cannot be written; what was there before is untouched.
    """
    write_text(path, vocab_lines_text(tokens, path))


def vocab_lines_text(tokens: list[str], path: Path_ = VOCAB_FILE) -> str:
    """Return the text of a vocab.txt with one token a line; `path` is for errors.

    Raises:
        VocabularyError: a token holds a newline or a carriage return, which the format cannot keep.
    """
    text = "\n".join([*tokens, ""])
    for token_id, token in (
        enumerate(tokens) if text.count("\n") != len(tokens) or "\r" in text else ()
    ):
        if "\n" in token or "\r" in token:
            what = (
                f"token {token!r} (id {token_id}) holds a line break, which {VOCAB_FILE} cannot"
                " keep"
            )
            raise VocabularyError(
                f"{what}; nothing was written", path=path, line_number=token_id + 1, token=token
            )
    return text


def write_json(path: Path_, value: Any) -> None:
    """Write JSON to a file, as `json_text` has it."""
    write_text(path, json_text(value))


def json_text(value: Any, *, sort_keys: bool = True) -> str:
    """Return JSON as transformers writes it: sorted keys, two spaces, no ASCII escapes, a newline
    at the end.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=sort_keys) + "\n"
    return re.sub(HALF_PAIR, lambda half: f"\\u{ord(half[0]):04x}", text)


def write_text(path: Path_, text: str) -> None:
    """Replace a file by `text` in UTF-8, whole or not at all."""
    checked_name(path)
    content = text.encode("utf-8")
    require_readable_size(path, content)
    with as_file_error(f"cannot write {os.fspath(path)}", path), replacing(path) as file:
        file.write(content)


def require_readable_size(path: Path_, content: bytes) -> None:
    """Raise a FileFormatError for the content of a file that trietok would refuse to read."""
    if len(content) > LARGEST_FILE:
        size = f"{len(content):,} bytes, more than the {LARGEST_FILE:,} that are read again"
        raise FileFormatError(
            f"{os.fspath(path)} would have {size}; nothing was written", path=path
        )


# The files of chat templates: chat_template.jinja, and the folder of those with other names.
# trietok keeps templates and runs none.

Templates = str | dict[str, str] | None
DEFAULT = "default"  # the name of the template in chat_template.jinja
MOST_TEMPLATES = 100
TEMPLATE_ENDING = ".jinja"


def named_templates(value: Any) -> Templates:
    """A list of objects with `name` and `template`, as tokenizer_config.json holds it, as a dict;
    all else as it is.

    Raises:
        InputTypeError: it is none of the forms of `chat_template`.

    >>> named_templates([{"name": "default", "template": "a"}]), named_templates("a")
    ({'default': 'a'}, 'a')
    """
    named = value
    if isinstance(value, (list, tuple)) and all(isinstance(item, Mapping) for item in value):
        named = {item.get("name"): item.get("template") for item in value}
    texts = (
        [text for pair in named.items() for text in pair] if isinstance(named, Mapping) else [named]
    )
    if named is not None and not all(isinstance(text, str) for text in texts):
        raise InputTypeError(
            "chat_template is a template, a str, or a dict of names and templates, not"
            f" {value!r:.60}",
            value=value,
        )
    templates: Templates = named
    return templates


def template_files(directory: str | os.PathLike[str]) -> list[str]:
    """The paths, from the directory, of the templates in its folder, sorted; empty where there is
    no such folder.
    """
    folder = os.path.join(directory, CHAT_TEMPLATE_FOLDER)
    try:
        with os.scandir(folder) as entries:
            found = (
                entry.name
                for entry in entries
                if entry.name.endswith(TEMPLATE_ENDING) and os.path.isfile(entry)
            )
            names = sorted(islice(found, MOST_TEMPLATES + 1))
    except (OSError, ValueError):  # there is none, or the directory is no path
        return []
    return [f"{CHAT_TEMPLATE_FOLDER}/{name}" for name in checked_count(names, folder)]


def checked_count(names: list[str], folder: str) -> list[str]:
    """The names; FileFormatError if there are more than `MOST_TEMPLATES`."""
    if len(names) > MOST_TEMPLATES:
        message = (
            f"{folder} holds more than {MOST_TEMPLATES} chat templates, the most a tokenizer may"
            " have"
        )
        raise FileFormatError(message, path=folder)
    return names


def read_templates(found: Mapping[str, str]) -> Templates:
    """The templates among the files that were found: one alone as a str, several by their names;
    None for none.
    """
    templates = (
        {DEFAULT: read_text(found[CHAT_TEMPLATE_FILE])} if CHAT_TEMPLATE_FILE in found else {}
    )
    for name, path in found.items():
        folder, _, file = name.rpartition("/")
        if folder == CHAT_TEMPLATE_FOLDER:
            templates[file.removesuffix(TEMPLATE_ENDING)] = read_text(path)
    return templates[DEFAULT] if list(templates) == [DEFAULT] else templates or None


def files_of(templates: Any) -> tuple[str | None, dict[str, str]]:
    """What is written for a tokenizer's `chat_template`: chat_template.jinja, and name → text of
    the others.
    """
    if templates is None or isinstance(templates, str):
        return templates, {}
    if not isinstance(templates, dict) or not all(
        isinstance(text, str) for pair in templates.items() for text in pair
    ):
        wrong = f"chat_template is a str, or a dict of names and templates, not {templates!r:.60}"
        raise InputTypeError(wrong, value=templates)
    others = {name: text for name, text in templates.items() if name != DEFAULT}
    for name in others:
        if (
            name != os.path.basename(name)
            or name.startswith(".")
            or "\0" in name
            or "\\" in name
            or not name
        ):
            raise InputError(
                f"a chat template is saved as a file of its name, which {name!r:.60} cannot be;"
                " rename it"
            )
    return templates.get(DEFAULT), others
