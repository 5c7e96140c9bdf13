"""The house: packages import from the rows below them, without cycles, and nothing loads what it
does not need.
"""

from __future__ import annotations

import ast
import inspect
import pickle
import subprocess
import sys
import typing
from collections import namedtuple
from importlib import import_module

import pytest

import trietok
from tests import layout
from trietok.inputs.batch_encoding import CharSpan
from trietok.named_tuple import FEW_OBJECTS, NamedTuple

GRAPH = layout.graph_of(layout.ROOT)


def test_packages_import_from_the_rows_below():
    assert layout.against_rows(GRAPH) == []


def test_no_module_imports_itself_by_a_detour():
    assert layout.cycles(GRAPH) == []


def test_a_module_can_be_read_in_one_sitting():
    assert layout.longer_modules(layout.lines_of(layout.ROOT)) == set()


def test_a_name_has_one_meaning(tmp_path):
    """No two modules define a public name, but for those that have a reason."""
    assert layout.names_of_several(layout.ROOT).keys() == layout.SHARED_NAMES.keys()
    package = tmp_path / "trietok"
    package.mkdir()
    (package / "one.py").write_text(
        "if True:\n    def part(): ...\n_own, (LIMIT, other) = 1, (2, 3)\n"
    )
    (package / "two.py").write_text("class part: ...\n_own: int = 1\nLIMIT: int = 2\n")
    assert layout.names_of_several(tmp_path) == {"LIMIT": ["one", "two"], "part": ["one", "two"]}


def test_no_chain_of_imports_is_long():
    assert len(layout.longest_chain(GRAPH)) <= layout.LONGEST_CHAIN


def test_the_core_works_alone(tmp_path):
    """With every wing blocked from import, a tokenizer is loaded, called, changed, saved, explained
    and trained.
    """
    program = f"""
import sys
for wing in {layout.WINGS}:
    sys.modules[f"trietok.{{wing}}"] = None
import trietok
for kind in (trietok.BertTokenizer, trietok.BertTokenizerFast, trietok.AutoTokenizer):
    tokenizer = kind.from_pretrained("trietok-en")
    tokenizer.add_tokens(["covid-19"])
    ids = tokenizer(["The people", "covid-19"], padding=True, return_tensors="np")["input_ids"].tolist()
    tokenizer.save_pretrained({str(tmp_path / "saved")!r})
    assert kind.from_pretrained({str(tmp_path / "saved")!r})(["The people", "covid-19"], padding=True).input_ids == ids
    assert tokenizer.decode(ids[1], skip_special_tokens=True) == "covid-19"
    assert tokenizer.explain("covid-19 ᚠ").input_ids == tokenizer("covid-19 ᚠ").input_ids
vocabulary = trietok.train_wordpiece(trietok.count_words(["low lower lowest"] * 3, do_lower_case=True), vocab_size=60)
trietok.save_tokenizer(vocabulary, {str(tmp_path / "trained")!r})
assert trietok.BertTokenizer.from_pretrained({str(tmp_path / "trained")!r}).tokenize("lower")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=layout.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_type_checkers_see_every_public_name_where_it_lives():
    stub = ast.parse((layout.ROOT / "trietok" / "__init__.pyi").read_text(encoding="utf-8"))
    seen = {
        alias.asname: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(seen) == sorted({*trietok.__all__} - {"__version__", "kernel"})
    for name, module in seen.items():
        assert getattr(import_module(module), name) is getattr(trietok, name), name


def test_every_package_says_what_it_is_for():
    for path in (layout.ROOT / "trietok").rglob("__init__.py"):
        assert path.read_text(encoding="utf-8").startswith('"""'), path


def test_importing_loads_nothing_that_is_not_needed():
    code = "import sys, trietok; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=layout.ROOT, capture_output=True, text=True, check=True
    )
    unwanted = {
        "multiprocessing",
        "concurrent",
        "pyarrow",
        "gzip",
        "numpy",
        "torch",
        "transformers",
        "huggingface_hub",
        "click",
        "rich",
        "regex",
        "pygtrie",
    }
    assert not unwanted & set(done.stdout.split())


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast", "AutoTokenizer"])
def test_loading_and_encoding_import_no_more_than_they_need(kind, tmp_path):
    """Most of a program's start is imports; `inspect`, which `dataclasses` imports, would be a
    tenth of it.
    """
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    tokenizer.save_pretrained(tmp_path, tokenizer_json=True)
    # else it has the added tokens
    (tmp_path / "tokenizer_config.json").write_text("{}", encoding="utf-8")
    program = f"""
import sys
import trietok
assert trietok.{kind}.from_pretrained({str(tmp_path)!r}).encode("The people")
print(*sorted(set(sys.modules)))
"""
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=layout.ROOT, check=True)
    loaded = set(done.stdout.split())
    assert "trietok.tokenizer.bert" in loaded
    unwanted = {
        "pathlib",
        "logging",
        "tempfile",
        "hashlib",
        "regex",
        "pygtrie",
        "numpy",
        "importlib.resources",
    }
    unwanted |= {
        f"trietok.{name}"
        for name in ("files.save", "files.atomic", "workbench", "training", "inputs.rows")
    }
    unwanted |= {"dataclasses", "inspect", "ast", "heapq"}
    unwanted |= {"typing", "re", "json", "copy", "weakref", "contextvars", "threading", "array"}
    unwanted |= {
        "trietok.inputs.pad",
        "trietok.text.kernel.plain",
    }
    unwanted |= {
        f"trietok.files.{name}" for name in ("components", "kinds", "tokenizer_json_writer")
    }
    if kind == "BertTokenizer":
        unwanted |= {"trietok.files.tokenizer_json", "trietok.files.json_place"}
    if kind == "AutoTokenizer":
        unwanted -= {"trietok.files.kinds"}
    assert not loaded & unwanted


