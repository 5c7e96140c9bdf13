"""What trietok has to say, to the logger `trietok`; Python's logging is imported when there is something to say."""

from __future__ import annotations

from typing import Any


def warning(message: str, *args: Any) -> None:
    """Log a warning; the arguments are those of `logging.Logger.warning`."""
    import logging

    logging.getLogger("trietok").warning(message, *args, stacklevel=2)


def error(message: str, *args: Any) -> None:
    """Log an error; the arguments are those of `logging.Logger.error`."""
    import logging

    logging.getLogger("trietok").error(message, *args, stacklevel=2)
