"""`adapt`: from texts and a model to a new model, or to nothing at all."""

from __future__ import annotations

import json
import os
import pathlib

import pytest

import trietok
from trietok import BertTokenizer, BertTokenizerFast, adapt

np = pytest.importorskip("numpy")
safetensors = pytest.importorskip("safetensors.numpy")

TEXTS = ["Vaccines protect from covid.", "Long covid is real, and mRNA vaccines help.", "Atrial fibrillation: covid!"]
NAME = "bert.embeddings.word_embeddings.weight"


@pytest.fixture
def model(tmp_path):
    """A directory with a model of one table, and the function that makes another in either profile."""

    def make(kind=BertTokenizer, **changes):
        directory = tmp_path / f"model{len(list(tmp_path.iterdir()))}"
        tokenizer = kind.from_pretrained("trietok-en")
        tokenizer.save_pretrained(directory)
        table = np.random.default_rng(0).normal(size=(tokenizer.max_id + 1, 4)).astype(np.float32)
        safetensors.save_file({NAME: changes.pop("table", table)}, directory / "model.safetensors")
        config = {"model_type": "bert", "vocab_size": len(table), "hidden_size": 4, "pad_token_id": 0, **changes}
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
    adapted = adapt(directory, tmp_path / "out", iter(TEXTS), way=way, min_frequency=2, profile=profile, start="mean")
    assert files_of(directory) == there
    words = list(adapted.terms.added)
    assert words == ["covid", "vaccines"]
    before, after = (kind.from_pretrained(each) for each in (directory, tmp_path / "out"))
    assert after.is_fast == (tmp_path / "out" / "tokenizer.json").exists() == (kind is BertTokenizerFast)
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
    assert adapted.proof.startswith(f"{8000 - slots:,} ids unchanged, 0 moved, {lost} lost, 2 new; fingerprint ")
    assert json.loads((tmp_path / "out" / "config.json").read_text())["vocab_size"] == len(new)


def test_truncation_and_padding_stay(model, tmp_path):
    directory = model(BertTokenizerFast)
    path = directory / "tokenizer.json"
    stage = {"max_length": 7, "strategy": "LongestFirst", "stride": 2, "direction": "Right"}
    fill = {"strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": None}
    fill |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    path.write_text(json.dumps({**json.loads(path.read_text()), "truncation": stage, "padding": fill}))
    adapt(directory, tmp_path / "out", terms=["covid"])
    written = json.loads((tmp_path / "out" / "tokenizer.json").read_text())
    assert (written["truncation"], written["padding"]) == (stage, fill)


TERMS = ["Covid", "Atrial fibrillation", "TNF-\u03b1", "##ology", "vaccines", "the", "COVID", "\u200d"]


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_list_of_terms(model, tmp_path, kind):
    directory = model(kind)
    old = safetensors.load_file(directory / "model.safetensors")[NAME]
    profile = "fast" if kind is BertTokenizerFast else "slow"
    first = adapt(directory, None, terms=iter(TERMS), profile=profile, start="mean")
    assert sorted(os.listdir(tmp_path)) == [directory.name]
    assert (first.applied, first.out, [each.frequency for each in first.new]) == (None, "", [0] * 5)
    adapted = adapt(directory, tmp_path / "out", iter(TEXTS), terms=TERMS, profile=profile, start="mean")
    assert (adapted.terms, adapted.plan, adapted.suggestions) == (first.terms, first.plan, None)
    assert adapted.terms.entries == ["covid", "##ology", "vaccines"]
    assert (adapted.terms.known, adapted.terms.duplicates) == (["the"], ["COVID"])
    assert [each.number for each in adapted.terms.refused] == [8]
    assert [(each.token.lower(), each.frequency, each.tokens_saved) for each in adapted.new] == [
        *(("covid", 3, 6), ("atrial fibrillation", 1, 6), ("tnf-\u03b1", 0, 0), ("##ology", 0, 0), ("vaccines", 2, 4))
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
    assert "left out: '\\u200d', number 8: the tokenizer makes nothing of it" in str(adapted)


def test_only_a_look_at_the_words_of_texts(model, tmp_path):
    directory = model()
    looked = adapt(directory, None, TEXTS, min_frequency=2)
    assert str(looked).split("\n")[:4] == [
        "token     as     now             frequency  tokens saved",
        "covid     entry  co ##v ##id             3             6",
        "vaccines  entry  vac ##ci ##nes          2             4",
        "2 words added: covid, vaccines",
    ]
    assert os.listdir(tmp_path) == [directory.name]
    assert adapt(directory, None, terms=["the"]).new == []


def test_phrases(model, tmp_path):
    texts = [*TEXTS, "No atrial fibrillation", "ATRIAL FIBRILLATION again"] * 3
    adapted = adapt(model(), tmp_path / "out", texts, phrases=2)
    assert "atrial fibrillation" in adapted.terms.added


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"texts": []}, "texts"),
        ({"texts": ["the people"]}, "none of the words"),
        ({"min_frequency": 4}, "none of the words of the 3 texts"),
        ({"way": "best"}, "'auto', 'wordpiece', 'single-word', 'added' or 'unused'"),
        ({"way": "added"}, "say 'single-word'"),
        ({"terms": ["the"]}, "nothing to add: known already: the"),
        ({"terms": ["\u200d"]}, "nothing to add: .*makes nothing of it"),
        ({"terms": ["a b"], "way": "wordpiece"}, "nothing to add: 'a b': this tokenizer splits it into 2 words"),
        ({"terms": []}, "nothing to add: there is no term"),
        ({"terms": "covid"}, "takes a list of terms"),
        ({"terms": ["covid"], "phrases": 2}, "about words that are found"),
        ({"terms": ["covid"], "most": 5}, "about words that are found"),
        ({"profile": "rust"}, "profile"),
        ({"start": "best"}, "start is 'best'"),
        ({"texts": TEXTS[0]}, "a list of texts, not str"),
        ({"texts": 5}, "a list of texts, not int"),
        ({"way": ["added"]}, "way is"),
        ({"way": "unused", "most": "3"}, "most is a whole number from 1"),
        ({"leave_out": "covid"}, "leave_out is a list"),
        ({"leave_out": ["COVID", "vaccines"]}, "none of the words"),
        ({"multiple_of": 0}, "multiple_of"),
        ({"also": ["no.such.tensor"]}, "no.such.tensor"),
    ],
)
def test_an_error_leaves_nothing(model, tmp_path, options, said):
    directory, found = model(), {} if "terms" in options else {"min_frequency": 2}
    with pytest.raises(trietok.TrietokError, match=said):
        adapt(directory, tmp_path / "out", **{"texts": TEXTS, **found, **options})
    assert os.listdir(tmp_path) == [directory.name]


