"""Random tokenizers and texts through the compiled kernel and plain Python, for as long as asked.

    python -m tests.kernel.fuzz_kernel SECONDS [DIRECTORY ...]

The directories hold vocabularies to use beside the built-in ones. Ends with 1 if any ids differ.
"""

from __future__ import annotations

import pathlib
import random
import sys
import tempfile
import time

from tests.kernel.kernel_cases import (
    Recipe,
    differences,
    random_text,
    write_vocabulary_of_characters,
)
from trietok.text.kernel import choosing as kernel

BUILT_IN = ("trietok-en", "trietok-zh", "trietok-multi")
TEXTS = 300  # for each tokenizer


def main(seconds: float, *directories: str) -> int:
    """Encode until the time is over."""
    seed = random.randrange(2**32)
    print("seed", seed, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        characters = write_vocabulary_of_characters(pathlib.Path(folder))
        return fuzz(random.Random(seed), seconds, (characters, characters, *BUILT_IN, *directories))


def fuzz(rng: random.Random, seconds: float, directories: tuple[str, ...]) -> int:
    """Encode random texts by random tokenizers of these directories."""
    end = time.monotonic() + seconds
    texts_read = different = 0
    before = kernel.kernels_made()
    # Some of the tokenizers have no kernel.
    while time.monotonic() < end or (kernel.kernels_made() == before and texts_read < 20 * TEXTS):
        recipe = Recipe(rng, directories)
        tokens = [token.content for token in recipe.added] or ["[CLS]", "[MASK]"]
        texts = [random_text(rng, tokens) for _ in range(TEXTS)]
        found = differences(recipe, texts)
        texts_read += len(texts)
        different += len(found)
        for text in found[:3]:
            print(f"{recipe!r}: {text!r}")
    kernels = kernel.kernels_made() - before
    print(f"{texts_read} texts, {different} differ; kernels were made: {kernels > 0}")
    return 1 if different or not kernels else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), *sys.argv[2:]))
