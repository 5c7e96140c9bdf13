"""The kernel's sources are compiled without a warning by every compiler, and what is compiled is
sound; where that fails, a line says why, and trietok stays plain Python.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.conftest import needs, often
from trietok.text.kernel import build as kernel_build

ROOT = Path(__file__).parents[2]
WINDOWS = ROOT / "tests" / "data" / "windows" / "pyconfig.h"
needs_compiler = pytest.mark.skipif(
    sys.version_info < (3, 11)
    or sys.platform != "linux"
    or shutil.which("cc") is None
    or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="needs cc: and a Python that can load the kernel",
)
SECONDS = str(often(8, 30))  # of a program
APART = str(often(60, 20))  # how many allocations lie between two that fail
STRICT = ("-Wall", "-Wextra", "-Werror")
SANITIZERS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
FAILING = "-DTRIETOK_FAILING_ALLOCATOR"
KINDS_OF_BUILD = pytest.mark.parametrize(
    "options", [(), ("-DTRIETOK_NO_SIMD",)], ids=["with SIMD", "without SIMD"]
)


def built(folder: Path, *options: str) -> Path:
    """The library, compiled with these options and no warning; nothing else is left behind."""
    library = folder / kernel_build.LIBRARY
    kernel_build.compile_kernel(library, [*STRICT, *options])
    assert os.listdir(folder) == [library.name]
    return library


def run(library: Path, task: str, argument: str, **environment: str) -> str:
    """What a task of `program.py` prints with this library."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.kernel.program",
        library,
        task,
        argument,
    ]
    done = subprocess.run(
        command,
        env={**os.environ, "TRIETOK_PARALLELISM": "2", **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def path_of(library: str) -> str:
    asked = ["cc", f"-print-file-name={library}"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def with_sanitizers() -> dict[str, str]:
    return {
        "LD_PRELOAD": f"{path_of('libasan.so')} {path_of('libubsan.so')}",
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0",
    }


@needs_compiler
@pytest.mark.faults
def test_sanitizers_find_nothing_on_random_texts(tmp_path):
    library = built(tmp_path, *SANITIZERS)
    assert " 0 differ" in run(library, "fuzz", SECONDS, **with_sanitizers())


@needs_compiler
@pytest.mark.faults
def test_sanitizers_find_nothing_when_allocations_fail(tmp_path):
    library = built(tmp_path, FAILING, *SANITIZERS)
    apart = str(often(80, nightly=40))  # each takes several times as long as without
    assert "nothing was lost" in run(library, "fail", apart, **with_sanitizers())


@needs_compiler
@pytest.mark.faults
def test_no_thread_reads_what_another_writes(tmp_path):
    library = built(tmp_path, "-O1", "-g", "-fsanitize=thread")
    options = "exitcode=66 die_after_fork=0"  # a child starts threads too
    libraries = {"LD_PRELOAD": path_of("libtsan.so"), "TSAN_OPTIONS": options}
    shown = run(library, "stress", str(often(10, 20)), **libraries)
    assert "0 differ" in shown
    assert (os.cpu_count() or 1) < 2 or " 0 helped" not in shown


@needs_compiler
@pytest.mark.faults
@KINDS_OF_BUILD
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_every_build_equals_plain_python_and_survives_without_memory(
    tmp_path, monkeypatch, compiler, options
):
    monkeypatch.setenv("CC", installed(compiler))
    library = built(tmp_path, FAILING, *options)
    assert " 0 differ" in run(library, "fuzz", SECONDS)
    assert "nothing was lost" in run(library, "fail", APART)
    assert "0 differ" in run(library, "stress", "2")


def installed(compiler: str) -> str:
    """The compiler's path; the test is skipped where it is not installed."""
    path = shutil.which(compiler)
    if path is None:
        pytest.skip(f"needs {compiler}")
    return path


@needs_compiler
@pytest.mark.faults
@KINDS_OF_BUILD
@pytest.mark.parametrize("compiler", ["MinGW", "Clang for x86_64", "Clang for aarch64"])
def test_windows_build_compiles_without_a_warning(tmp_path, compiler, options):
    """With the headers of Windows, which have names such as WORD; nothing is linked."""
    if compiler == "MinGW":
        command = [installed("x86_64-w64-mingw32-gcc")]
    else:
        needs("ziglang")  # the package has a Clang with the headers
        machine = compiler.removeprefix("Clang for ")
        command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-windows-gnu"]
    command += [
        each
        for each in kernel_build.COMPILER_OPTIONS
        if each not in ("-fPIC", "-fvisibility=hidden")
    ]
    command += ["-include", str(WINDOWS), f"-I{sysconfig.get_path('include')}"]
    command += [*STRICT, '-DTRIETOK_SOURCES=""', *options]
    for source in kernel_build.SOURCES:
        done = subprocess.run(
            [*command, "-c", str(source), "-o", str(tmp_path / "kernel.obj")],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr


@needs_compiler
@pytest.mark.parametrize("compiler", ["no-such-compiler", "false", "'"])
def test_a_broken_compiler_leaves_no_file(tmp_path, monkeypatch, compiler):
    monkeypatch.setenv("CC", compiler)
    with pytest.raises(kernel_build.NoKernelError):
        kernel_build.compile_kernel(tmp_path / kernel_build.LIBRARY)
    assert os.listdir(tmp_path) == []


def test_the_build_command_says_why_trietok_stays_plain():
    command = [sys.executable, "-m", "trietok.text.kernel.build"]
    environment = {**os.environ, "CC": "no-such-compiler"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1
    assert "trietok stays plain Python" in done.stderr
