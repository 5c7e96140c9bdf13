"""Published models: the ids of transformers, by classes and by commands.

TRIETOK_MODELS names a directory with a folder for each model.
"""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import transformers

import trietok
from tests.cli.commands import run_saying_all
from tests.parity.comparing import directory_named
from tests.parity.directories import SENTENCES
from tests.strategies import is_valid
from trietok import google_bert

pytestmark = pytest.mark.parity

SENTENCE = (
    "Keras\u662fONEIROS\uff08Open-ended Neuro-Electronic Intelligent Robot Operating System\uff0c"
    "\u5f00\u653e\u5f0f\u795e\u7ecf\u7535\u5b50\u667a\u80fd\u673a\u5668\u4eba\u64cd\u4f5c\u7cfb"
    "\u7edf\uff09\u9879\u76ee\u7814\u7a76\u5de5\u4f5c\u7684\u90e8\u5206\u4ea7\u7269[3]\uff0c"
    "\u4e3b\u8981\u4f5c\u8005\u548c\u7ef4\u62a4\u8005\u662fGoogle\u5de5\u7a0b\u5e08"
    "Fran\u00e7ois Chollet\u3002\r\n"
)
IDS = """
101 51870 4353 10399 19085 10028 11481 118 18651 13468 10639 118 16892 52599 24731 22541 10472 10032 3572 4249 3583
6222 6739 5845 3155 4393 6990 4473 2693 1763 4213 1853 6548 6751 10029 9373 6017 6109 6321 3434 1853 5975 8589 2165
1751 5574 138 124 140 10032 1691 7749 1853 6885 2503 6765 3980 6885 4353 13696 3434 6285 3455 13086 11268 55872 1483
102
"""
# The first has other ids in the two profiles of a cased model: only the slow one composes.
TEXTS = [
    " ".join(text.split())
    for text in ("cafe\u0301 na\u00efve", SENTENCE, *filter(is_valid, SENTENCES[2:21]))
]


@pytest.fixture(scope="module")
def multilingual() -> Path:
    return directory_named("TRIETOK_MODELS") / "bert-base-multilingual-uncased"


@pytest.fixture
def texts_file(tmp_path) -> Path:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


def test_googles_tokenizer_and_trietok_give_the_pieces_and_ids_that_were_published(multilingual):
    tokenizer = trietok.BertTokenizer.from_pretrained(multilingual)
    assert tokenizer.encode(SENTENCE) == [*map(int, IDS.split())]
    tokens = google_bert.FullTokenizer(multilingual / "vocab.txt").tokenize(SENTENCE)
    assert tokenizer.tokenize(SENTENCE) == tokens
    assert " ".join(tokens).startswith("keras \u662f one ##iros \uff08 open - ended neu ##ro -")


def test_the_class_of_each_model_is_that_of_transformers(multilingual):
    for folder in sorted(multilingual.parent.iterdir()):
        theirs, ours = (
            library.AutoTokenizer.from_pretrained(folder, use_fast=False)
            for library in (transformers, trietok)
        )
        assert type(ours).__name__ == type(theirs).__name__
        assert ours(SENTENCE, SENTENCE) == dict(theirs(SENTENCE, SENTENCE))


@pytest.mark.parametrize("profile", [None, "slow", "fast"])
def test_a_corpus_has_the_ids_of_transformers_auto_tokenizer(
    multilingual, texts_file, tmp_path, profile
):
    """`trietok encode-files`, with and without `--profile`, and `AutoTokenizer`."""
    for folder in sorted(multilingual.parent.iterdir()):
        out = tmp_path / folder.name
        command = ["encode-files", str(texts_file), "-m", str(folder), "-o", str(out)]
        command += ["--workers", "1", *(["--profile", profile] if profile else [])]
        done = run_saying_all(*command)
        assert done.exit_code == 0, done.stderr
        chosen = "trietok: profile: fast, because tokenizer.json is there"
        assert (chosen in done.stderr.splitlines()) == (profile is None)
        files = sorted(out.glob("*.parquet"))
        rows = [ids for file in files for ids in pq.read_table(file)["input_ids"].to_pylist()]
        for library in (transformers, trietok):
            tokenizer = library.AutoTokenizer.from_pretrained(folder, use_fast=profile != "slow")
            assert [tokenizer.encode(text) for text in TEXTS] == rows


@pytest.mark.parametrize("profile", [None, "slow"])
def test_a_lock_of_a_model_holds_for_transformers(multilingual, texts_file, tmp_path, profile):
    """What `docs/guides/replace_transformers.md` says to run, on three of the models."""
    for folder in random.SystemRandom().sample(sorted(multilingual.parent.iterdir()), 3):
        print(folder.name)
        lock = str(tmp_path / f"{folder.name}.lock.json")
        command = ["lock", str(texts_file), "-m", str(folder), "-o", lock]
        done = run_saying_all(*command, *(["--profile", profile] if profile else []))
        assert done.exit_code == 0, done.stderr
        done = run_saying_all("verify", lock, "--with", "transformers")
        assert done.exit_code == 0, done.stdout
        assert done.stdout.splitlines()[-1].endswith("special ids are as locked")
