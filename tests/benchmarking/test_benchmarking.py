"""Measuring and comparing, each contender in a process of its own; most of them are made for the
test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.benchmarking.contenders import write_flash, write_package
from trietok.benchmarking import CONTENDERS, measure, validate
from trietok.errors import FileError, InputError, InputTypeError
from trietok.workbench.benchmarking.bench import Agreement, Benchmark, Round, Throughput
from trietok.workbench.engines import worker as engine_worker

WORDS = ("hello", "world", "hel", "##lo")  # ids from 5
TEXTS = ["hello world", "", "Hello hel", "world"]


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A directory from which the processes import first."""
    directory = tmp_path / "packages"
    directory.mkdir()
    monkeypatch.syspath_prepend(str(directory))
    return directory


@pytest.fixture
def model(vocab_file) -> str:
    return str(vocab_file(*WORDS))


def problem(name: str, model: str) -> str:
    """Why a contender cannot be measured; trietok still is, and ids are not compared for the same
    reason.
    """
    ours, theirs = measure(TEXTS, model, engines=[name], rounds=1, passes=2).results
    assert (ours.problem, len(ours.rounds), theirs.rounds, theirs.median) == ("", 1, [], None)
    (agreement,) = validate(TEXTS, model, engines=[name])
    assert (agreement.problem, agreement.differences) == (theirs.problem, [])
    return theirs.problem


# ---- throughput ----------------------------------------------------------------------------------


def test_trietok_alone(model):
    benchmark = measure(TEXTS, model, engines=["trietok"], rounds=2, passes=2)
    assert (benchmark.model, benchmark.lines, benchmark.size, benchmark.passes) == (model, 4, 25, 2)
    (result,) = benchmark.results
    assert result[:3] == ("trietok", trietok.__version__, "")
    assert len(result.rounds) == 2
    assert all(number > 0 for measured in result.rounds for number in measured)
    assert benchmark.speedups(result) == (1.0, 1.0)


def test_contenders_take_turns(packages, model):
    write_flash(packages)
    notes: list[str] = []
    benchmark = measure(
        TEXTS, model, engines=["flash-tokenizer"], rounds=2, passes=2, progress=notes.append
    )
    assert notes == [
        f"round {number} of 2: {name}"
        for number in (1, 2)
        for name in ("trietok", "flash-tokenizer")
    ]
    assert [(r.contender, r.version, len(r.rounds)) for r in benchmark.results] == [
        ("trietok", trietok.__version__, 2),
        ("flash-tokenizer", "9.9", 2),
    ]


def test_a_pass_is_every_text_once_and_the_first_is_kept_apart(tmp_path):
    texts = tmp_path / "texts"
    texts.write_text("".join(json.dumps(text) + "\n" for text in TEXTS))
    seen: list[str] = []
    loaded = engine_worker.Loaded("", lambda text: seen.append(text) or [], lambda ids: [])
    answer = engine_worker.measure(loaded, {"texts": str(texts), "passes": 3})
    assert seen[1:] == TEXTS * 3
    assert seen[0] not in TEXTS
    assert len(answer["seconds"]) == 3


def test_time_that_the_processor_does_something_else_does_not_count(tmp_path):
    texts = tmp_path / "texts"
    texts.write_text('"a"\n')
    loaded = engine_worker.Loaded("", lambda text: time.sleep(0.2) or [], lambda ids: [])
    assert max(engine_worker.measure(loaded, {"texts": str(texts), "passes": 2})["seconds"]) < 0.1


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system pins no process")
def test_each_process_stays_on_one_processor(packages, model):
    write_flash(
        packages, "import os\ndef answer(text, ids): raise ValueError(os.sched_getaffinity(0))"
    )
    benchmark = measure(TEXTS, model, engines=["flash-tokenizer"], rounds=1, passes=2)
    assert benchmark.cpu in os.sched_getaffinity(0)
    assert (
        benchmark.results[1].problem
        == f"cannot encode 'warm up 1': ValueError: {{{benchmark.cpu}}}"
    )
    assert f"CPU time on CPU {benchmark.cpu}, " in benchmark.summary


def test_where_no_process_is_pinned_the_report_says_so(model, monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "sched_setaffinity", refuse, raising=False)
    benchmark = measure(TEXTS, model, engines=[], rounds=1, passes=2)
    assert (benchmark.cpu, benchmark.results[0].problem) == (None, "")
    assert (
        "CPU time, not pinned to a CPU, which this system does not offer, median"
        in benchmark.summary
    )


