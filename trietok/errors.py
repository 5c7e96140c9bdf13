"""Every error trietok raises on purpose.

Each class derives from `TrietokError` and from the built-in exception that transformers raises for
the same mistake, so code written for transformers keeps catching it. The values that explain the
error are attributes.
"""

from __future__ import annotations

import copyreg
import importlib
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from operator import index
from typing import Any

MOST_SHOWN = 200  # characters that a message shows of one token, path or other value
_END = MOST_SHOWN // 4
_LONGEST_MESSAGE = 1_000  # characters; only lists of many values come near
# What a message may quote: a repr, as it stands between quotes, or anything without a space, such
# as a path.
_QUOTED = r"""(?s)(?<!\w)(?:'[^'\\]*(?:\\.[^'\\]*)*'|"[^"\\]*(?:\\.[^"\\]*)*")(?!\w)"""
_UNCLOSED = rf"""(?<!\w)(?:'[^']{{{MOST_SHOWN},}}|"[^"]{{{MOST_SHOWN},}})\Z"""
_UNBROKEN = rf"\S{{{MOST_SHOWN + 1},}}"


def shortened(message: str, *shown: str | None) -> str:
    """A message in which no token, path or other value takes more than `MOST_SHOWN` characters.

    Args:
        message: what is to be said.
        *shown: values that it may show as they are, not as their repr: paths, which may contain
            spaces.

    >>> (
    ...     shortened(f"there is no token {'a' * 1000!r}; add it")[:30],
    ...     len(shortened("a" * 10_000_000)),
    ... )
    ("there is no token 'aaaaaaaaaaa", 200)
    """
    if len(message) <= MOST_SHOWN:
        return message
    for value in shown:
        if value is not None and len(value) > MOST_SHOWN:
            message = message.replace(value, _cut(value))
    end, longest = "", MOST_SHOWN
    # searched for quotes only in part: the search shall not take long
    if len(message) > 4 * _LONGEST_MESSAGE:
        message, end = message[: 4 * _LONGEST_MESSAGE], message[-_END:]
        longest -= _END
        message = re.sub(_QUOTED, lambda quoted: _cut(quoted[0], longest), message)
        message = re.sub(_UNCLOSED, lambda quoted: quoted[0][:_END], message) + "..."
    message = re.sub(_QUOTED, lambda quoted: _cut(quoted[0], longest), message)
    message = re.sub(_UNBROKEN, lambda unbroken: _cut(unbroken[0], longest), message)
    return _cut(message, _LONGEST_MESSAGE) + end


