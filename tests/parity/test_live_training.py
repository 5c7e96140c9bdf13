"""trietok's trainers and those of tokenizers side by side: vocabularies, merges, and the ids of
trained files.

TRIETOK_CORPORA names a directory with en.txt, udhr.txt, zh.txt and ja.txt, a text a line.
"""

from __future__ import annotations

import itertools
import json
import pathlib
import random
from collections.abc import Iterable
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, BertTokenizerFast
from transformers import BertTokenizer as TheirBertTokenizer

import trietok
from tests.conftest import often
from tests.parity.conftest import directory_named
from trietok import (
    BasicTokenizer,
    TextFiles,
    count_words,
    save_tokenizer,
    train_bpe,
    train_wordpiece,
)
from trietok.training.merging import Options, spell

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

    Passed to tokenizers as special tokens they fix the ids of the alphabet's forms. Otherwise these
    have an order that changes from run to run, and with it changes the order of equally frequent
    pairs.
    """
    defaults = dict.fromkeys(Options._fields)
    given = {"vocab_size": 10**9, "initial_alphabet": (), "special_tokens": (), **options}
    return spell(word_counts, Options(**{**defaults, **given})).tokens


def seeds() -> list[int]:
    return [random.randrange(2**32) for _ in range(often(60))]


def random_words(rng: random.Random) -> dict[str, int]:
    letters = "ab" if rng.random() < 0.3 else "abcé中#"
    words = (
        "".join(rng.choices(letters, k=rng.randrange(1, 9))) for _ in range(rng.randrange(1, 30))
    )
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
    for seed in seeds():
        rng = random.Random(seed)
        words, options = random_words(rng), random_options(rng)
        special = ["<s>", "ab"] if rng.random() < 0.3 else []
        theirs = their_bpe(texts_of(words), special_tokens=special, **options)
        assert our_bpe(words, special_tokens=special, **options) == theirs, (
            seed,
            words,
            options,
            special,
        )


def test_random_words_with_a_prefix_or_suffix_too_once_the_ids_of_the_forms_are_fixed():
    for seed in seeds():
        rng = random.Random(seed)
        words, options = random_words(rng), {**random_options(rng), "vocab_size": 60}
        options["continuing_subword_prefix"] = rng.choice(["##", "@", None])
        options["end_of_word_suffix"] = rng.choice(["</w>", None])
        if "max_token_length" in options:  # the one difference: see below
            words = {word.replace("#", "x"): count for word, count in words.items()}
        theirs = their_bpe(texts_of(words), special_tokens=start(words, **options), **options)
        assert our_bpe(words, **options) == theirs, (seed, words, options)


def test_the_length_of_a_token_that_is_made_in_two_ways_differs():
    """tokenizers keeps a length for each place, trietok for each token: words that hold the prefix
    show it.
    """
    words = {"####a": 3}
    options = {"continuing_subword_prefix": "##", "vocab_size": 60}
    first = start(words, **options)
    assert our_bpe(words, **options) == their_bpe(texts_of(words), special_tokens=first, **options)
    limited = {**options, "max_token_length": 5}
    assert our_bpe(words, **limited)[0] == [*first, "####", "###a"]
    assert their_bpe(texts_of(words), special_tokens=first, **limited)[0] == [*first, "####"]


def test_repeats_of_one_character():
    for longest in range(1, 40):
        words = {"a" * length: 1 + length % 3 for length in range(1, longest)} | {"b": 1}
        assert our_bpe(words) == their_bpe(texts_of(words)), longest


def test_a_limited_alphabet_without_ties():
    words = {"a" * 9 + "b" * 7 + "c" * 5 + "d" * 3: 2, "abc": 3, "d": 1}
    for limit in range(1, 5):
        assert our_bpe(words, limit_alphabet=limit) == their_bpe(
            texts_of(words), limit_alphabet=limit
        )


# ---- trained files -------------------------------------------------------------------------------

TEXTS = [
    "The people of the United States, united!",
    "Naïve café, Café: unaffordable, unbelievable; the cafés",
    "東京タワー and the 京都",
    "unknown: ☃ Ж\u0301 и ω [MASK] <unk> </s>",
    "",
    "repeated repeated repeated " * 5,
]


def test_transformers_gives_the_ids_of_a_trained_wordpiece(tmp_path):
    for lower in (True, False):
        vocabulary = train_wordpiece(TEXTS[:3] * 3, vocab_size=150, do_lower_case=lower)
        out = tmp_path / str(lower)
        ours = save_tokenizer(vocabulary, out, do_lower_case=lower)
        for cls in (TheirBertTokenizer, BertTokenizerFast, AutoTokenizer):
            theirs = cls.from_pretrained(out)
            assert theirs.get_vocab() == ours.get_vocab()
            for text in TEXTS:
                assert theirs(text)["input_ids"] == ours(text)["input_ids"], (cls, text)


@pytest.mark.parametrize("lower", [True, False, None])
@pytest.mark.parametrize(
    "options",
    [
        {"unk_token": "<unk>", "special_tokens": ["</s>", "<unk>"]},
        {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
        {"unk_token": "[UNK]", "continuing_subword_prefix": "##", "end_of_word_suffix": "@"},
        {"limit_alphabet": 20},
    ],
)
def test_tokenizers_and_transformers_give_the_ids_of_a_trained_bpe(tmp_path, options, lower):
    basic = BasicTokenizer(do_lower_case=bool(lower))
    words = str.split if lower is None else basic.tokenize
    bpe = train_bpe(TEXTS[:3] * 3, vocab_size=180, words=words, **options)
    bpe.save(tmp_path, do_lower_case=lower)
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert theirs.get_vocab() == loaded.get_vocab() == bpe.vocab
    assert loaded.unk_token == bpe.unk_token
    for text in [*TEXTS[:3], TEXTS[-1], "Cafe\u0301 nai\u0308ve Ж\u0301 ☃ abcabc"]:
        ours = [token_id for word in words(text) for token_id in bpe.encode(word)]
        assert theirs.encode(text).ids == ours
        assert loaded(text)["input_ids"] == ours
    model = models.BPE.from_file(
        str(tmp_path / "vocab.json"),
        str(tmp_path / "merges.txt"),
        **without_none(bpe, "unk_token", *MARKS),
    )
    for word in ("people", "unaffordable", "☃x", "tower"):
        assert [token.id for token in model.tokenize(word)] == bpe.encode(word)


MARKS = ("continuing_subword_prefix", "end_of_word_suffix")


def without_none(bpe: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(bpe, name) for name in names if getattr(bpe, name) is not None}


def test_random_words_are_split_as_tokenizers_splits_them():
    for seed in seeds():
        rng = random.Random(seed)
        options = {
            "continuing_subword_prefix": rng.choice(["##", None]),
            "end_of_word_suffix": rng.choice(["_", None]),
        }
        bpe = train_bpe(
            random_words(rng), vocab_size=40, unk_token=rng.choice(["?", None]), **options
        )
        given = without_none(bpe, "unk_token", *MARKS)
        theirs = models.BPE(dict(bpe.vocab), list(bpe.merges), **given)
        for word in ["".join(rng.choices("abcé中#x", k=rng.randrange(1, 15))) for _ in range(20)]:
            assert [token.value for token in theirs.tokenize(word)] == bpe.tokenize(word), (
                seed,
                word,
                bpe.merges,
            )


# ---- real text -----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["en", "udhr", "zh", "ja"])
def corpus(request) -> dict[str, int]:
    texts = TextFiles(directory_named("TRIETOK_CORPORA") / f"{request.param}.txt")
    if request.param == "zh":  # long words: whole sentences
        return count_words(itertools.islice(texts, 1500), words=str.split)
    return count_words(texts)


@pytest.mark.parity
@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 30000},
        {"vocab_size": 16000, "min_frequency": 5},
        {
            "vocab_size": 16000,
            "max_token_length": 6,
            "special_tokens": SPECIAL,
            "initial_alphabet": ["☃"],
        },
    ],
)
def test_bpe_of_real_text(corpus, options):
    assert our_bpe(corpus, **options) == their_bpe(texts_of(corpus), **options)


@pytest.mark.parity
@pytest.mark.parametrize(
    "options", [{"vocab_size": 30000}, {"vocab_size": 20000, "min_frequency": 4}]
)
def test_wordpiece_of_real_text_once_the_ids_of_the_forms_are_fixed(corpus, options):
    fixed = {**options, "special_tokens": SPECIAL, "continuing_subword_prefix": "##"}
    first = start(corpus, **fixed)
    model = models.WordPiece(unk_token="[UNK]")
    theirs, _ = their_bpe(
        texts_of(corpus), model, trainers.WordPieceTrainer, **{**options, "special_tokens": first}
    )
    assert train_wordpiece(corpus, **options).tokens == theirs


# ---- train_new_from_iterator ---------------------------------------------------------------------

NEW = {
    "as it is": ({}, []),
    "renamed": (
        {"special_tokens_map": {"[CLS]": "[CLASS]", "[UNK]": "<none>", "<s>": "<begin>"}},
        [],
    ),
    "rare ones left out": (
        {"min_frequency": 2, "initial_alphabet": ["☃"], "show_progress": False},
        [],
    ),
    "with special tokens": ({}, ["<new>", {"content": "<other>", "lstrip": True}]),
}


def trained_from(
    module: Any, kind: str, directory: pathlib.Path, new: list[Any], **options: Any
) -> tuple[Any, dict[str, Any]]:
    """The tokenizer that a module trains from another one, and its tokenizer.json."""
    first = getattr(module, kind)(str(directory / "vocab.txt"))
    first.add_special_tokens({"additional_special_tokens": ["<x>"]})
    first.add_tokens(["<plain>"])
    added = [token if isinstance(token, str) else module.AddedToken(**token) for token in new]
    texts = (TEXTS[i : i + 2] for i in range(0, len(TEXTS), 2))
    tokenizer = first.train_new_from_iterator(
        texts, 300, new_special_tokens=added or None, **options
    )
    tokenizer.save_pretrained(directory / module.__name__)
    return tokenizer, json.loads(
        (directory / module.__name__ / "tokenizer.json").read_text(encoding="utf-8")
    )


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("kind", ["BertTokenizerFast", "MPNetTokenizerFast"])
def test_a_tokenizer_trained_from_another_one(kind, name, tmp_path):
    options, new = NEW[name]
    roles = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>", "<pad>", "<mask>"]
    (tmp_path / "vocab.txt").write_text("\n".join([*roles, "the"]), encoding="utf-8")
    theirs, wanted = trained_from(transformers, kind, tmp_path, new, **options)
    ours, got = trained_from(trietok, kind, tmp_path, new, **options)
    for saved in (wanted, got):  # whose ids and equals tokenizers numbers by chance; see below
        saved["model"].pop("vocab")
    assert got == wanted
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.all_special_ids == theirs.all_special_ids
    config, their_config = (
        json.loads((tmp_path / module / "tokenizer_config.json").read_text(encoding="utf-8"))
        for module in ("trietok", "transformers")
    )
    assert config == their_config
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("lower", [True, False])
def test_the_vocabulary_trained_from_another_one_once_the_ids_of_the_forms_are_fixed(
    lower, tmp_path
):
    (tmp_path / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]), encoding="utf-8"
    )
    theirs, ours = (
        module.BertTokenizerFast(str(tmp_path / "vocab.txt"), do_lower_case=lower)
        for module in (transformers, trietok)
    )
    words = count_words(TEXTS, words=ours.basic_tokenizer.tokenize)
    forms = start(words, continuing_subword_prefix="##")
    theirs, ours = (
        each.train_new_from_iterator(TEXTS, 400, new_special_tokens=forms)
        for each in (theirs, ours)
    )
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours(TEXTS).data == theirs(TEXTS).data