def report() -> Benchmark:
    ours = Throughput(
        "trietok", "1.0", "", [Round(0.1, 2.0, 8.0), Round(0.3, 4.0, 8.0), Round(0.2, 9.0, 6.0)]
    )
    theirs = Throughput("tokenizers", "2.0", "", [Round(1.0, 1.0, 2.0)] * 3)
    missing = Throughput("transformers", "", "not installed: pip install transformers", [])
    return Benchmark("model", 1000, 2_000_000, 3, [ours, theirs, missing], 1)


def test_medians_and_speedups():
    benchmark = report()
    ours, theirs, missing = benchmark.results
    assert ours.median == Round(0.2, 4.0, 8.0)
    assert benchmark.speedups(theirs) == (4.0, 4.0)
    assert benchmark.lines_per_second(theirs) == (500.0, 1000.0)
    assert (missing.median, benchmark.speedups(missing), benchmark.lines_per_second(missing)) == (
        None,
        None,
        None,
    )
    # A round in which the machine is slow for both does not change their ratio.
    slow = ours._replace(rounds=[Round(0.1, 0.2, 0.8), *ours.rounds[1:]])
    slow_too = theirs._replace(rounds=[Round(0.1, 0.05, 0.2), *theirs.rounds[1:]])
    assert replace(benchmark, results=[slow, slow_too]).speedups(slow_too) == (4.0, 4.0)
    assert [
        result.spread(1) for result in (*benchmark.results, ours._replace(rounds=ours.rounds[:1]))
    ] == [
        *("±88%", "±0%", "", ""),
    ]
    # Without trietok's own speed there is nothing to compare with.
    assert replace(benchmark, results=[missing, theirs]).speedups(theirs) is None


def test_the_report_as_text():
    assert str(report()).split("\n") == [
        "1,000 lines, 2 MB, model; CPU time on CPU 1, median of 3 rounds",
        (
            "tokenizer   version  load ms  MB/s cold  MB/s warm  lines/s warm  speed-up cold "
            " speed-up warm"
        ),
        "trietok     1.0          200  4.00 ±88%  8.00 ±12%          4000",
        (
            "tokenizers  2.0         1000   1.00 ±0%   2.00 ±0%          1000         4.00 ×       "
            "  4.00 ×"
        ),
        "transformers: not installed: pip install transformers",
    ]


def test_a_text_that_is_too_small_is_said_to_be():
    benchmark = report()
    assert (benchmark.too_small, benchmark.to_dict()["too_small"]) == ("", "")
    small = replace(benchmark, size=16_000)  # at 8 MB/s
    assert (
        small.too_small
        == "the text is too small for these figures to mean anything: a pass took 2 ms, and should"
        " take 20; give about 1 MB"
    )
    assert str(small).split("\n")[-1] == small.too_small
    assert replace(benchmark, results=benchmark.results[2:]).too_small == ""


def test_the_report_as_json():
    values = json.loads(json.dumps(report().to_dict()))
    assert {key: values[key] for key in ("model", "lines", "bytes", "passes")} == {
        "model": "model",
        "lines": 1000,
        "bytes": 2_000_000,
        "passes": 3,
    }
    assert (values["clock"], values["cpu"]) == ("cpu", 1)
    _, theirs, missing = values["results"]
    assert theirs == {
        "contender": "tokenizers",
        "version": "2.0",
        "problem": "",
        "load_seconds": 1.0,
        "mb_per_second": {"cold": 1.0, "warm": 2.0},
        "lines_per_second": {"cold": 500.0, "warm": 1000.0},
        "speedup": {"cold": 4.0, "warm": 4.0},
        "rounds": [{"load_seconds": 1.0, "cold": 1.0, "warm": 2.0}] * 3,
    }
    assert missing["mb_per_second"] == missing["speedup"] == {"cold": None, "warm": None}


# ---- ids -----------------------------------------------------------------------------------------


def test_the_same_ids(packages, model):
    write_flash(packages)
    assert validate(TEXTS, model, engines=["flash-tokenizer", "trietok"]) == [
        Agreement("flash-tokenizer", "9.9", "", 4, 0, []),
    ]


def test_differences_are_counted_and_the_first_are_shown(packages, model):
    write_flash(
        packages,
        "def answer(text, ids): return [2, 7, 8, *ids[2:]] if text.startswith('hello') else ids",
    )
    texts = ["hello world", "world", "hello\nhello", "hello"]
    (agreement,) = validate(texts, model, engines=["flash-tokenizer"], most=2)
    assert (agreement.lines, agreement.differing) == (4, 3)
    assert agreement.differences == [
        (1, "hello world", 1, [5], ["hello"], [7, 8], ["hel", "##lo"], False),
        (3, "hello\nhello", 1, [5], ["hello"], [7, 8], ["hel", "##lo"], False),
    ]
    assert str(agreement).split("\n") == [
        "flash-tokenizer: other ids on 3 of 4 lines",
        "  line 1, from token 2: 'hello world'",
        "    trietok: hello [5]",
        "    flash-tokenizer: hel ##lo [7, 8]",
        r"  line 3, from token 2: 'hello\nhello'",
        "    trietok: hello [5]",
        "    flash-tokenizer: hel ##lo [7, 8]",
    ]
    assert agreement.to_dict()["differences"][1]["their_tokens"] == ["hel", "##lo"]


