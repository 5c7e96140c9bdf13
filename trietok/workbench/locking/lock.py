"""`lock`: writes down what a tokenizer gives for some texts, as values and as a file that git can
show changes of.

In: a tokenizer, texts. Out: a `Lock`, and its JSON file with one text a line; the same values
always make the same bytes.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from itertools import starmap
from typing import Any, NamedTuple

from trietok import __version__
from trietok.errors import FileError, FileFormatError, InputError, InputTypeError, one_column
from trietok.files.formats import HIGHEST_ID, write_text
from trietok.files.json_files import MOST_CONTAINERS, MOST_VALUES, read_json_object
from trietok.inputs.settings import Profile
from trietok.showing.characters import number_of
from trietok.showing.report import Report, json_line
from trietok.tokenizer.fingerprint import digest, state_of
from trietok.workbench.comparing.compare import SENTENCES
from trietok.workbench.engines.worker import roles_of

LOCK_FILE = "trietok.lock.json"
_FORMAT, _VERSION = "trietok-lock", 1
_DAMAGED = (
    "the lock is damaged: bring it back from version control, or write it anew with trietok lock"
)


class SpecialId(NamedTuple):
    """The token that plays a role, and its id."""

    role: str
    token: str
    id: int


class LockedText(NamedTuple):
    """A text, and the tokens and ids of a call with that text alone, special tokens included."""

    text: str
    tokens: list[str]
    ids: list[int]


@dataclass(frozen=True)
class Lock(Report):
    """What a tokenizer is and gives, written down to be verified later.

    Attributes:
        model: the directory or name it was loaded from; None if there is none.
        tokenizer_class: the name of its class.
        profile: `"slow"` or `"fast"`.
        fingerprint: see `trietok.fingerprint`.
        special_tokens: each role with its token and id; several for `additional_special_tokens`.
        added_tokens: how many added tokens it has.
        tokens: how many tokens it has in all: `len(tokenizer)`.
        max_id: the highest id.
        settings: the settings of its stages that decide ids.
        versions: what it was written with: trietok, Python, its Unicode tables, and other
            tokenizers' libraries that were installed.
        texts: the texts with their tokens and ids.

    >>> import pathlib, tempfile, trietok
    >>> lock = trietok.lock(trietok.BertTokenizer.from_pretrained("trietok-en"), ["The people"])
    >>> lock.texts[0].tokens, lock.texts[0].ids
    (['[CLS]', 'the', 'people', '[SEP]'], [2, 134, 289, 3])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "trietok.lock.json")
    >>> lock.save(path)
    >>> Lock.load(path) == lock
    True
    """

    model: str | None
    tokenizer_class: str
    profile: Profile
    fingerprint: str
    special_tokens: tuple[SpecialId, ...]
    added_tokens: int
    tokens: int
    max_id: int
    settings: Mapping[str, Any]
    versions: Mapping[str, str]
    texts: tuple[LockedText, ...]

    def to_dict(self) -> dict[str, Any]:
        """What `save` writes to a file in the present directory, as values."""
        return values_of(self)

    def _parts(self) -> list[str]:
        ids = (
            f"{sum(len(each.ids) for each in self.texts):,} ids, {len(self.special_tokens)}"
            " special ids"
        )
        return [f"{number_of(len(self.texts), 'text')}, {ids}, {self.fingerprint}"]

    def save(self, path: str | os.PathLike[str] = LOCK_FILE) -> None:
        """Write the file, whole or not at all. A model in a directory is written down relative to
        the file.

        Raises:
            FileError: it cannot be written; what was there before is untouched.
            InputError: it has more texts or ids than a lock can hold: 200,000 texts, 2,000,000 ids.
        """
        values, containers = sum(2 * len(each.ids) for each in self.texts), 3 * len(self.texts)
        if values > MOST_VALUES // 2 or containers > MOST_CONTAINERS // 2:
            raise InputError(
                f"a lock of {len(self.texts):,} texts with {values // 2:,} ids is larger than what"
                " is read again; some hundred texts are enough for most models"
            )
        write_text(path, "".join(_lines(self, os.fspath(path))))

    @classmethod
    def load(cls, path: str | os.PathLike[str] = LOCK_FILE) -> Lock:
        """Read a file that `save` has written.

        Raises:
            FileError: it cannot be read.
            FileFormatError: it is no lock, is damaged, or was written by a newer trietok.
        """
        path = os.fspath(path)
        try:
            values = read_json_object(path)
        except FileError as error:
            raise FileError(f"{error}; trietok lock writes a lock", path=path) from error
        except FileFormatError as error:
            raise FileFormatError(
                f"{error}; {_DAMAGED}", path=path, line_number=error.line_number
            ) from None
        _check_format(values, path)
        return _lock_of(values, path)


def model_there(lock: Lock, path: str | os.PathLike[str] | None) -> str:
    """The model to verify: the one given, or else the lock's, which has to be where it was."""
    if path is not None:
        return os.fspath(path)
    if lock.model is None:
        raise FileError(
            "the lock does not say which model it is of; name the model (-m DIR)", path=""
        )
    if lock.model.startswith((".", os.sep)) and not os.path.exists(lock.model):
        raise FileError(
            f"the lock is of the model {lock.model}, which is not there; say where it is now (-m"
            " DIR)",
            path=lock.model,
        )
    return lock.model


