"""`--offline`, which every command has beside its own options.

In: the function of a command. Out: one with an option more, which asks nobody on the network.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from typing import Annotated, Any

import typer

_OPTION = Annotated[
    bool, typer.Option("--offline", help="Ask no hub: a model on it is taken from the cache, or is an error.")
]


def with_offline(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the option `--offline`."""

    @functools.wraps(command)
    def run(*args: Any, offline: bool, **options: Any) -> None:
        if offline:  # read when huggingface_hub is imported, in processes that a command starts, too
            os.environ["HF_HUB_OFFLINE"] = "1"
        command(*args, **options)

    own = inspect.signature(command, eval_str=True)
    parameter = inspect.Parameter("offline", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=_OPTION)
    parameters = [*own.parameters.values(), parameter]
    # typer reads both.
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run
