"""One name for one option, in all public functions."""

from __future__ import annotations

import inspect
import pathlib
import subprocess
import sys

import trietok
import trietok.training


def functions() -> dict[str, inspect.Signature]:
    names = [*trietok.__all__]
    names += (f"training.{name}" for name in trietok.training.__all__)
    found = {name: public(name) for name in names if name not in ("__version__", "kernel")}
    return {
        name: inspect.signature(each) for name, each in found.items() if inspect.isfunction(each)
    }


def public(name: str):
    found = trietok
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_an_option_means_the_same_everywhere():
    """Where a name of the table is taken, its annotation is of the same kind."""
    kinds = {
        "workers": "int | None",
        "on_error": "str",
        "way": "str",
        "most": "int",
        "profile": "Profile | None",
    }
    starts = {
        "output": "str | os.PathLike[str]",
        "model": "str | os.PathLike[str]",
        "texts": "Iterable[str]",
    }
    for name, signature in functions().items():
        for option, parameter in signature.parameters.items():
            if option in kinds:
                assert parameter.annotation in (kinds[option], f"{kinds[option]} | None"), (
                    name,
                    option,
                )
            if option in starts:
                assert parameter.annotation.startswith(starts[option]), (name, option)


def test_dir_lists_public_names_only():
    assert dir(trietok) == sorted(trietok.__all__)
    assert dir(trietok.training) == sorted(trietok.training.__all__)
    program = (
        "import trietok, trietok.clients, rlcompleter\nprint([module.__name__ for"
        " module in (trietok, trietok.clients) if dir(module) !="
        " sorted(module.__all__)])\ncomplete = rlcompleter.Completer({'trietok':"
        " trietok}).complete\nfound = list(iter(map(lambda n: complete('trietok.', n),"
        " range(1000)).__next__, None))\nprint([each for each in found if 'import_module' in each"
        " or '_HOMES' in each], len(found) > 50)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=pathlib.Path(__file__).parent,
    )
    assert (done.stdout, done.stderr) == ("[]\n[] True\n", "")
