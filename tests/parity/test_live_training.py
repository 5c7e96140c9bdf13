"""trietok's trainers and those of tokenizers side by side: vocabularies, merges, and the ids of trained files."""

from __future__ import annotations

import json
import os
import pathlib
import random
from collections.abc import Iterable
from typing import Any

import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("transformers")

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from trietok.training import train_bpe
from trietok.training.spelling import Options, spell

ROOT = pathlib.Path(__file__).parent.parent.parent
CORPORA = pathlib.Path(os.environ.get("TRIETOK_CORPORA", ROOT.parent / "shared" / "data" / "corpora"))
EXAMPLES = int(os.environ.get("TRIETOK_EXAMPLES", "150"))
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def texts_of(word_counts: dict[str, int]) -> list[str]:
    """Texts between whose spaces are these words, so often."""
    return [" ".join([word] * count) for word, count in word_counts.items()]


def their_bpe(
    texts: Iterable[str], model: Any = None, trainer: Any = trainers.BpeTrainer, **options: Any
) -> tuple[list[str], list[tuple[str, str]]]:
    """The tokens by id and the merges that tokenizers trains on words between spaces."""
    tokenizer = Tokenizer(model or models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    given = {name: value for name, value in options.items() if value is not None}
    tokenizer.train_from_iterator(texts, trainer(show_progress=False, **given))
    vocab = tokenizer.get_vocab()
    merges = json.loads(tokenizer.to_str())["model"].get("merges", [])
    return sorted(vocab, key=vocab.__getitem__), [tuple(pair) for pair in merges]


def our_bpe(word_counts: dict[str, int], **options: Any) -> tuple[list[str], list[tuple[str, str]]]:
    bpe = train_bpe(word_counts, **options)
    return list(bpe.vocab), list(bpe.merges)


def start(word_counts: dict[str, int], **options: Any) -> list[str]:
    """The tokens that training starts from, in trietok's order.

    Passed to tokenizers as special tokens they fix the ids of the alphabet's forms. Otherwise it gives these in an order
    that changes from run to run, and with it the order of equally frequent pairs.
    """
    defaults = dict.fromkeys(Options._fields)
    given = {"vocab_size": 10**9, "initial_alphabet": (), "special_tokens": (), **options}
    return spell(word_counts, Options(**{**defaults, **given})).tokens


def random_words(rng: random.Random) -> dict[str, int]:
    letters = "ab" if rng.random() < 0.3 else "abcé中#"
    words = ("".join(rng.choices(letters, k=rng.randrange(1, 9))) for _ in range(rng.randrange(1, 30)))
    return {word: rng.randrange(1, 6) for word in words}


def random_options(rng: random.Random) -> dict[str, Any]:
    options: dict[str, Any] = {"vocab_size": rng.choice([24, 30, 40, 100])}
    if rng.random() < 0.5:
        options["min_frequency"] = rng.randrange(4)
    if rng.random() < 0.3:
        options["max_token_length"] = rng.randrange(1, 7)
    if rng.random() < 0.3:
        options["initial_alphabet"] = rng.sample(["x", "yz", "a", "é"], 2)
    return options


def test_random_words_give_the_vocabulary_and_merges_of_tokenizers():
    for seed in range(EXAMPLES):
        rng = random.Random(seed)
        words, options = random_words(rng), random_options(rng)
        special = ["<s>", "ab"] if rng.random() < 0.3 else []
        theirs = their_bpe(texts_of(words), special_tokens=special, **options)
        assert our_bpe(words, special_tokens=special, **options) == theirs, (seed, words, options, special)


def test_random_words_with_a_prefix_or_suffix_too_once_the_ids_of_the_forms_are_fixed():
    for seed in range(EXAMPLES):
        rng = random.Random(seed)
        words, options = random_words(rng), {**random_options(rng), "vocab_size": 60}
        options["continuing_subword_prefix"] = rng.choice(["##", "@", None])
        options["end_of_word_suffix"] = rng.choice(["</w>", None])
        theirs = their_bpe(texts_of(words), special_tokens=start(words, **options), **options)
        assert our_bpe(words, **options) == theirs, (seed, words, options)
