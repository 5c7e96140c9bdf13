"""What trietok says: to its logger, with Python's logging imported only then, and of options with
another name now.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps

from trietok.later import Any, ParamSpec, TypeVar, warnings

_Options = ParamSpec("_Options")
_Result = TypeVar("_Result")


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


def renamed(
    values: Mapping[str, Mapping[str, str]] | None = None, /, **names: str
) -> Callable[[Callable[_Options, _Result]], Callable[_Options, _Result]]:
    """Let a function take options by their former names too, with a DeprecationWarning that says
    what they are now.

    Args:
        values: former name → former value → the value that means the same now.
        **names: former name → name.
    """

    def decorate(function: Callable[_Options, _Result]) -> Callable[_Options, _Result]:
        @wraps(function)
        def call(*args: _Options.args, **options: _Options.kwargs) -> _Result:
            for former in names.keys() & options.keys():
                name, value = names[former], options.pop(former)
                said = (
                    f"{function.__qualname__.removesuffix('.__init__')}: {former} is called"
                    f" {name} now"
                )
                if name in options:
                    raise TypeError(f"{said}, and both are given; leave out {former}")
                warnings.warn(said, DeprecationWarning, stacklevel=2)
                now = (values or {}).get(former, {})
                options[name] = now.get(value, value) if isinstance(value, str) else value
            return function(*args, **options)

        return call

    return decorate
