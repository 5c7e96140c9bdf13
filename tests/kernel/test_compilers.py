"""The kernel's sources with other compilers than the one that Python was built with, without a
warning.

Clang is what macOS has, and MinGW reads the headers of Windows. The session `compilers` of
noxfile.py runs this.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import needs
from trietok.text.kernel.build import COMPILER_OPTIONS, LIBRARY, SOURCE, compile_kernel

pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(
        sys.version_info < (3, 11)
        or sys.platform != "linux"
        or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        reason="needs Linux: and a Python that can load the kernel",
    ),
]
ROOT = Path(__file__).parents[2]
WINDOWS = ROOT / "tests" / "data" / "windows" / "pyconfig.h"
STRICT = ("-Wall", "-Wextra", "-Werror")
BUILDS = pytest.mark.parametrize(
    "options",
    [(), ("-DTRIETOK_FULL_API",), ("-DTRIETOK_NO_SIMD",)],
    ids=["stable ABI", "full API", "without SIMD"],
)


def path_of(compiler: str) -> str:
    """The compiler's path; the test is skipped where it is not installed."""
    path = shutil.which(compiler)
    if path is None:
        pytest.skip(f"needs {compiler}")
    return path


@BUILDS
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_is_compiled_without_a_warning_and_encodes(compiler, options, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", path_of(compiler))
    library = tmp_path / LIBRARY
    compile_kernel(library, [*STRICT, *options])
    command = [
        sys.executable,
        "-m",
        "tests.kernel.run_with_kernel",
        str(library),
        "tests.kernel.stress_kernel",
        "1",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differ" in done.stdout


def for_windows(compiler: list[str], options: tuple[str, ...], written: Path) -> None:
    """Compile the sources for Windows, as the headers of MinGW have it; nothing is linked."""
    common = [
        option for option in COMPILER_OPTIONS if option not in ("-fPIC", "-fvisibility=hidden")
    ]
    include = f"-I{sysconfig.get_path('include')}"
    command = [
        *compiler,
        *common,
        *STRICT,
        "-include",
        str(WINDOWS),
        include,
        '-DTRIETOK_SOURCES=""',
        *options,
    ]
    done = subprocess.run(
        [*command, "-c", str(SOURCE), "-o", str(written)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@BUILDS
def test_it_is_compiled_for_windows_without_a_warning(options, tmp_path):
    for_windows([path_of("x86_64-w64-mingw32-gcc")], options, tmp_path / "kernel.obj")


@BUILDS
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_clang_compiles_it_for_windows_without_a_warning(machine, options, tmp_path):
    """The Clang of the package `ziglang` has the headers of Windows; those have names such as
    WORD.
    """
    needs("ziglang")
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-windows-gnu"]
    for_windows(compiler, options, tmp_path / "kernel.obj")
