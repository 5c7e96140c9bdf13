"""The command line: the package's public interface behind `trietok encode`, `tokenize` and
`decode`.

In: the arguments of the command. Out: text, tables or JSON lines on standard output. click and rich
come with the extra `cli` and are imported only when the command runs.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

from trietok.cli.interrupts import stopped


def main() -> None:
    """Run the command with the arguments of the process, and leave with its exit code."""
    try:
        import click  # noqa: F401

        if find_spec("rich") is None:  # imported when something is shown on a terminal
            raise ImportError
    except ImportError:
        from trietok.errors import installing

        print(f"trietok's command needs click and rich: {installing('cli')}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt as interrupt:
        sys.exit(stopped(interrupt))
    try:
        from trietok.cli.app import app

        app(prog_name="trietok")
    except KeyboardInterrupt as interrupt:
        sys.exit(stopped(interrupt))