def test_rows_that_are_no_numbers_are_not_spread(model, tmp_path):
    directory = model(table=np.full((8000, 4), np.nan, dtype=np.float32))
    with pytest.raises(trietok.InputError, match=f"{NAME}.*row"):
        adapt(directory, tmp_path / "out", TEXTS, min_frequency=2)
    assert os.listdir(tmp_path) == [directory.name]


def test_a_directory_that_holds_something_is_left_as_it_is(model):
    directory = model()
    there = files_of(directory)
    with pytest.raises(trietok.FileError, match=str(directory)):
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
    for profile, said in (
        ("slow", "gives other ids"),
        (None, "'covet', id 8000 in vocab.txt, is not in tokenizer.json"),
    ):
        with pytest.raises(trietok.VocabularyError, match=said):
            adapt(directory, tmp_path / "out", TEXTS, min_frequency=2, profile=profile)
    assert os.listdir(tmp_path) == [directory.name]


def test_what_the_texts_say_the_second_time_comes_before_the_name(model, tmp_path):
    class Once:
        reads = 0

        def __iter__(self):
            self.reads += 1
            if self.reads > 1:
                raise trietok.FileError("cannot read it again", path="texts")
            return iter(TEXTS)

    directory = model()
    with pytest.raises(trietok.FileError, match="again"):
        adapt(directory, tmp_path / "out", Once(), min_frequency=2)
    assert os.listdir(tmp_path) == [directory.name]


def test_the_model_is_looked_at_before_the_texts_are_read(model, tmp_path):
    def texts():
        raise AssertionError("the texts were read")
        yield ""

    directory = model()
    (directory / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(trietok.FileFormatError, match=r"model\.safetensors"):
        adapt(directory, tmp_path / "out", texts())
    wanted = "; give the directory of a model"
    for place, said in (
        ("nowhere", f"^nowhere is not there{wanted}"),
        ("trietok-en", f"^trietok-en is a built-in vocabulary without a model{wanted}"),
    ):
        with pytest.raises(trietok.FileError, match=said):
            adapt(place, tmp_path / "out", texts())
    directory = model()
    with pytest.raises(trietok.FileError, match=f"{directory}.sub is inside {directory}"):
        adapt(directory, directory / "sub", texts())
    for start in ("best", "copy:nosuchtoken"):
        with pytest.raises(trietok.TrietokError, match=r"best|nosuchtoken"):
            adapt(directory, tmp_path / "out", texts(), start=start)


def test_two_vocabularies_in_one_directory(model, tmp_path):
    directory = model(BertTokenizerFast)
    vocabulary = (directory / "vocab.txt").read_text().splitlines()
    (directory / "vocab.txt").write_text("\n".join(vocabulary[:5000]) + "\n")
    with pytest.raises(trietok.TrietokError, match=r"vocab\.txt"):
        adapt(directory, tmp_path / "out", TEXTS, min_frequency=2)


def test_a_word_that_the_fast_profile_never_gives_is_not_added(model, tmp_path):
    fast = BertTokenizerFast.from_pretrained("trietok-en", strip_accents=False)
    directory = model()
    fast.save_pretrained(directory)
    texts = ["Ko\u0308rperteil covid"] * 3  # the slow profile composes, the fast one does not
    adapted = adapt(directory, tmp_path / "out", texts)
    assert list(adapted.terms.added) == ["covid"]
    assert adapted.unreached == ["körperteil"]
    said = "1 word not added, because the model's tokenizer gives none of them on the texts: körperteil"
    assert said in str(adapted)