def _cut(value: str, longest: int = MOST_SHOWN) -> str:
    """A value with its middle left out, where it is too long: its end may be a file's name."""
    if len(value) <= longest:
        return value
    tail = min(longest // 4, _END)
    return f"{value[: longest - tail - 3]}...{value[-tail:]}"


class TrietokError(Exception):
    """The parent of every error in this package. A message shows at most 200 characters of a token
    or a path.

    >>> import trietok
    >>> try:
    ...     trietok.BertTokenizer.from_pretrained("trietok-en").decode([10**9])
    ... except trietok.TrietokError as error:
    ...     print(type(error).__name__)
    TokenIdError
    """

    def __init__(self, message: str = "", *shown: str | None) -> None:
        """`message` says what is wrong; `shown` are paths in it, which are cut short where they are
        long.
        """
        super().__init__(shortened(message, *shown))

    def __reduce__(self) -> Any:
        """To be pickled with what it says and its attributes, whatever `__init__` asks for."""
        return copyreg.__newobj__, (type(self),), {**self.__dict__, "args": self.args}  # type: ignore[attr-defined]


@contextmanager
def errors_naming(
    directory: str | os.PathLike[str], *, instead_of: str | os.PathLike[str]
) -> Iterator[None]:
    """Name the directory that the user knows in errors about a temporary folder.

    If `directory` is "", errors name only the files in the folder.
    """
    temporary, known = os.path.join(instead_of, ""), os.path.join(directory, "")

    def renamed(value: Any) -> Any:
        return value.replace(temporary, known) if isinstance(value, str) else value

    try:
        yield
    except TrietokError as error:
        error.args = tuple(map(renamed, error.args))
        if hasattr(error, "path"):
            error.path = renamed(error.path)
        raise


class FileError(TrietokError, OSError, ValueError):
    """A file or directory is missing, unreadable or cannot be written. `path` names it."""

    def __init__(self, message: str, *, path: str | os.PathLike[str]) -> None:
        super().__init__(message, os.fspath(path))
        self.path = os.fspath(path)


class InterruptedSaveError(FileError):
    """A process ended while it replaced the files of a directory: some may be old and some new.

    `trietok check -m DIR --fix` finishes the save, and so does the next save to the directory.
    """


class FileFormatError(TrietokError, ValueError):
    """A file was read but does not hold what it should. `path` and, where known, `line_number`
    (from 1).
    """

    def __init__(
        self, message: str, *, path: str | os.PathLike[str], line_number: int | None = None
    ) -> None:
        super().__init__(message, os.fspath(path))
        self.path = os.fspath(path)
        self.line_number = line_number

    @classmethod
    def at_line(cls, path: str | os.PathLike[str], line: int, problem: str) -> FileFormatError:
        """An error that begins with the file and the line; `problem` goes on after the number."""
        return cls(f"{os.fspath(path)}, line {line}{problem}", path=path, line_number=line)


@contextmanager
def as_file_error(
    what: str, path: str | os.PathLike[str], names_file: bool = False
) -> Iterator[None]:
    """Have an error of the system be a `FileError` that says what cannot be done: "cannot read
    a.txt: ...".
    """
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        file = f" ({error.filename})" if names_file and error.filename else ""
        raise FileError(f"{what}: {error.strerror or error}{file}", path=path) from error


class TokenizerClassError(FileError):
    """Which tokenizer class to load cannot be told, or trietok does not have it.

    Attributes: `path`, what was to be loaded; `name`, the class or model type asked for, None where
    no file names one; `known`, what there is.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | os.PathLike[str],
        name: str | None,
        known: tuple[str, ...],
    ) -> None:
        super().__init__(message, path=path)
        self.name = name
        self.known = known


class VocabularyError(TrietokError, ValueError):
    """A vocabulary contradicts itself or lacks what it must have.

    Attributes: `path`, `line_number` (from 1), `token`, `expected_id`, `found_id`; None where not
    known.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | os.PathLike[str] | None = None,
        line_number: int | None = None,
        token: str | None = None,
        expected_id: int | None = None,
        found_id: int | None = None,
    ) -> None:
        super().__init__(message, None if path is None else os.fspath(path))
        self.path = None if path is None else os.fspath(path)
        self.line_number = line_number
        self.token = token
        self.expected_id = expected_id
        self.found_id = found_id


class UnknownTokenError(TrietokError, KeyError):
    """A token or an id is looked up in a vocabulary that does not hold it. `item` is what was asked
    for.
    """

    def __init__(self, message: str, *, item: Any) -> None:
        super().__init__(message)
        self.item = item

    def __str__(self) -> str:  # KeyError would show the message's repr
        return str(self.args[0])


class TokenIdError(TrietokError, IndexError):
    """An id lies outside the vocabulary. `token_id` and `max_id`, the highest id there is."""

    def __init__(self, message: str, *, token_id: int, max_id: int) -> None:
        super().__init__(message)
        self.token_id = token_id
        self.max_id = max_id


class SpecialTokenError(TrietokError, ValueError, TypeError, AssertionError):
    """A special token is missing, or is given in a form that cannot be one. `role` names it, e.g.
    `pad_token`.
    """

    def __init__(self, message: str, *, role: str | None = None) -> None:
        super().__init__(message)
        self.role = role


class InputError(TrietokError, ValueError):
    """What was passed in cannot be encoded, padded, truncated or decoded."""


