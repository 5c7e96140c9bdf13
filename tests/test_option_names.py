"""One name for one option, in all public functions; former names are taken for one version, with a
warning.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import pathlib
import pickle
import subprocess
import sys
import warnings
from importlib import import_module

import pytest

import trietok
import trietok.benchmarking
import trietok.training
from trietok.log import renamed

# Former name → name; of `(function, name)` where it is another option's name elsewhere.
FORMER = {
    "check": {"path": "model"},
    "fix": {"path": "model", "out": "output"},
    "export": {"to": "file_format", "path": "output"},
    "encode_files": {"out": "output", "keep": "keep_columns"},
    "save_tokenizer": {"directory": "output"},
    "training.save_chinese_bpe": {"directory": "output", "sentences": "texts"},
    "count_words": {"processes": "workers", "on_progress": "progress"},
    "train_wordpiece": {"processes": "workers", "on_progress": "progress"},
    "train_bpe": {"processes": "workers", "on_progress": "progress"},
    "train_chinese_bpe": {"sentences": "texts", "on_progress": "progress"},
    "suggest_tokens": {"max_suggestions": "most", "adding": "way"},
    "benchmarking.measure": {"against": "engines"},
    "benchmarking.validate": {"against": "engines"},
    "TextFiles": {"errors": "on_error"},
    "TokenizeBatch": {"keep": "keep_columns"},
}
# No function has an option of these names; each is in the table above or means what has another
# name.
GONE = {name for names in FORMER.values() for name in names} - {"path", "to", "keep"}


def functions() -> dict[str, inspect.Signature]:
    names = [*trietok.__all__, *trietok._FORMER]
    names += (f"training.{name}" for name in trietok.training.__all__)
    names += ["benchmarking.measure", "benchmarking.validate"]
    found = {name: public(name) for name in names if name not in ("__version__", "kernel")}
    return {
        name: inspect.signature(each) for name, each in found.items() if inspect.isfunction(each)
    }


def public(name: str):
    found = trietok
    for part in name.split("."):
        home = trietok._HOMES.get(part) if part in trietok._FORMER else None  # which does not warn
        found = getattr(found if home is None else import_module(f"trietok.{home}"), part)
    return found


def test_no_function_has_a_former_name():
    for name, signature in functions().items():
        assert not GONE & signature.parameters.keys(), name


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


def test_every_former_name_leads_to_an_option():
    for name, names in FORMER.items():
        parameters = inspect.signature(public(name)).parameters
        assert set(names.values()) <= parameters.keys(), name
        assert not names.keys() & parameters.keys(), name


@pytest.mark.parametrize(
    ("name", "former"), [(name, former) for name, names in FORMER.items() for former in names]
)
def test_a_former_name_is_taken_with_a_warning(name, former, monkeypatch, tmp_path):
    said = f"{name.rpartition('.')[2]}: {former} is called {FORMER[name][former]} now"
    function = public(name)
    required = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.default is each.empty
        and each.kind is each.POSITIONAL_OR_KEYWORD
        and each.name != FORMER[name][former]
    ]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        # what it is given is nothing
        with contextlib.suppress(trietok.TrietokError, TypeError, AttributeError):
            function(**dict.fromkeys(required), **{former: object()})
    assert [str(each.message) for each in seen if each.category is DeprecationWarning] == [said]
    assert seen[0].filename == __file__
    with pytest.raises(TypeError, match=f"both are given; leave out {former}"):
        function(**dict.fromkeys(required), **{former: object(), FORMER[name][former]: object()})


def test_former_values_mean_what_they_meant(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xff")
    with pytest.warns(DeprecationWarning, match="TextFiles: errors is called on_error now"):
        files = trietok.TextFiles(path, errors="strict")
    assert files.on_error == "fail"
    english = trietok.BertTokenizer.from_pretrained("trietok-en")
    with pytest.warns(DeprecationWarning, match="suggest_tokens: adding is called way now"):
        found = trietok.suggest_tokens(english, ["covid"] * 3, adding="added")
    assert found == trietok.suggest_tokens(english, ["covid"] * 3, way="single-word")


def test_present_names_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trietok.count_words(["a a"], workers=1, progress=lambda state: None) == {"a": 2}
        assert trietok.check(model="trietok-en").ok


def test_a_function_with_former_names_is_still_itself():
    @renamed(old="new")
    def double(new: int) -> int:
        """Twice."""
        return 2 * new

    assert (double(2), double.__doc__, str(inspect.signature(double))) == (
        4,
        "Twice.",
        "(new: 'int') -> 'int'",
    )
    assert pickle.loads(pickle.dumps(trietok.count_words)) is trietok.count_words


def test_dir_lists_public_names_only():
    assert dir(trietok) == sorted(trietok.__all__)
    assert dir(trietok.training) == sorted(trietok.training.__all__)
    program = (
        "import trietok, trietok.clients, trietok.corpus, rlcompleter\nprint([module.__name__ for"
        " module in (trietok, trietok.clients, trietok.corpus) if dir(module) !="
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


def test_importing_all_names_warns_of_none():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names: dict[str, object] = {}
        exec("from trietok import *", names)
    assert names["BertTokenizer"] is trietok.BertTokenizer
    assert not names.keys() & trietok._FORMER.keys()


@pytest.mark.parametrize("name", ["fingerprint", "find_unknown"])
def test_a_function_that_a_method_replaces_warns_and_still_works(name):
    tokenizer, texts = (
        trietok.BertTokenizer.from_pretrained("trietok-en"),
        ([["\u2603"]] if name != "fingerprint" else []),
    )
    with pytest.warns(
        DeprecationWarning, match=rf"^trietok.{name} will go; write tokenizer.{name}\("
    ):
        former = getattr(trietok, name)
    assert former(tokenizer, *texts) == getattr(tokenizer, name)(*texts)


def test_suggestions_are_added_as_terms_are():
    english = trietok.BertTokenizer.from_pretrained("trietok-en")
    found = trietok.suggest_tokens(english, ["zoology"] * 3)
    with pytest.warns(
        DeprecationWarning,
        match=r"^trietok.add_suggestions will go; write add_terms\(tokenizer, suggestions\)$",
    ):
        former = trietok.add_suggestions
    assert former(copy.deepcopy(english), found).added == 1
    assert trietok.add_terms(english, found).added == {"zoology": 8000}