# ---- writing -------------------------------------------------------------------------------------


def _lines(lock: Lock, path: str) -> Iterator[str]:
    head = {
        "format": f"{_FORMAT}-{_VERSION}",
        "model": _relative(lock.model, path),
        "class": lock.tokenizer_class,
        **{
            name: getattr(lock, name)
            for name in ("profile", "fingerprint", "tokens", "max_id", "added_tokens")
        },
    }
    yield "{\n"
    for key, value in head.items():
        yield f"  {json_line(key)}: {json_line(value)},\n"
    for name in ("settings", "versions"):
        rows = [
            f"{json_line(key)}: {json_line(value)}"
            for key, value in sorted(getattr(lock, name).items())
        ]
        yield f"  {json_line(name)}: {{{_block(rows)}}},\n"
    yield (
        '  "special_tokens":'
        f" [{_block(json_line(each._asdict()) for each in lock.special_tokens)}],\n"
    )
    yield f'  "texts": [{_block(json_line(each._asdict()) for each in lock.texts)}]\n'
    yield "}\n"


def _block(rows: Iterable[str]) -> str:
    inner = ",\n".join(f"    {row}" for row in rows)
    return f"\n{inner}\n  " if inner else ""


def _relative(model: str | None, path: str) -> str | None:
    """A model as the file names it: a path relative to the file begins with a full stop, a name
    does not.
    """
    if not model or not os.path.exists(model):
        is_name = (
            bool(model) and not os.path.isabs(model or "") and not (model or "").startswith(".")
        )
        return model if is_name else None
    try:
        relative = os.path.relpath(model, os.path.dirname(os.path.abspath(path)))
    except ValueError:  # on another drive
        return None
    relative = relative.replace(os.sep, "/")
    return relative if relative.split("/")[0] in (".", "..") else f"./{relative}"


# ---- reading -------------------------------------------------------------------------------------


def _check_format(values: dict[str, Any], path: str) -> None:
    said = values.get("format")
    name, _, number = said.rpartition("-") if isinstance(said, str) else ("", "", "")
    if name != _FORMAT or not number.isdecimal():
        raise FileFormatError(
            f"{path} is no lock: a lock begins with the format {_FORMAT}-{_VERSION}; write one with"
            " trietok lock",
            path=path,
        )
    if int(number) > _VERSION:
        raise FileFormatError(
            f"{path} is a lock of the format {said}, of a newer trietok; this one reads up to"
            f" {_FORMAT}-{_VERSION}: upgrade trietok, or write the lock anew with this one",
            path=path,
        )


def _lock_of(values: dict[str, Any], path: str) -> Lock:
    """The values of a file as a `Lock`; what is not as it should be is an error that names the
    place.
    """

    def damaged(key: str, wanted: str) -> FileFormatError:
        return FileFormatError(f"{path}: {key} should be {wanted}; {_DAMAGED}", path=path)

    def get(key: str, kind: type[Any]) -> Any:
        if type(values.get(key)) is not kind:
            raise damaged(
                key,
                {str: "a string", int: "a whole number", dict: "an object", list: "a list"}[kind],
            )
        return values[key]

    def rows(key: str, wanted: str, kind: Any, is_one: Callable[..., bool]) -> tuple[Any, ...]:
        """The objects of a list as a named tuple each."""
        found = []
        for number, row in enumerate(get(key, list)):
            parts = [row.get(name) for name in kind._fields] if isinstance(row, dict) else []
            if not parts or not is_one(*parts):
                raise damaged(f"{key}[{number}]", wanted)
            found.append(kind(*parts))
        return tuple(found)

    model, profile = values.get("model"), get("profile", str)
    if not (model is None or isinstance(model, str)):
        raise damaged("model", "a string or null")
    if profile not in ("slow", "fast"):
        raise damaged("profile", "slow or fast")
    as_text = "an object with a text, a list of tokens and a list of as many ids"
    texts = rows("texts", as_text, LockedText, _is_text)
    if not texts:
        raise damaged("texts", "a list with at least one text")
    return Lock(
        model=_found(model, path),
        tokenizer_class=get("class", str),
        profile="fast" if profile == "fast" else "slow",
        fingerprint=get("fingerprint", str),
        special_tokens=rows(
            "special_tokens", "an object with role, token and id", SpecialId, _is_special
        ),
        added_tokens=get("added_tokens", int),
        tokens=get("tokens", int),
        max_id=get("max_id", int),
        settings=get("settings", dict),
        versions={name: str(version) for name, version in get("versions", dict).items()},
        texts=texts,
    )


