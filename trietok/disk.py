"""Read and write single files.

Only regular files of a limited size are read: a pipe or a device would keep a reader waiting for
ever. A file is replaced in one step, so a reader finds the old content or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from itertools import islice
from types import MappingProxyType
from typing import IO, Any, BinaryIO

from trietok.errors import FileError, FileFormatError, VocabularyError, as_file_error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LARGEST_FILE = 1 << 28  # bytes: a million added tokens with all their flags take less
ANY_SIZE = 1 << 62

Path_ = str | os.PathLike[str]


def open_regular(path: str | os.PathLike[str], limit: int = LARGEST_FILE) -> BinaryIO:
    """Open a regular file of at most `limit` bytes for reading bytes; symbolic links are followed.

    What the system says, of a directory too, is an OSError.

    >>> open_regular("/dev/null")
    Traceback (most recent call last):
    trietok.errors.FileError: /dev/null is not a regular file; only regular files are read
    """
    name = checked_name(path)
    # before it is opened: opening a device may have effects by itself
    _check_file(os.stat(path), name, limit)
    flags = sum(
        getattr(os, name, 0) for name in ("O_RDONLY", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC")
    )
    handle = os.open(path, flags)
    try:
        _check_file(os.fstat(handle), name, limit)  # it may have been replaced since
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def entries_in(directory: Path_) -> list[os.DirEntry[str]]:
    """The entries of a directory by their names, of a large one the first 1,000 that come; none
    where it is none.
    """
    try:
        with os.scandir(directory) as entries:
            return sorted(islice(entries, 1000), key=lambda entry: entry.name)
    except (OSError, ValueError):  # it does not exist, or cannot be a path
        return []


def checked_name(path: str | os.PathLike[str]) -> str:
    """A path as a string; FileError where it holds a NUL, or a character that the names of files
    cannot keep.

    >>> checked_name("a" + chr(0))
    Traceback (most recent call last):
    trietok.errors.FileError: no file or directory can have the name 'a\\x00': it holds a NUL
    """
    name = os.fspath(path)
    if "\0" in name:
        raise FileError(
            f"no file or directory can have the name {name!r}: it holds a NUL", path=name
        )
    try:
        os.fsencode(name)
    except UnicodeEncodeError as error:
        raise FileError(
            f"no file or directory can have the name {name!r}: it holds {name[error.start]!r}",
            path=name,
        ) from None
    return name


def read_regular(path: str | os.PathLike[str], limit: int = LARGEST_FILE) -> bytes:
    """Return the bytes of a regular file that has no more than `limit`, or those of `reading_from`.

    A file that grows beyond the limit while it is read is refused, too.
    """
    name = os.fspath(path)
    contents = _contents.get()
    if name in contents:
        raw = contents[name]
        if raw is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    else:
        with open_regular(path, limit) as file:
            raw = file.read(limit + 1)
    if len(raw) > limit:
        raise _too_large(name, len(raw), limit)
    return raw


# path → content of files that were read together; None for a file that was not there
_contents: ContextVar[Mapping[str, bytes | None]] = ContextVar(
    "contents", default=MappingProxyType({})
)


@contextlib.contextmanager
def reading_from(contents: Mapping[str, bytes | None]) -> Iterator[None]:
    """Have these contents read instead of the files while the block runs.

    Files that belong together are read at one moment, and parsed one after the other. If another
    process replaces them meanwhile, no mixture is parsed.

    Args:
        contents: path → bytes; None for a file that does not exist.
    """
    token = _contents.set({**_contents.get(), **contents})
    try:
        yield
    finally:
        _contents.reset(token)


def contents_read() -> Mapping[str, bytes | None]:
    """Return path → content of the files that `reading_from` has."""
    return _contents.get()


def is_file(path: str) -> bool:
    """Return whether there is a file to read, in `reading_from` or on the disk."""
    contents = _contents.get()
    return contents[path] is not None if path in contents else os.path.isfile(path)


def _check_file(status: os.stat_result, name: str, limit: int) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(status.st_mode):
        raise FileError(f"{name} is not a regular file; only regular files are read", path=name)
    if status.st_size > limit:
        raise _too_large(name, status.st_size, limit)


def _too_large(name: str, size: int, limit: int) -> FileFormatError:
    return FileFormatError(
        f"{name} has {size:,} bytes, more than the {limit:,} that such a file of a tokenizer may"
        " have",
        path=name,
    )


# What stands in the place of a file where a download, a copy or a checkout went wrong.

FOREIGN_HEAD = (
    4096  # bytes that tell what a file is; pointers and the answers of servers are shorter
)
_AGAIN = "download the file again (from the hub: force_download=True)"
_POINTER, _ANSWER = "which only says where the file is", f"the answer of a server; {_AGAIN}"
_FOREIGN = {  # how it begins → what it is, and what to do
    rb"version https?://[\w.-]+/spec/v\d": (
        f"a git-lfs pointer, {_POINTER}; run `git lfs pull`, or {_AGAIN}"
    ),
    rb"# xet version \d|[^\n]{0,200}/annex/objects/": f"a pointer, {_POINTER}; {_AGAIN}",
    rb"\.\.?/[^\s]{1,400}\n?\Z": (
        "the target of a link, copied as text; copy with links followed (cp -L)"
    ),
    rb"(?i)(?:\xef\xbb\xbf)?\s*(?:<!doctype\s+html|<\?xml\s|"
    rb"<html[^>\n]*>(?:[^\n]*<|.*<title[^>]*>\s*[^<\s]))": (
        f"a web page; check the address, and {_AGAIN}"
    ),
    rb"(?i)\s*(?:[45]\d\d\b|(?:entry|file|repository|page)?\s*not found\b|access to |invalid"
    rb" (?:username|credentials)|"
    rb"unauthorized\b|forbidden\b|internal server|rate limit|too many requests)[^\n[]*\s*\Z": (
        _ANSWER
    ),
    rb"\x1f\x8b|BZh[1-9]1AY&SY|\xfd7zXZ\0|\x28\xb5\x2f\xfd|PK\x03\x04": (
        "a compressed file; unpack it"
    ),
    # a header of safetensors may begin with the same two bytes, and has zeros behind them
    rb"(?:\xff\xfe|\xfe\xff)(?!.{0,2}\0\0)": (
        "text in UTF-16; convert it, for example: iconv -f utf-16 -t utf-8 OLD > NEW"
    ),
    rb"\n[\x01-\x7f]\n[\x01-\x20]<?[\w/]+>?\x15": (
        "a SentencePiece model, and no list of WordPiece tokens"
    ),
}
_ANSWER_KEYS = frozenset(
    "error errors message detail status statusCode code success documentation_url error_type"
    " request_id".split()
)


def foreign(raw: bytes) -> str | None:
    """What a file is, and what to do, where its first `FOREIGN_HEAD` bytes are none of a
    tokenizer's or a model's.

    >>> foreign(
    ...     b"version https://git-lfs.github.com/spec/v1\\noid sha256:0123\\n"
    ... )  # doctest: +ELLIPSIS
    'a git-lfs pointer, which only says where the file is; run `git lfs pull`, or ...'
    >>> foreign(b"[PAD]\\n[UNK]\\n")
    """
    head = raw[:FOREIGN_HEAD]
    if head.lstrip()[:1] == b"{":
        return _ANSWER if len(raw) < FOREIGN_HEAD and _is_answer(raw) else None
    # [PAD], of most vocabularies: for those, the patterns need not be compiled
    if head[:1] == b"[":
        return None
    return next(
        (what for pattern, what in _FOREIGN.items() if re.match(pattern, head, re.DOTALL)), None
    )


# each has one of these; a backslash may stand for a letter, and a NUL is half of one in UTF-16
_IN_ANSWERS = (b"error", b"message", b"detail", b"\\", b"\0")


def _json_in(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _is_answer(raw: bytes) -> bool:
    # as most are not, which can be seen without parsing them
    if not any(map(raw.__contains__, _IN_ANSWERS)):
        return False
    value = _json_in(raw)
    if not isinstance(value, dict):
        return False
    # as tokens, these words have numbers
    said = {
        "error",
        "errors",
        "message",
        "detail",
    } & value.keys()
    return value.keys() <= _ANSWER_KEYS and any(
        type(value[key]) not in (int, float, type(None)) for key in said
    )


def _refuse_foreign(raw: bytes, path: Path_) -> None:
    """Raise where a file is another thing than its name says."""
    what = foreign(raw)
    if what is not None:
        name = os.fspath(path)
        told = f"{name} is no {os.path.basename(name)}: it is {what}"
        if not _names_tokenizer(name):
            told = f"{name} is {what}; what is wanted is a model's directory or its vocab.txt"
        raise FileFormatError(told, path=path)


def _names_tokenizer(name: str) -> bool:
    """Whether a file has such a name as those that a tokenizer is read from.

    >>> _names_tokenizer("bert-vocab.txt"), _names_tokenizer("book.xlsx")
    (True, False)
    """
    return name.endswith((".txt", ".json", ".jinja")) or "." not in os.path.basename(name)


LARGEST_VOCAB = 1 << 27  # bytes
MOST_ENTRIES = 2_000_000  # the largest published vocabularies have half of it
LONGEST_LINE = 100_000  # bytes
HIGHEST_ID = 10_000_000  # a higher one is a mistake, and would cost memory for every id below it
HALF_PAIR = "[\ud800-\udfff]"  # of surrogates: JSON can write them, UTF-8 cannot


def read_text(path: Path_) -> str:
    """The whole of a UTF-8 file, with Python's universal newlines, as transformers opens it.

    It is a FileError where the file cannot be read; a FileFormatError, with the line, where a byte
    is not UTF-8.
    """
    return decoded_text(read_bytes(path), path)


def read_bytes(path: Path_) -> bytes:
    """The bytes of a file that is text; the errors are those of `read_text` that come first."""
    with as_file_error(f"cannot read {os.fspath(path)}", path):
        raw = read_regular(path)
    _refuse_foreign(raw, path)
    return raw


def decoded_text(raw: bytes, path: Path_) -> str:
    """The text that bytes of a file are; see `read_text`."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        bad = (
            f": byte 0x{raw[error.start]:02x} at offset {error.start} is not UTF-8; convert the"
            " file to UTF-8"
        )
        raise FileFormatError.at_line(path, line, bad) from None
    if b"\r" not in raw:
        return text
    # a lone one ends a line too, as it does for transformers
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_vocab_bytes(path: Path_) -> bytes:
    """The bytes of a vocab.txt, if they are within the limits; else a FileFormatError."""
    with as_file_error(f"cannot read {os.fspath(path)}", path):
        raw = read_regular(path, LARGEST_VOCAB)
    _refuse_foreign(raw, path)
    check_vocab_bytes(raw, path)
    return raw


