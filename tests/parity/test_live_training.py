"""trietok's trainers and those of tokenizers side by side: vocabularies, merges, and the ids of
trained files.

TRIETOK_CORPORA names a directory with en.txt, udhr.txt, zh.txt and ja.txt, a text a line.
"""

from __future__ import annotations

import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

import trietok
from tests.conftest import SPECIAL, often
from tests.parity.comparing import directory_named
from trietok import BasicTokenizer, TextFiles, count_words, train_bpe, train_wordpiece

Trained = tuple[list[str], list[tuple[str, str]]]  # tokens by id, merges
NO_MERGES = {"min_frequency": 10**9}


def texts_of(word_counts: dict[str, int]) -> list[str]:
    """Texts between whose spaces are these words, so often."""
    return [" ".join([word] * count) for word, count in word_counts.items()]


def their_bpe(
    texts: Iterable[str], model: Any = None, trainer: Any = trainers.BpeTrainer, **options: Any
) -> Trained:
    """What tokenizers trains on words between spaces."""
    tokenizer = Tokenizer(model or models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    options = {name: value for name, value in options.items() if value is not None}
    tokenizer.train_from_iterator(texts, trainer(show_progress=False, **options))
    vocab = tokenizer.get_vocab()
    merges = json.loads(tokenizer.to_str())["model"].get("merges", [])
    return sorted(vocab, key=vocab.__getitem__), [tuple(pair) for pair in merges]


def our_bpe(word_counts: dict[str, int], **options: Any) -> Trained:
    bpe = train_bpe(word_counts, **options)
    return list(bpe.vocab), list(bpe.merges)


def forms_of(word_counts: dict[str, int], **options: Any) -> list[str]:
    """The tokens that training starts from, in trietok's order.

    Passed to tokenizers as special tokens they fix the ids of the forms of characters. Otherwise
    these have an order that changes from run to run, and with it changes the order of equally
    frequent pairs.
    """
    return our_bpe(word_counts, **{**options, "vocab_size": 10**9, **NO_MERGES})[0]


def random_words(rng: random.Random) -> dict[str, int]:
    letters = "ab" if rng.random() < 0.3 else "abc\u00e9\u4e2d#"
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
        options["initial_alphabet"] = rng.sample(["x", "yz", "a", "\u00e9"], 2)
    return options


# ---- random words --------------------------------------------------------------------------------


@pytest.mark.parametrize("has_forms", [False, True], ids=["plain", "prefix or suffix"])
def test_random_words_give_the_vocabulary_and_merges_of_tokenizers(has_forms):
    merges = 0
    for _ in range(often(60)):
        seed = random.randrange(2**32)
        rng = random.Random(seed)
        words, options = random_words(rng), random_options(rng)
        if has_forms:
            options["vocab_size"] = 60
            options["continuing_subword_prefix"] = rng.choice(["##", "@", None])
            options["end_of_word_suffix"] = rng.choice(["</w>", None])
            if "max_token_length" in options:  # the one difference: see below
                words = {word.replace("#", "x"): count for word, count in words.items()}
            ours = our_bpe(words, **options)
            special = forms_of(words, **options)
        else:
            special = ["<s>", "ab"] if rng.random() < 0.3 else []
            ours = our_bpe(words, special_tokens=special, **options)
        assert ours == their_bpe(texts_of(words), special_tokens=special, **options), (seed, words)
        merges += len(ours[1])
    assert merges > often(60)


def test_random_words_are_split_as_tokenizers_splits_them():
    lengths: Counter[int] = Counter()
    for _ in range(often(60)):
        seed = random.randrange(2**32)
        rng = random.Random(seed)
        unknown = rng.choice(["?", None])
        forms = {
            "continuing_subword_prefix": rng.choice(["##", None]),
            "end_of_word_suffix": rng.choice(["_", None]),
        }
        bpe = train_bpe(random_words(rng), vocab_size=40, unk_token=unknown, **forms)
        theirs = models.BPE(dict(bpe.vocab), list(bpe.merges), **their_options(bpe))
        for _ in range(20):
            word = "".join(rng.choices("abc\u00e9\u4e2d#x", k=rng.randrange(1, 15)))
            want = [token.value for token in theirs.tokenize(word)]
            assert bpe.tokenize(word) == want, (seed, word)
            lengths[len(want)] += 1
    assert len(lengths) > 4


def their_options(bpe: trietok.Bpe) -> dict[str, Any]:
    names = ("unk_token", "continuing_subword_prefix", "end_of_word_suffix")
    return {name: getattr(bpe, name) for name in names if getattr(bpe, name) is not None}


def test_the_length_of_a_token_that_is_made_in_two_ways_differs():
    """tokenizers keeps a length for each place, trietok for each token: words that hold the prefix
    show it.
    """
    words = {"####a": 3}
    options = {"continuing_subword_prefix": "##", "vocab_size": 60}
    forms = forms_of(words, **options)
    assert our_bpe(words, **options) == their_bpe(texts_of(words), special_tokens=forms, **options)
    limited = {**options, "max_token_length": 5}
    assert our_bpe(words, **limited)[0] == [*forms, "####", "###a"]
    assert their_bpe(texts_of(words), special_tokens=forms, **limited)[0] == [*forms, "####"]


def test_repeats_and_a_limited_alphabet_give_the_merges_of_tokenizers():
    for longest in range(1, 40):
        words = {"a" * length: 1 + length % 3 for length in range(1, longest)} | {"b": 1}
        assert our_bpe(words) == their_bpe(texts_of(words)), longest
    words = {"a" * 9 + "b" * 7 + "c" * 5 + "d" * 3: 2, "abc": 3, "d": 1}  # without ties
    for limit in range(1, 5):
        want = their_bpe(texts_of(words), limit_alphabet=limit)
        assert our_bpe(words, limit_alphabet=limit) == want, limit


# ---- trained files -------------------------------------------------------------------------------

TEXTS = [
    "The people of the United States, united!",
    "Na\u00efve caf\u00e9, Caf\u00e9: unaffordable, unbelievable; the caf\u00e9s",
    "\u6771\u4eac\u30bf\u30ef\u30fc and the \u4eac\u90fd",
    "unknown: \u2603 \u0416\u0301 \u0438 \u03c9 [MASK] <unk> </s>",
    "",
    "repeated repeated repeated " * 5,
]


@pytest.mark.parametrize("lower", [True, False])
def test_transformers_gives_the_ids_of_a_trained_wordpiece(tmp_path, lower):
    vocabulary = train_wordpiece(TEXTS[:3] * 3, vocab_size=150, do_lower_case=lower)
    ours = trietok.save_tokenizer(vocabulary, tmp_path, do_lower_case=lower)
    for name in ("BertTokenizer", "BertTokenizerFast", "AutoTokenizer"):
        theirs = getattr(transformers, name).from_pretrained(tmp_path)
        assert theirs.get_vocab() == ours.get_vocab()
        assert theirs(TEXTS)["input_ids"] == ours(TEXTS)["input_ids"], name


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
    words = str.split if lower is None else BasicTokenizer(do_lower_case=lower).tokenize
    bpe = train_bpe(TEXTS[:3] * 3, vocab_size=180, words=words, **options)
    bpe.save(tmp_path, do_lower_case=lower)
    theirs = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs.get_vocab() == loaded.get_vocab() == bpe.vocab
    assert loaded.unk_token == bpe.unk_token
    for text in [*TEXTS[:3], TEXTS[-1], "Cafe\u0301 nai\u0308ve \u0416\u0301 \u2603 abcabc"]:
        ours = [token_id for word in words(text) for token_id in bpe.encode(word)]
        assert theirs.encode(text).ids == loaded(text)["input_ids"] == ours
    files = (str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    model = models.BPE.from_file(*files, **their_options(bpe))
    for word in ("people", "unaffordable", "\u2603x", "tower"):
        assert [token.id for token in model.tokenize(word)] == bpe.encode(word)


# ---- train_new_from_iterator ---------------------------------------------------------------------

RENAMED = {"[CLS]": "[CLASS]", "[UNK]": "<none>", "<s>": "<begin>"}
OTHER = {"content": "<other>", "lstrip": True}
NEW: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "as it is": ({}, []),
    "renamed": ({"special_tokens_map": RENAMED}, []),
    "rare ones left out": (
        {"min_frequency": 2, "initial_alphabet": ["\u2603"], "show_progress": False},
        [],
    ),
    "with special tokens": ({}, ["<new>", OTHER]),
}


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("kind", ["BertTokenizerFast", "MPNetTokenizerFast"])
def test_a_tokenizer_trained_from_another_one_is_saved_alike(kind, name, tmp_path):
    options, new = NEW[name]
    vocabulary = tmp_path / "vocab.txt"
    tokens = [*SPECIAL, "<s>", "</s>", "<pad>", "<mask>", "the"]
    vocabulary.write_text("\n".join(tokens), encoding="utf-8")
    trained, files = [], []
    for library in (transformers, trietok):
        first = getattr(library, kind)(str(vocabulary))
        first.add_special_tokens({"additional_special_tokens": ["<x>"]})
        first.add_tokens(["<plain>"])
        added = [each if isinstance(each, str) else library.AddedToken(**each) for each in new]
        texts = (TEXTS[i : i + 2] for i in range(0, len(TEXTS), 2))
        tokenizer = first.train_new_from_iterator(
            texts, 300, new_special_tokens=added or None, **options
        )
        folder = tmp_path / library.__name__
        tokenizer.save_pretrained(folder)
        config, file = (
            json.loads((folder / name).read_text(encoding="utf-8"))
            for name in ("tokenizer_config.json", "tokenizer.json")
        )
        config.pop("trietok", None)  # the hashes of the files
        file["model"].pop("vocab")  # whose ids and equals tokenizers numbers by chance; see below
        trained.append(tokenizer)
        files.append((config, file))
    theirs, ours = trained
    assert files[1] == files[0]
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.all_special_ids == theirs.all_special_ids
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("lower", [True, False])
def test_the_vocabulary_trained_from_another_one_once_the_ids_of_the_forms_are_fixed(
    lower, tmp_path
):
    (tmp_path / "vocab.txt").write_text("\n".join(SPECIAL), encoding="utf-8")
    words = count_words(TEXTS, words=BasicTokenizer(do_lower_case=lower).tokenize)
    forms = forms_of(words, continuing_subword_prefix="##")
    theirs, ours = (
        library.BertTokenizerFast(
            str(tmp_path / "vocab.txt"), do_lower_case=lower
        ).train_new_from_iterator(TEXTS, 400, new_special_tokens=forms)
        for library in (transformers, trietok)
    )
    assert ours.get_vocab() == theirs.get_vocab()
    assert ours(TEXTS).data == theirs(TEXTS).data


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
            "initial_alphabet": ["\u2603"],
        },
    ],
)
def test_bpe_of_real_text_is_that_of_tokenizers(corpus, options):
    assert our_bpe(corpus, **options) == their_bpe(texts_of(corpus), **options)


@pytest.mark.parity
@pytest.mark.parametrize(
    "options", [{"vocab_size": 30000}, {"vocab_size": 20000, "min_frequency": 4}]
)
def test_wordpiece_of_real_text_is_that_of_tokenizers_once_the_ids_of_the_forms_are_fixed(
    corpus, options
):
    forms = forms_of(corpus, special_tokens=SPECIAL, continuing_subword_prefix="##")
    model = models.WordPiece(unk_token="[UNK]")
    theirs, _ = their_bpe(
        texts_of(corpus), model, trainers.WordPieceTrainer, **{**options, "special_tokens": forms}
    )
    assert train_wordpiece(corpus, **options).tokens == theirs
