"""The kernel is compiled where a compiler is there, without a warning, and is sound; elsewhere a
line says why not.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest

from tests.conftest import often
from trietok.text.kernel import build as build_kernel
from trietok.text.kernel.build import NoKernelError, compile_kernel

needs_compiler = pytest.mark.skipif(
    sys.version_info < (3, 11)
    or sys.platform != "linux"
    or shutil.which("cc") is None
    or bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
    reason="needs cc: and a Python that can load the kernel",
)
FUZZED = str(often(5, 30))  # seconds of each run of random texts
STRESSED = str(often(10, 20))  # seconds of threads
APART = str(often(12, 4))  # how many allocations lie between two that fail
STRICT = ("-Werror",)
SANITIZERS = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
FAILING = ("-DTRIETOK_FAILING_ALLOCATOR",)


def run(library, module, *arguments, **environment):
    command = [
        sys.executable,
        "-m",
        "tests.kernel.run_with_kernel",
        str(library),
        module,
        *arguments,
    ]
    shown = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=900
    )
    assert shown.returncode == 0, shown.stdout + shown.stderr
    return shown.stdout


def path_of(library):
    asked = ["cc", f"-print-file-name={library}"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def with_sanitizers():
    return {
        "LD_PRELOAD": f"{path_of('libasan.so')} {path_of('libubsan.so')}",
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0",
    }


@needs_compiler
@pytest.mark.faults
def test_it_is_compiled_without_a_warning_and_fails_cleanly_without_memory(tmp_path):
    library = tmp_path / build_kernel.LIBRARY
    compile_kernel(library, [*STRICT, *FAILING])
    assert os.listdir(tmp_path) == [library.name]
    assert "nothing was lost" in run(library, "tests.kernel.fail_allocations", APART)
    assert " 0 differ" in run(library, "tests.kernel.stress_kernel", "1")


@needs_compiler
@pytest.mark.faults
def test_sanitizers_find_nothing_where_memory_fails(tmp_path):
    library = tmp_path / build_kernel.LIBRARY
    compile_kernel(library, [*STRICT, *FAILING, *SANITIZERS])
    assert "nothing was lost" in run(
        library, "tests.kernel.fail_allocations", APART, **with_sanitizers()
    )


@needs_compiler
@pytest.mark.faults
def test_sanitizers_find_nothing_in_random_texts(tmp_path):
    library = tmp_path / build_kernel.LIBRARY
    compile_kernel(library, [*STRICT, *SANITIZERS])
    shown = run(library, "tests.kernel.fuzz_kernel", FUZZED, **with_sanitizers())
    assert " 0 differ; kernels were made: True" in shown


@needs_compiler
@pytest.mark.faults
def test_sanitizers_find_nothing_in_the_tests_of_the_kernel(tmp_path):
    library = tmp_path / build_kernel.LIBRARY
    compile_kernel(library, [*STRICT, *SANITIZERS])
    options = ("-q", "-n", "0", "-m", "not parity", "-p", "tests.kernel.kernel_from_the_start")
    paths = (
        "tests/kernel/test_kernel.py",
        "tests/core/test_rows.py",
        "tests/core/test_call_plan.py",
    )
    environment = {**with_sanitizers(), "HYPOTHESIS_PROFILE": "dev"}
    assert " passed" in run(library, "pytest", *options, *paths, **environment)


@needs_compiler
@pytest.mark.faults
@pytest.mark.parametrize("option", ["-DTRIETOK_NO_SIMD", "-DTRIETOK_FULL_API"])
def test_other_builds_do_the_same(tmp_path, option):
    library = tmp_path / build_kernel.LIBRARY
    compile_kernel(library, [*STRICT, *FAILING, option])
    assert "nothing was lost" in run(library, "tests.kernel.fail_allocations", APART)
    assert " 0 differ; kernels were made: True" in run(library, "tests.kernel.fuzz_kernel", FUZZED)


@needs_compiler
@pytest.mark.faults
def test_no_thread_reads_what_another_writes(tmp_path):
    library = tmp_path / build_kernel.LIBRARY
    compile_kernel(library, [*STRICT, "-O1", "-g", "-fsanitize=thread"])
    options = "exitcode=66 die_after_fork=0"  # a child starts threads too
    shown = run(
        library,
        "tests.kernel.stress_kernel",
        STRESSED,
        LD_PRELOAD=path_of("libtsan.so"),
        TSAN_OPTIONS=options,
    )
    assert " 0 differ" in shown
    assert " 0 threads helped" not in shown


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false", "'"])
@needs_compiler
def test_a_broken_compiler_leaves_no_file(tmp_path, monkeypatch, compiler):
    monkeypatch.setenv("CC", compiler)
    with pytest.raises(NoKernelError):
        compile_kernel(tmp_path / build_kernel.LIBRARY)
    assert os.listdir(tmp_path) == []


def test_the_command_says_that_trietok_stays_plain(monkeypatch, capsys):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr(sys, "argv", ["build_kernel"])
    assert build_kernel.main() == 1
    assert "trietok stays plain Python" in capsys.readouterr().err