class InputTypeError(InputError, TypeError):
    """What was passed in has the wrong type. `value` is the offender."""

    def __init__(self, message: str, *, value: Any = None) -> None:
        super().__init__(message)
        self.value = value


class PositionError(InputError, OverflowError):
    """The number of a character, token or word is negative."""


class OptionError(TrietokError, TypeError):
    """A keyword that no method on the way understands. `name` is the keyword."""

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class NotSupportedError(TrietokError, AttributeError, NotImplementedError):
    """A part of transformers' interface that trietok leaves out on purpose. `name` is what was
    asked for.
    """

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class MissingDependencyError(TrietokError, ImportError):
    """An optional package is needed and not installed. `extra` is the one that brings it."""

    def __init__(self, message: str, *, extra: str) -> None:
        super().__init__(message)
        self.extra = extra


# Each extra with its packages, as pyproject.toml has them; those of the extras that it includes are
# named with it.
EXTRAS = {
    "cli": "click rich",
    "hub": "huggingface_hub",
    "numpy": "numpy",
    "model": "numpy safetensors",
    "parquet": "pyarrow fsspec",
    "s3": "pyarrow fsspec s3fs",
    "ray": "pyarrow fsspec ray[data]",
    "spark": "pyarrow fsspec pyspark[sql]",
    "datasets": "pyarrow fsspec datasets",
    "ja": "fugashi ipadic unidic-lite",
}


def installing(extra: str, module: str = "") -> str:
    """The command that installs the package of a module, or with none all that an extra brings.

    >>> installing("ray", "ray.data"), installing("ja"), installing("torch", "torch.utils")
    ("pip install 'ray[data]'", 'pip install fugashi ipadic unidic-lite', 'pip install torch')
    """
    root = module.partition(".")[0]
    packages = EXTRAS.get(extra, root or extra).split()
    wanted = [package for package in packages if package.partition("[")[0] == root] or packages
    return "pip install " + " ".join(
        f"'{package}'" if "[" in package else package for package in wanted
    )


def imported(name: str, extra: str, how: str = "") -> Any:
    """A module, named as it is imported; where it is not installed, an error says how to install
    it, or `how`.

    `extra` is the extra that brings it, or the package itself.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        how = how or installing(extra, name)
        told = (
            f"{name.replace('_', '-')} is needed for this and cannot be imported ({error}): {how}"
        )
        raise MissingDependencyError(told, extra=extra) from error


class ExplicitEnum(str, Enum):
    """An enum of strings whose error for an unknown value lists the known ones."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        raise InputError(
            f"{value!r} is not a valid {cls.__name__}; select one of"
            f" {[member.value for member in cls]}"
        )


def kind_of(value: Any) -> str:
    """A value for an error message: its type, and itself in short."""
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 60 else shown[:57] + '...'}"


def one_column(values: Any, name: str) -> Any:
    """Return texts or terms, those of an Arrow column as a list.

    Raises:
        InputTypeError: they are a whole table. A loop over one of pandas gives the names of its
            columns, and so does a loop over a dict of columns.

    >>> one_column({"id": [1, 2], "term": ["covid", "zika"]}, "terms")
    Traceback (most recent call last):
    trietok.errors.InputTypeError: terms is a dict of columns; pass one of them: terms['id'] or
    terms['term']
    """
    is_dict = isinstance(values, Mapping) and list in map(type, values.values())
    attribute = next((a for a in ("column_names", "columns") if hasattr(type(values), a)), None)
    if is_dict or attribute is not None:
        columns = values if attribute is None else getattr(values, attribute)
        ways = " or ".join(f"{name}[{column!r:.60}]" for column in list(columns)[:5])
        raise InputTypeError(
            f"{name} is a {type(values).__name__} of columns; pass one of them: {ways}",
            value=values,
        )
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def whole_number(name: str, value: Any) -> int:
    """A whole number of any kind as an int; an InputTypeError that names the argument for anything
    else.
    """
    try:
        return index(value)
    except TypeError as error:
        raise InputTypeError(
            f"{name} is {value!r:.60}; it is a whole number", value=value
        ) from error