def test_ids_that_nobody_has_and_ids_that_are_missing(packages, model):
    write_flash(packages, "def answer(text, ids): return [2, 99] if text == 'hello' else []")
    agreement = validate(["hello", "world"], model, engines=["flash-tokenizer"])[0]
    assert [difference[2:] for difference in agreement.differences] == [
        (1, [5, 3], ["hello", "[SEP]"], [99], ["<id 99>"], False),
        (0, [2, 6, 3], ["[CLS]", "world", "[SEP]"], [], [], False),
    ]


def test_a_long_difference_is_cut(packages, model):
    write_flash(packages, "def answer(text, ids): return [9] * 1000")
    (difference,) = validate(["hello"], model, engines=["flash-tokenizer"])[0].differences
    assert (difference.cut, len(difference.their_ids)) == (True, engine_worker.MOST_IN_A_WINDOW)


ids = st.lists(st.integers(0, 2), max_size=8)


@given(ids, ids)
def test_a_difference_is_what_lies_between_the_common_ends(one, other):
    found = engine_worker._window(
        one, other, lambda token_ids: [str(token_id) for token_id in token_ids]
    )
    start, ours, theirs = found["position"], found["ids"], found["their_ids"]
    rest = one[start + len(ours) :]
    assert one == one[:start] + ours + rest
    assert other == one[:start] + theirs + rest
    assert not ours or not theirs or (ours[0] != theirs[0] and ours[-1] != theirs[-1])
    assert found["their_tokens"] == [str(token_id) for token_id in theirs]
    assert not found["cut"]


def test_the_settings_of_the_model_reach_a_contender_that_reads_none(packages, vocab_file):
    write_flash(packages)
    directory = vocab_file("Hello", "hello", "東京").parent
    for settings in ({"do_lower_case": False}, {"tokenize_chinese_chars": False}):
        (directory / "tokenizer_config.json").write_text(json.dumps(settings))
        assert (
            validate(["Hello 東京"], directory, engines=["flash-tokenizer"])[0].summary
            == "flash-tokenizer: the same ids on the line"
        )


RUST = """
__version__ = "9.9"

class Ids(list):
    ids = property(list)
    def tolist(self): return self.ids

class Tokenizer:
    @classmethod
    def {load}:
        import trietok
        made = cls()
        made.tokenizer = trietok.BertTokenizerFast.from_pretrained({directory!r})
        return made
    def encode(self, text):
        return Ids(self.tokenizer.encode(text))
    def id_to_token(self, token_id):
        return self.tokenizer.convert_ids_to_tokens(token_id)
    def no_truncation(self): pass
    def no_padding(self): pass
"""


@pytest.mark.parametrize(
    ("name", "load"),
    [("nanotoken", "from_json(cls, text: bytes)"), ("tokie", "from_json(cls, path: str)")],
)
def test_a_contender_that_reads_a_tokenizer_json(packages, vocab_file, name, load):
    directory = str(vocab_file("hel", "##lo").parent)
    trietok.BertTokenizerFast.from_pretrained(directory).save_pretrained(directory)
    write_package(packages, name, RUST.format(load=load, directory=directory))
    (agreement,) = validate(["hello", "Hel"], directory, engines=[name], profile="fast")
    assert (agreement.ok, agreement.version) == (True, "9.9"), str(agreement)


# ---- processes -----------------------------------------------------------------------------------


def test_a_contender_has_one_thread_and_no_hub(packages, model):
    names = "TOKENIZERS_PARALLELISM RAYON_NUM_THREADS OMP_NUM_THREADS HF_HUB_OFFLINE".split()
    write_package(
        packages,
        "tokenizers",
        f"import os; raise ImportError([os.environ[name] for name in {names}])",
    )
    assert problem("tokenizers", model).endswith("ImportError: ['false', '1', '1', '1']")


def test_this_process_imports_no_contender(packages, model):
    write_flash(packages)
    code = (
        "import json, sys; from trietok.benchmarking import measure, validate\n"
        f"measure(['hello'], {model!r}, rounds=1, passes=2); validate(['hello'], {model!r})\n"
        "print(*sorted(sys.modules))"
    )
    for name in ("transformers", "tokenizers"):
        write_package(packages, name, "raise RuntimeError('not today')")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(packages), *filter(None, sys.path)])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert not {"transformers", "tokenizers", "flash_tokenizer", "numpy", "torch"} & set(
        done.stdout.split()
    )


