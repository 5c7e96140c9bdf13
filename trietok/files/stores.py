"""Files that are not on this machine's disks, such as s3://bucket/a.txt, read and written by
fsspec.

In: a name. Out: the open file, its size and version, the names behind a glob; a `Place` that holds
files. A name without `://` is a path of this machine; fsspec is imported only for others. Whatever
goes wrong in a store is an `OSError` with the name in it. A store that gives no answer is asked
again for about a minute; then that is an error that passes, EAGAIN, which says nothing of the file.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import random
import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple, TypeVar

from trietok.errors import (
    FileError,
    InputError,
    MissingDependencyError,
    as_file_error,
    installing,
    is_passing,
)

_Answer = TypeVar("_Answer")

_CHAIN = "::"  # between the parts of a name that fsspec reads one through the other
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")
_BUFFER = 1 << 20  # bytes
_TRIES, _FIRST_WAIT, _LONGEST_WAIT = 11, 0.25, 8.0  # of a store that gives no answer; seconds
_ETAGS = ("ETag", "etag")
_TIMES = (
    "mtime",
    "LastModified",
    "last_modified",
    "Last-Modified",
    "updated",
    "modified",
    "modify",
    "created",
)
_FINENESSES = (10**9, 10**6, 10**3, 1)  # of the times that stores give, in nanoseconds


class Status(NamedTuple):
    """What a store says of a file."""

    size: int  # in bytes
    version: (
        int  # changes with the file: made of its ETag, or nanoseconds where the store gives a time
    )

    def is_of(self, other: Status) -> bool:
        """Whether both can be of one state of a file: a store may list times to the second, or to
        less of it.

        >>> Status(3, 1_700_000_000_250_000_000).is_of(Status(3, 1_700_000_000_000_000_000))
        True
        """
        fineness = max(
            next(unit for unit in _FINENESSES if not one.version % unit) for one in (self, other)
        )
        return (self.size, self.version // fineness) == (other.size, other.version // fineness)


def is_elsewhere(name: str) -> bool:
    """Whether a name is one for fsspec.

    >>> is_elsewhere("s3://bucket/a.txt"), is_elsewhere("texts/a.txt"), is_elsewhere("C:/a.txt")
    (True, False, False)
    """
    return "://" in name and _SCHEME.match(name) is not None


def path_in(name: str) -> str:
    """The part of a name that tells the kind of a file; in a web address what stands before the
    question mark.

    >>> path_in("https://example.org/a.jsonl.gz?key=1"), path_in("what?.txt")
    ('https://example.org/a.jsonl.gz', 'what?.txt')
    """
    return re.split("[?#]", name)[0] if name.startswith(("http://", "https://")) else name


def open_bytes(name: str) -> BinaryIO:
    """Open a file for reading, here or elsewhere; OSError, which reading may raise too."""
    if not is_elsewhere(name):
        return open(name, "rb")
    return io.BufferedReader(_Elsewhere(name), _BUFFER)


def status(name: str, fresh: bool = False) -> Status:
    """The size and the version of a file elsewhere; with `fresh` no answer is one that is
    remembered.
    """
    files, path = _store(name, fresh=fresh)
    with as_file_error(f"cannot read {name}", name):
        found = _asked(name, lambda: files.info(path))
        told = _asked(name, lambda: _status_of(found, files, path))
    if found["type"] == "directory":
        raise FileError(
            f"{name} is a directory; give its files, such as {name.rstrip('/')}/*.txt", path=name
        )
    if told is None:
        raise FileError(
            f"cannot read {name}: its size is not known; copy it to this machine", path=name
        )
    return told


def _status_of(found: dict[str, Any], files: Any, path: str) -> Status | None:
    """The status in what a store says of a file; None where it does not say the size."""
    if found.get("size") is None:
        return None
    return Status(found["size"], _version(found) or _number_of(files.ukey(path)))


def _version(found: dict[str, Any]) -> int:
    """The version of a file by what a store says of it; 0 where it says none.

    A glob's answer and one about a single file come from different requests: of one time they may
    give different objects, zones and texts, and put quotes around an ETag or not.
    """
    for key in _ETAGS:
        if found.get(key):
            return _number_of(str(found[key]).removeprefix("W/").strip('"'))
    return next((_nanoseconds(found[key]) for key in _TIMES if found.get(key)), 0)


def _nanoseconds(time: Any) -> int:
    """A time as a number: a `datetime`, seconds, or a text as JSON or HTTP has it. One without a
    zone is in UTC.

    >>> _nanoseconds("2024-05-06T07:08:09.120Z"), _nanoseconds("Mon, 06 May 2024 07:08:09 GMT")
    (1714979289120000000, 1714979289000000000)
    """
    # most names are of files here, and take none of it
    from datetime import (
        datetime,
        timedelta,
        timezone,
    )
    from email.utils import parsedate_to_datetime

    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(re.sub("[Zz]$", "+00:00", time))
        except ValueError:
            try:
                time = parsedate_to_datetime(time)
            except (ValueError, TypeError):  # TypeError: from Python 3.10 to 3.12, for some texts
                return _number_of(time)
    if isinstance(time, datetime):
        time = time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc)
        microseconds: int = (time - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(
            microseconds=1
        )
        return 1000 * microseconds
    return (
        round(time * 1_000_000) * 1000 if isinstance(time, (int, float)) else _number_of(str(time))
    )


def _number_of(text: str) -> int:
    import hashlib

    return int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def first_bytes(name: str, number: int) -> bytes:
    """How a file elsewhere begins."""
    files, path = _store(name)
    return bytes(_asked(name, lambda: files.cat_file(path, start=0, end=number))[:number])


def files_matching(name: str, fresh: bool = False) -> dict[str, Status | None] | None:
    """The files that a glob finds elsewhere, by name, each as the list has it; None where the name
    is no glob.
    """
    if not set("*[") & set(name):
        return None
    files, path = _store(name, fresh=fresh)
    with as_file_error(f"cannot read {name}", name):
        found = _asked(name, lambda: files.glob(path, detail=True))
        return {
            files.unstrip_protocol(each): _status_of(found[each], files, each)
            for each in sorted(found)
            if found[each]["type"] != "directory"
        }


def identity(name: str) -> str:
    """What is the same for two names of one file: the path where links lead, or the full name
    elsewhere.
    """
    if not is_elsewhere(name):
        return os.path.realpath(name)
    files, path = _store(name)
    return str(
        os.path.realpath(path) if "file" in _protocols(files) else files.unstrip_protocol(path)
    )


class Place:
    """Where a store has the files whose names begin with one name and a slash; their own names are
    what follows.

    >>> place = Place("memory://ids/")
    >>> place.put(__file__, "a.py"), place.put(__file__, "a.py", new=True), list(place.sizes())
    (True, True, ['a.py'])
    """

    def __init__(self, name: str) -> None:
        self.name = name.rstrip("/")
        if set("*?[") & set(name):
            raise InputError(
                f"{name!r:.200} has *, ? or [, which files to write cannot have in their names"
            )
        if "http" in _protocols(_store(name, "write")[0]) or self.name.endswith(":"):
            told = (
                f"nothing can be written to {name!r:.200}; name a place in a store, as"
                " s3://bucket/ids does"
            )
            raise InputError(told)

    def at(self, name: str) -> str:
        """The full name of a file."""
        return f"{self.name}/{name}"

    def paths(self, names: Iterable[str]) -> tuple[Any, list[str]]:
        """The file system, and the paths of files there."""
        return _store(self.name)[0], [_store(self.at(name))[1] for name in names]

    def sizes(self) -> dict[str, int]:
        """The bytes of each file, as the store lists them now."""
        files, path = _store(self.name, fresh=True)
        with as_file_error(f"cannot list {self.name}", self.name):
            try:
                found = _asked(self.name, lambda: files.find(path, detail=True))
            except FileNotFoundError:
                raise FileError(
                    f"cannot write to {self.name}: there is no such bucket", path=self.name
                ) from None
        start = len(path.rstrip("/")) + 1
        return {
            name[start:]: each["size"] for name, each in found.items() if each["type"] == "file"
        }

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """The bytes of small files, many at once where the store does that; what is not there is
        left out.
        """
        names = list(names)
        files, paths = self.paths(names)
        with as_file_error(f"cannot read files of {self.name}", self.name):
            found = _asked(self.name, lambda: _found_in(files, paths)) if paths else {}
        return {name: found[path] for name, path in zip(names, paths, strict=True) if path in found}

    def read_one(self, name: str) -> bytes:
        """The bytes of a file; OSError."""
        files, [path] = self.paths([name])
        return bytes(_asked(self.at(name), lambda: files.cat_file(path)))

    def put(self, path: str | os.PathLike[str], name: str, new: bool = False) -> bool:
        """Put a file of this machine there, whole; False where it is to be `new` and there is
        another. OSError.
        """
        files, [there] = self.paths([name])

        def put() -> bool:
            try:
                files.put_file(os.fspath(path), there, **({"mode": "create"} if new else {}))
            except Exception:
                files.invalidate_cache()
                if not new or not files.exists(there):
                    raise
                # The store may have taken it at the first try, whose answer was lost.
                with open(path, "rb") as here:
                    return bool(files.cat_file(there) == here.read())
            return True

        return _asked(self.at(name), put)

    def copy(self, names: dict[str, str]) -> None:
        """Copy files to other names there, many at once where the store does that."""
        old = sorted(names)  # as some versions of fsspec sort them
        files, paths = self.paths(old)
        with as_file_error(f"cannot copy files of {self.name}", self.name):
            if paths:
                new = self.paths(map(names.__getitem__, old))[1]
                _asked(self.name, lambda: files.copy(paths, new))

    def remove(self, names: Iterable[str]) -> None:
        """Remove files, many at once where the store does that."""
        files, paths = self.paths(names)
        with (
            as_file_error(f"cannot remove files of {self.name}", self.name),
            _as_os_error(self.name),
        ):
            if paths:
                files.rm(paths)


def local_path(name: str) -> str | None:
    """The path of this machine that a name stands for, such as file:///tmp/ids; None where it is in
    a store.
    """
    if not is_elsewhere(name):
        return name
    files, path = _store(name, "open")
    return path if "file" in _protocols(files) else None


def _protocols(files: Any) -> tuple[str, ...]:
    return (files.protocol,) if isinstance(files.protocol, str) else tuple(files.protocol)


def _store(name: str, use: str = "read", fresh: bool = False) -> tuple[Any, str]:
    """The file system of a name, which with `fresh` forgets what it knows, and the path there."""
    if (
        _CHAIN in name
        # its parts are lost where a store names what a glob has found, or says when a file has
        # changed
    ):
        raise FileError(
            f"cannot {use} {name}: names that fsspec chains by {_CHAIN} are not taken; give the"
            " name in the store itself, or copy the file to this machine",
            path=name,
        )
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        told = f"{name} needs fsspec, which cannot be imported ({error}): {installing('remote')}"
        raise MissingDependencyError(told, extra="remote") from error
    try:
        files, path = url_to_fs(name)
        if fresh:
            files.invalidate_cache()
    except ImportError as error:
        extra = "s3" if name.startswith(("s3:", "s3a:")) else "remote"
        how = f": {installing('s3')}" if extra == "s3" else ""
        raise MissingDependencyError(f"cannot {use} {name}: {error}{how}", extra=extra) from error
    except Exception as error:  # whatever a store has to say of its addresses or keys
        raise FileError(f"cannot {use} {name}: {error}", path=name) from error
    return files, path


@contextlib.contextmanager
def _as_os_error(name: str) -> Iterator[None]:
    """Have what a store raises be an `OSError` with a reason: stores raise errors of their own
    libraries.
    """
    try:
        yield
    except (FileError, MemoryError):
        raise
    except FileNotFoundError as error:
        said = (
            "No such bucket" if "bucket does not exist" in str(error) else os.strerror(errno.ENOENT)
        )
        raise FileNotFoundError(errno.ENOENT, said, name) from error
    except Exception as error:
        is_of_system = isinstance(error, OSError)
        said = (is_of_system and getattr(error, "strerror", None)) or str(error)
        said = said if is_of_system else f"{type(error).__name__}: {said}"
        if "Credentials" in type(error).__name__:
            said = (
                f"{error}; give them as the store's own tools take them, for S3 by `aws configure`"
                " or in the variables "
            )
            said += "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        elif _is_outage(error):
            raise OSError(errno.EAGAIN, f"the store gives no answer now: {said}", name) from error
        raise OSError(getattr(error, "errno", None) or errno.EIO, said, name) from error


_REFUSALS = (FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError)
_MISTAKES = (ValueError, TypeError, LookupError, AttributeError, NotImplementedError, ImportError)
_STATUSES = ("status", "status_code", "code")  # where errors of HTTP have their number


def _is_outage(error: BaseException) -> bool:
    """Whether an error says nothing of the file that was asked for: what a store does not say is
    not held against it.

    >>> (
    ...     _is_outage(OSError(16, "Please reduce your request rate")),
    ...     _is_outage(PermissionError(13, "Access denied")),
    ... )
    (True, False)
    """
    for each in filter(None, (error, error.__cause__)):
        told = getattr(each, "response", None)  # as botocore has it
        told = (
            told.get("ResponseMetadata", {}).get("HTTPStatusCode")
            if isinstance(told, dict)
            else None
        )
        for status in (told, *(getattr(each, name, None) for name in _STATUSES)):
            if type(status) is int and status >= 400:
                return status >= 500 or status in (408, 425, 429)
    return (
        not isinstance(error, (*_REFUSALS, *_MISTAKES))
        and getattr(error, "errno", None) != errno.EINVAL
    )


def _asked(name: str, ask: Callable[[], _Answer]) -> _Answer:
    """What a store answers; where it gives no answer now, it is asked again, after longer and
    longer waits.
    """
    wait = _FIRST_WAIT
    for _ in range(_TRIES - 1):
        try:
            with _as_os_error(name):
                return ask()
        except OSError as error:
            if not is_passing(error):
                raise
            time.sleep(wait * random.uniform(0.5, 1))  # not all workers at once
            wait = min(2 * wait, _LONGEST_WAIT)
    with _as_os_error(name):
        return ask()


def _found_in(files: Any, paths: list[str]) -> dict[str, bytes]:
    """The bytes of those files that there are."""
    found = files.cat(paths, on_error="return")
    for error in found.values():
        if isinstance(error, Exception) and not isinstance(error, FileNotFoundError):
            raise error
    return {path: raw for path, raw in found.items() if not isinstance(raw, Exception)}


class _Elsewhere(io.RawIOBase):
    """A file of fsspec. After an error it is opened anew, at the place where it was."""

    def __init__(self, name: str) -> None:
        self._name, self._at = name, 0
        self._file: Any = None
        self._files, self._path = _store(name)
        _asked(name, self._opened)

    def _opened(self) -> Any:
        if self._file is None:
            file = self._files.open(self._path, "rb")
            if self._at:
                file.seek(self._at)
            self._file = file
        return self._file

    def _read(self, size: int) -> bytes:
        file = self._opened()
        try:
            block: bytes = file.read(size)
        except Exception:
            self._file = None
            with contextlib.suppress(Exception):
                file.close()
            raise
        return block

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        block = _asked(self._name, lambda: self._read(len(buffer)))
        buffer[: len(block)] = block
        self._at += len(block)
        return len(block)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self._at = int(_asked(self._name, lambda: self._opened().seek(offset, whence)))
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if not self.closed and self._file is not None:
            self._file.close()
        super().close()
