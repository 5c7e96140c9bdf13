"""Save a tokenizer to a directory, in the files of transformers.

All files are written, or none. What would load with other ids is refused before that.
"""

from __future__ import annotations

import copy
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from shlex import quote
from typing import Any

from trietok.disk import check_vocab_bytes, checked_name, read_bytes, reading_from
from trietok.errors import (
    InputError,
    InputTypeError,
    NotSupportedError,
    TrietokError,
    VocabularyError,
    errors_naming,
)
from trietok.files import formats
from trietok.files.directory import save_together
from trietok.files.formats import (
    CHAT_TEMPLATE_FILE,
    CHAT_TEMPLATE_FOLDER,
    TEMPLATE_ENDING,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    VOCAB_FILE,
    json_text,
    vocab_lines_text,
)
from trietok.files.json_files import read_json_object
from trietok.files.tokenizer_json import read_tokenizer_json
from trietok.inputs.post_processors import shown_template, template_processing_of
from trietok.text.added_tokens import AddedToken, convert_added_tokens
from trietok.text.watched import is_ours
from trietok.text.wordpiece import BERT_LONGEST_WORD, BERT_PREFIX

# Settings that a program may set on a tokenizer after loading, and that stand in the file where
# they are no defaults.
_BY_HAND = ("padding_side", "truncation_side", "model_input_names", "split_special_tokens")


def save(
    tokenizer: Any,
    save_directory: str | os.PathLike[str],
    legacy_format: bool | None = None,
    filename_prefix: str | None = None,
    push_to_hub: bool = False,
    **kwargs: Any,
) -> tuple[str, ...]:
    """Save a tokenizer as `save_pretrained` does, and return the paths.

    Warn if the model in the directory has too few embedding rows. Other options of transformers
    have no effect.
    """
    if push_to_hub:
        # which trietok leaves out: it says what to do instead
        tokenizer.push_to_hub(save_directory)
    options = {
        name: kwargs[name] for name in ("tokenizer_json", "save_jinja_files") if name in kwargs
    }
    paths = save_files_of(tokenizer, save_directory, legacy_format, filename_prefix, **options)
    _say_what_the_model_needs(tokenizer, os.fspath(save_directory))
    return paths


def save_files_of(
    tokenizer: Any,
    save_directory: str | os.PathLike[str],
    legacy_format: bool | None = None,
    filename_prefix: str | None = None,
    *,
    tokenizer_json: bool | None = None,
    save_jinja_files: bool = True,
) -> tuple[str, ...]:
    """Save a tokenizer without the warning about the model."""
    fast_text = getattr(tokenizer, "_tokenizer_json", None)
    if tokenizer_json is False and fast_text is not None and legacy_format is not False:
        legacy_format = True
    tokenizer_json_text = _json_writer(tokenizer, fast_text, legacy_format, tokenizer_json)
    _require_unknown_token(tokenizer, fast_text is not None and tokenizer_json_text is None)
    _require_roles_added(tokenizer)
    _require_ids_that_load(tokenizer)
    if is_ours(type(tokenizer).__init__):  # a user's own may make its stages in any way
        _refuse_what_is_lost(tokenizer, fast_text is not None and tokenizer_json_text is not None)
    prefix = _prefix(filename_prefix)
    _check_names(save_directory, prefix)
    is_own = tokenizer.overrides("can_save_slow_tokenizer")
    with_vocabulary = legacy_format is not False and (
        not is_own or bool(tokenizer.can_save_slow_tokenizer)
    )
    with tokenizer.holding():  # all files are written from one state
        config = _config(tokenizer, save_jinja_files)
        if tokenizer_json_text is None and tokenizer.profile == "fast":
            # Loading sets these two without a tokenizer.json, so a save after that writes them.
            config = {"do_basic_tokenize": True, "never_split": None, **config}
        files = _files_to_save(
            tokenizer,
            save_directory,
            filename_prefix,
            with_vocabulary,
            tokenizer_json_text,
            tokenizer_json is not False,
            save_jinja_files,
        )
        return tuple(map(str, save_together(save_directory, files, config, prefix)))