def test_what_is_written_to_standard_output_does_no_harm(packages, model):
    write_flash(packages, "print('loading')\ndef answer(text, ids): print(text); return ids")
    assert validate(TEXTS, model, engines=["flash-tokenizer"])[0].summary.endswith(
        "the same ids on all 4 lines"
    )


# ---- who cannot take part ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CONTENDERS if name != "trietok"])
def test_not_installed(packages, model, name):
    _, package, _ = engine_worker.ENGINES[name]
    write_package(packages, package, f"raise ModuleNotFoundError('no', name={package!r})")
    assert problem(name, model).startswith("not installed: pip install ")


def test_a_package_whose_own_imports_fail(packages, model):
    write_package(packages, "tokenizers", "import no_such_package")
    assert problem("tokenizers", model) == "cannot be imported: No module named 'no_such_package'"


def test_transformers_5_has_no_slow_tokenizer(packages, model):
    code = """
        __version__ = "5.1.0"
        class BertTokenizer:
            is_fast = True
            def __init__(self, vocab_file): pass
    """
    write_package(packages, "transformers", code)
    assert (
        problem("transformers-slow", model)
        == "transformers 5.1.0 has no slow BertTokenizer; transformers 4 has: 'transformers<5'"
    )


def test_no_tokenizer_json(packages, model):
    write_package(packages, "tokenizers", "")
    assert (
        problem("tokenizers", model)
        == f"the model has no tokenizer.json: it is the file {model}; name the directory: -m"
        f" {os.path.dirname(model)}"
    )


def test_a_model_that_it_cannot_load(packages, model):
    write_package(
        packages, "flash_tokenizer", "def BertTokenizerFlash(*_, **__): raise OSError('a\\nb')"
    )
    assert problem("flash-tokenizer", model) == "cannot load the model: OSError: a"


def test_a_line_that_it_cannot_encode(packages, model):
    write_flash(packages, "def answer(text, ids): return ids if text != 'Hello hel' else 1 / 0")
    assert (
        problem("flash-tokenizer", model)
        == "cannot encode line 3: ZeroDivisionError: division by zero"
    )


def test_nothing_that_it_can_encode(packages, model):
    write_flash(packages, "def answer(text, ids): return 1 / 0")
    benchmark = measure(TEXTS, model, engines=["flash-tokenizer"], rounds=1, passes=2)
    assert (
        benchmark.results[1].problem
        == "cannot encode 'warm up 1': ZeroDivisionError: division by zero"
    )


def test_a_process_that_dies(packages, model):
    write_package(
        packages, "tokenizers", "import os, sys; print('out of luck', file=sys.stderr); os._exit(7)"
    )
    assert problem("tokenizers", model) == "its process ended with exit code 7: out of luck"


def test_a_process_that_leaves_without_an_answer(packages, model):
    write_package(packages, "tokenizers", "import os; os._exit(0)")
    assert problem("tokenizers", model) == "its process ended with exit code 0"


# ---- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [measure, validate])
def test_mistakes(function, model, tmp_path):
    with pytest.raises(
        InputError,
        match=(
            f"there is no tokenizer 'nobody' to compare with; choose from {', '.join(CONTENDERS)}"
        ),
    ):
        function(TEXTS, model, engines=["tokenizers", "nobody"])
    with pytest.raises(InputError, match="no text to measure: no line"):
        function([], model, engines=[])
    with pytest.raises(InputError, match="no text to measure: every line is empty"):
        function(["", ""], model, engines=[])
    with pytest.raises(InputTypeError, match="a text is a str, not int: 3"):
        function(["a", 3], model, engines=[])
    with pytest.raises(InputTypeError, match="not one string"):
        function("text", model, engines=[])
    with pytest.raises(InputTypeError, match="not one string"):
        function(TEXTS, model, engines="tokenizers")
    with pytest.raises(FileError, match="neither a directory nor a file"):
        function(TEXTS, str(tmp_path / "nothing"), engines=[])


@pytest.mark.parametrize("numbers", [{"rounds": 0}, {"passes": 1}])
def test_too_few_rounds_or_passes(model, numbers):
    with pytest.raises(InputError, match="at least 1 round of 2 passes is needed"):
        measure(TEXTS, model, engines=[], **numbers)


def test_texts_that_are_no_utf_8(model):
    assert measure(["hello \ud800"], model, engines=[], rounds=1, passes=2).size == 9
