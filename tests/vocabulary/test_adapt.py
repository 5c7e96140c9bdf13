"""`adapt`: from texts or terms and a model to a new model, or to a report alone. What becomes of the
model's rows is in test_changed_models.py.
"""

from __future__ import annotations

import json
import os
import pathlib
import string

import pytest

import trietok
from tests.vocabulary.models import bert, save_model
from trietok import BertTokenizer, BertTokenizerFast, adapt

# A vocabulary that cuts any word of ASCII letters, mostly into letters.
WORDS = [
    *("the", "people", "[unused0]", "[unused1]", "[unused2]"),
    *string.ascii_lowercase,
    *("##" + letter for letter in string.ascii_lowercase),
    *(",", ".", "-", ":"),
]
ROWS = 5 + len(WORDS)
TEXTS = [
    "Vaccines protect from covid.",
    "Long covid is real, and mRNA vaccines help.",
    "Atrial fibrillation: covid!",
]
KINDS = {"slow": BertTokenizer, "fast": BertTokenizerFast}


@pytest.fixture
def model(vocab_file, tmp_path):
    """A function that writes a model with a tokenizer of either profile."""

    def make(kind: str = "slow", name: str = "model", **options) -> pathlib.Path:
        tokenizer = KINDS[kind](vocab_file(*WORDS), **options)
        return save_model(tmp_path / name, bert(ROWS), ROWS, tokenizer=tokenizer)

    return make


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def files_of(directory: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


# ---- what is added -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["auto", "wordpiece", "single-word", "unused"])
def test_words_of_the_texts_that_save_most_become_tokens_and_the_report_counts(
    model, out, kind, way
):
    directory = model(kind)
    there = files_of(directory)
    adapted = adapt(directory, out, iter(TEXTS), way=way, min_frequency=2, profile=kind)
    assert files_of(directory) == there
    assert list(adapted.terms.added) == ["vaccines", "covid"]
    before, after = (KINDS[kind].from_pretrained(each) for each in (directory, out))
    for word, token_id in adapted.terms.added.items():
        assert after.encode(word, add_special_tokens=False) == [token_id]
    counts = [sum(len(each.tokenize(text)) for text in TEXTS) for each in (before, after)]
    assert [adapted.before.tokens, adapted.after.tokens] == counts
    assert counts[0] - counts[1] == 2 * 7 + 3 * 4
    assert [(each.token, each.frequency, each.tokens_saved) for each in adapted.new] == [
        ("vaccines", 2, 14),
        ("covid", 3, 12),
    ]
    slots = 2 if way == "unused" else 0
    assert adapted.proof.startswith(f"{ROWS - slots} ids unchanged, 0 moved, {slots} lost, 2 new;")
    assert adapted.proof.endswith(after.fingerprint()[:18])


TERMS = ["Covid", "Atrial fibrillation", "TNF-\u03b1", "##ology", "the", "COVID", "\u200d"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_of_terms_is_added_as_the_dry_run_says(model, out, tmp_path, kind):
    directory = model(kind)
    dry = adapt(directory, None, terms=iter(TERMS), profile=kind)
    assert not out.exists()
    assert (dry.applied, dry.out, [each.frequency for each in dry.new]) == (None, "", [0] * 4)
    adapted = adapt(directory, out, iter(TEXTS), terms=TERMS, profile=kind)
    assert (adapted.terms, adapted.plan, adapted.suggestions) == (dry.terms, dry.plan, None)
    assert adapted.terms.entries == ["covid", "##ology"]
    assert (adapted.terms.known, adapted.terms.duplicates) == (["the"], ["COVID"])
    assert [each.number for each in adapted.terms.refused] == [7]
    assert "left out: '\\u200d', number 7" in str(adapted)
    assert [(each.token.lower(), each.frequency, each.tokens_saved) for each in adapted.new] == [
        ("covid", 3, 12),
        ("atrial fibrillation", 1, 17),
        ("tnf-\u03b1", 0, 0),
        ("##ology", 0, 0),
    ]
    assert adapted.before.tokens - adapted.after.tokens == 29
    after = KINDS[kind].from_pretrained(out)
    ids = {token.lower(): token_id for token, token_id in adapted.terms.added.items()}
    for text, token in (
        ("the covid;", "covid"),
        ("(ATRIAL FIBRILLATION)", "atrial fibrillation"),
        ("TNF-\u03b1, the", "tnf-\u03b1"),
        ("theology", "##ology"),
    ):
        assert after.encode(text).count(ids[token]) == 1, text


def test_a_dry_run_shows_the_words_in_a_table_and_writes_nothing(model, tmp_path):
    directory = model()
    before = sorted(tmp_path.rglob("*"))
    adapted = adapt(directory, None, ["", *TEXTS, ""], min_frequency=2)
    lines = [line.split() for line in str(adapted).split("\n")]
    assert ["covid", "entry", *"c ##o ##v ##i ##d".split(), "3", "12"] in lines
    assert sorted(tmp_path.rglob("*")) == before
    assert adapted.before.texts == len(TEXTS) + 2
    assert adapt(directory, None, ["", "a"], terms=["covid"]).before.texts == 2
    assert adapt(directory, None, terms=["the"]).new == []
    texts = [*TEXTS, "No atrial fibrillation", "ATRIAL FIBRILLATION again"] * 3
    assert "atrial fibrillation" in adapt(directory, None, texts, phrases=2).terms.added


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("auto", {"hepatocytes": 2, "hepatic": 1}),
        ("added", {"hepatocytes": 2, "hepatic": 1, "xhepat": 1}),
        ("single-word", {}),
    ],
)
def test_other_words_with_new_pieces_are_named(model, out, kind, way, words):
    """Words that begin with a term, or hold one that is matched inside words; not the term."""
    texts = ["Hepatocytes, hepat and (hepatocytes)", "the people", "hepatic HEPAT", "xhepat"]
    options = {"terms": ["hepat", "the people"], "way": way, "profile": kind}
    directory = model(kind)
    dry, done = (adapt(directory, each, texts, **options) for each in (None, out))
    before, after = (KINDS[kind].from_pretrained(each) for each in (directory, out))
    assert done.other_words == dry.other_words
    assert {each.word: each.frequency for each in dry.other_words} == words
    for word, _, old, new in dry.other_words:
        assert (old, new) == (before.tokenize(word), after.tokenize(word))
    assert [each["word"] for each in done.to_dict()["other_words"]] == list(words)