def _json_writer(
    tokenizer: Any, fast_text: Any, legacy_format: bool | None, tokenizer_json: bool | None
) -> Any:
    """Return the function that makes the text of tokenizer.json; None if that is not written.

    `fast_text` is the function of a fast tokenizer. Options that contradict each other or the class
    raise an error.
    """
    if legacy_format is False and fast_text is None:
        raise InputError(
            "a Python tokenizer has only the format that transformers calls legacy; pass None, and"
            " tokenizer_json=True for a tokenizer.json beside it"
        )
    if tokenizer_json is False and fast_text is not None and legacy_format is False:
        raise InputError(
            "legacy_format=False writes a tokenizer.json alone, and tokenizer_json=False writes"
            " none"
        )
    if legacy_format is True and not getattr(tokenizer, "can_save_slow_tokenizer", True):
        told = (
            f"a {type(tokenizer).__name__} has no files but those with its tokenizer.json; pass"
            " legacy_format=None"
        )
        raise InputError(told)
    text = None if legacy_format is True else fast_text
    if tokenizer_json and text is None:
        text = fast_text or getattr(tokenizer, "_slow_tokenizer_json", None)
        if text is None:
            raise NotSupportedError(
                f"a {type(tokenizer).__name__} has no tokenizer.json; BertTokenizer and its family"
                " have one",
                name="tokenizer_json",
            )
    return text


def _require_unknown_token(tokenizer: Any, by_vocabulary_alone: bool) -> None:
    """Raise if the files would not load, or an unknown word would have no id."""
    unknown, lost = tokenizer.unk_token, ""
    if unknown is None and "unk_token" in tokenizer.init_kwargs:
        raise VocabularyError(
            f"unk_token is None, and a {type(tokenizer).__name__} without an unknown token could"
            " not be loaded: set tokenizer.unk_token to the token for words that the vocabulary"
            " cannot cover, such as '[UNK]'"
        )
    if unknown is not None and unknown not in tokenizer.get_vocab():
        lost = (
            "neither in the vocabulary nor an added token, so what is saved could not be loaded;"
            " add it with add_special_tokens({'unk_token': ...})"
        )
    elif by_vocabulary_alone and unknown is not None and unknown not in tokenizer.vocab:
        lost = (
            "an added token, and with a vocab.txt alone an unknown word would have no id; save the"
            " tokenizer.json too (legacy_format=None)"
        )
    if lost:
        raise VocabularyError(f"the unknown token {unknown!r} is {lost}", token=unknown)


def _check_names(save_directory: Any, prefix: str) -> None:
    if not isinstance(save_directory, (str, os.PathLike)):
        told = f"a directory is named by a str or a path, not {save_directory!r:.60}"
        raise InputTypeError(told, value=save_directory)
    if "/" in prefix or os.sep in prefix:
        raise InputError(
            "filename_prefix is put before file names, so it holds no separator:"
            f" {prefix.removesuffix('-')!r}"
        )
    for name in (save_directory, prefix):
        checked_name(name)


def _require_roles_added(tokenizer: Any) -> None:
    """Raise if the token of a role is not an added token: loading would add it, so that texts with
    it would have other ids. The empty token, which a vocabulary may have, cannot be added.
    """
    for role in formats.ROLES:
        if str(getattr(tokenizer, role)) == "":
            raise VocabularyError(
                f"{role} is '', which no file can hold: set it to None, or to an added token",
                token="",
            )
    added = tokenizer.added_tokens_encoder
    for role, value in tokenizer.special_tokens_map.items():
        for token in value if isinstance(value, list) else [value]:
            if str(token) not in added:
                raise VocabularyError(
                    f"{role} is {str(token)!r}, which is no added token: loading would add it, and"
                    " find it in texts where it is not found now. Add it with"
                    f" add_special_tokens({{{role!r}: {value!r}}}), or set the role to an added"
                    " token or None",
                    token=str(token),
                )


