"""A pytest plugin: every encoder has its compiled kernel from its first text on.

python -m pytest -p tests.kernel.kernel_from_the_start
"""

from __future__ import annotations

from trietok.text.kernel import choosing as kernel

assert kernel.choose_kernel("compiled", text_before_kernel=0), (
    "not built: python -m trietok.text.kernel.build"
)


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"compiled kernels: {kernel.kernels_made()} were made")