def check_vocab_bytes(raw: bytes, path: Path_) -> None:
    """Raise a FileFormatError if these bytes are not within the limits of a vocab.txt."""
    if raw[:1] == b"{" or raw[:2] == b'["':
        _refuse_json(raw, path)
    count = raw.count(b"\n") + (raw.count(b"\r") - raw.count(b"\r\n") if b"\r" in raw else 0)
    if count > MOST_ENTRIES:
        raise FileFormatError(
            f"{os.fspath(path)} has {count:,} lines, more than the {MOST_ENTRIES:,} entries a"
            " vocabulary may have",
            path=path,
        )
    start = 0
    # looks for the last line end in as many bytes as a line may have
    while len(raw) - start > LONGEST_LINE:
        stop = start + LONGEST_LINE + 1
        end = max(raw.rfind(b"\n", start, stop), raw.rfind(b"\r", start, stop))
        if end < 0:
            line = raw.count(b"\n", 0, start) + 1
            most = f" has more than {LONGEST_LINE:,} bytes, the most an entry may have"
            raise FileFormatError.at_line(path, line, f"{most}; a vocabulary has one token a line")
        start = end + 1


def _refuse_json(raw: bytes, path: Path_) -> None:
    if _json_in(raw) is not None:
        name = os.fspath(path)
        raise FileFormatError(
            f"{name} holds JSON, and no tokens one a line; give it the name it had", path=path
        )