def test_found_words_become_added_tokens_where_an_added_token_is_in_the_way(model, tmp_path):
    """The report says so; entries that were asked for are refused."""
    first = adapt(model("fast"), tmp_path / "one", terms=["fibrillation"], way="single-word")
    adapted = adapt(tmp_path / "one", tmp_path / "two", TEXTS, min_frequency=2)
    assert first.terms.added == {"fibrillation": ROWS}
    assert adapted.terms.added == {"vaccines": ROWS + 1, "covid": ROWS + 2}
    assert (adapted.terms.entries, adapted.other_words) == ([], [])
    with pytest.raises(trietok.InputError):
        adapt(tmp_path / "one", tmp_path / "three", TEXTS, min_frequency=2, way="wordpiece")


def test_a_word_that_the_fast_profile_never_gives_is_not_added(model, out):
    directory = model("fast", strip_accents=False)
    texts = ["Ko\u0308rperteil covid"] * 3  # the slow profile composes, the fast one does not
    adapted = adapt(directory, out, texts)
    assert list(adapted.terms.added) == ["covid"]
    assert adapted.unreached == ["körperteil"]


# ---- what is removed -----------------------------------------------------------------------------


def test_the_report_names_what_was_removed_and_whether_ids_moved(model, tmp_path):
    """The model may have been trained with entries, unlike with added tokens."""
    grown = adapt(model(), tmp_path / "grown", terms=["long covid", "zoology"])
    assert (grown.plan.moved, "ids moved" in str(grown)) == (0, False)
    done = adapt(tmp_path / "grown", None, remove=iter(["people", "Long COVID", "the"]))
    assert (done.removed, done.terms.added, done.suggestions) == (
        ["people", "long covid", "the"],
        {},
        None,
    )
    assert str(done).startswith("3 tokens removed: people, long covid, the\n")
    assert f"{done.plan.moved:,} ids moved" in str(done)
    assert done.removed_entries == done.to_dict()["removed_entries"] == ["people", "the"]
    assert "warning: 2 of them are entries of the vocabulary" in str(done)
    last = adapt(tmp_path / "grown", None, remove=["long covid"])
    assert (last.removed_entries, "warning" in str(last)) == ([], False)


@pytest.mark.parametrize(
    ("gone", "error"),
    [
        (["the", "zoologic", "a b"], trietok.UnknownTokenError),
        (["[MASK]"], trietok.SpecialTokenError),
        (["[UNK]"], trietok.SpecialTokenError),
        ("people", trietok.InputTypeError),
        (b"people", trietok.InputTypeError),
        (["the", None], trietok.InputTypeError),
    ],
)
def test_what_is_no_token_or_has_a_role_is_not_removed(model, out, gone, error):
    with pytest.raises(error):
        adapt(model("fast"), out, terms=["covid"], remove=gone)
    assert not out.exists()


