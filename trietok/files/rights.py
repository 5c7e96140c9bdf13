"""What a new file takes over from the file it replaces: its mode, its owner and its access list.

In: the path of a file that is to be replaced. Out: its rights, or an error that says why it must not be replaced.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import NamedTuple

from trietok.errors import FileError

_ACCESS_LIST = "system.posix_acl_access"  # the name under which Linux keeps a file's access list


class Rights(NamedTuple):
    """The rights of a file: `path` names it, `mode` is what chmod sets, `access_list` as the system stores it."""

    path: str
    mode: int
    user: int
    group: int
    access_list: bytes | None

    def give(self, path: str | os.PathLike[str]) -> None:
        """Give another file these rights.

        Raises:
            FileError: the system does not allow it; only root may give a file to another user.
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
                f"cannot replace {self.path}: its owner (user {self.user}, group {self.group}) and mode "
                f"({self.mode:04o}) cannot be kept ({error.strerror}); save as its owner, into another directory, or "
                "remove the file first",
                path=self.path,
            ) from error


def rights_to_keep(path: str | os.PathLike[str]) -> Rights | None:
    """The rights of a file that is to be replaced, or removed; None where there is no file.

    A symbolic link has the rights of the file it leads to.

    Raises:
        FileError: it is write-protected, or this user may not write it; it is a directory, or no regular file.
        OSError: what the system says to a path that it cannot look up.
    """
    name = os.fspath(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise FileError(f"cannot replace {name}: it is {kind}; move it away, or save elsewhere", path=path)
    mode = stat.S_IMODE(status.st_mode)
    if not mode & 0o222:
        raise FileError(
            f"cannot replace {name}: it is write-protected (mode {mode:04o}); make it writable (chmod u+w), or save "
            "into another directory",
            path=path,
        )
    if not os.access(path, os.W_OK):
        raise FileError(
            f"cannot replace {name}: this user may not write it (mode {mode:04o}, owner {status.st_uid}), or it is "
            "immutable (lsattr tells) or on a read-only mount; change that, or save into another directory",
            path=path,
        )
    access_list = None
    with contextlib.suppress(OSError, AttributeError):  # it has none, or the system knows none
        access_list = os.getxattr(path, _ACCESS_LIST)
    return Rights(name, mode, status.st_uid, status.st_gid, access_list)
