"""Compiles the C kernel, for a checkout or a wheel.

    python -m trietok.text.kernel.build [--full-api] [OPTION OF THE COMPILER ...]

In: the C sources beside this file, and a C compiler: `$CC`, or the one that Python was built with.
Out: one shared library that every CPython from 3.11 on loads; with `--full-api` one for this
version only, a little faster, which it finds before the other. Or a line that says why there is
none. Then trietok does the same in plain Python.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Sequence

SOURCE = pathlib.Path(__file__).with_name("_kernel.c")
LIBRARY = "_kernel.pyd" if sys.platform == "win32" else "_kernel.abi3.so"
WHEEL_TAG = "cp311-abi3"
COMPILER_OPTIONS = ("-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
# The compiler of Windows, which a prompt of Visual Studio finds; it writes files of its own beside
# the library.
OF_WINDOWS = ("/nologo", "/O2", "/DNDEBUG", "/std:c11", "/experimental:c11atomics", "/LD", "/utf-8")
SECONDS = 300


class NoKernelError(Exception):
    """The kernel could not be compiled; the message is one line that says why."""


def sources_digest() -> str:
    """The sha256 of the C sources, which a kernel made of them has as `SOURCES`."""
    sources = sorted(SOURCE.parent.glob("_kernel*.[ch]"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


def compile_kernel(library: pathlib.Path, options: Sequence[str] = ()) -> None:
    """Compile the kernel.

    Args:
        library: the file to write.
        options: more options for the compiler.

    Raises:
        NoKernelError: there is no compiler for it, or it fails.
    """
    reason = _why_not_here()
    if reason:
        raise NoKernelError(reason)
    compiler = _compiler()
    # a library in use is replaced, not written over
    written = library.with_name(f"{library.name}.{os.getpid()}")
    command = _command(compiler, [f'-DTRIETOK_SOURCES="{sources_digest()}"', *options], written)
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=SECONDS, errors="replace"
        )
        written.replace(library)
    except subprocess.CalledProcessError as error:
        lines = [
            line for line in f"{error.stdout}{error.stderr}".splitlines() if "error" in line
        ] or ["it says nothing"]
        raise NoKernelError(f"the C compiler {compiler[0]} fails: {lines[0].strip()}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise NoKernelError(f"the C compiler {compiler[0]} does not run: {error}") from error
    finally:
        for ending in ("", ".obj", ".lib", ".exp"):
            written.with_name(written.name + ending).unlink(missing_ok=True)


def _command(compiler: list[str], options: Sequence[str], written: pathlib.Path) -> list[str]:
    include = f"-I{sysconfig.get_path('include')}"
    if sys.platform == "win32":
        libraries = pathlib.Path(sys.base_prefix, "libs")
        beside = [
            f"/Fe{written}",
            f"/Fo{written}.obj",
            "/link",
            f"/IMPLIB:{written}.lib",
            f"/LIBPATH:{libraries}",
        ]
        return [*compiler, *OF_WINDOWS, *options, include, str(SOURCE), *beside]
    link = (
        ["-bundle", "-undefined", "dynamic_lookup"]
        if sys.platform == "darwin"
        else ["-shared", "-pthread"]
    )
    return [*compiler, *COMPILER_OPTIONS, *options, include, str(SOURCE), *link, "-o", str(written)]


def _compiler() -> list[str]:
    """The command of the C compiler."""
    usual = "cl" if sys.platform == "win32" else "cc"
    given = os.environ.get("CC") or sysconfig.get_config_var("CC") or usual
    try:
        return shlex.split(given, posix=sys.platform != "win32") or [usual]
    except ValueError as error:
        raise NoKernelError(f"the C compiler {given!r} is no command: {error}") from error


def _why_not_here() -> str | None:
    """Why this Python can load no such library; None where it can."""
    if sys.implementation.name != "cpython" or sys.version_info < (3, 11):
        return "it needs CPython 3.11 or newer"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "free-threaded builds of Python cannot load it"
    if sys.byteorder != "little" or sys.maxsize < 2**32:
        return "it needs a 64-bit machine whose numbers begin with their lowest byte"
    return None


def main() -> int:
    """Compile the kernel in place."""
    options = [
        "-DTRIETOK_FULL_API" if option == "--full-api" else option for option in sys.argv[1:]
    ]
    name = (
        f"_kernel{sysconfig.get_config_var('EXT_SUFFIX')}" if "--full-api" in sys.argv else LIBRARY
    )
    library = SOURCE.with_name(name)
    try:
        compile_kernel(library, options)
    except NoKernelError as error:
        print(f"no compiled kernel: {error}; trietok stays plain Python", file=sys.stderr)
        return 1
    print(f"compiled {library}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
