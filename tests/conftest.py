"""What tests share: tiny vocabularies, written where a test can read them."""

from __future__ import annotations

import gc
import os
import pathlib
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

import tests.text.installed_kernel  # noqa: F401  # first, before anything asks for a kernel
from trietok import BertTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

# Tests start hundreds of Python processes: compiling trietok anew for each of them would take a
# fifth of the time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts programs in the background so. Tests of Ctrl-C would wait for an interrupt that
    # never comes.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """For `-n auto`: no worker processes where they would not help; None lets xdist count the
    cores.
    """
    single_files = all(argument.partition("::")[0].endswith(".py") for argument in config.args)
    needs_the_machine = config.option.markexpr in ("benchmark", "engines")
    prints = config.option.capture == "no"
    return 0 if single_files or needs_the_machine or prints else None


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Nothing looks for doctests in the modules of tests, which hold none."""
    return [collector for collector in (yield) if type(collector).__name__ != "DoctestModule"]


_flush = os.fsync


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Only tests of faults wait until the disk has what was written; that it is flushed in order is
    tested apart.
    """
    os.fsync = _flush if item.get_closest_marker("faults") else _no_flush


def _no_flush(handle: int) -> None:
    os.fstat(handle)  # an error where the real one has one: the file is not open


def pytest_collection_finish() -> None:
    """Spares the garbage collector the walks through thousands of tests and all of transformers."""
    gc.collect()
    if hasattr(gc, "freeze"):  # PyPy has none
        gc.freeze()


def often(count: int) -> int:
    """How often a test repeats what it draws at random: `count` times, times TRIETOK_OFTEN.

    By default it is half as often, so that all tests together take little time: each run draws
    anew, nightly ones more.
    """
    return max(1, int(count * float(os.environ.get("TRIETOK_OFTEN", "0.5"))))


def examples(count: int) -> settings:
    """Hypothesis' settings: `often(count)` examples, or TRIETOK_EXAMPLES of them where that is
    set.
    """
    return settings(
        max_examples=int(os.environ.get("TRIETOK_EXAMPLES", often(count))),
        deadline=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.function_scoped_fixture,
        ],
    )


settings.register_profile("default of these tests", examples(30))
settings.load_profile("default of these tests")


@pytest.fixture
def plain_kernel():
    """For tests of what the plain encoder remembers: no encoder that is made here has a compiled
    kernel.
    """
    from trietok.text.kernel.choosing import using_kernel

    with using_kernel("plain"):
        yield


@pytest.fixture
def vocab_file(tmp_path):
    """A function that writes a vocab.txt of the special tokens and these, and returns its path."""

    def write(*tokens: str, special: list[str] = SPECIAL, name: str = "vocab.txt") -> pathlib.Path:
        path = tmp_path / name
        path.write_text(
            "".join(token + "\n" for token in [*special, *tokens]), encoding="utf-8", newline="\n"
        )
        return path

    return write


@pytest.fixture
def small(vocab_file):
    """A function that makes a `BertTokenizer` of the special tokens and these, with any options."""

    def make(*tokens: str, **options) -> BertTokenizer:
        return BertTokenizer(vocab_file(*tokens), **options)

    return make


@pytest.fixture(scope="session")
def english():
    """The built-in tokenizer. Tests must not change it."""
    return BertTokenizer.from_pretrained("trietok-en")