def _require_ids_that_load(tokenizer: Any) -> None:
    """Raise if an id, for example that of a removed token, is higher than files may have."""
    highest = tokenizer.max_id
    if highest > formats.HIGHEST_ID:
        tokens = {token_id: token for token, token_id in tokenizer.get_vocab().items()}
        token = tokens.get(highest)
        owner = "a removed token had" if token is None else f"{token!r} has"
        raise VocabularyError(
            f"{owner} the id {highest:,}, and what is saved could not be loaded: an id is at most"
            f" {formats.HIGHEST_ID:,}. remove_tokens([], compact=True) gives the tokens behind a"
            " gap lower ids, and returns which",
            token=token,
            found_id=highest,
        )


def unsayable_of_stages(tokenizer: Any) -> Iterator[str]:
    """Yield what the stages of a tokenizer do that vocab.txt and tokenizer_config.json cannot
    express.
    """
    basic, wordpiece = (
        getattr(tokenizer, name, None) for name in ("basic_tokenizer", "wordpiece_tokenizer")
    )
    prefix = getattr(wordpiece, "continuing_subword_prefix", BERT_PREFIX)
    longest = getattr(wordpiece, "max_input_chars_per_word", BERT_LONGEST_WORD)
    unknown = str(getattr(wordpiece, "unk_token", tokenizer.unk_token))
    if prefix != BERT_PREFIX:
        yield (
            f"it continues words with {prefix!r}, slow tokenizers with {BERT_PREFIX!r}"
            " (continuing_subword_prefix)"
        )
    if longest != BERT_LONGEST_WORD:
        told = (
            f"its longest words have {longest} characters, those of slow tokenizers"
            f" {BERT_LONGEST_WORD}"
        )
        yield f"{told} (max_input_chars_per_word)"
    if unknown != str(tokenizer.unk_token):
        yield (
            f"its unknown token is {unknown!r} in the model and {tokenizer.unk_token!r} as a role:"
            " set both to one"
        )
    if not getattr(basic, "clean_text", True):
        yield (
            "its texts are not cleaned (clean_text is false), and slow tokenizers always clean them"
        )
    if tokenizer.profile == "fast":
        return
    if not getattr(tokenizer, "do_basic_tokenize", True) and getattr(basic, "do_lower_case", False):
        yield (
            "do_basic_tokenize is False, and basic_tokenizer.do_lower_case, which still counts, is"
            " True: set it too"
        )
    if not getattr(basic, "do_split_on_punc", True):
        yield "it keeps words whole that have punctuation (do_split_on_punc is false)"


def _unsayable_of_template(tokenizer: Any) -> Iterator[str]:
    """Yield how the template differs from the one that a fast tokenizer has without its
    tokenizer.json, which follows from its special tokens.
    """
    if tokenizer.profile != "fast":
        return
    loaded = template_processing_of(tokenizer, tokenizer.rust_template)
    for pair, pieces in enumerate(tokenizer._table.pieces_around):
        both = pieces, loaded.pieces(bool(pair))
        ids, ids_loaded = ([(each.token_id, each.type_id) for each in one] for one in both)
        if ids != ids_loaded:
            now, after_loading = map(shown_template, both)
            yield (
                f"its template for {'a pair' if pair else 'one text'} is {now!r}, and without a"
                f" tokenizer.json its special tokens make it {after_loading!r}"
            )
            return


