"""What trietok says to its logger, with Python's logging imported only then."""

from __future__ import annotations

import sys
from typing import Any


def is_info_heard() -> bool:
    """Whether anybody wants to hear more than warnings; whoever does has imported Python's
    logging.
    """
    logging = sys.modules.get("logging")
    return logging is not None and bool(logging.getLogger("trietok").isEnabledFor(logging.INFO))


def info(message: str, *args: Any) -> None:
    """Log what may be of interest; the arguments are those of `logging.Logger.info`."""
    import logging

    logging.getLogger("trietok").info(message, *args, stacklevel=2)


def warning(message: str, *args: Any) -> None:
    """Log a warning; the arguments are those of `logging.Logger.warning`."""
    # nobody has set it up; to import it takes longer than to encode a text
    if "logging" not in sys.modules:
        if sys.stderr is not None:
            print(message % args if args else message, file=sys.stderr, flush=True)
        return
    import logging

    logging.getLogger("trietok").warning(message, *args, stacklevel=2)


def error(message: str, *args: Any) -> None:
    """Log an error; the arguments are those of `logging.Logger.error`."""
    import logging

    logging.getLogger("trietok").error(message, *args, stacklevel=2)