# ---- tokenizer files -----------------------------------------------------------------------------


def test_truncation_and_padding_of_tokenizer_json_stay(model, out):
    path = model("fast") / "tokenizer.json"
    stage = {"max_length": 7, "strategy": "LongestFirst", "stride": 2, "direction": "Right"}
    fill = {"strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": None}
    fill |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    values = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**values, "truncation": stage, "padding": fill}))
    adapt(path.parent, out, terms=["covid"])
    written = json.loads((out / "tokenizer.json").read_text(encoding="utf-8"))
    assert (written["truncation"], written["padding"]) == (stage, fill)


def test_an_output_whose_vocabulary_was_written_wrongly_is_not_put_in_place(
    model, out, tmp_path, monkeypatch
):
    directory = model()
    real = BertTokenizer.save_pretrained

    def save(self, folder, *args, **kwargs):
        files = real(self, folder, *args, **kwargs)
        vocabulary = pathlib.Path(folder, "vocab.txt")
        vocabulary.write_text(vocabulary.read_text().replace("covid", "covet"))
        return files

    monkeypatch.setattr(BertTokenizer, "save_pretrained", save)
    for profile in KINDS:
        with pytest.raises(trietok.VocabularyError):
            adapt(directory, out, TEXTS, min_frequency=2, profile=profile)
    assert sorted(os.listdir(tmp_path)) == ["model", "vocab.txt"]


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"texts": []},
        {"texts": ["the people"]},
        {"texts": TEXTS[0]},
        {"texts": 5},
        {"min_frequency": 4},
        {"way": "best"},
        {"way": "added"},
        {"way": ["added"]},
        {"way": "unused", "most": "3"},
        {"terms": ["the"]},
        {"terms": ["\u200d"]},
        {"terms": ["a b"], "way": "wordpiece"},
        {"terms": []},
        {"terms": "covid"},
        {"terms": ["covid"], "phrases": 2},
        {"terms": ["covid"], "most": 5},
        {"profile": "rust"},
        {"initialization": "best"},
        {"leave_out": "covid"},
        {"leave_out": ["COVID", "vaccines"]},
        {"multiple_of": 0},
        {"also": ["no.such.tensor"]},
    ],
    ids=str,
)
def test_a_mistake_leaves_nothing(model, out, options):
    directory, found = model(), {} if "terms" in options else {"min_frequency": 2}
    with pytest.raises(trietok.TrietokError):
        adapt(directory, out, **{"texts": TEXTS, **found, **options})
    assert not out.exists()


def no_texts():
    raise AssertionError("the texts were read")
    yield ""


def test_the_model_is_looked_at_before_the_texts_are_read(model, out):
    directory = model()
    for options, error in (
        ({"initialization": "best"}, trietok.TrietokError),
        ({"initialization": "copy:nosuchtoken"}, trietok.TrietokError),
        ({"output": directory / "sub"}, trietok.FileError),
        ({"model": "nowhere"}, trietok.FileError),
        ({"model": "trietok-en"}, trietok.FileError),
    ):
        with pytest.raises(error):
            adapt(**{"model": directory, "output": out, "texts": no_texts(), **options})
    (directory / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(trietok.FileFormatError):
        adapt(directory, out, no_texts())


def test_what_cannot_be_saved_is_told_before_the_texts_are_read(model, out):
    """The id of a token that was removed: a vocab.txt keeps it free, a tokenizer.json cannot."""
    directory = model()
    tokenizer = BertTokenizer.from_pretrained(directory)
    tokenizer.add_tokens(["a b", "c d"])
    tokenizer.remove_tokens(["a b"])
    tokenizer.save_pretrained(directory, tokenizer_json=False)
    for output in (None, out):
        with pytest.raises(trietok.VocabularyError):
            adapt(directory, output, no_texts(), terms=["e f"], profile="fast")
    assert not out.exists()
    slow = adapt(directory, None, terms=["e f"], profile="slow")
    assert slow.terms.added == {"e f": ROWS + 2}


def test_two_vocabularies_in_one_directory_are_refused(model, out):
    directory = model("fast")
    lines = (directory / "vocab.txt").read_text().splitlines()
    (directory / "vocab.txt").write_text("\n".join(lines[:50]) + "\n")
    with pytest.raises(trietok.TrietokError):
        adapt(directory, out, TEXTS, min_frequency=2)
    assert not out.exists()
