"""Published vocabularies: the page that walks through one sentence says what comes out.

TRIETOK_MODELS names a directory with a folder for each model.
"""

from __future__ import annotations

import random
import sys

import pytest
import transformers

from tests.core.test_google_bert import SENTENCE
from tests.parity.conftest import directory_named
from trietok import AutoTokenizer, BertTokenizer, google_bert
from trietok.workbench.comparing.compare import SENTENCES

pytestmark = pytest.mark.parity


@pytest.fixture(scope="module")
def multilingual():
    return directory_named("TRIETOK_MODELS") / "bert-base-multilingual-uncased"


IDS = """
101 51870 4353 10399 19085 10028 11481 118 18651 13468 10639 118 16892 52599 24731 22541 10472 10032 3572 4249 3583
6222 6739 5845 3155 4393 6990 4473 2693 1763 4213 1853 6548 6751 10029 9373 6017 6109 6321 3434 1853 5975 8589 2165
1751 5574 138 124 140 10032 1691 7749 1853 6885 2503 6765 3980 6885 4353 13696 3434 6285 3455 13086 11268 55872 1483
102
"""


def test_the_ids_of_a_sentence(multilingual):
    assert BertTokenizer.from_pretrained(multilingual).encode(SENTENCE) == [*map(int, IDS.split())]


def test_googles_tokenizer_gives_the_same_pieces(multilingual):
    tokens = google_bert.FullTokenizer(multilingual / "vocab.txt").tokenize(SENTENCE)
    assert " ".join(tokens).startswith("keras 是 one ##iros （ open - ended neu ##ro - electronic")
    assert " ".join(tokens).endswith("google 工 程 师 francois cho ##llet 。")
    assert BertTokenizer.from_pretrained(multilingual).tokenize(SENTENCE) == tokens


def test_the_class_of_each_is_that_of_transformers(multilingual):
    for folder in sorted(multilingual.parent.iterdir()):
        theirs = transformers.AutoTokenizer.from_pretrained(folder, use_fast=False)
        ours = AutoTokenizer.from_pretrained(folder, use_fast=False)
        assert type(ours).__name__ == type(theirs).__name__
        assert ours(SENTENCE, SENTENCE) == dict(theirs(SENTENCE, SENTENCE))


# The first has other ids in the two profiles of a cased model: only the slow one composes.
TEXTS = tuple(" ".join(text.splitlines()) for text in ("cafe\u0301 naïve", SENTENCE, *SENTENCES))


@pytest.mark.parametrize("profile", [None, "slow", "fast"])
def test_a_corpus_has_the_ids_of_transformers_auto_tokenizer(multilingual, tmp_path, profile):
    """`trietok encode-files`, `AutoTokenizer` and transformers' of that name, on each model and
    with `--profile`.
    """
    from tests.batches.shards import rows_in
    from tests.cli.commands import run_saying_all

    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    for folder in sorted(multilingual.parent.iterdir()):
        ids = tmp_path / folder.name
        asked = ["--profile", profile] if profile else []
        done = run_saying_all(
            "encode-files", str(texts), "-m", str(folder), "-o", str(ids), "--workers", "1", *asked
        )
        assert done.exit_code == 0, done.stderr
        chosen = "trietok: profile: fast, because tokenizer.json is there"
        assert (chosen in done.stderr.splitlines()) == (profile is None)  # said where it was chosen
        made = rows_in(ids)
        for library in (transformers, sys.modules["trietok"]):
            tokenizer = library.AutoTokenizer.from_pretrained(folder, use_fast=profile != "slow")
            assert [tokenizer.encode(text) for text in TEXTS] == made


@pytest.mark.parametrize("profile", [None, "slow"])
def test_the_guide_ends_with_no_difference_for_either_class(multilingual, tmp_path, profile):
    """What `docs/guides/replace_transformers.md` says to run, on three of the models."""
    from tests.cli.commands import run

    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    for folder in random.SystemRandom().sample(sorted(multilingual.parent.iterdir()), 3):
        print(folder.name)
        lock = str(tmp_path / f"{folder.name}.lock.json")
        asked = ["--profile", profile] if profile else []
        assert run("lock", str(texts), "-m", str(folder), "-o", lock, *asked).exit_code == 0
        done = run("verify", lock, "--with", "transformers")
        assert done.exit_code == 0, done.stdout
        assert done.stdout.splitlines()[-1].endswith("special ids are as locked")
