"""Published vocabularies: the page that walks through one sentence says what comes out.

TRIETOK_MODELS names a directory with a folder for each model.
"""

from __future__ import annotations

import os
import pathlib
import re
import sys

import pytest

from tests.tokenizer.test_google_bert import SENTENCE
from trietok import AutoTokenizer, BertTokenizer, google_bert
from trietok.workbench.comparing.compare import SENTENCES

pytestmark = pytest.mark.parity
PAGE = pathlib.Path(__file__).parent.parent.parent / "docs" / "explaining.md"


@pytest.fixture(scope="module")
def multilingual():
    models = os.environ.get("TRIETOK_MODELS")
    if not models:
        pytest.skip("TRIETOK_MODELS names no directory")
    return pathlib.Path(models) / "bert-base-multilingual-uncased"


def test_the_ids_on_the_page(multilingual):
    section = PAGE.read_text(encoding="utf-8").split("## One sentence")[1].split("## The stages")[0]
    ids = [int(number) for line in re.findall(r"^    ([\d ]+)$", section, re.MULTILINE) for number in line.split()]
    assert BertTokenizer.from_pretrained(multilingual).encode(SENTENCE) == ids


def test_googles_tokenizer_gives_the_same_pieces(multilingual):
    tokens = google_bert.FullTokenizer(multilingual / "vocab.txt").tokenize(SENTENCE)
    assert " ".join(tokens).startswith("keras 是 one ##iros （ open - ended neu ##ro - electronic")
    assert " ".join(tokens).endswith("google 工 程 师 francois cho ##llet 。")
    assert BertTokenizer.from_pretrained(multilingual).tokenize(SENTENCE) == tokens


def test_the_class_of_each_is_that_of_transformers(multilingual):
    transformers = pytest.importorskip("transformers")
    for folder in sorted(multilingual.parent.iterdir()):
        theirs = transformers.AutoTokenizer.from_pretrained(folder, use_fast=False)
        ours = AutoTokenizer.from_pretrained(folder, use_fast=False)
        assert type(ours).__name__ == type(theirs).__name__
        assert ours(SENTENCE, SENTENCE) == dict(theirs(SENTENCE, SENTENCE))


# The first has other ids in the two profiles of a cased model: only the slow one composes.
TEXTS = tuple(" ".join(text.splitlines()) for text in ("cafe\u0301 naïve", SENTENCE, *SENTENCES))


@pytest.mark.parametrize("profile", [None, "slow", "fast"])
def test_a_corpus_has_the_ids_of_transformers_auto_tokenizer(multilingual, tmp_path, profile):
    """`trietok encode-files`, `AutoTokenizer` and transformers' of that name, on each model and with `--profile`."""
    transformers = pytest.importorskip("transformers")
    from tests.cli.commands import run_saying_all
    from trietok.corpus import open_corpus

    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    for folder in sorted(multilingual.parent.iterdir()):
        ids = tmp_path / folder.name
        asked = ["--profile", profile] if profile else []
        done = run_saying_all("encode-files", str(texts), "-m", str(folder), "-o", str(ids), "--workers", "1", *asked)
        why = f"{profile}, as asked for" if profile else "fast, because tokenizer.json is there"
        assert (done.exit_code, done.stderr.splitlines()[0]) == (0, f"trietok: profile: {why}")
        corpus = open_corpus(ids)
        made = [list(corpus.row(number, ["input_ids"])["input_ids"]) for number in range(len(TEXTS))]
        for library in (transformers, sys.modules["trietok"]):
            tokenizer = library.AutoTokenizer.from_pretrained(folder, use_fast=profile != "slow")
            assert [tokenizer.encode(text) for text in TEXTS] == made


@pytest.mark.parametrize("profile", [None, "slow"])
def test_the_guide_ends_with_no_difference_for_either_class(multilingual, tmp_path, profile):
    """What `docs/guides/replace_transformers.md` says to run."""
    pytest.importorskip("transformers")
    from tests.cli.commands import run

    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    for folder in sorted(multilingual.parent.iterdir()):
        arguments = ["bench", str(texts), "-m", str(folder), "--rounds", "0", "--validate"]
        done = run(*arguments, "--with", "transformers", *(["--profile", profile] if profile else []))
        assert (done.exit_code, done.stdout) == (0, f"transformers: the same ids on all {len(TEXTS)} lines\n")
