"""What tests share: which run by default, how often random ones try, what may be skipped; the choice
of a kernel; small vocabularies.
"""

from __future__ import annotations

import gc
import os
import pathlib
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import trietok
from tests.kernel import installed_kernel  # first, before anything asks for a kernel
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
    """Only tests of faults wait until the disk has what was written, and a test of the kernel has
    one of the current source.
    """
    os.fsync = _flush if item.get_closest_marker("faults") else _no_flush
    if item.get_closest_marker("kernel"):
        if installed_kernel.IS_STALE:
            pytest.fail(installed_kernel.STALE)
        if not installed_kernel.is_there():
            pytest.skip("needs kernel")


def _no_flush(handle: int) -> None:
    os.fstat(handle)  # an error where the real one has one: the file is not open


def pytest_collection_finish() -> None:
    """Spares the garbage collector the walks through thousands of tests and all of transformers;
    with fewer collections the tests take less time.
    """
    gc.collect()
    if hasattr(gc, "freeze"):  # PyPy has none
        gc.freeze()
        gc.set_threshold(100_000, 50, 100)


# How often a test tries what it draws at random: `dev` by default, `ci` for what each change waits
# for, `nightly` for a long look.
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "dev")
_FACTORS = {"dev": 0.08, "ci": 0.25, "nightly": 4.0}


def often(count: int, nightly: int | None = None) -> int:
    """Return how often a test repeats what it draws at random, in the profile that is active.

    Args:
        count: the measure: a twelfth of it by default, four times as often at night.
        nightly: the number at night, of repeats or of what else a test chooses. `count` is then
            the number otherwise.
    """
    if nightly is not None:
        return nightly if PROFILE == "nightly" else count
    return max(1, int(count * _FACTORS[PROFILE]))


def examples(count: int) -> settings:
    """Return Hypothesis' settings with `often(count)` examples, or five."""
    return settings(
        max_examples=max(5, often(count)),  # the first one is the simplest, not a random one
        deadline=None,
        derandomize=False,  # where CI is set, Hypothesis' own default is to draw the same cases
        print_blob=True,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.data_too_large,
            HealthCheck.filter_too_much,
            HealthCheck.function_scoped_fixture,
        ],
    )


def assert_share(part: int, whole: int, share: float, what: object = "") -> None:
    """Assert that of `whole` cases that were drawn at least this share counts as `part`.

    Chance may take two standard deviations off: much of a few cases, little of many. A test asks for
    about half of the share that it usually has.

    Args:
        what: said where it fails: what was counted, the seed.
    """
    expected = whole * share
    spare = 2 * (expected * (1 - share)) ** 0.5
    assert whole > 0, f"nothing was drawn; {what}"
    assert part >= expected - spare, f"{part} of {whole} are less than {share:.1%}; {what}"


settings.register_profile("trietok", examples(30))
settings.load_profile("trietok")

# Tests with one of these marks run if `-m` names the mark, or the command line their file.
SLOW = {"parity", "engines", "benchmark", "faults", "browser", "clients"}


def needs(module: str) -> Any:
    """Import a module that the extra `test` does not bring, or skip the test or the file.

    The modules that it brings are imported as any other.
    """
    return pytest.importorskip(module, reason=f"needs {module}", exc_type=ImportError)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--may-skip",
        metavar="NAMES",
        help="what may be missing, separated by commas: 'torch,root'; any other skip is a failure",
    )


def _missing(reason: str) -> str:
    """NAME of a skip whose reason is "needs NAME" or "needs NAME: why"."""
    return reason.removeprefix("Skipped: ").removeprefix("needs ").partition(":")[0]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say what tests were skipped for."""
    reasons = Counter(
        _missing(report.longrepr[2])
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple)
    )
    for name, count in reasons.most_common():
        terminalreporter.write_line(f"{count} skipped: needs {name}")


def _is_expected(reason: str, config: pytest.Config) -> bool:
    """Whether a skip for this reason passes: each has the form "needs NAME" or "needs NAME: why"."""
    allowed = config.getoption("--may-skip")
    is_named = reason.removeprefix("Skipped: ").startswith("needs ")
    return is_named and (allowed is None or _missing(reason) in allowed.split(","))


def _fail_unexpected_skips(report: pytest.TestReport | pytest.CollectReport, config: pytest.Config):
    if report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if not _is_expected(reason, config):
            report.outcome = "failed"
            report.longrepr = f"unexpected skip: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    return _fail_unexpected_skips((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    return _fail_unexpected_skips((yield), collector.config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests, except for those of a file that the command line names."""
    if any(mark in config.option.markexpr for mark in SLOW):
        return
    named = {pathlib.Path(argument.partition("::")[0]).resolve() for argument in config.args}
    slow = {
        item
        for item in items
        if SLOW & {mark.name for mark in item.iter_markers()} and item.path not in named
    }
    items[:] = [item for item in items if item not in slow]
    if slow:
        config.hook.pytest_deselected(items=list(slow))


@contextmanager
def using_kernel(name: str) -> Iterator[None]:
    """Tokenizers that are made in the block have the compiled kernel from their first text on
    (`"compiled"`), or none (`"plain"`).
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIETOK_KERNEL", {"compiled": "1", "plain": "0"}[name])
        assert trietok.kernel == name
        yield


@pytest.fixture(params=[pytest.param("compiled", marks=pytest.mark.kernel), "plain"])
def kernel(request):
    """The test runs with the compiled kernel and in plain Python."""
    with using_kernel(request.param):
        yield request.param


@pytest.fixture
def plain_kernel():
    """The test runs in plain Python only."""
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
