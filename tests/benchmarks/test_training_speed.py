"""How fast training is, compared with tokenizers' trainers.

    TRIETOK_CORPORA=DIR pytest -m benchmark tests/benchmarks/test_training_speed.py -s

Nothing here fails for being slow; the ratios are printed. All runs are on one process and one
thread, and by the clock of the process, so that other programs matter less. DIR holds en.txt,
udhr.txt and zh.txt, a text a line.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from trietok import TextFiles, train_bpe, train_wordpiece

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
RUNS = 3

THEIRS = """
import json, sys, time
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
kind, path, size, special, runs = json.loads(sys.argv[1])
times = []
for _ in range(runs):
    model, trainer = {
        "wordpiece": (models.WordPiece, trainers.WordPieceTrainer), "bpe": (models.BPE, trainers.BpeTrainer)
    }[kind]
    tokenizer = Tokenizer(model(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainer(vocab_size=size, special_tokens=special, show_progress=False)
    began = time.process_time()
    tokenizer.train_from_iterator(open(path, encoding="utf-8", newline="\\n"), trainer)
    times.append(time.process_time() - began)
print(min(times), tokenizer.get_vocab_size())
"""


def corpus(name: str) -> pathlib.Path:
    directory = os.environ.get("TRIETOK_CORPORA")
    if not directory:
        pytest.skip("needs TRIETOK_CORPORA")
    return pathlib.Path(directory, f"{name}.txt")


def best_of(train: Callable[[], int], runs: int = RUNS) -> tuple[float, int]:
    """Seconds of the process's time, and what the runs return."""
    times = []
    for _ in range(runs):
        began = time.process_time()
        result = train()
        times.append(time.process_time() - began)
    return min(times), result


def time_of_tokenizers(kind: str, path: pathlib.Path, size: int) -> tuple[float, int]:
    """In a process of its own, whose threads have not begun: one thread."""
    env = {**os.environ, "RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    arguments = json.dumps([kind, str(path), size, SPECIAL, RUNS])
    done = subprocess.run(
        [sys.executable, "-c", THEIRS, arguments],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    seconds, tokens = done.stdout.split()
    return float(seconds), int(tokens)


@pytest.mark.benchmark
@pytest.mark.parametrize("name", ["en", "udhr", "zh"])
@pytest.mark.parametrize("kind", ["wordpiece", "bpe"])
def test_training_makes_as_many_tokens_as_tokenizers(kind, name):
    path, size = corpus(name), 30000

    def train() -> int:
        if kind == "wordpiece":
            return len(train_wordpiece(TextFiles(path), vocab_size=size))
        return len(
            train_bpe(
                TextFiles(path), vocab_size=size, special_tokens=SPECIAL, do_lower_case=True
            ).vocab
        )

    ours, tokens = best_of(train)
    theirs, their_tokens = time_of_tokenizers(kind, path, size)
    print(
        f"\n{kind} {name}: trietok {ours:.2f} s ({tokens} tokens), tokenizers {theirs:.2f} s"
        f" ({their_tokens}), {theirs / ours:.2f} × its speed"
    )
    assert abs(tokens - their_tokens) <= 0.01 * tokens  # it was the same work