def test_types_are_found_without_typing():
    """Programs ask for them that make forms of functions; some import trietok first, and find the
    names at least.
    """
    program = """
import sys, trietok
made = trietok.BertTokenizerFast.from_pretrained("trietok-en")
assert "typing" not in sys.modules
from typing import get_type_hints
for name in ("__call__", "encode", "encode_plus", "batch_encode_plus", "tokenize", "decode", "pad", "count"):
    hints = get_type_hints(getattr(trietok.BertTokenizerFast, name))
    assert "return" in hints
assert get_type_hints(trietok.BertTokenizer.__call__)["return"] is trietok.BatchEncoding
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=layout.ROOT, capture_output=True, text=True
    )
    assert done.stdout == "done\n", done.stderr


def test_a_module_of_later_becomes_the_module():
    """So what a program puts into the module, as tests do, is seen, and gone when it is gone."""
    program = """
import sys, trietok.later
from trietok.later import json
assert "json" not in sys.modules
assert json.loads("[1]") == [1] and json is not sys.modules["json"]
assert trietok.later.json is sys.modules["json"]
assert not hasattr(json, "no_such_name")
sys.modules["json"].loads = len
assert json.loads("1234") == 4
import copy, pickle
assert copy.copy(json) is pickle.loads(pickle.dumps(json)) is sys.modules["json"]
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], cwd=layout.ROOT, capture_output=True, text=True
    )
    assert done.stdout == "done\n", done.stderr


def test_importing_compiles_no_pattern_and_no_annotation():
    """Either would be a tenth of the time to import the core: patterns that few need, types that
    nobody asks for.
    """
    program = """
import json, typing, re
def refuse(*args, **kwargs):
    raise AssertionError(f"the import calls it with {args}")
re.compile = typing._make_nmtuple = refuse
import trietok
trietok.BertTokenizer, trietok.BatchEncoding, trietok.AddedToken
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=layout.ROOT, capture_output=True, text=True
    )
    assert done.stdout == "done\n", done.stderr


def test_a_named_tuple_is_what_typing_makes():
    """But its annotations, which stay text."""

    class Ours(NamedTuple):
        """A pair."""

        first: int
        second: str = "b"

        @property
        def both(self) -> str:
            return f"{self.first}{self.second}"

    class Theirs(typing.NamedTuple):
        """A pair."""

        first: int
        second: str = "b"

    ours, theirs = Ours(1), Theirs(1)
    assert ours == theirs == (1, "b")
    assert (ours.both, ours._replace(first=2), ours._asdict()) == ("1b", (2, "b"), theirs._asdict())
    assert (
        repr(ours).endswith(".Ours(first=1, second='b')")
        or repr(ours) == "Ours(first=1, second='b')"
    )
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert (Ours._fields, Ours._field_defaults, Ours.__match_args__) == (
        ("first", "second"),
        {"second": "b"},
        ours._fields,
    )
    assert (Ours.__doc__, Ours.__module__, Ours.__bases__) == ("A pair.", __name__, (tuple,))
    assert (Ours.__qualname__.split(".")[-1], Ours.__name__) == ("Ours", "Ours")
    assert inspect.signature(Ours).parameters.keys() == inspect.signature(Theirs).parameters.keys()
    assert pickle.loads(pickle.dumps(CharSpan(1, 2))) == CharSpan(1, 2)


CALLS = [
    (values, given)
    for values in ((), (1,), (1, 2), (1, 2, 3))
    for given in ({}, {"first": 3}, {"second": 4})
]


@pytest.mark.parametrize("objects", [0, 2 * FEW_OBJECTS])
@pytest.mark.parametrize(
    ("values", "given"), [*CALLS, ((), {"first": 1, "second": 2}), ((1,), {"other": 2})]
)
def test_a_named_tuple_takes_what_pythons_takes(objects, values, given):
    """The first objects and those after them, which another `__new__` makes."""

    class Ours(NamedTuple):
        first: int
        second: str = "b"

    theirs = namedtuple("Ours", "first second", defaults=["b"])  # to compare with
    for number in range(objects):
        assert Ours(number) == (number, "b")
    answers = []
    for kind in (Ours, theirs):
        try:
            answers.append(kind(*values, **given))
        except TypeError as error:
            answers.append(str(error).rpartition(".")[2])
    assert answers[0] == answers[1]
    assert inspect.signature(Ours) == inspect.signature(theirs)
    with pytest.raises(ValueError, match="unexpected field names: \\['other'\\]"):
        Ours(1)._replace(other=1)
    with pytest.raises(TypeError, match="Expected 2 arguments, got 1"):
        Ours._make([1])