def _refuse_what_is_lost(tokenizer: Any, with_json: bool) -> None:
    """Raise if the files cannot express the settings of a stage or the template. Warn about custom
    code, and about added tokens whose search the files do not express.
    """
    problems: list[str] = []
    if not with_json:
        problems += (*unsayable_of_stages(tokenizer), *_unsayable_of_template(tokenizer))
    entries = getattr(getattr(tokenizer, "wordpiece_tokenizer", None), "vocab", None)
    has_others = (
        entries is not None
        and entries is not tokenizer.vocab
        and set(entries) != set(tokenizer.vocab)
    )
    if has_others:
        problems.append("its wordpiece_tokenizer has other entries than the tokenizer (vocab)")
    if problems:
        way = (
            "add the entries with add_wordpieces, then set tokenizer.wordpiece_tokenizer.vocab ="
            " tokenizer.vocab"
            if has_others
            else (
                "save it with its tokenizer.json (without legacy_format and tokenizer_json)"
                if tokenizer.profile == "fast"
                else (
                    "make the change to a BertTokenizerFast, whose tokenizer.json says some of it,"
                    " or in the __init__ of a class of your own"
                )
            )
        )
        raise NotSupportedError(
            f"the files of this {type(tokenizer).__name__} cannot say what it is, and it would give"
            f" other ids after loading: {'; '.join(problems)}. Change that, or {way}",
            name="save_pretrained",
        )
    stages = {name: tokenizer.__dict__.get(name) for name in tokenizer._stage_names}
    own = [f"{name} ({type(stage).__name__})" for name, stage in stages.items() if _is_code(stage)]
    own += [
        name
        for name, value in vars(tokenizer).items()
        if callable(value) and hasattr(type(tokenizer), name)
    ]
    if own:
        tokenizer.warn_once(
            "code-not-saved",
            f"{', '.join(own)} is code of yours, which no file holds: set it again after loading,"
            " or in the __init__ of a class of your own",
        )
    elif tokenizer.profile == "fast" and tokenizer._table.added.remembers(
        tokenizer.basic_tokenizer
    ):
        tokenizer.warn_once(
            "tokens-as-they-were",
            "texts are searched for an added token as it was before it was added again with other"
            " flags, or before the normalization was changed, which no file says: what is loaded"
            " finds it as it is now",
        )


def _is_code(stage: Any) -> bool:
    """Return whether a stage, or a method that was set on it, is custom code."""
    is_its_own = type(stage).__module__.split(".")[0] == __name__.split(".")[0]
    return stage is not None and not (is_its_own and not any(map(callable, vars(stage).values())))


def _files_to_save(
    tokenizer: Any,
    directory: str | os.PathLike[str],
    filename_prefix: str | None,
    with_vocabulary: bool,
    tokenizer_json: Callable[[str], str] | None,
    keeps_tokenizer_json: bool,
    has_template_files: bool,
) -> dict[str, bytes | None]:
    """Return name → content of the files beside tokenizer_config.json, in transformers' order.

    None stands for a file of an earlier save that is removed: it would hide this tokenizer, or
    name tokens that do not exist any more.
    """
    prefix = _prefix(filename_prefix)
    added_file, json_file = prefix + formats.ADDED_TOKENS_FILE, prefix + TOKENIZER_FILE
    first = tokenizer.vocab_size
    added = {token: i for token, i in tokenizer.added_tokens_encoder.items() if i >= first}
    roles = json_text(_special_tokens_map(tokenizer)).encode()
    files: dict[str, bytes | None] = {prefix + formats.SPECIAL_TOKENS_MAP_FILE: roles}
    files |= _templates(tokenizer, prefix, has_template_files)
    if with_vocabulary:
        written = _vocabulary_files(tokenizer, filename_prefix)
        written.pop(prefix + TOKENIZER_CONFIG_FILE, None)
        for name, content in written.items():  # it may not replace the files above
            files.setdefault(name, content)
    elif tokenizer.profile == "fast":
        files[prefix + VOCAB_FILE] = None
    files[added_file] = json_text(added).encode() if added and with_vocabulary else None
    if tokenizer_json is not None:
        files[json_file] = tokenizer_json(os.path.join(directory, json_file)).encode()
    elif tokenizer.profile == "fast" or not keeps_tokenizer_json:
        files[json_file] = None
    else:
        files[json_file] = _up_to_date(tokenizer, Path(directory, json_file))
    for name, content in files.items():
        if content is not None:
            formats.require_readable_size(os.path.join(directory, name), content)
    vocabulary = files.get(prefix + VOCAB_FILE)
    if vocabulary is not None:
        check_vocab_bytes(vocabulary, os.path.join(directory, prefix + VOCAB_FILE))
    return files


def _prefix(filename_prefix: str | None) -> str:
    return f"{filename_prefix}-" if filename_prefix else ""


