"""A service that lives long: its tokenizers change, encode, are saved, loaded and copied, and its
memory stays.

    python -m tests.core.soak SECONDS

It prints the memory as time goes by. After a third of the time what is cached is there; from then
on the memory must not grow by more than `MOST_GROWTH`. Each batch has the ids of a tokenizer that
is loaded with the same tokens.
"""

from __future__ import annotations

import copy
import gc
import pickle
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import trietok

MOST_GROWTH = 24  # MB
WORDS = (
    "the a of heart attack myocardial new york covid 2019 § 12 bgb über naïve 世界 x-ray".split()
)


def memory() -> float:
    """How many MB of this process are in memory, as Linux tells."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def step(tokenizer: Any, rng: random.Random, folder: Path) -> Any:
    """A change, and a batch whose ids are checked; what goes on is the same tokenizer, or a copy."""
    terms = [" ".join(rng.choices(WORDS, k=rng.randint(1, 3))) for _ in range(2)]
    tokenizer.add_tokens(terms)
    texts = [" ".join(rng.choices([*WORDS, *terms], k=30)) for _ in range(200)]
    ids = tokenizer(texts, padding=True)["input_ids"]
    tokenizer.save_pretrained(folder)
    again = type(tokenizer).from_pretrained(folder)
    assert again(texts, padding=True)["input_ids"] == ids
    if rng.random() < 0.03:
        tokenizer = rng.choice([again, copy.deepcopy(again), pickle.loads(pickle.dumps(again))])
    return tokenizer if len(tokenizer) < 8_400 else type(tokenizer).from_pretrained("trietok-en")


def main(seconds: float) -> int:
    """Take steps for so many seconds; 1 if the memory grew."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    rng, began, steps, settled, shown = random.Random(seed), time.monotonic(), 0, 0.0, 0
    kinds = (trietok.BertTokenizer, trietok.BertTokenizerFast)
    tokenizers = [kind.from_pretrained("trietok-en") for kind in kinds]
    with tempfile.TemporaryDirectory() as folder:
        while (passed := time.monotonic() - began) < seconds:
            tokenizers = [step(each, rng, Path(folder, type(each).__name__)) for each in tokenizers]
            steps += 1
            if passed > seconds / 3 and not settled:
                settled = memory()
            if passed > shown * seconds / 10:
                shown += 1
                print(f"{passed:6.0f} s {steps:7,} steps {memory():7.1f} MB", flush=True)
    grown = memory() - settled
    print(f"{grown:+.1f} MB in the last two thirds of {seconds:g} s, {steps:,} steps")
    return int(grown > MOST_GROWTH)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1])))