def _found(model: str | None, path: str) -> str | None:
    """A model as this process finds it: where the file says it relative to itself, relative to the
    directory here.
    """
    if model is None or not model.startswith("."):
        return model
    joined = os.path.normpath(os.path.join(os.path.dirname(path), model))
    return joined if joined.startswith(".") or os.path.isabs(joined) else os.path.join(".", joined)


def _is_text(text: Any, tokens: Any, ids: Any) -> bool:
    if not (isinstance(text, str) and isinstance(tokens, list) and isinstance(ids, list)):
        return False
    return (
        len(tokens) == len(ids)
        and all(type(token) is str for token in tokens)
        and all(map(_is_id, ids))
    )


def _is_special(role: Any, token: Any, token_id: Any) -> bool:
    return type(role) is type(token) is str and _is_id(token_id)


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value <= HIGHEST_ID


def values_of(lock: Lock, path: str = LOCK_FILE) -> dict[str, Any]:
    """What `save` writes to that path, as values."""
    values: dict[str, Any] = json.loads("".join(_lines(lock, path)))
    return values


_LIBRARIES = ("transformers", "tokenizers", "flash-tokenizer")
# a setting that only patched tokenizers have, as long as a vocabulary
_HUGE = ("wordpiece_tokenizer.vocab",)


def lock(tokenizer: Any, texts: Iterable[str] | None = None) -> Lock:
    """Write down what a tokenizer is, and the ids it gives for some texts, for `verify` to compare
    with later.

    Args:
        tokenizer: a `BertTokenizer`, or any other `PreTrainedTokenizer`.
        texts: the golden texts; each is encoded by itself, with special tokens around. By default
            the sentences in several scripts with which `compare` begins.

    Raises:
        InputTypeError: `tokenizer` is no tokenizer, or `texts` is one string or holds something
            else than strings.
        InputError: there is no text, or all are empty; or a text holds half of a surrogate pair.

    >>> import trietok
    >>> tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    >>> golden = lock(tokenizer, ["The people", "covid-19"])
    >>> golden.special_tokens[0], golden.max_id
    (SpecialId(role='unk_token', token='[UNK]', id=1), 7999)
    >>> trietok.verify(tokenizer, golden).ok
    True

    Cost: O(tokens), and encoding each text once.
    """
    state = state_of(tokenizer)
    locked = tuple(_locked(tokenizer, _given_texts(texts)))
    return Lock(
        model=str(tokenizer.name_or_path) or None,
        tokenizer_class=state.kind,
        profile=tokenizer.profile,
        fingerprint=digest(state),
        special_tokens=tuple(special_ids(tokenizer)),
        added_tokens=len(state.added),
        tokens=len(tokenizer),
        max_id=tokenizer.max_id,
        settings=settings_of(tokenizer),
        versions=versions_now(),
        texts=locked,
    )


def _given_texts(texts: Any) -> list[str]:
    """The texts that were given to `lock`, or the sentences of `compare`."""
    texts = SENTENCES if texts is None else texts
    if isinstance(texts, (str, bytes)):
        raise InputTypeError("lock takes a list of texts, not one", value=texts)
    texts = one_column(texts, "texts")
    if not isinstance(texts, Iterable):
        raise InputTypeError(f"lock takes a list of texts, not {texts!r:.60}", value=texts)
    given = list(texts)
    for number, text in enumerate(given, start=1):
        if not isinstance(text, str):
            raise InputTypeError(
                f"text {number} is a {type(text).__name__}, not a str: {text!r:.60}", value=text
            )
    if not any(given):
        what = "every text is empty" if given else "there is no text"
        raise InputError(
            f"{what}, so the lock would prove nothing; give texts such as the model is used on"
        )
    return given


def _locked(tokenizer: Any, texts: Iterable[str]) -> Iterator[LockedText]:
    for number, text in enumerate(texts, start=1):
        half = next((char for char in text if "\ud800" <= char <= "\udfff"), None)
        if half is not None:
            raise InputError(
                f"text {number} holds U+{ord(half):04X}, half of a surrogate pair, which UTF-8"
                " cannot write and other tokenizers refuse; leave the text out, or repair it"
            )
        ids = tokenizer.encode(text, verbose=False)
        yield LockedText(text, tokenizer.convert_ids_to_tokens(ids), ids)


def special_ids(tokenizer: Any) -> Iterator[SpecialId]:
    """Each role with its token and id."""
    return starmap(SpecialId, roles_of(tokenizer))


def settings_of(tokenizer: Any) -> dict[str, Any]:
    """The settings of the stages that decide ids."""
    return {
        name: value for name, value in state_of(tokenizer).settings.items() if name not in _HUGE
    }


def versions_now() -> dict[str, str]:
    """The versions of trietok, of Python and its Unicode tables, and of the tokenizers' libraries
    that are there.
    """
    here = platform.python_version(), unicodedata.unidata_version
    versions = {"trietok": __version__, "python": here[0], "unicode": here[1]}
    for name in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions
