"""Compiles the C kernel, for a checkout or a wheel.

    python -m trietok.text.kernel.build [OPTION OF THE COMPILER ...]

In: the C sources beside this file, and a C compiler: `$CC`, or the one that Python was built with.
Out: one shared library that every CPython from 3.11 on loads. Or a line that says why there is
none. Then trietok does the same in plain Python.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence

FOLDER = pathlib.Path(__file__).parent
SOURCES = [FOLDER / f"{name}.c" for name in ("words", "texts", "terms", "columns", "module")]
OBJECT = ".obj" if sys.platform == "win32" else ".o"
LIBRARY = "_kernel.pyd" if sys.platform == "win32" else "_kernel.abi3.so"
WHEEL_TAG = "cp311-abi3"
COMPILER_OPTIONS = ("-O3", "-DNDEBUG", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra")
OF_WINDOWS = ("/nologo", "/O2", "/DNDEBUG", "/std:c11", "/utf-8")
SECONDS = 300


class NoKernelError(Exception):
    """The kernel could not be compiled; the message is one line that says why."""


def sources_digest() -> str:
    """The sha256 of the C sources, which a kernel made of them has as `SOURCES`."""
    digest = hashlib.sha256()
    for source in [FOLDER / "kernel.h", *SOURCES]:
        digest.update(source.read_bytes())
    return digest.hexdigest()


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
    options = [f'-DTRIETOK_SOURCES="{sources_digest()}"', *options]
    try:
        with tempfile.TemporaryDirectory() as folder:
            objects = [pathlib.Path(folder, source.name).with_suffix(OBJECT) for source in SOURCES]
            for source, compiled in zip(SOURCES, objects, strict=True):
                _run([*compiler, *options, *_compile_options(source, compiled)])
            linked = pathlib.Path(folder, library.name)
            _run([*compiler, *options, *_link_options(objects, linked)])
            _replace(library, linked)
    except OSError as error:
        raise NoKernelError(f"{library} cannot be written: {error}") from error


def _replace(library: pathlib.Path, linked: pathlib.Path) -> None:
    """Replace a library, which may be in use, instead of writing over it."""
    copied = library.with_name(f"{library.name}.{os.getpid()}")
    try:
        shutil.copy(linked, copied)
        copied.replace(library)
    finally:
        copied.unlink(missing_ok=True)


def _run(command: list[str]) -> None:
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=SECONDS, errors="replace"
        )
    except subprocess.CalledProcessError as error:
        lines = [
            line for line in f"{error.stdout}{error.stderr}".splitlines() if "error" in line
        ] or ["it says nothing"]
        raise NoKernelError(f"the C compiler {command[0]} fails: {lines[0].strip()}") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise NoKernelError(f"the C compiler {command[0]} does not run: {error}") from error


def _compile_options(source: pathlib.Path, compiled: pathlib.Path) -> list[str]:
    include = f"-I{sysconfig.get_path('include')}"
    if sys.platform == "win32":
        return [*OF_WINDOWS, include, "/c", str(source), f"/Fo{compiled}"]
    return [*COMPILER_OPTIONS, include, "-c", str(source), "-o", str(compiled)]


def _link_options(objects: list[pathlib.Path], library: pathlib.Path) -> list[str]:
    files = [*map(str, objects)]
    if sys.platform == "win32":
        libraries = pathlib.Path(sys.base_prefix, "libs")
        return ["/nologo", "/LD", *files, f"/Fe{library}", "/link", f"/LIBPATH:{libraries}"]
    if sys.platform == "darwin":
        return ["-bundle", "-undefined", "dynamic_lookup", *files, "-o", str(library)]
    return ["-shared", "-pthread", *files, "-o", str(library)]


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
    library = FOLDER / LIBRARY
    try:
        compile_kernel(library, sys.argv[1:])
    except NoKernelError as error:
        print(f"no compiled kernel: {error}; trietok stays plain Python", file=sys.stderr)
        return 1
    print(f"compiled {library}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