def _vocabulary_files(tokenizer: Any, filename_prefix: str | None) -> dict[str, bytes | None]:
    """Return what `save_vocabulary` writes; the one of a user's class writes to a folder first."""
    own = getattr(tokenizer, "_lines_of_file", None)
    if own is not None and not tokenizer.overrides("save_vocabulary"):
        return {_prefix(filename_prefix) + VOCAB_FILE: vocab_lines_text(own()).encode()}
    with tempfile.TemporaryDirectory() as folder, errors_naming("", instead_of=folder):
        tokenizer.save_vocabulary(folder, filename_prefix=filename_prefix)
        written = sorted(Path(folder).iterdir())
        for path in written:
            if not path.is_file():
                raise NotSupportedError(
                    f"save_vocabulary of {type(tokenizer).__name__} has made the folder"
                    f" {path.name}; it may write files only",
                    name="save_vocabulary",
                )
        return {path.name: path.read_bytes() for path in written}


def _templates(tokenizer: Any, prefix: str, has_files: bool) -> dict[str, bytes | None]:
    """Return the files of the chat templates."""
    template, named = formats.files_of(tokenizer.chat_template if has_files else None)
    files = {prefix + CHAT_TEMPLATE_FILE: None if template is None else template.encode()}
    for name, text in named.items():
        files[f"{prefix}{CHAT_TEMPLATE_FOLDER}/{name}{TEMPLATE_ENDING}"] = text.encode()
    return files


def _say_what_the_model_needs(tokenizer: Any, directory: str) -> None:
    """Warn, once for a tokenizer, if it has ids for which its model has no embedding rows.

    The model is the one in the directory; where that has no config.json, the one beside which the
    tokenizer was loaded.
    """
    rows = tokenizer.max_id + 1
    there = config_rows(os.path.join(directory, formats.CONFIG_FILE))
    has = tokenizer.config_rows if there is None else there
    if has is None or rows <= has:
        return

    source = str(tokenizer.name_or_path)
    is_known = tokenizer.config_rows is not None and os.path.isdir(source)
    if is_known and os.path.realpath(source) != os.path.realpath(directory):
        command = (
            f"trietok rows -m {quote(source)} --new-tokenizer {quote(directory)} -o"
            f" {quote(directory + '-model')}"
        )
        advice = f"make a model with a row for every token: {command}"
    # new rows are made by comparing with the tokenizer that the model was trained with, and that
    # one is gone
    else:
        advice = (
            f"put the tokenizer that the model was trained with back into {directory} (it is where"
            " the model came from: the hub, version control, a backup), save this one to a"
            " directory of its own, and make a model with a row for every token: trietok rows -m"
            f" {quote(directory)} --new-tokenizer DIR -o OUT"
        )
    tokenizer.warn_once(
        "more-rows-than-the-config",
        f"the tokenizer needs {rows:,} embedding rows, and the model's config.json says it has"
        f" {has:,}; {advice}",
    )


def _up_to_date(tokenizer: Any, path: Path) -> bytes | None:
    """Return the tokenizer.json that stays beside the files of a slow tokenizer.

    It has to give the same ids: if the file that is there does not, it is written again, or an
    error is raised. Returns None if there is no file.
    """
    if not path.is_file():
        return None
    try:
        there = read_bytes(path)
        with reading_from({os.fspath(path): there}):  # another process may replace it
            text, is_contradicted = _updated_text(tokenizer, path)
        if is_contradicted:
            tokenizer.warn_once(
                "tokenizer-json-updated",
                f"{path} contradicted the settings or the template of what is saved, and is"
                " written again",
            )
        return there if text is None else text.encode()
    except TrietokError as error:
        why = str(error)
    raise NotSupportedError(
        f"{path} is read by fast classes and by the package tokenizers, and would give other ids"
        f" than what is saved; it cannot be brought up to date: {why}. Save into another directory,"
        " or with tokenizer_json=False, which removes the file",
        name="tokenizer_json",
    )


def _updated_text(tokenizer: Any, path: Path) -> tuple[str | None, bool]:
    """Return the text of a tokenizer.json with the tokens and settings of a tokenizer, None if it
    has them; and whether it contradicted the settings.
    """
    update = getattr(tokenizer, "_updated_tokenizer_json", None)
    if update is not None:
        text, is_contradicted = update(path)
        return text, is_contradicted
    kept = read_tokenizer_json(path)
    added = {token.content: token_id for token_id, token in kept.added_tokens.items()}
    if {**kept.vocabulary, **added} != tokenizer.get_vocab():
        raise NotSupportedError(
            f"a {type(tokenizer).__name__} has other tokens and writes no {TOKENIZER_FILE}",
            name="tokenizer_json",
        )
    return None, False


