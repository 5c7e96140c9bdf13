"""Load a tokenizer from a directory, a file, a built-in vocabulary or the hub.

What a file says is read here alone. Loading raises the first error and logs what is doubtful;
`trietok check` passes `report` and lists all of it. Nothing in a directory is executed: the files
are text and JSON, `auto_map` is kept and never followed, and no path written in a file is opened.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from trietok.disk import contents_read, reading_from
from trietok.errors import FileError, FileFormatError, InputTypeError, InterruptedSaveError
from trietok.files import formats, kinds
from trietok.files.added_ids import (
    AddedIds,
    clashes_with_vocabulary,
    contents_of_roles,
    is_role,
    take_map_of_roles,
    take_more_tokens,
    take_tokens,
    token_objects,
)
from trietok.files.directory import read_together, versions_of, without_hashes
from trietok.files.doubts import doubts, near_names
from trietok.files.findings import FILE_ERRORS, Finding, Report, attempt, raise_or_log
from trietok.files.formats import (
    ADDITIONAL,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    TOKENIZER_FILES,
    VOCAB_FILE,
)
from trietok.files.json_files import read_json_object
from trietok.files.model_files import ModelFiles, find_files
from trietok.files.tokenizer_json import ReadFile
from trietok.text.vocabulary import Vocabulary
from trietok.text.watched import is_ours

logger = logging.getLogger("trietok")

# Options that transformers takes, and that trietok ignores.
_IGNORED_OPTIONS = ("resume_download", "proxies", "use_fast", "_from_auto", "_commit_hash")

# The options of loading that are not settings of a tokenizer, and long enough to be told when they
# are misspelt.
_OF_LOADING = (
    *(
        "cache_dir",
        "force_download",
        "local_files_only",
        "revision",
        "trust_remote_code",
        "use_auth_token",
        "subfolder",
    ),
    *("tokenizer_type", "from_slow", "tokenizer_object", "name_or_path", *_IGNORED_OPTIONS),
)

# The directories whose slow tokenizer was asked for, or was warned about.
_KNOWN_AS_SLOW: set[str] = set()


def load(
    cls: Any,
    name: str | os.PathLike[str],
    init_inputs: tuple[Any, ...],
    hub_options: dict[str, Any],
    kwargs: dict[str, Any],
    report: Report | None = None,
) -> Any:
    """Return `cls.from_pretrained(name, *init_inputs, **hub_options, **kwargs)`.

    `report` gets each problem in the files: an error, or a finding. If it returns after an error,
    loading goes on without the value at fault; if no tokenizer can be made, None is returned.
    Without `report`, the first error is raised, and findings are logged.
    """
    if not isinstance(name, (str, os.PathLike)):
        raise InputTypeError(
            f"a tokenizer is named by a str or a path, not {name!r:.60}", value=name
        )
    name = os.fspath(name)
    is_quiet, report = report is not None, report or raise_or_log(name)
    subfolder, name_or_path = _take_options(cls, hub_options, kwargs, name)
    own_files = dict.fromkeys((*cls.vocab_files_names.values(), *TOKENIZER_FILES))
    directory = os.path.join(name, subfolder or "")

    def find(names: Iterable[str]) -> ModelFiles:
        return find_files(name, names, subfolder=subfolder, **hub_options)

    files, place = ModelFiles({}), directory
    is_own_init = not is_ours(cls.__init__)
    try:
        if not os.path.isdir(directory):
            files = find(own_files)
            place = next((os.path.dirname(path) for path in files.found.values()), "")
        for number in count():
            before = versions_of(place, own_files)
            with reading_directory(place, own_files, number > 0, report) as names:
                files = find(names) if place == directory else files
                tokenizer = _load_once(
                    *(cls, name, directory, files, find, init_inputs, dict(kwargs), name_or_path),
                    report=report,
                    says_profile=not is_quiet,
                )
            # The __init__ of a user's class may open files by itself, during a save.
            if not is_own_init or versions_of(place, own_files) == before:
                return tokenizer
    except InterruptedSaveError:
        raise
    except FILE_ERRORS:
        # What comes from the hub lies together in its cache.
        place = next((os.path.dirname(path) for path in files.found.values()), directory)
        _refuse_other_kind(cls, directory.rstrip(os.sep), place.rstrip(os.sep))
        raise


@contextlib.contextmanager
def reading_directory(
    directory: str, file_names: Iterable[str], again: bool = False, report: Report | None = None
) -> Iterator[list[str]]:
    """Read the files of a directory together, and have what the block reads come from there.

    A save by another process does not change what the block reads.

    Args:
        directory: a directory; nothing is read for any other path.
        file_names: the names of the files.
        again: whether to read the files even if a surrounding block has read them.
        report: gets a finding for each file that changed after the save; None logs it.

    Yields:
        The names, with those of chat templates.

    Raises:
        FileError: the directory is empty.
        InterruptedSaveError: a process ended while it replaced files.
    """
    names = (TOKENIZER_CONFIG_FILE, *file_names)
    with contextlib.ExitStack() as stack:
        is_read = all(os.path.join(directory, name) in contents_read() for name in names)
        if os.path.isdir(directory) and (again or not is_read):
            if _is_empty(directory):
                where = directory.rstrip(os.sep)
                raise FileError(f"the directory {where} is empty: it has no tokenizer", path=where)
            contents = read_together(directory, names)
            for name in contents.changed:
                message = (
                    f"it changed after the save that wrote {TOKENIZER_CONFIG_FILE}; if you changed"
                    " it, save the tokenizer again; if not, copy all files again"
                )
                if contents.files.get(name, b"") is None:
                    message = (
                        f"it is missing, though the save that wrote {TOKENIZER_CONFIG_FILE} wrote"
                        " it; if you removed it, save the tokenizer again; if not, copy all files"
                        " again"
                    )
                finding = Finding("warning", "file-changed", message, name)
                (report or raise_or_log(directory.rstrip(os.sep)))(finding)
            files = contents.files.items()
            stack.enter_context(
                reading_from({os.path.join(directory, name): content for name, content in files})
            )
        folder = os.path.join(directory, formats.CHAT_TEMPLATE_FOLDER, "")
        read = (path.removeprefix(folder) for path in contents_read() if path.startswith(folder))
        yield [*names, *(f"{formats.CHAT_TEMPLATE_FOLDER}/{name}" for name in read)]


def _is_empty(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return next(entries, None) is None
    except PermissionError:  # its names may not be listed
        return False


def _take_options(
    cls: Any, hub_options: dict[str, Any], kwargs: dict[str, Any], name: str
) -> tuple[str | None, Any]:
    """Remove the options of loading from the keywords; return the subfolder and `name_or_path`."""
    if "use_auth_token" in kwargs:  # the old name
        hub_options["token"] = kwargs.pop("use_auth_token")
    subfolder = kwargs.pop("subfolder", None)
    name_or_path = kwargs.pop("name_or_path", name)
    for key in _IGNORED_OPTIONS:
        kwargs.pop(key, None)
    for keyword, meant in cls.misspellings(kwargs, _OF_LOADING):
        if meant in _OF_LOADING:  # the tokenizer's own settings are looked at when it is made
            logger.warning("the keyword %r changes nothing; did you mean %r?", keyword, meant)
    return subfolder, name_or_path


def loads_knowingly(name: str | os.PathLike[str], subfolder: str | None = None) -> None:
    """Do not warn that `AutoTokenizer` takes the fast class: the slow one was asked for."""
    _KNOWN_AS_SLOW.add(os.path.join(name, subfolder or ""))


def _say_profile(cls: Any, directory: str, files: ModelFiles, saved_class: str) -> None:
    """Warn once that a slow class reads what `AutoTokenizer` reads with the fast class."""
    asks = TOKENIZER_FILE if TOKENIZER_FILE in files.found else saved_class
    is_for_it = (
        cls.profile == "slow"
        and [*_own_names(cls)][-1].removesuffix("Tokenizer") in formats.WORDPIECE_FAMILY
    )
    if is_for_it and asks.endswith((TOKENIZER_FILE, "Fast")) and directory not in _KNOWN_AS_SLOW:
        _KNOWN_AS_SLOW.add(directory)
        where, other = (
            directory.rstrip(os.sep),
            "which differ for some texts; AutoTokenizer takes the profile that the",
        )
        what = (
            "%s has a %s, whose ids are those of the fast profile; %s gives the slow one's, %s"
            " files ask for"
        )
        logger.warning(what, where, asks, cls.__name__, other)


def _load_once(
    cls: Any,
    name: str,
    directory: str,
    files: ModelFiles,
    find: Callable[[Iterable[str]], ModelFiles],
    inputs: tuple[Any, ...],
    kwargs: dict[str, Any],
    given: str,
    report: Report,
    says_profile: bool,
) -> Any:
    config = without_hashes(_object_in(files, TOKENIZER_CONFIG_FILE, report))
    if VERSIONED in config:
        files = _with_fast_file(files, config.pop(VERSIONED), find, report)
    saved_class = kwargs.get("tokenizer_class", config.get("tokenizer_class"))
    arguments, ids = _arguments(cls, files, config, kwargs, report)
    if says_profile:
        _say_profile(cls, directory, files, str(saved_class))
    # The vocabulary is that of the directory or one that the caller names; a path that a file names
    # has been dropped.
    for argument, vocabulary_path in _vocabulary_paths(
        cls, name, _heeded(cls, name, files, arguments)
    ).items():
        arguments.setdefault(argument, vocabulary_path)
    if "tokenizer_file" in cls.vocab_files_names:
        own_init = cls.__init__.__module__ == "trietok.tokenizer.bert_fast"
        if ids.tokenizer_json is not None and own_init:  # a user's would pass it on, or refuse it
            read = ReadFile(files.found[TOKENIZER_FILE], ids.tokenizer_json)
            arguments.setdefault("tokenizer_object", read)
        has_json = TOKENIZER_FILE in files.found or (files.single_file or "").endswith(".json")
        if arguments.get("from_slow") or not has_json:
            arguments = cls.settled_by_slow(arguments)
    saved_inputs = arguments.pop("init_inputs", None) or ()
    inputs = inputs or saved_inputs
    arguments["name_or_path"] = given
    tokenizer = attempt(report, _make, cls, name, files, inputs, arguments, otherwise=None)
    if tokenizer is None:
        return None
    if isinstance(getattr(tokenizer, "vocabulary", None), Vocabulary):
        path = next(arguments[name] for name in cls.vocab_files_names if name in arguments)
        for error in clashes_with_vocabulary(ids, tokenizer.vocabulary, path):
            report(error)
        _check_slots(tokenizer.vocabulary, arguments.get(formats.RECORD) or {}, files, report)
    _take_what_is_beside(tokenizer, directory, files, ids, kwargs, report)
    return tokenizer


def _make(
    cls: Any, name: str, files: ModelFiles, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> Any:
    """Return the tokenizer; the error says if a slow class was given a tokenizer.json."""
    try:
        return cls(*inputs, **arguments)
    except FileFormatError as error:
        if arguments.get("vocab_file") != files.found.get(TOKENIZER_FILE, ""):
            raise
        there = f"it has {TOKENIZER_FILE}, but {error}"
        raise FileError(
            f"{name} has no {VOCAB_FILE}, which {cls.__name__} needs; {there}", path=name
        ) from error


def _object_in(files: ModelFiles, name: str, report: Report) -> dict[str, Any]:
    """Return the object of a JSON file; an empty one if there is no such file."""
    path = files.found.get(name)
    return {} if path is None else attempt(report, read_json_object, path, otherwise={})


def _with_fast_file(
    files: ModelFiles, names: Any, find: Callable[[Iterable[str]], ModelFiles], report: Report
) -> ModelFiles:
    """Return the files, with the tokenizer.json that tokenizer_config.json names."""
    source = files.found[TOKENIZER_CONFIG_FILE]
    file = attempt(report, fast_file_of, names, source, otherwise=TOKENIZER_FILE)
    others, named = dict(files.found), find([file]).found
    others.pop(TOKENIZER_FILE, None)
    if file != TOKENIZER_FILE:
        message = f"for {VERSIONED}, transformers 4 reads {file!r:.80} as {TOKENIZER_FILE}"
        message += "" if file in named else ", which does not exist"
        report(Finding("warning", "tokenizer-json-version", message, TOKENIZER_CONFIG_FILE))
    return files._replace(
        found={**others, **({TOKENIZER_FILE: named[file]} if file in named else {})}
    )


def _check_slots(
    vocabulary: Vocabulary, record: Mapping[str, Any], files: ModelFiles, report: Report
) -> None:
    """Report slots that were given to tokens that the vocabulary does not hold."""
    for slot, token in record.get("assigned_unused", {}).items():
        if token not in vocabulary:
            path = files.found.get(TOKENIZER_CONFIG_FILE, TOKENIZER_CONFIG_FILE)
            which = f"{slot!r} became {token!r}, which is not in the vocabulary"
            message = f"{path}: {formats.RECORD}.assigned_unused says {which}"
            report(FileFormatError(message, path=path))


def _take_what_is_beside(
    tokenizer: Any,
    directory: str,
    files: ModelFiles,
    ids: AddedIds,
    kwargs: Mapping[str, Any],
    report: Report,
) -> None:
    """Keep what files say of lengths and of the model; report what is doubtful."""
    json = files.found.get(TOKENIZER_FILE) or files.single_file or ""
    if (
        json.endswith(".json")
        and tokenizer.profile == "slow"
        and hasattr(tokenizer, "padding_in_file")
    ):
        tokenizer._take_lengths_of(json, ids.tokenizer_json)
    model: dict[str, Any] = {}
    model_config = os.path.join(directory, formats.CONFIG_FILE)
    if os.path.isfile(model_config):  # in a local directory; it is not worth a request to the hub
        model = attempt(report, read_json_object, model_config, otherwise={})
        rows = model.get("vocab_size")
        tokenizer.config_rows = rows if type(rows) is int else None
    for finding in near_names(directory, TOKENIZER_FILES):
        report(finding)
    if hasattr(tokenizer, "wordpiece_tokenizer") and isinstance(tokenizer.vocabulary, Vocabulary):
        for finding in doubts(tokenizer, files.found, ids.ids, model, kwargs):
            report(finding)


def _refuse_other_kind(cls: Any, path: str, place: str) -> None:
    """Raise an error for a directory that holds a known tokenizer of another kind."""
    is_for_it = (
        VOCAB_FILE not in cls.vocab_files_names.values() or cls.__name__ == formats.RECIPE_CLASS
    )

    message = None if is_for_it else kinds.other_kind(path if os.path.exists(path) else place)
    if message is not None:
        raise FileError(message, path=path) from None


def _heeded(cls: Any, name: str, files: ModelFiles, arguments: dict[str, Any]) -> ModelFiles:
    """Return the files that may hold the vocabulary: no tokenizer.json if `from_slow` or a null
    excludes it.
    """
    from_slow = bool(arguments.get("from_slow"))
    is_null = "tokenizer_file" in arguments and arguments["tokenizer_file"] is None
    if "tokenizer_file" not in cls.vocab_files_names or not (from_slow or is_null):
        return files
    if (
        VOCAB_FILE not in files.found
        and arguments.get("vocab_file") is None
        and files.single_file is None
    ):
        why = (
            "from_slow=True"
            if from_slow
            else "a tokenizer_file of None (null in tokenizer_config.json)"
        )
        message = (
            f"{name} has no {VOCAB_FILE}, which {cls.__name__} needs here: {why} leaves"
            f" {TOKENIZER_FILE} aside"
        )
        raise FileError(message, path=os.path.join(name, VOCAB_FILE))
    return files._replace(
        found={file: path for file, path in files.found.items() if file != TOKENIZER_FILE}
    )


def _vocabulary_paths(cls: Any, name: str, files: ModelFiles) -> dict[str, str]:
    """Return the name of an argument → the vocabulary file that it takes."""
    names = cls.vocab_files_names
    if files.single_file is not None:
        if "tokenizer_file" in names:
            is_json = files.single_file.endswith(".json")
            return {"tokenizer_file" if is_json else "vocab_file": files.single_file}
        if len(names) != 1:
            raise FileError(f"{cls.__name__} needs a directory; {name} is a single file", path=name)
        return dict.fromkeys(names, files.single_file)
    found = files.found
    if "tokenizer_file" in names and TOKENIZER_FILE in found:  # a vocab.txt beside it is not read
        return {"tokenizer_file": found[TOKENIZER_FILE]}
    if "tokenizer_file" in names and VOCAB_FILE in found:
        return {"vocab_file": found[VOCAB_FILE]}
    if TOKENIZER_FILE in found and VOCAB_FILE not in found and list(names.values()) == [VOCAB_FILE]:
        return dict.fromkeys(names, found[TOKENIZER_FILE])
    for file in names.values():
        if file not in found:
            there = (
                f"it has {', '.join(sorted(found))}" if found else "it has no tokenizer file at all"
            )
            there += _elsewhere(name, [*names.values(), TOKENIZER_FILE])
            wanted = " or ".join(names.values()) if "tokenizer_file" in names else file
            message = f"{name} has no {wanted}, which {cls.__name__} needs; {there}"
            raise FileError(message, path=os.path.join(name, file))
    return {argument: found[file] for argument, file in names.items()}


def _elsewhere(name: str, names: Collection[str]) -> str:
    """Return the end of a message about a missing file: another file that may be meant."""
    for finding in near_names(name, names):
        return f"; {finding.file}: {finding.message}"

    for folder in kinds.tokenizer_folders(name):
        return f"; its folder {folder} has a tokenizer: subfolder={folder!r}"
    return ""


VERSIONED = "fast_tokenizer_files"
_TRANSFORMERS = [4, 57, 6]  # the version whose files are read


def fast_file_of(names: Any, source: str | os.PathLike[str]) -> str:
    """Return the tokenizer.json that transformers 4.57.6 reads if tokenizer_config.json has
    `fast_tokenizer_files`.

    Of the names `tokenizer.VERSION.json`, with versions sorted as strings, the last one before that
    of a later transformers counts.

    Raises:
        FileFormatError: `names` is not a list of file names, or a version is not a release such as
            4.0.0. No path is followed.

    >>> fast_file_of(
    ...     ["tokenizer.4.0.0.json", "tokenizer.5.0.0.json", "tokenizer.json"],
    ...     "tokenizer_config.json",
    ... )
    'tokenizer.4.0.0.json'
    """
    if not isinstance(names, list) or not all(
        isinstance(name, str) and os.path.basename(name) == name for name in names
    ):
        problem = f"{VERSIONED} is {names!r:.60}; it should be a list of file names"
        raise FileFormatError(f"{source}: {problem}", path=source)
    chosen = TOKENIZER_FILE
    matches = ((re.search(r"tokenizer\.(.*)\.json", name), name) for name in names)
    for version, name in sorted((match[1], name) for match, name in matches if match):
        if not re.fullmatch(r"(?a)\d{1,9}(\.\d{1,9})*", version):
            problem = f"{VERSIONED} has {name!r:.60}, which names no release of transformers"
            raise FileFormatError(f"{source}: {problem}", path=source)
        if [int(number) for number in version.split(".")] > _TRANSFORMERS:
            break
        chosen = name
    return chosen


def _arguments(
    cls: Any,
    files: ModelFiles,
    config: dict[str, Any],
    kwargs: dict[str, Any],
    report: Report,
) -> tuple[dict[str, Any], AddedIds]:
    """Return the arguments for the class; those of the caller override the files."""
    arguments: dict[str, Any] = {}
    saved_class = kwargs.get("tokenizer_class")
    if TOKENIZER_CONFIG_FILE in files.found:
        source, arguments = files.found[TOKENIZER_CONFIG_FILE], config
        saved_class = kwargs.get("tokenizer_class", arguments.pop("tokenizer_class", None))
        if saved_class is not None:
            attempt(report, _check_class, cls, str(saved_class), source, otherwise=None)
        # Paths on the machine that saved the tokenizer. They are not opened here: the directory has
        # its own files.
        says_null = (
            "tokenizer_file" in cls.vocab_files_names
            and arguments.get("tokenizer_file", "") is None
        )
        for key in _paths_in_files(cls):
            arguments.pop(key, None)
        if says_null:  # null instead of a path: tokenizer.json is not to be read
            arguments["tokenizer_file"] = None
        for key, error in formats.wrong_settings(dict(arguments), source, cls):
            report(error)
            del arguments[key]
        formats.refuse_paths(
            {key: value for key, value in arguments.items() if key not in kwargs}, source
        )
    templates = formats.read_templates(files.found)
    if templates is not None:  # those of the config are of an older format
        arguments["chat_template"] = templates
    kwargs.pop("tokenizer_class", None)
    arguments.update(kwargs)
    said = files.found.get(TOKENIZER_CONFIG_FILE, "added_tokens_decoder")
    ids = _added_ids(cls, files, arguments, kwargs, report)
    for role in filter(is_role, arguments):
        arguments[role] = token_objects(arguments[role], f"{said}: {role}", said)
    # A role's token has the flags it was added with. added_tokens.json has no flags: with it the
    # role's own are used.
    without_flags = files.found.get(formats.ADDED_TOKENS_FILE)
    for role in set(cls.SPECIAL_TOKENS_ATTRIBUTES) & arguments.keys() - {ADDITIONAL}:
        token_id = None if arguments[role] is None else ids.ids.get(str(arguments[role]))
        if token_id is not None and ids.sources[token_id] != without_flags:
            arguments[role] = ids.decoder[token_id]
    arguments["added_tokens_decoder"] = ids.decoder
    return arguments, ids


def _added_ids(
    cls: Any,
    files: ModelFiles,
    arguments: dict[str, Any],
    kwargs: dict[str, Any],
    report: Report,
) -> AddedIds:
    """Return the added tokens of the files. Without an `added_tokens_decoder`, the roles of
    special_tokens_map.json become arguments.
    """
    ids = AddedIds()
    added_file = files.found.get(formats.ADDED_TOKENS_FILE, "")
    added = _object_in(files, formats.ADDED_TOKENS_FILE, report)
    if "added_tokens_decoder" in arguments:
        decoder = arguments["added_tokens_decoder"]
        said = files.found.get(TOKENIZER_CONFIG_FILE, "added_tokens_decoder")
        if not isinstance(decoder, dict):
            message = f"{said}: added_tokens_decoder should be an object id → token"
            report(FileFormatError(message, path=said))
            decoder = {}
        take_tokens(ids, TOKENIZER_CONFIG_FILE, decoder, said, report)
        take_more_tokens(ids, added, added_file, contents_of_roles(cls, arguments), report)
    else:
        source = files.found.get(formats.SPECIAL_TOKENS_MAP_FILE, "")
        roles = _object_in(files, formats.SPECIAL_TOKENS_MAP_FILE, report)
        take_map_of_roles(roles, source, arguments, kwargs, report)
        special = contents_of_roles(cls, arguments)
        take_tokens(ids, formats.ADDED_TOKENS_FILE, added, added_file, report, special)
        if TOKENIZER_FILE in files.found:
            source = files.found[TOKENIZER_FILE]
            ids.tokenizer_json = attempt(report, read_json_object, source, otherwise=None)
            if ids.tokenizer_json is not None:
                read = formats.added_tokens_of_tokenizer_json
                tokens = attempt(report, read, ids.tokenizer_json, source, otherwise=[])
                take_tokens(ids, TOKENIZER_FILE, tokens, source, report)
    return ids


def _paths_in_files(cls: Any) -> tuple[str, ...]:
    """Return the settings that name files on the machine that saved the tokenizer."""
    return (
        *cls.vocab_files_names,
        "tokenizer_file",
        "name_or_path",
        "special_tokens_map_file",
        "added_tokens_file",
    )


def _check_class(cls: Any, saved_class: str, source: str) -> None:
    """Warn about files saved by another class; raise if the vocabulary of that class is of another
    kind.
    """
    # transformers 5 has a BertTokenizerLegacy
    saved = saved_class.removesuffix("Fast").removesuffix("Legacy")
    is_generic = saved_class == formats.GENERIC_FAST and cls.profile == "fast"
    if is_generic or saved in (*formats.ANY_KIND, *_own_names(cls)):
        return
    if saved in (formats.JAPANESE, formats.RECIPE_CLASS):
        why = (
            f"and a {cls.__name__} makes other words; load it with that class or AutoTokenizer, or"
            " pass "
        )
        why += "tokenizer_class=None to load it all the same"
        raise FileFormatError(f"{source}: the tokenizer was saved as a {saved}, {why}", path=source)
    if saved.removesuffix("Tokenizer") not in formats.WORDPIECE_FAMILY:
        family = kinds.family_of_name(saved_class)
        why = "which trietok does not have" + ("" if family is None else f": {family.advice}")
        if saved_class == formats.GENERIC_FAST:
            why = "which has only the fast profile: load it with BertTokenizerFast or AutoTokenizer"
        why += f"; pass tokenizer_class=None to load it as a {cls.__name__} all the same"
        raise FileFormatError(
            f"{source}: the tokenizer was saved as a {saved_class:.80}, {why}", path=source
        )
    logger.warning(
        "the tokenizer was saved as a %s and is loaded as a %s", saved_class, cls.__name__
    )


def _own_names(cls: Any) -> Iterator[str]:
    """Yield the names of a class and of its parents, up to the first of BERT's family."""
    for kind in cls.__mro__:
        name = kind.__name__.removesuffix("Fast")
        yield name
        if name == formats.JAPANESE or name.removesuffix("Tokenizer") in formats.WORDPIECE_FAMILY:
            return
