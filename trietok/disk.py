"""Files on the disk: opening what may be read, and writing a file whole.

In: a path. Out: the bytes or the text of a regular file of a limited size, and the lines of a
vocab.txt; or a file in its place, on the disk, with the mode and the owner of the one that it
replaces. A pipe or a device, which would keep a reader waiting for ever, is refused. Whoever reads
a file that is being written finds all of the old one or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import stat
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, cast

from trietok.errors import FileError, FileFormatError, VocabularyError, as_file_error

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
    """The bytes of a regular file that has no more than `limit`, also where it grows while it is
    read.
    """
    with open_regular(path, limit) as file:
        raw = file.read(limit + 1)
    if len(raw) > limit:
        raise _too_large(os.fspath(path), len(raw), limit)
    return raw


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
        if not names_tokenizer(name):
            told = f"{name} is {what}{OR_GIVE}"
        raise FileFormatError(told, path=path)


OR_GIVE = "; what is wanted is a model's directory or its vocab.txt"


def names_tokenizer(name: str) -> bool:
    """Whether a file has such a name as those that a tokenizer is read from.

    >>> names_tokenizer("bert-vocab.txt"), names_tokenizer("book.xlsx")
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
    return raw


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


_ACCESS_LIST = "system.posix_acl_access"  # the name under which Linux keeps a file's access list


class Rights(NamedTuple):
    """What a new file takes over from the one it replaces: `mode` is what chmod sets, `access_list`
    as it is stored.
    """

    path: str
    mode: int
    user: int
    group: int
    access_list: bytes | None

    def give(self, path: str | os.PathLike[str]) -> None:
        """Give another file these rights, or a FileError: only root may give a file to another
        user.
        """
        try:
            status = os.stat(path)
            if (status.st_uid, status.st_gid) != (self.user, self.group):
                os.chown(path, self.user, self.group)
                status = os.stat(path)  # a change of the owner may take bits from the mode
            if stat.S_IMODE(status.st_mode) != self.mode:
                os.chmod(path, self.mode)
            if self.access_list is not None:
                os.setxattr(path, _ACCESS_LIST, self.access_list)
        except OSError as error:
            raise FileError(
                f"cannot replace {self.path}: its owner (user {self.user}, group {self.group}) and"
                f" mode ({self.mode:04o}) cannot be kept ({error.strerror}); save as its owner,"
                " into another directory, or remove the file first",
                path=self.path,
            ) from error


def rights_to_keep(path: str | os.PathLike[str]) -> Rights | None:
    """The rights of a file that is to be replaced, or removed; None where there is no file.

    A symbolic link has the rights of the file it leads to. One that may not be written is a
    FileError.
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
    access_list = None
    with contextlib.suppress(OSError, AttributeError):  # it has none, or the system knows none
        access_list = os.getxattr(path, _ACCESS_LIST)
    return Rights(os.fspath(path), mode, status.st_uid, status.st_gid, access_list)


TEMPORARY = ".temporary-"  # how the names of files begin that are not in their place yet
UNFINISHED = (TEMPORARY, "temporary-")  # 0.2.0 did not hide them
FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_LOST = FULL | {errno.EIO}  # after these, what was written may not be on the disk


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of `path` when the block ends; where it fails nothing
    has changed.

    The file is written beside `path`, from front to back, flushed to the disk, read back and
    renamed. What processes have left there that were killed as they wrote the same file is removed.
    It is a FileError where the rights of the file that is there forbid it, else an OSError; that of
    a full disk has the name of the file that was written.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f"{TEMPORARY}{os.getpid()}-{name}")
    rights = rights_to_keep(path)
    _clear(folder or ".", name)
    try:
        with (
            naming(temporary),
            _SummedWriting(_new_file(temporary, private=rights is not None)) as file,
        ):
            # before a byte is written: what the old file kept secret stays so
            if rights is not None:
                rights.give(temporary)
            yield cast(BinaryIO, file)
            file.flush()
            os.fsync(file.fileno())
        if checksum(temporary, from_disk=True) != file.digest.hexdigest():
            raise OSError(errno.EIO, "what was written reads back differently", temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    flush_directory(folder or ".")


class _SummedWriting(io.BufferedWriter):
    """A file to write that keeps the checksum of what was written."""

    def __init__(self, handle: int) -> None:
        super().__init__(io.FileIO(handle, "w"))
        self.digest = hashlib.sha256()

    def write(self, content: Any, /) -> int:
        self.digest.update(content)
        return super().write(content)


def _clear(folder: str, name: str) -> None:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            process, _, of = entry.name.removeprefix(TEMPORARY).partition("-")
            if entry.name.startswith(TEMPORARY) and of == name:
                if (pid := process_number(process)) is not None and not is_running(pid):
                    os.unlink(entry.path)


def process_number(name: str) -> int | None:
    """The number of a process that stands in a file's name; None where none does."""
    return int(name) if name.isascii() and name.isdigit() and len(name) < 10 else None


def is_running(process: int) -> bool:
    if os.name != "posix":  # there is no harmless question: a signal 0 is a Ctrl-C on Windows
        return True
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)  # it runs, and is not ours
    return True


def _new_file(path: str, private: bool) -> int:
    """Create a file, in place of one that a killed process left; `private`: nobody else may open it
    yet.
    """
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(path, flags, 0o600 if private else 0o666)


def checksum(path: str | os.PathLike[str], *, from_disk: bool = False) -> str:
    """The SHA-256 of a regular file, in hexadecimal; `from_disk`: not of what memory holds of it,
    where that can be.
    """
    digest = hashlib.sha256()
    with open_regular(path, limit=ANY_SIZE) as file:
        if from_disk:
            # not every system lets it be forgotten
            with contextlib.suppress(OSError, AttributeError):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def put_in_place(finished: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Rename a finished file, which is on the disk already; it gets the mode and the owner of one
    that it replaces.
    """
    rights = rights_to_keep(path)
    if rights is not None:
        rights.give(finished)
    os.replace(finished, path)


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put the name of the file that is written into the error for a full disk, which has none."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            error.filename = os.fspath(path)
        raise


def flush_file(path: str | os.PathLike[str], flags: int = os.O_RDWR) -> None:
    """Have a file on the disk that was written by other means."""
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def flush_directory(directory: str | os.PathLike[str]) -> None:
    """Have the names in a directory on the disk, where the system can do that."""
    try:
        flush_file(directory, os.O_RDONLY)
    except OSError as error:
        if error.errno in _LOST:  # else this system does not let a directory be flushed
            raise OSError(error.errno, error.strerror, os.fspath(directory)) from error
