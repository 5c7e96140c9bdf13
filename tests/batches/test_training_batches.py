"""The examples of docs/training_batches.md, part by part, each in an empty directory."""

from __future__ import annotations

import doctest
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

import pytest

from tests.conftest import needs

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "training_batches.md"
FIRST = ("Tokenize", "Make a batch")  # the other parts continue from these


class Part(NamedTuple):
    """The packages that a part needs, and the part between `FIRST` and it."""

    packages: tuple[str, ...] = ()
    previous: tuple[str, ...] = ()


DATASETS = "Load with datasets"
PARTS = {
    "Make a batch": Part(),
    "Batches without padding": Part(),
    "Repeatable masks": Part(),
    "Whole words": Part(),
}
ENGINE_PARTS = {
    DATASETS: Part(("datasets", "torch")),
    "Stream, and resume in the middle of an epoch": Part(
        ("datasets", "torch", "torchdata"), (DATASETS,)
    ),
    "MosaicML Streaming": Part(("torch", "streaming")),
}
TRAINER = "With transformers' Trainer"


def parts() -> dict[str, str]:
    """Return the text below each heading, after as many empty lines as there are lines above it."""
    texts: dict[str, list[str]] = {}
    heading = ""
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").split("\n")):
        if line.startswith("## "):
            heading = line[3:]
            texts[heading] = [""] * number
        texts.setdefault(heading, []).append(line)
    return {name: "\n".join(lines) for name, lines in texts.items()}


def run_scripts(text: str) -> None:
    """Run the commands of a part that start a script of docs/examples."""
    for command in re.findall(r"^python (docs/examples/.*)$", text, re.MULTILINE):
        script, *arguments = command.split()
        subprocess.run([sys.executable, ROOT / script, *arguments], check=True)


def run_examples(*names: str) -> dict[str, object]:
    """Run the examples of these parts in one namespace, and return it."""
    values: dict[str, object] = {}
    for name in dict.fromkeys([*FIRST, *names]):
        text = parts()[name]
        run_scripts(text)
        test = doctest.DocTestParser().get_doctest(text, values, name, str(PAGE), 0)
        report: list[str] = []
        result = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
            test, out=report.append, clear_globs=False
        )
        assert result.attempted
        assert not result.failed, "".join(report)
        values = test.globs
    return values


@pytest.fixture(autouse=True)
def empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_every_code_block_is_run():
    with_examples = {name for name, text in parts().items() if ">>>" in text}
    assert with_examples == {*FIRST, *PARTS, *ENGINE_PARTS}
    for name, text in parts().items():
        for kind, code in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            is_script = kind == "sh" and "python docs/examples/" in code
            assert ">>>" in code or is_script or name == TRAINER


@pytest.mark.parametrize("name", PARTS)
def test_the_examples_of_each_part_print_what_the_page_shows(name):
    run_examples(*PARTS[name].previous, name)


@pytest.mark.engines
@pytest.mark.parametrize("name", ENGINE_PARTS)
def test_the_examples_with_other_packages_print_what_the_page_shows(name, tmp_path, monkeypatch):
    packages = {package: needs(package) for package in ENGINE_PARTS[name].packages}
    if "datasets" in packages:
        datasets = packages["datasets"]
        monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
        datasets.disable_progress_bars()
    run_examples(*ENGINE_PARTS[name].previous, name)


def test_the_trainer_of_the_page_trains(tmp_path):
    for package in ("torch", "accelerate"):
        needs(package)
    from transformers import BertConfig, BertForMaskedLM

    values = run_examples()
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = BertConfig(vocab_size=len(values["tokenizer"]), intermediate_size=8, **sizes)
    values |= {"model": BertForMaskedLM(config), "dataset": values["examples"]}
    (code,) = re.findall(r"^```python\n(.*?)^```$", parts()[TRAINER], re.MULTILINE | re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), values)
    assert values["trainer"].state.global_step == 3  # one batch in each of three epochs
    assert list(tmp_path.glob("trained/checkpoint-*/vocab.txt"))
