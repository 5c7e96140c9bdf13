"""`adapt`: from texts and a model to a new model, or to nothing at all."""

from __future__ import annotations

import json
import os
import pathlib

import numpy as np
import pytest
import safetensors.numpy as safetensors

import trietok
from trietok import BertTokenizer, BertTokenizerFast, adapt

TEXTS = [
    "Vaccines protect from covid.",
    "Long covid is real, and mRNA vaccines help.",
    "Atrial fibrillation: covid!",
]
NAME = "bert.embeddings.word_embeddings.weight"


@pytest.fixture
def model(tmp_path):
    """A directory with a model of one table, and the function that makes another in either
    profile.
    """

    def make(kind=BertTokenizer, **changes):
        directory = tmp_path / f"model{len(list(tmp_path.iterdir()))}"
        tokenizer = kind.from_pretrained("trietok-en")
        tokenizer.save_pretrained(directory)
        table = np.random.default_rng(0).normal(size=(tokenizer.max_id + 1, 4)).astype(np.float32)
        safetensors.save_file({NAME: changes.pop("table", table)}, directory / "model.safetensors")
        config = {
            "model_type": "bert",
            "vocab_size": len(table),
            "hidden_size": 4,
            "pad_token_id": 0,
            **changes,
        }
        (directory / "config.json").write_text(json.dumps(config))
        return directory

    return make