def read_vocab_lines(path: Path_) -> list[str]:
    """The lines of a vocab.txt: one token each, the id is the line's number from 0.

    Only the newline is taken off, as transformers' `load_vocab` does it: spaces, a byte-order mark
    and blank lines stay, so that every id is transformers' id. An empty file is a VocabularyError.
    """
    lines = decoded_text(read_vocab_bytes(path), path).split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise VocabularyError(
            f"{os.fspath(path)} is empty; a vocabulary needs at least one token, one a line",
            path=path,
        )
    return lines


# ---- writing -------------------------------------------------------------------------------------
#
# Content is written to a file beside its place, flushed to the disk and renamed. That file is also
# the lock of the one who writes it.


NEW = ".new"  # ends the name of a file that is not in its place yet
PATIENCE, PAUSE = 30.0, 0.002  # seconds: how long to wait for another process, and between attempts
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_LOST = FULL | {errno.EIO}  # after these, what was written may not be on the disk
# A file system answers with one of these where files cannot be locked.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EBADF, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


class BusyError(Exception):
    """Another process, or another thread, has a file locked."""


@contextlib.contextmanager
def replacing(path: Path_) -> Iterator[BinaryIO]:
    """Yield a file to write that takes the place of `path` when the block ends without an error.

    The new file gets the mode of the old one. A second writer of the same path waits.

    Raises:
        FileError: the old file is write-protected, or another process does not end writing it.
        OSError: the disk is full, for example; the error names the file.
    """
    folder, name = os.path.split(path)
    temporary, mode = os.path.join(folder, f".{name}{NEW}"), mode_to_keep(path)
    try:
        with locked(temporary, private=mode is not None) as file:
            try:
                if mode is not None:
                    os.chmod(temporary, mode)
                file.truncate(0)
                with naming(temporary):
                    yield file
                    flush_file(file)
                os.replace(temporary, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
    except BusyError:
        raise FileError(
            f"cannot write {os.fspath(path)}: another process has been writing it for"
            f" {PATIENCE:g} s; end it, and try again",
            path=path,
        ) from None
    flush_directory(folder or ".")


@contextlib.contextmanager
def locked(path: Path_, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file, or create it, and lock it against other processes and threads.

    Where files cannot be locked (Windows, some network file systems), nobody waits.

    Args:
        path: the file. If it is renamed or removed before the lock is there, it is opened again.
        private: whether only this user may open a file that is created.

    Raises:
        BusyError: another process or thread still has the file after `PATIENCE` seconds.
        FileError: it is not a regular file.
    """
    end = time.monotonic() + PATIENCE
    others = os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    mode = 0o600 if private else 0o666
    while True:
        with open(
            path, "r+b", opener=lambda name, flags: os.open(name, flags | others, mode)
        ) as file:
            _check_file(os.fstat(file.fileno()), os.fspath(path), ANY_SIZE)
            if lock(file) is not False and is_at(file, path):
                try:
                    yield file
                    return
                finally:
                    unlock(file)  # a child that was forked would keep it after `file` is closed
        if time.monotonic() > end:
            raise BusyError
        time.sleep(PAUSE)


@contextlib.contextmanager
def locked_directory(path: Path_) -> Iterator[bool | None]:
    """Lock a directory and yield what `lock` returns; None on Windows, which cannot open one."""
    if os.name != "posix":
        yield None
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        yield lock(handle)
    finally:
        unlock(handle)
        os.close(handle)


def lock(file: Any, shared: bool = False) -> bool | None:
    """Lock an open file or directory unless another process has; None if that is not possible."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return None
    return True


def unlock(file: Any) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


def is_at(file: BinaryIO | None, path: Path_) -> bool:
    """Whether a path still leads to the file that was opened there; None: to no file."""
    if file is None:
        return not os.path.isfile(path)
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def mode_to_keep(path: Path_) -> int | None:
    """Return the mode of a file that is to be replaced or removed; None if there is no file.

    Raises:
        FileError: it is a directory or a device, or this user may not write it.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    mode, why = stat.S_IMODE(status.st_mode), ""
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        why = f"it is {kind}; move it away, or save elsewhere"
    elif not mode & 0o222:
        why = (
            f"it is write-protected (mode {mode:04o}); make it writable (chmod u+w), or save into"
            " another directory"
        )
    elif not os.access(path, os.W_OK):
        why = (
            f"this user may not write it (mode {mode:04o}, owner {status.st_uid}), or it is"
            " immutable (lsattr tells) or on a read-only mount; change that, or save into another"
            " directory"
        )
    if why:
        raise FileError(f"cannot replace {os.fspath(path)}: {why}", path=path)
    return mode


@contextlib.contextmanager
def naming(path: Path_) -> Iterator[None]:
    """Put the name of the file that is written into the error for a full disk, which has none."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            error.filename = os.fspath(path)
        raise


def flush_file(file: IO[Any]) -> None:
    """Wait until what was written to a file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def flush_directory(directory: Path_) -> None:
    """Wait until the names in a directory are on the disk, where the system can do that."""
    try:
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        if error.errno in _LOST:  # else this system does not let a directory be flushed
            raise OSError(error.errno, error.strerror, os.fspath(directory)) from error