def config_rows(path: str) -> int | None:
    """Return the `vocab_size` of a model's config.json; None if there is none to read."""
    if not os.path.isfile(path):
        return None
    try:
        rows = read_json_object(path).get("vocab_size")
    except TrietokError:  # the model's file is not what is saved here
        return None
    return rows if type(rows) is int else None


def _special_tokens_map(tokenizer: Any) -> dict[str, Any]:
    """Return the content of special_tokens_map.json.

    A token with the flags of a plain special token is a string, so the file does not depend on
    whether a role was given as a string or an `AddedToken`.
    """
    ids, tokens = tokenizer.added_tokens_encoder, tokenizer.added_tokens_decoder

    def entry(token: str | AddedToken) -> Any:
        token = tokens.get(ids.get(str(token)), token)
        plain = str(token) if token == AddedToken(str(token), special=True) else token
        return convert_added_tokens(plain, save=True, add_type_field=False)

    return {
        role: list(map(entry, value)) if isinstance(value, list) else entry(value)
        for role, value in tokenizer.special_tokens_map_extended.items()
    }


def _config(tokenizer: Any, has_template_files: bool) -> dict[str, Any]:
    """Return the content of tokenizer_config.json: the current settings and the added tokens."""
    config = copy.deepcopy(tokenizer.init_kwargs)
    live = {"model_max_length", "clean_up_tokenization_spaces"} | (
        config.keys() & {*tokenizer.known_settings(), *tokenizer.SPECIAL_TOKENS_ATTRIBUTES}
    )
    live -= set(getattr(tokenizer, "options_of_slow", ()))
    live |= {
        key for key in _BY_HAND if getattr(tokenizer, key) != getattr(type(tokenizer), key, False)
    }
    for key in live:  # any other key keeps its value, even if an attribute has the same name
        if hasattr(tokenizer, key):
            config[key] = getattr(tokenizer, key)
    _take_stage(tokenizer, config)
    config.update(tokenizer.special_tokens_map)
    own_roles = {
        role: tokenizer.special_tokens_map_extended.get(role)
        for role in tokenizer.extra_special_tokens
    }
    config["extra_special_tokens"] = {
        role: token for role, token in own_roles.items() if token is not None
    }
    templates = tokenizer.chat_template
    if templates is not None:
        config.pop("chat_template", None)
        if not has_template_files:  # the older format
            is_dict = isinstance(templates, dict)
            pairs = (
                [{"name": name, "template": text} for name, text in templates.items()]
                if is_dict
                else templates
            )
            config["chat_template"] = pairs
    if tokenizer.init_inputs:
        config["init_inputs"] = copy.deepcopy(tokenizer.init_inputs)
    for key in (
        *tokenizer.vocab_files_names,
        "name_or_path",
        "tokenizer_file",
        "special_tokens_map_file",
    ):
        config.pop(key, None)
    config = convert_added_tokens(config, save=True)
    config["added_tokens_decoder"] = {
        token_id: token.__getstate__() for token_id, token in tokenizer.added_tokens_decoder.items()
    }
    config.update(tokenizer.class_to_save())
    record = tokenizer.record()
    if record:
        config[formats.RECORD] = record
    return dict(config)


def _take_stage(tokenizer: Any, config: dict[str, Any]) -> None:
    """Update the settings that were changed on the basic tokenizer."""
    basic = getattr(tokenizer, "basic_tokenizer", None)
    for key in config.keys() & {"strip_accents", "tokenize_chinese_chars"}:
        config[key] = getattr(basic, key, config[key])
    words = getattr(basic, "never_split", None)
    if "never_split" in config and tokenizer.profile == "slow" and words is not None:
        if set(words) != set(config["never_split"] or ()):
            config["never_split"] = sorted(words) or None
