"""Loading: from a name to files, from the files to the arguments of a tokenizer.

In: a tokenizer class and a name: a directory, a file, a built-in vocabulary or a name on the hub. Out: a tokenizer.

What a file says is read here alone: loading raises the first problem, `trietok check` goes on and lists them all.
Nothing in a directory is executed: the files are text and JSON, `auto_map` is kept and never followed, and no path
written in a file is opened.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from trietok import log
from trietok.errors import FileError, FileFormatError, InputTypeError, SpecialTokenError, TrietokError, VocabularyError
from trietok.files import formats
from trietok.files.formats import ADDITIONAL, TOKENIZER_CONFIG_FILE, TOKENIZER_FILE, VOCAB_FILE, is_id, read_json_object
from trietok.named import NamedTuple
from trietok.text.added_tokens import AddedToken
from trietok.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path  # takes longer to import than most modules that encode


BUILT_IN_NAMES = ("trietok-en", "trietok-multi", "trietok-zh")

_MOST_ENTRIES, _LONGEST_NAME = 1_000, 255  # limits of the search for a name like a mistyped one
_HUB_NAME = r"(?a)(\w([\w.-]*\w)?/)?(?=.{1,96}$)\w([\w.-]*\w)?"


class ModelFiles(NamedTuple):
    """The files found: name of the file → its path; `single_file` where the user named one file."""

    found: dict[str, str]
    single_file: str | None = None


def find_files(name: str, file_names: Iterable[str], *, subfolder: str | None = None, **hub_options: Any) -> ModelFiles:
    """Find the files of `name`, opening none: a directory comes first, then a file, a built-in name, the hub.

    Files that are not there are left out. `subfolder` is one below the directory or hub repository, and the options
    for the hub are `cache_dir`, `force_download`, `local_files_only`, `token` and `revision`.

    Raises:
        FileError: there is nothing of that name, or the hub does not hand it out.
        MissingDependencyError: it can only be a hub name, and huggingface_hub is not installed.
    """
    if not name:
        raise FileError("the name of the tokenizer is empty; give a directory, a file or a name on the hub", path=name)
    # The functions of os.path, unlike those of Path, return for every string, even one that is too long, or a path in
    # a directory that may not be read.
    if os.path.isfile(name):
        return ModelFiles({}, single_file=name)
    if os.path.isdir(name) or name in BUILT_IN_NAMES:
        directory = name if os.path.isdir(name) else _built_in_path(name)
        if subfolder:
            directory = os.path.join(directory, subfolder)
            if not os.path.isdir(directory):
                raise FileError(f"{name} has no folder {subfolder}; check `subfolder`", path=directory)
        return ModelFiles(current_files(directory, file_names))
    if not _may_be_a_hub_name(name):
        raise nothing_there(name, " or a name on the hub")
    from trietok.files.hub import download  # few tokenizers come from there

    subfolder = (subfolder or "").strip("/")
    return ModelFiles(download(name, file_names, subfolder, hub_options, lambda: _suggestion(name)))


def nothing_there(name: str, elsewhere: str = "") -> FileError:
    """The error for a name of nothing on this machine; `elsewhere` says where else it was looked for."""
    hint = "; ~ is not expanded here, os.path.expanduser does that" if name.startswith("~") else ""
    return FileError(
        f"{name} is neither a directory nor a file; nor is it a built-in vocabulary ({', '.join(BUILT_IN_NAMES)})"
        f"{elsewhere}{hint}{_suggestion(name)}",
        path=name,
    )


def current_files(directory: str, names: Iterable[str]) -> dict[str, str]:
    """Where a reader finds these files of a directory: name → path, for those that are there.

    Raises:
        FileFormatError: a save was cut short and its files were changed or removed since.
    """
    if os.path.lexists(os.path.join(directory, formats.JOURNAL)):
        from pathlib import Path

        from trietok.files.atomic import files_of_interrupted_save

        return {name: str(path) for name, path in files_of_interrupted_save(Path(directory), names).items()}
    paths = {name: os.path.join(directory, name) for name in names}
    return {name: path for name, path in paths.items() if os.path.isfile(path)}


def signature(directory: str, names: Iterable[str]) -> tuple[object, ...]:
    """A value that is another one after a directory's files have been replaced."""
    marks: list[object] = []
    for name in (formats.JOURNAL, *names):
        path = os.path.join(directory, name)
        try:
            # While a save ends, a link gives way to the file it leads to; who opened it just then saw nothing.
            itself, status = os.lstat(path), os.stat(path)
        except (OSError, ValueError):  # it does not exist, or cannot be a file name
            marks.append(None)
        else:
            marks.append((itself.st_ino, status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(marks)


def built_in_directory(name: str) -> Path:
    """The directory of a built-in vocabulary.

    >>> sorted(path.name for path in built_in_directory("trietok-en").glob("*.txt"))
    ['vocab.txt']
    """
    from pathlib import Path

    return Path(_built_in_path(name))


def _built_in_path(name: str) -> str:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # Installed, the vocabularies lie inside the package; in a checkout, beside it.
    for parent in (package, os.path.dirname(package)):
        directory = os.path.join(parent, "vocab", name)
        if os.path.isdir(directory):
            return directory
    missing = os.path.join(package, "vocab", name)
    raise FileError(f"the built-in vocabulary {name} is missing; install trietok again", path=missing)


def _may_be_a_hub_name(name: str) -> bool:
    """Whether the hub could have a model of that name, by its own rule: a mistyped path is never sent to it."""
    return bool(re.fullmatch(_HUB_NAME, name)) and "--" not in name and ".." not in name and not name.endswith(".git")


def _suggestion(name: str) -> str:
    """The end of a message about a mistyped name: a similar built-in name or directory of a tokenizer."""
    import difflib

    parent, own = os.path.split(name.rstrip(os.sep))
    try:
        with os.scandir(parent or ".") as entries:
            there = [entry.name for entry in itertools.islice(entries, _MOST_ENTRIES) if entry.is_dir()]
    except (OSError, ValueError):  # the parent does not exist, or cannot be a path
        there = []
    names = {entry.lower(): os.path.join(parent, entry) for entry in there}
    if not parent:
        names |= dict(zip(BUILT_IN_NAMES, BUILT_IN_NAMES, strict=True))
    close = difflib.get_close_matches(own.lower()[:_LONGEST_NAME], names, cutoff=0.75)
    files = (VOCAB_FILE, TOKENIZER_FILE, TOKENIZER_CONFIG_FILE)
    for known in (names[match] for match in close):
        if known in BUILT_IN_NAMES or any(os.path.isfile(os.path.join(known, file)) for file in files):
            return f"; did you mean {known}?"
    return ""


class Clash(NamedTuple):
    """An added token against one that was read before it: one id for both, or another id for the same."""

    token_id: int
    content: str
    source: str
    other: str | int  # the other token with the id, or the other id of the token
    other_source: str

    def error(self) -> VocabularyError:
        """The error that keeps such files from loading."""
        other, here, there = self.other, f"({self.source})", f"({self.other_source})"
        if isinstance(other, str):
            which = f"the id {self.token_id} belongs to both {other!r} {there} and {self.content!r} {here}"
            return _clash(f"{which}; give one of them another id", self.source, self.content, self.token_id)
        which = f"the added token {self.content!r} has two ids, {other} {there} and {self.token_id} {here}"
        return _clash(f"{which}; keep one of them", self.source, self.content, self.token_id, other)


class AddedIds:
    """Collects the added tokens of one tokenizer from its files: one token an id, one id a token.

    Attributes:
        decoder: id → token; if several files hold an id, the token read last is used.
        sources: id → the file it was read from.
        ids: content → id.
        members: what a tokenizer.json that was read for them holds before them.
    """

    def __init__(self) -> None:
        self.decoder: dict[int, AddedToken] = {}
        self.sources: dict[int, str] = {}
        self.ids: dict[str, int] = {}
        self.members: dict[str, Any] = {}
        self._without_id: dict[str, str] = {}

    def add_first(self, tokens: dict[int, AddedToken], source: str) -> bool:
        """Add the tokens of the first file if no two have the same content; return whether they were added."""
        ids = {token.content: token_id for token_id, token in tokens.items()}
        if self.decoder or len(ids) < len(tokens):
            return False
        self.decoder, self.sources, self.ids = tokens, dict.fromkeys(tokens, source), ids
        return True

    def add(self, token_id: int, token: AddedToken, source: str) -> Clash | None:
        """Add a token; if it clashes with one that was read before, return how."""
        content = token.content
        there, known_id = self.decoder.setdefault(token_id, token), self.ids.setdefault(content, token_id)
        if there.content != content:
            if known_id == token_id:  # no source of its id tells where it stood first
                self._without_id[content] = source
            return Clash(token_id, content, source, there.content, self.sources[token_id])
        if known_id != token_id:
            self.sources.setdefault(token_id, source)
            return Clash(token_id, content, source, known_id, self._without_id.get(content) or self.sources[known_id])
        self.decoder[token_id] = token
        self.sources[token_id] = source
        return None


def _check_against_vocabulary(ids: AddedIds, vocabulary: Vocabulary, path: str | os.PathLike[str]) -> None:
    """Raise if an added token's id is another entry's line, or an entry is added under an id that is not its.

    A blank line is free for an added token. A token on two lines may be added under either of its ids.
    """
    entries, max_id = vocabulary.token_to_id, vocabulary.max_id
    for token_id, token in ids.decoder.items():
        content = token.content
        if token_id > max_id and content not in entries:
            continue  # most of many
        line = vocabulary.tokens[token_id] if token_id <= max_id else None
        if line == content:
            continue
        source, own_id = ids.sources[token_id], entries.get(content)
        if line:
            which = f"the id {token_id} of the added token {content!r} ({source})"
            there = f"that of {line!r}, line {token_id + 1} of {path}; give the added token an id of its own"
            raise _clash(f"{which} is {there}", source, content, token_id)
        if own_id is not None:
            which = f"the added token {content!r} has two ids: {token_id} ({source}) and {own_id}, line {own_id + 1}"
            raise _clash(f"{which} of {path}; keep one of them", source, content, token_id, own_id)


def _clash(message: str, source: str, token: str, found: int, expected: int | None = None) -> VocabularyError:
    return VocabularyError(f"{source}: {message}", path=source, token=token, expected_id=expected, found_id=found)


# Options that transformers takes, and that trietok ignores.
_IGNORED_OPTIONS = ("resume_download", "proxies", "use_fast", "_from_auto", "_commit_hash")

# The directories of which it has been said that their tokenizer.json has other ids, or need not be said.
_SAID: set[str] = set()
_OF_FILES = (FileError, FileFormatError, SpecialTokenError, VocabularyError)


def load(cls: Any, name: str | os.PathLike[str], *init_inputs: Any, hub_options: dict[str, Any], **kwargs: Any) -> Any:
    """`cls.from_pretrained(name, ...)`."""
    if not isinstance(name, (str, os.PathLike)):
        raise InputTypeError(f"a tokenizer is named by a str or a path, not {name!r:.60}", value=name)
    name = os.fspath(name)
    if "use_auth_token" in kwargs:  # the old name
        hub_options["token"] = kwargs.pop("use_auth_token")
    subfolder = kwargs.pop("subfolder", None)
    name_or_path = kwargs.pop("name_or_path", name)
    for key in _IGNORED_OPTIONS:
        kwargs.pop(key, None)
    side_files = (formats.ADDED_TOKENS_FILE, formats.SPECIAL_TOKENS_MAP_FILE, TOKENIZER_CONFIG_FILE, TOKENIZER_FILE)
    own_files = (*cls.vocab_files_names.values(), *side_files, formats.CHAT_TEMPLATE_FILE)
    directory = os.path.join(name, subfolder or "")
    while True:  # a save during the load must not lead to a mixture of old and new files
        names = (*own_files, *formats.template_files(directory))
        before = signature(directory, names)
        try:
            files = find_files(name, names, subfolder=subfolder, **hub_options)
            tokenizer = _load_once(cls, name, directory, files, init_inputs, dict(kwargs), name_or_path)
        except (TrietokError, OSError) as error:
            if signature(directory, names) == before:
                if isinstance(error, _OF_FILES):
                    _refuse_other_kind(cls, directory.rstrip(os.sep))
                raise
        else:
            if signature(directory, names) == before:
                return tokenizer


def loads_knowingly(name: str | os.PathLike[str], subfolder: str | None = None) -> None:
    """Leave unsaid that a slow class is not what `AutoTokenizer` takes: whoever loads it next has asked for it."""
    _SAID.add(os.path.join(name, subfolder or ""))


def _say_profile(cls: Any, directory: str, asks: str) -> None:
    """Say once that a slow class reads what `AutoTokenizer` reads with the fast profile."""
    is_for_it = cls.profile == "slow" and [*_own_names(cls)][-1].removesuffix("Tokenizer") in formats.WORDPIECE_FAMILY
    if is_for_it and asks.endswith((TOKENIZER_FILE, "Fast")) and directory not in _SAID:
        _SAID.add(directory)
        where, other = directory.rstrip(os.sep), "which differ for some texts; AutoTokenizer takes the profile that the"
        what = "%s has a %s, whose ids are those of the fast profile; %s gives the slow one's, %s files ask for"
        log.warning(what, where, asks, cls.__name__, other)


def _load_once(
    cls: Any, name: str, directory: str, files: ModelFiles, inputs: tuple[Any, ...], kwargs: dict[str, Any], given: str
) -> Any:
    arguments, ids = _arguments(cls, directory, files, kwargs)
    # The vocabulary is that of the directory or one that the caller names; a path that a file names has been dropped.
    for argument, vocabulary_path in _vocabulary_paths(cls, name, _heeded(cls, name, files, arguments)).items():
        arguments.setdefault(argument, vocabulary_path)
    if "tokenizer_file" in cls.vocab_files_names:
        has_json = TOKENIZER_FILE in files.found or (files.single_file or "").endswith(".json")
        if arguments.get("from_slow") or not has_json:
            arguments = cls.settled_by_slow(arguments)
    saved_inputs = arguments.pop("init_inputs", None) or ()
    try:
        tokenizer = cls(*(inputs or saved_inputs), **arguments, name_or_path=given)
    except FileFormatError as error:
        if arguments.get("vocab_file") != files.found.get(TOKENIZER_FILE, ""):
            raise
        there = f"it has {TOKENIZER_FILE}, but {error}"
        raise FileError(f"{name} has no {VOCAB_FILE}, which {cls.__name__} needs; {there}", path=name) from error
    if isinstance(getattr(tokenizer, "vocabulary", None), Vocabulary):
        vocabulary_path = next(arguments[argument] for argument in cls.vocab_files_names if argument in arguments)
        _check_against_vocabulary(ids, tokenizer.vocabulary, vocabulary_path)
        for slot, token in (arguments.get(formats.RECORD) or {}).get("assigned_unused", {}).items():
            if token not in tokenizer.vocabulary:
                path = files.found.get(TOKENIZER_CONFIG_FILE, TOKENIZER_CONFIG_FILE)
                which = f"{slot!r} became {token!r}, which is not in the vocabulary"
                raise FileFormatError(f"{path}: {formats.RECORD}.assigned_unused says {which}", path=path)
    json = files.found.get(TOKENIZER_FILE) or files.single_file or ""
    if json.endswith(".json") and tokenizer.profile == "slow" and hasattr(tokenizer, "padding_in_file"):
        tokenizer._take_lengths_of(json, ids.members)
    model_config = os.path.join(directory, formats.CONFIG_FILE)
    if os.path.isfile(model_config):  # in a local directory; it is not worth a request to the hub
        rows = read_json_object(model_config).get("vocab_size")
        tokenizer.config_rows = rows if type(rows) is int else None
    return tokenizer


def _refuse_other_kind(cls: Any, path: str) -> None:
    """After a WordPiece tokenizer could not be loaded: raise an error that says what is there, if it is known."""
    is_for_it = VOCAB_FILE not in cls.vocab_files_names.values() or cls.__name__ == formats.RECIPE_CLASS
    message = None if is_for_it else formats.other_kind(path)
    if message is not None:
        raise FileError(message, path=path) from None


def _heeded(cls: Any, name: str, files: ModelFiles, arguments: dict[str, Any]) -> ModelFiles:
    """The files the vocabulary may be read from: without tokenizer.json if `from_slow` or a null excludes it."""
    from_slow = bool(arguments.get("from_slow"))
    is_null = "tokenizer_file" in arguments and arguments["tokenizer_file"] is None
    if "tokenizer_file" not in cls.vocab_files_names or not (from_slow or is_null):
        return files
    if VOCAB_FILE not in files.found and arguments.get("vocab_file") is None and files.single_file is None:
        why = "from_slow=True" if from_slow else "a tokenizer_file of None (null in tokenizer_config.json)"
        message = f"{name} has no {VOCAB_FILE}, which {cls.__name__} needs here: {why} leaves {TOKENIZER_FILE} aside"
        raise FileError(message, path=os.path.join(name, VOCAB_FILE))
    return files._replace(found={file: path for file, path in files.found.items() if file != TOKENIZER_FILE})


def _vocabulary_paths(cls: Any, name: str, files: ModelFiles) -> dict[str, str]:
    """The vocabulary files by the name of the argument that takes them."""
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
            there = f"it has {', '.join(sorted(found))}" if found else "it has no tokenizer file at all"
            wanted = " or ".join(names.values()) if "tokenizer_file" in names else file
            message = f"{name} has no {wanted}, which {cls.__name__} needs; {there}"
            raise FileError(message, path=os.path.join(name, file))
    return {argument: found[file] for argument, file in names.items()}


def _arguments(cls: Any, directory: str, files: ModelFiles, kwargs: dict[str, Any]) -> tuple[dict[str, Any], AddedIds]:
    """The arguments for the class, from the files and the caller; those of the caller override the files."""
    arguments: dict[str, Any] = {}
    saved_class = kwargs.get("tokenizer_class")
    if TOKENIZER_CONFIG_FILE in files.found:
        source = files.found[TOKENIZER_CONFIG_FILE]
        arguments = read_json_object(source)
        saved_class = kwargs.get("tokenizer_class", arguments.pop("tokenizer_class", None))
        if saved_class is not None:
            _check_class(cls, str(saved_class), source)
        # Paths on the machine that saved the tokenizer. They are not opened here: the directory has its own files.
        says_null = "tokenizer_file" in cls.vocab_files_names and arguments.get("tokenizer_file", "") is None
        for key in paths_in_files(cls):
            arguments.pop(key, None)
        if says_null:  # null instead of a path: tokenizer.json is not to be read
            arguments["tokenizer_file"] = None
        for error in formats.wrong_settings(arguments, source, cls):
            raise error
        formats.refuse_paths({key: value for key, value in arguments.items() if key not in kwargs}, source)
    _say_profile(cls, directory, TOKENIZER_FILE if TOKENIZER_FILE in files.found else str(saved_class))
    templates = formats.read_templates(files.found)
    if templates is not None:  # those of the config are of an older format
        arguments["chat_template"] = templates
    kwargs.pop("tokenizer_class", None)
    arguments.update(kwargs)
    config = files.found.get(TOKENIZER_CONFIG_FILE, "added_tokens_decoder")
    ids = AddedIds()
    if "added_tokens_decoder" in arguments:
        _take_config(ids, arguments["added_tokens_decoder"], config)
        _take_added_tokens_file(ids, files, _contents_of_roles(cls, arguments), flags_count=False)
    else:
        _take_map_of_roles(files, arguments, kwargs)
        _take_added_tokens_file(ids, files, _contents_of_roles(cls, arguments))
        if TOKENIZER_FILE in files.found:
            source = files.found[TOKENIZER_FILE]
            _take(ids, TOKENIZER_FILE, formats.read_added_tokens_of_tokenizer_json(source, ids.members), source)
    for role in filter(is_role, arguments):
        arguments[role] = _token_objects(arguments[role], f"{config}: {role}", config)
    # A role's token has the flags it was added with. added_tokens.json has no flags: with it the role's own are used.
    without_flags = files.found.get(formats.ADDED_TOKENS_FILE)
    for role in set(cls.SPECIAL_TOKENS_ATTRIBUTES) & arguments.keys() - {ADDITIONAL}:
        token_id = None if arguments[role] is None else ids.ids.get(str(arguments[role]))
        if token_id is not None and ids.sources[token_id] != without_flags:
            arguments[role] = ids.decoder[token_id]
    arguments["added_tokens_decoder"] = ids.decoder
    return arguments, ids


def paths_in_files(cls: Any) -> tuple[str, ...]:
    """The settings that say where files were on the machine that saved the tokenizer."""
    return (*cls.vocab_files_names, "tokenizer_file", "name_or_path", "special_tokens_map_file", "added_tokens_file")


def _check_class(cls: Any, saved_class: str, source: str) -> None:
    """Warn about files saved by another class; raise if the vocabulary of that class is of another kind."""
    saved = saved_class.removesuffix("Fast").removesuffix("Legacy")  # transformers 5 has a BertTokenizerLegacy
    is_generic = saved_class == formats.GENERIC_FAST and cls.profile == "fast"
    if is_generic or saved in (*formats.ANY_KIND, *_own_names(cls)):
        return
    if saved in (formats.JAPANESE, formats.RECIPE_CLASS):
        why = f"and a {cls.__name__} makes other words; load it with that class or AutoTokenizer, or pass "
        why += "tokenizer_class=None to load it all the same"
        raise FileFormatError(f"{source}: the tokenizer was saved as a {saved}, {why}", path=source)
    if saved.removesuffix("Tokenizer") not in formats.WORDPIECE_FAMILY:
        why = f"which trietok does not have; pass tokenizer_class=None to load it as a {cls.__name__} all the same"
        raise FileFormatError(f"{source}: the tokenizer was saved as a {saved_class:.80}, {why}", path=source)
    log.warning("the tokenizer was saved as a %s and is loaded as a %s", saved_class, cls.__name__)


def _own_names(cls: Any) -> Iterator[str]:
    """The names of a class and of those it inherits, as far as the first that has a name in the family."""
    for kind in cls.__mro__:
        name = kind.__name__.removesuffix("Fast")
        yield name
        if name == formats.JAPANESE or name.removesuffix("Tokenizer") in formats.WORDPIECE_FAMILY:
            return


def _take_config(ids: AddedIds, value: Any, source: str) -> None:
    """tokenizer_config.json's `added_tokens_decoder`: id (a string, as JSON has it) → the six fields."""
    if not isinstance(value, dict):
        raise FileFormatError(f"{source}: added_tokens_decoder should be an object id → token", path=source)
    tokens = _as_transformers_writes(value)
    if tokens is not None and ids.add_first(tokens, source):
        return
    _take(ids, TOKENIZER_CONFIG_FILE, value, source)


def entries_of(name: str, value: Any, special: Collection[Any] = ()) -> Iterator[tuple[Any, Any, str]]:
    """The added tokens as a file has them: id and token, both unchecked, and the place in the file.

    Args:
        name: tokenizer_config.json, whose `added_tokens_decoder` is id → token; added_tokens.json, which is content →
            id; tokenizer.json, whose `added_tokens` is a list of tokens with their ids.
        value: what the file holds.
        special: the contents that added_tokens.json, which has no flags, makes special tokens.
    """
    if name == TOKENIZER_CONFIG_FILE:
        for key, token in value.items():
            yield key, token, f"added_tokens_decoder[{key!r:.60}]"
    elif name == formats.ADDED_TOKENS_FILE:
        for content, key in value.items():
            flags = {"special": content in special, "normalized": content not in special}
            yield key, {"content": content, **flags}, f"{content!r:.60}"
    else:
        for number, entry in enumerate(value):
            token = entry.copy()
            yield token.pop("id", None), token, f"added_tokens[{number}] ({entry.get('content')!r:.60})"


def _take(ids: AddedIds, name: str, value: Any, source: str, special: Collection[str] = ()) -> None:
    """Add the tokens that a file holds; the first that is none, or clashes with another, raises."""
    for key, entry, place in entries_of(name, value, special):
        where = f"{source}: {place}"
        clash = ids.add(checked_id(key, where, source), checked_added_token(entry, where, source), source)
        if clash is not None:
            raise clash.error()


def _as_transformers_writes(value: dict[str, Any]) -> dict[int, AddedToken] | None:
    """The tokens of an `added_tokens_decoder` whose every entry is as transformers writes it; None for any other.

    Many are checked in half the time when each check runs over all of them. Where a check fails, an entry is wrong,
    which an error has to name, or right in another way; so the caller then checks one by one.
    """
    if set(map(type, value)) != {str}:
        return None
    keys = "".join(value)
    if not (keys.isascii() and keys.isdigit()) or not all(value) or max(map(len, value)) > len(str(formats.HIGHEST_ID)):
        return None
    made = AddedToken.all_of_states(list(value.values()))
    tokens = None if made is None else dict(zip(map(int, value), made, strict=True))
    return tokens if tokens is not None and len(tokens) == len(value) and max(tokens) <= formats.HIGHEST_ID else None


def _take_added_tokens_file(ids: AddedIds, files: ModelFiles, special: set[str], flags_count: bool = True) -> None:
    """added_tokens.json: content → id. Beside an `added_tokens_decoder` it may only repeat what that says."""
    if formats.ADDED_TOKENS_FILE not in files.found:
        return
    path = files.found[formats.ADDED_TOKENS_FILE]
    tokens = read_json_object(path)
    if not flags_count:
        said = ids.ids
        if set(map(type, tokens.values())) == {int} and tokens.items() <= said.items():
            return
        tokens = {token: key for token, key in tokens.items() if type(key) is not int or said.get(token) != key}
    _take(ids, formats.ADDED_TOKENS_FILE, tokens, path, special)


def _take_map_of_roles(files: ModelFiles, arguments: dict[str, Any], kwargs: dict[str, Any]) -> None:
    """special_tokens_map.json, which is used if there is no `added_tokens_decoder`, as before transformers 4.34."""
    if formats.SPECIAL_TOKENS_MAP_FILE in files.found:
        path = files.found[formats.SPECIAL_TOKENS_MAP_FILE]
        # This file sets roles and nothing else.
        roles = {role: value for role, value in read_json_object(path).items() if is_role(role)}
        for error in formats.wrong_settings(roles, path, object):
            raise error
        for role, value in roles.items():
            if kwargs.get(role):
                continue
            if role == ADDITIONAL and isinstance(value, list):
                tokens = list(arguments.get(ADDITIONAL) or ())
                # Objects of flags in the config become tokens only later, so the same token may be listed twice.
                for token in (_special_token(token, f"{path}: {role}", path) for token in value):
                    if token not in tokens:
                        tokens.append(token)
                arguments[role] = tokens
            else:
                arguments[role] = _special_token(value, f"{path}: {role}", path)


def is_role(key: str) -> bool:
    return key.endswith(("_token", "_tokens"))


def _contents_of_roles(cls: Any, arguments: dict[str, Any]) -> set[str]:
    """The tokens of the roles that a class has. An object of flags is not one yet, as in transformers."""
    contents: set[str] = set()
    for role in set(cls.SPECIAL_TOKENS_ATTRIBUTES) & arguments.keys():
        value = arguments[role]
        contents.update(map(str, value if isinstance(value, (list, tuple)) else () if value is None else [value]))
    return contents


def _special_token(value: Any, where: str, path: str | os.PathLike[str]) -> Any:
    """A token of special_tokens_map.json: an object of flags becomes an `AddedToken`, all else stays as it is."""
    return checked_added_token({**value, "special": True}, where, path) if isinstance(value, dict) else value


def _token_objects(value: Any, where: str, path: str) -> Any:
    """The value of a role with every object of flags made an `AddedToken`."""
    if isinstance(value, list):
        return [_token_objects(item, where, path) for item in value]
    if isinstance(value, dict) and value.keys().isdisjoint(formats.TOKEN_KEYS):  # a user's roles
        return {role: _token_objects(token, f"{where}.{role}", path) for role, token in value.items()}
    if isinstance(value, dict) and "__type" in value:  # its role makes it special, after `normalized` is settled
        return checked_added_token(value, where, path)
    return _special_token(value, where, path)


def checked_added_token(value: Any, where: str, path: str | os.PathLike[str]) -> AddedToken:
    if isinstance(value, AddedToken):
        return value
    if isinstance(value, dict):
        flags = {key: flag for key, flag in value.items() if key not in ("content", "__type")}
        for flag, setting in flags.items():
            if setting is not True and setting is not False and setting is not None:
                raise FileFormatError(f"{where}: {flag} is {setting!r:.60}; a flag is true or false", path=path)
        try:
            return AddedToken(value["content"], **flags)
        except KeyError:
            raise FileFormatError(f"{where} is not a token: it has no content", path=path) from None
        except (TypeError, TrietokError) as error:
            raise FileFormatError(f"{where} is not a token: {error}", path=path) from None
    raise FileFormatError(f"{where} should be an object with content and flags, not {type(value).__name__}", path=path)


def checked_id(value: Any, where: str, path: str | os.PathLike[str]) -> int:
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20 else value
    if is_id(number):
        return int(number)
    what = f"is not an id; an id is a whole number from 0 to {formats.HIGHEST_ID}"
    raise FileFormatError(f"{where}: {value!r:.60} {what}", path=path)