def files_of(directory: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
@pytest.mark.parametrize("way", ["auto", "wordpiece", "single-word", "unused"])
def test_the_whole_job(model, tmp_path, kind, way):
    directory = model(kind)
    there = files_of(directory)
    old = safetensors.load_file(directory / "model.safetensors")[NAME]
    profile = "fast" if kind is BertTokenizerFast else "slow"
    adapted = adapt(
        directory,
        tmp_path / "out",
        iter(TEXTS),
        way=way,
        min_frequency=2,
        profile=profile,
        initialization="mean",
    )
    assert files_of(directory) == there
    words = list(adapted.terms.added)
    assert words == ["covid", "vaccines"]
    before, after = (kind.from_pretrained(each) for each in (directory, tmp_path / "out"))
    assert (
        after.is_fast
        == (tmp_path / "out" / "tokenizer.json").exists()
        == (kind is BertTokenizerFast)
    )
    new = safetensors.load_file(tmp_path / "out" / "model.safetensors")[NAME]
    slots = 2 if way == "unused" else 0
    assert len(new) == len(old) + len(words) - slots
    for token, row in before.get_vocab().items():
        if after.get_vocab().get(token) == row:
            assert new[row].tobytes() == old[row].tobytes()
    for word in words:
        row = after.convert_tokens_to_ids(word)
        assert after.encode(word, add_special_tokens=False) == [row]
        pieces = before.encode(word, add_special_tokens=False)
        assert np.allclose(new[row], old[pieces].mean(axis=0))
    counts = [sum(len(each.tokenize(text)) for text in TEXTS) for each in (before, after)]
    assert [adapted.before.tokens, adapted.after.tokens] == counts
    assert counts[1] < counts[0]
    lost = slots or "0"
    assert adapted.proof.startswith(
        f"{8000 - slots:,} ids unchanged, 0 moved, {lost} lost, 2 new; fingerprint "
    )
    assert json.loads((tmp_path / "out" / "config.json").read_text())["vocab_size"] == len(new)


def test_truncation_and_padding_stay(model, tmp_path):
    directory = model(BertTokenizerFast)
    path = directory / "tokenizer.json"
    stage = {"max_length": 7, "strategy": "LongestFirst", "stride": 2, "direction": "Right"}
    fill = {"strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": None}
    fill |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    path.write_text(
        json.dumps({**json.loads(path.read_text()), "truncation": stage, "padding": fill})
    )
    adapt(directory, tmp_path / "out", terms=["covid"])
    written = json.loads((tmp_path / "out" / "tokenizer.json").read_text())
    assert (written["truncation"], written["padding"]) == (stage, fill)


TERMS = [
    "Covid",
    "Atrial fibrillation",
    "TNF-\u03b1",
    "##ology",
    "vaccines",
    "the",
    "COVID",
    "\u200d",
]


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_list_of_terms(model, tmp_path, kind):
    directory = model(kind)
    old = safetensors.load_file(directory / "model.safetensors")[NAME]
    profile = "fast" if kind is BertTokenizerFast else "slow"
    first = adapt(directory, None, terms=iter(TERMS), profile=profile, initialization="mean")
    assert sorted(os.listdir(tmp_path)) == [directory.name]
    assert (first.applied, first.out, [each.frequency for each in first.new]) == (None, "", [0] * 5)
    adapted = adapt(
        directory,
        tmp_path / "out",
        iter(TEXTS),
        terms=TERMS,
        profile=profile,
        initialization="mean",
    )
    assert (adapted.terms, adapted.plan, adapted.suggestions) == (first.terms, first.plan, None)
    assert adapted.terms.entries == ["covid", "##ology", "vaccines"]
    assert (adapted.terms.known, adapted.terms.duplicates) == (["the"], ["COVID"])
    assert [each.number for each in adapted.terms.refused] == [8]
    assert [(each.token.lower(), each.frequency, each.tokens_saved) for each in adapted.new] == [
        *(
            ("covid", 3, 6),
            ("atrial fibrillation", 1, 6),
            ("tnf-\u03b1", 0, 0),
            ("##ology", 0, 0),
            ("vaccines", 2, 4),
        )
    ]
    assert adapted.before.tokens - adapted.after.tokens == 16
    before, after = (kind.from_pretrained(each) for each in (directory, tmp_path / "out"))
    assert {token: after.get_vocab()[token] for token in before.get_vocab()} == before.get_vocab()
    new = safetensors.load_file(tmp_path / "out" / "model.safetensors")[NAME]
    assert new[:8000].tobytes() == old.tobytes()
    for text, place in (
        ("the covid;", 8000),
        ("(ATRIAL FIBRILLATION)", 8003),
        ("TNF-\u03b1, the", 8004),
        ("theology", 8001),
    ):
        assert after.encode(text, add_special_tokens=False).count(place) == 1, text
    pieces = before.encode("atrial fibrillation", add_special_tokens=False)
    assert np.allclose(new[8003], old[pieces].mean(axis=0))
    assert "left out: '\\u200d', number 8" in str(adapted)


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_an_adapted_model_is_adapted_again(model, tmp_path, kind):
    """In three steps of 60 terms, one of several words among them, as in one: ids by order of
    arrival.
    """
    directory, profile = model(kind), "fast" if kind is BertTokenizerFast else "slow"
    rng = np.random.default_rng()  # other words in each run; a failure shows them
    words = ["".join(rng.choice(list("bcdfgklmnprstvwxz"), size=8)) for _ in range(180)]
    steps = [
        list(dict.fromkeys([*words[at : at + 60], f"{words[at]} {words[at + 1]}"]))
        for at in range(0, 180, 60)
    ]
    plan, ids, at = None, kind.from_pretrained(directory).get_vocab(), directory
    for number, terms in enumerate(steps):
        old = safetensors.load_file(at / "model.safetensors")[NAME]
        done = adapt(
            at, tmp_path / f"step{number}", terms=terms, profile=profile, initialization="mean"
        )
        at, plan = tmp_path / f"step{number}", done.plan if plan is None else plan.then(done.plan)
        assert done.terms.ok, done.terms
        assert done.terms.instead == []
        new = safetensors.load_file(at / "model.safetensors")[NAME]
        assert new[: len(old)].tobytes() == old.tobytes()
        after = kind.from_pretrained(at)
        assert {token: after.get_vocab()[token] for token in ids} == ids
        assert list(done.terms.added.values()) == list(range(len(old), len(new)))
        assert list(done.terms.added) == terms
        ids = after.get_vocab()
    once = adapt(
        directory, None, terms=[term for terms in steps for term in terms], profile=profile
    )
    assert set(once.terms.added) == ids.keys() - kind.from_pretrained(directory).get_vocab().keys()
    assert (plan.before, plan.after) == (once.plan.before, after.fingerprint())
    table = safetensors.load_file(directory / "model.safetensors")[NAME]
    for token in rng.choice(words, size=20):
        pieces = kind.from_pretrained(directory).encode(token, add_special_tokens=False)
        assert np.allclose(new[ids[token]], table[pieces].mean(axis=0), atol=1e-5), token
    assert trietok.lock(after).fingerprint == after.fingerprint()


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_model_that_grows_and_gives_up_terms(model, tmp_path, kind):
    """Without terms it has the ids of a model that never got them; rows, plans and locks follow
    each step.
    """
    directory, profile = model(kind), "fast" if kind is BertTokenizerFast else "slow"
    steps: list[tuple[list[str], list[str]]] = [
        (["covid", "crohn's disease", "zoology"], []),
        (["measles", "long covid"], ["Zoology", "Crohn's Disease"]),
        ([], ["measles"]),
        (["vaccines", "zoology"], []),
    ]
    plan, at = None, directory
    for number, (terms, gone) in enumerate(steps):
        old, before = (
            safetensors.load_file(at / "model.safetensors")[NAME],
            kind.from_pretrained(at),
        )
        done = adapt(at, tmp_path / f"step{number}", terms=terms, remove=gone, profile=profile)
        at, plan = tmp_path / f"step{number}", done.plan if plan is None else plan.then(done.plan)
        new, after = safetensors.load_file(at / "model.safetensors")[NAME], kind.from_pretrained(at)
        for token, row in before.get_vocab().items():
            if token in after.get_vocab():
                assert new[after.get_vocab()[token]].tobytes() == old[row].tobytes(), token
        assert list(done.removed) == [each.lower() for each in gone]
        assert not done.removed or f"{len(gone)} token" in str(done)
        assert len(new) == len(after.get_vocab()) == after.max_id + 1
    whole = trietok.plan_rows(kind.from_pretrained(directory), after)
    assert (plan.before, plan.after, plan.sources) == (whole.before, whole.after, whole.sources)
    assert plan.terms_of(8000) == whole.terms_of(8000)
    assert [after.convert_ids_to_tokens(row) for row in range(8000, 8004)] == [
        *("covid", "long covid", "vaccines", "zoology")
    ]
    short = adapt(directory, tmp_path / "short", terms=["covid", "long covid"], profile=profile)
    again = adapt(
        tmp_path / "short", tmp_path / "again", terms=["vaccines", "zoology"], profile=profile
    )
    assert again.plan.after == after.fingerprint() == trietok.lock(after).fingerprint
    assert short.plan.then(again.plan).after == plan.after


def test_what_cannot_be_removed(model, tmp_path):
    directory, out = model(BertTokenizerFast), tmp_path / "out"
    for gone, error in (
        (["the", "zoologic", "a b"], trietok.UnknownTokenError),
        (["[MASK]"], trietok.SpecialTokenError),
        (["[UNK]"], trietok.SpecialTokenError),
        ("people", trietok.InputTypeError),
        (b"people", trietok.InputTypeError),
    ):
        with pytest.raises(error):
            adapt(directory, out, terms=["covid"], remove=gone)
    assert not out.exists()


def test_words_that_are_found_where_an_added_token_is_in_the_way(model, tmp_path):
    """They become added tokens, and the report says so; entries that were asked for are refused."""
    directory = model(BertTokenizerFast)
    adapt(directory, tmp_path / "one", terms=["fibrillation"], way="single-word")
    adapted = adapt(tmp_path / "one", tmp_path / "two", TEXTS, min_frequency=2)
    assert (list(adapted.terms.added.values()), adapted.terms.entries) == ([8001, 8002], [])
    assert adapted.other_words == []
    with pytest.raises(trietok.InputError):
        adapt(tmp_path / "one", tmp_path / "three", TEXTS, min_frequency=2, way="wordpiece")


def test_what_cannot_be_saved_is_told_before_anything_is_made(model, tmp_path):
    """The id of a token that was removed: a vocab.txt keeps it free, and a tokenizer.json
    cannot.
    """
    directory = model()
    tokenizer = BertTokenizer.from_pretrained(directory)
    tokenizer.add_tokens(["a b", "c d"])
    tokenizer.remove_tokens(["a b"])
    tokenizer.save_pretrained(directory, tokenizer_json=False)

    def no_texts():
        yield from ()
        raise AssertionError("the texts are read")

    for out in (None, tmp_path / "out"):
        with pytest.raises(trietok.VocabularyError):
            adapt(directory, out, no_texts(), terms=["e f"], profile="fast")
    assert not (tmp_path / "out").exists()
    assert adapt(directory, None, terms=["e f"], profile="slow").terms.added == {"e f": 8002}


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
@pytest.mark.parametrize("way", ["auto", "added", "single-word"])
def test_other_words_with_new_pieces_are_named(model, tmp_path, kind, way):
    """Of words that begin with a term, or hold one that is matched inside words; not the term
    itself.
    """
    directory, profile = model(kind), "fast" if kind is BertTokenizerFast else "slow"
    texts = ["Hepatocytes, hepat and (hepatocytes)", "the people", "hepatic HEPAT", "xhepat"]
    dry = adapt(directory, None, texts, terms=["hepat", "the people"], way=way, profile=profile)
    done = adapt(
        directory, tmp_path / "out", texts, terms=["hepat", "the people"], way=way, profile=profile
    )
    before, after = (kind.from_pretrained(each) for each in (directory, tmp_path / "out"))
    words = {
        "auto": ["hepatocytes", "hepatic"],
        "added": ["hepatocytes", "hepatic", "xhepat"],
        "single-word": [],
    }[way]
    assert [(each.word, each.frequency) for each in dry.other_words] == [
        (word, 2 if word == "hepatocytes" else 1) for word in words
    ]
    for word, _, old, new in dry.other_words:
        assert (old, new) == (before.tokenize(word), after.tokenize(word))
    assert (done.other_words, done.to_dict()["other_words"]) == (
        dry.other_words,
        dry.to_dict()["other_words"],
    )
    assert [each["word"] for each in done.to_dict()["other_words"]] == words
    (other,) = adapt(
        directory, None, ["hepat hepatocytes"] + ["hepat"] * 9, profile=profile
    ).other_words
    assert (other.word, other.frequency, other.after[0]) == ("hepatocytes", 1, "hepat")


def test_only_a_look_at_the_words_of_texts(model, tmp_path):
    directory = model()
    looked = adapt(directory, None, TEXTS, min_frequency=2)
    assert [(each.token, each.frequency, each.tokens_saved) for each in looked.new] == [
        ("covid", 3, 6),
        ("vaccines", 2, 4),
    ]
    assert "covid     entry  co ##v ##id             3             6" in str(looked).split("\n")
    assert os.listdir(tmp_path) == [directory.name]
    assert adapt(directory, None, terms=["the"]).new == []


@pytest.mark.parametrize("terms", [None, ["covid"]])
def test_empty_texts_are_counted(model, terms):
    adapted = adapt(
        model(), None, ["", *TEXTS, ""], terms=terms, **({} if terms else {"min_frequency": 2})
    )
    assert adapted.before.texts == len(TEXTS) + 2


def test_phrases(model, tmp_path):
    texts = [*TEXTS, "No atrial fibrillation", "ATRIAL FIBRILLATION again"] * 3
    adapted = adapt(model(), tmp_path / "out", texts, phrases=2)
    assert "atrial fibrillation" in adapted.terms.added


@pytest.mark.parametrize(
    "options",
    [
        {"texts": []},
        {"texts": ["the people"]},
        {"min_frequency": 4},
        {"way": "best"},
        {"way": "added"},
        {"terms": ["the"]},
        {"terms": ["\u200d"]},
        {"terms": ["a b"], "way": "wordpiece"},
        {"terms": []},
        {"terms": "covid"},
        {"terms": ["covid"], "phrases": 2},
        {"terms": ["covid"], "most": 5},
        {"profile": "rust"},
        {"initialization": "best"},
        {"texts": TEXTS[0]},
        {"texts": 5},
        {"way": ["added"]},
        {"way": "unused", "most": "3"},
        {"leave_out": "covid"},
        {"leave_out": ["COVID", "vaccines"]},
        {"multiple_of": 0},
        {"also": ["no.such.tensor"]},
    ],
    ids=str,
)
def test_an_error_leaves_nothing(model, tmp_path, options):
    directory, found = model(), {} if "terms" in options else {"min_frequency": 2}
    with pytest.raises(trietok.TrietokError):
        adapt(directory, tmp_path / "out", **{"texts": TEXTS, **found, **options})
    assert os.listdir(tmp_path) == [directory.name]


def test_rows_that_are_no_numbers_are_not_spread(model, tmp_path):
    directory = model(table=np.full((8000, 4), np.nan, dtype=np.float32))
    with pytest.raises(trietok.InputError):
        adapt(directory, tmp_path / "out", TEXTS, min_frequency=2)
    assert os.listdir(tmp_path) == [directory.name]


def test_a_directory_that_holds_something_is_left_as_it_is(model):
    directory = model()
    there = files_of(directory)
    with pytest.raises(trietok.FileError):
        adapt(directory, directory, TEXTS, min_frequency=2)
    assert files_of(directory) == there


def test_what_was_written_wrongly_gets_no_name(model, tmp_path, monkeypatch):
    directory = model()
    real = BertTokenizer.save_pretrained

    def save(self, folder, *args, **kwargs):
        files = real(self, folder, *args, **kwargs)
        vocabulary = pathlib.Path(folder, "vocab.txt")
        vocabulary.write_text(vocabulary.read_text().replace("covid", "covet"))
        return files

    monkeypatch.setattr(BertTokenizer, "save_pretrained", save)
    for profile in ("slow", None):
        with pytest.raises(trietok.VocabularyError):
            adapt(directory, tmp_path / "out", TEXTS, min_frequency=2, profile=profile)
    assert os.listdir(tmp_path) == [directory.name]


def test_the_model_is_looked_at_before_the_texts_are_read(model, tmp_path):
    def texts():
        raise AssertionError("the texts were read")
        yield ""

    directory = model()
    (directory / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(trietok.FileFormatError):
        adapt(directory, tmp_path / "out", texts())
    for place in ("nowhere", "trietok-en"):
        with pytest.raises(trietok.FileError):
            adapt(place, tmp_path / "out", texts())
    directory = model()
    with pytest.raises(trietok.FileError):
        adapt(directory, directory / "sub", texts())
    for initialization in ("best", "copy:nosuchtoken"):
        with pytest.raises(trietok.TrietokError):
            adapt(directory, tmp_path / "out", texts(), initialization=initialization)


def test_two_vocabularies_in_one_directory(model, tmp_path):
    directory = model(BertTokenizerFast)
    vocabulary = (directory / "vocab.txt").read_text().splitlines()
    (directory / "vocab.txt").write_text("\n".join(vocabulary[:5000]) + "\n")
    with pytest.raises(trietok.TrietokError):
        adapt(directory, tmp_path / "out", TEXTS, min_frequency=2)


def test_a_word_that_the_fast_profile_never_gives_is_not_added(model, tmp_path):
    fast = BertTokenizerFast.from_pretrained("trietok-en", strip_accents=False)
    directory = model()
    fast.save_pretrained(directory)
    texts = ["Ko\u0308rperteil covid"] * 3  # the slow profile composes, the fast one does not
    adapted = adapt(directory, tmp_path / "out", texts)
    assert list(adapted.terms.added) == ["covid"]
    assert adapted.unreached == ["körperteil"]


def test_ids_that_move_are_told(model, tmp_path):
    directory = model()
    done = adapt(directory, tmp_path / "out", remove=["people"], terms=["covid"])
    assert done.plan.moved > 0
    assert f"{done.plan.moved:,} ids moved" in str(done)
    again = adapt(tmp_path / "out", tmp_path / "again", remove=["covid"], terms=["zoology"])
    assert (again.plan.moved, "ids moved" in str(again)) == (0, False)


@pytest.mark.parametrize("gone", [["people"], iter(["people"])])
def test_terms_are_removed_and_none_added(model, tmp_path, gone):
    done = adapt(model(), tmp_path / "out", remove=gone)
    assert (done.removed, done.terms.added, done.suggestions) == (["people"], {}, None)
    assert BertTokenizer.from_pretrained(tmp_path / "out").tokenize("people") != ["people"]
    assert str(done).startswith("1 token removed: people\n")


def test_entries_that_are_removed_are_told(model, tmp_path):
    """The model may have been trained with them, unlike with added tokens."""
    adapt(model(), tmp_path / "with", terms=["long covid", "zoology"])
    done = adapt(tmp_path / "with", None, remove=["people", "long covid", "the"])
    assert done.removed_entries == done.to_dict()["removed_entries"] == ["people", "the"]
    assert "warning: 2 of them are entries of the vocabulary" in str(done)
    last = adapt(tmp_path / "with", None, remove=["long covid"])
    assert (last.removed_entries, "warning" in str(last)) == ([], False)
