"""tokenizer.json: reading and writing are each other's inverse, and all of it survives a tokenizer that
is loaded and saved.
"""

from __future__ import annotations

import copy
import json
import pathlib
import pickle
import tempfile
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.files.models import CUT, FILLED
from trietok import BertTokenizer, BertTokenizerFast, VocabularyError
from trietok.clients import to_rust, to_transformers
from trietok.tokenizer_json import read_tokenizer_json, write_tokenizer_json

PLAIN = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
FOUND = {"single_word": True, "lstrip": True, "rstrip": True, "normalized": True}
SMALL = {  # every part, with values that are not the defaults, in the order of tokenizers
    "version": "1.0",
    "truncation": {"direction": "Left", "max_length": 64, "strategy": "OnlyFirst", "stride": 2},
    "padding": {
        "strategy": {"Fixed": 64},
        "direction": "Left",
        "pad_to_multiple_of": 8,
        "pad_id": 1,
        "pad_type_id": 3,
        "pad_token": "[UNK]",
    },
    "added_tokens": [
        {"id": 0, "content": "[CLS]", **PLAIN, "special": True},
        {"id": 4, "content": "<é>", **FOUND, "special": False},
    ],
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": False,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": False,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "post_processor": {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "[CLS]", "type_id": 2}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "B", "type_id": 1}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [0], "tokens": ["[CLS]"]}},
    },
    "decoder": {"type": "WordPiece", "prefix": "@@", "cleanup": False},
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 50,
        "vocab": {"[CLS]": 0, "[UNK]": 1, '"\x01\n': 2, "한": 3},
    },
}


def read(content: Any) -> Any:
    """What is read of a text, or of an object as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "tokenizer.json")
        path.write_text(text, encoding="utf-8", newline="\n")
        return read_tokenizer_json(path)


def written(value: Any, **options: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "tokenizer.json")
        write_tokenizer_json(path, value, **options)
        return path.read_bytes().decode("utf-8")


# ---- one file, both ways -------------------------------------------------------------------------


def test_what_is_read_is_written_again_byte_for_byte_as_tokenizers_does(tmp_path):
    theirs = tokenizers.Tokenizer.from_str(json.dumps(SMALL))
    assert json.loads(theirs.to_str()) == SMALL
    for is_pretty in (True, False):
        text = theirs.to_str(pretty=is_pretty)
        assert written(read(text), pretty=is_pretty) == text
    with pytest.raises(trietok.FileError):
        read_tokenizer_json(tmp_path / "tokenizer.json")


def test_parts_that_are_missing_have_their_defaults():
    whole, other = copy.deepcopy(SMALL), copy.deepcopy(SMALL)
    for key in ("truncation", "padding", "normalizer", "post_processor", "decoder"):
        del whole[key]
        other[key] = None
    del whole["version"], whole["added_tokens"], whole["model"]["type"]
    other["added_tokens"] = []
    assert read(whole) == read(other)
    whole, other = copy.deepcopy(SMALL), copy.deepcopy(SMALL)
    del whole["truncation"]["direction"], whole["padding"]["pad_to_multiple_of"]
    del whole["normalizer"]["strip_accents"]
    other["truncation"]["direction"], other["padding"]["pad_to_multiple_of"] = "Right", None
    assert read(whole) == read(other)


def test_keys_may_have_any_order_and_entries_are_written_by_their_ids():
    def reverse(item: Any) -> Any:
        if not isinstance(item, dict):
            return item
        return {key: reverse(item[key]) for key in reversed(item)}

    assert read(reverse(SMALL)) == read(SMALL)
    vocabulary = json.loads(written(read(reverse(SMALL))))["model"]["vocab"]
    assert list(vocabulary) == list(SMALL["model"]["vocab"])


def test_added_tokens_are_written_by_their_ids_as_the_rust_library_does(tmp_path):
    whole = copy.deepcopy(SMALL)
    whole["added_tokens"].reverse()
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(whole), encoding="utf-8")
    rust = json.loads(tokenizers.Tokenizer.from_file(str(path)).to_str())
    assert json.loads(written(read(whole)))["added_tokens"] == rust["added_tokens"]
    assert rust["added_tokens"] == SMALL["added_tokens"]


def test_ids_without_a_token_and_tokens_of_a_template_alone_are_kept():
    whole = copy.deepcopy(SMALL)
    whole["model"]["vocab"] = {"[CLS]": 0, "[UNK]": 1, "a": 7}
    del whole["added_tokens"][1]
    # Splinter's converter writes "." so, where the vocabulary has no full stop
    whole["post_processor"]["special_tokens"]["."] = {"id": ".", "ids": [1], "tokens": ["."]}
    assert json.loads(written(read(whole))) == whole


@pytest.mark.parametrize(
    "processor",
    [
        {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        {
            "type": "RobertaProcessing",
            "sep": ["[SEP]", 3],
            "cls": ["[CLS]", 2],
            "trim_offsets": False,
            "add_prefix_space": True,
        },
    ],
)
def test_processors_with_a_template_of_their_own_give_the_ids_of_tokenizers(
    vocab_file, tmp_path, processor
):
    BertTokenizerFast(vocab_file("a", "b")).save_pretrained(tmp_path / "model")
    path = tmp_path / "model" / "tokenizer.json"
    content = {**json.loads(path.read_text()), "post_processor": processor}
    path.write_text(json.dumps(content))
    ours, rust = BertTokenizerFast.from_pretrained(path), tokenizers.Tokenizer.from_file(str(path))
    for arguments in (("a",), ("a b", "b")):
        found, expected = ours(*arguments), rust.encode(*arguments)
        assert found.input_ids == expected.ids
        assert found.token_type_ids == expected.type_ids
    ours.save_pretrained(tmp_path / "saved")
    saved = json.loads((tmp_path / "saved" / "tokenizer.json").read_text())
    assert saved["post_processor"] == processor


# ---- any content ---------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
TOKEN = TEXT.filter(bool)
FLAGS = st.fixed_dictionaries(
    {name: st.booleans() for name in "single_word lstrip rstrip normalized special".split()}
)
NUMBER = st.integers(0, 9)
SIDE = st.sampled_from(["Left", "Right"])
NORMALIZERS = st.fixed_dictionaries(
    {
        "type": st.just("BertNormalizer"),
        "clean_text": st.booleans(),
        "handle_chinese_chars": st.booleans(),
        "strip_accents": st.none() | st.booleans(),
        "lowercase": st.booleans(),
    }
)
TRUNCATIONS = st.fixed_dictionaries(
    {
        "direction": SIDE,
        "max_length": NUMBER,
        "strategy": st.sampled_from(["LongestFirst", "OnlyFirst", "OnlySecond"]),
        "stride": NUMBER,
    }
)
PADDINGS = st.fixed_dictionaries(
    {
        "strategy": st.just("BatchLongest") | NUMBER.map(lambda length: {"Fixed": length}),
        "direction": SIDE,
        "pad_to_multiple_of": st.none() | NUMBER,
        "pad_id": NUMBER,
        "pad_type_id": NUMBER,
        "pad_token": TEXT,
    }
)
DECODERS = st.fixed_dictionaries(
    {"type": st.just("WordPiece"), "prefix": TEXT, "cleanup": st.booleans()}
)


@st.composite
def templates(draw: st.DrawFn, known: st.SearchStrategy[tuple[str, int]]) -> dict[str, Any]:
    tokens = {}
    for name in sorted(draw(st.lists(TEXT, max_size=3, unique=True))):
        entries = draw(st.lists(known, max_size=2))
        tokens[name] = {
            "id": draw(TEXT),
            "ids": [token_id for _, token_id in entries],
            "tokens": [token for token, _ in entries],
        }

    def template(sequences: str) -> list[dict[str, Any]]:
        names = draw(st.lists(st.sampled_from(sorted(tokens)), max_size=3)) if tokens else []
        pieces = [{"SpecialToken": {"id": name, "type_id": draw(NUMBER)}} for name in names]
        pieces += [{"Sequence": {"id": name, "type_id": draw(NUMBER)}} for name in sequences]
        return list(draw(st.permutations(pieces)))

    return {
        "type": "TemplateProcessing",
        "single": template("A"),
        "pair": template("AB"),
        "special_tokens": tokens,
    }


@st.composite
def contents(draw: st.DrawFn) -> dict[str, Any]:
    """Anything that a file can say, with ids the Rust tokenizer keeps."""
    tokens = draw(st.lists(TEXT, min_size=1, max_size=8, unique=True))
    vocabulary = {token: number for number, token in enumerate(tokens)}
    new = draw(
        st.lists(TOKEN.filter(lambda token: token not in vocabulary), max_size=4, unique=True)
    )
    ids = {token: vocabulary[token] for token in tokens if token and draw(st.booleans())}
    ids.update({token: len(tokens) + number for number, token in enumerate(new)})
    known = st.sampled_from([*vocabulary.items(), *ids.items()])
    ends = {"sep": list(draw(known)), "cls": list(draw(known))}
    processors = [
        st.none(),
        templates(known),
        st.just({"type": "BertProcessing", **ends}),
        st.fixed_dictionaries(
            {
                "type": st.just("RobertaProcessing"),
                **{name: st.just(end) for name, end in ends.items()},
                "trim_offsets": st.booleans(),
                "add_prefix_space": st.booleans(),
            }
        ),
    ]
    return {
        "version": "1.0",
        "truncation": draw(st.none() | TRUNCATIONS),
        "padding": draw(st.none() | PADDINGS),
        "added_tokens": [
            {"id": token_id, "content": token, **draw(FLAGS)} for token, token_id in ids.items()
        ],
        "normalizer": draw(st.none() | NORMALIZERS),
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": draw(st.one_of(processors)),
        "decoder": draw(st.none() | DECODERS),
        "model": {
            "type": "WordPiece",
            "unk_token": draw(st.sampled_from(tokens)),
            "continuing_subword_prefix": draw(TEXT),
            "max_input_chars_per_word": draw(NUMBER),
            "vocab": vocabulary,
        },
    }


def values() -> st.SearchStrategy[Any]:
    """What is read of any content."""
    return contents().map(read)


@given(contents(), st.booleans())
def test_any_content_is_read_and_written_again_unchanged(content, pretty):
    value = read(content)
    text = written(value, pretty=pretty)
    assert json.loads(text) == content
    assert read(text) == value


# ---- truncation and padding of a model's file ----------------------------------------------------


def blocks(directory: pathlib.Path) -> tuple[Any, Any]:
    whole = json.loads((directory / "tokenizer.json").read_text(encoding="utf-8"))
    return whole["truncation"], whole["padding"]


@pytest.fixture
def cut_and_filled(vocab_file, tmp_path) -> pathlib.Path:
    """A directory in which `[PAD]` is not 0, whose tokenizer.json says CUT and FILLED."""
    words = ["a", "b", "[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "c"]
    BertTokenizerFast(vocab_file(*words, special=[])).save_pretrained(tmp_path / "model")
    path = tmp_path / "model" / "tokenizer.json"
    content = {**json.loads(path.read_text()), "truncation": CUT, "padding": FILLED}
    path.write_text(json.dumps(content))
    return tmp_path / "model"


@pytest.mark.parametrize("is_fast", [True, False])
def test_truncation_and_padding_of_a_model_stay_in_its_file(cut_and_filled, tmp_path, is_fast):
    tokenizer = trietok.AutoTokenizer.from_pretrained(cut_and_filled, use_fast=is_fast)
    tokenizer.add_tokens(["new"])
    for made in (tokenizer, copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        made.save_pretrained(tmp_path / "saved", tokenizer_json=True)
        assert blocks(tmp_path / "saved") == (CUT, FILLED)
    assert len(tokenizer("a " * 600, verbose=False).input_ids) == 602  # a call heeds neither
    small = trietok.trim(tokenizer, ["b c"]).tokenizer
    small.save_pretrained(tmp_path / "small", tokenizer_json=True)
    assert small.pad_token_id == 2
    assert blocks(tmp_path / "small") == (CUT, {**FILLED, "pad_id": 2})


def test_truncation_and_padding_reach_tokenizers_and_transformers(cut_and_filled, tmp_path):
    tokenizer = BertTokenizerFast.from_pretrained(cut_and_filled)
    assert [len(to_rust(tokenizer).encode(text).ids) for text in ("a " * 600, "a")] == [128, 128]
    to_transformers(tokenizer).save_pretrained(tmp_path / "theirs")
    assert blocks(tmp_path / "theirs") == (CUT, FILLED)


def test_a_retrained_tokenizer_pads_with_the_id_that_its_padding_token_has(
    cut_and_filled, tmp_path
):
    tokenizer = BertTokenizerFast.from_pretrained(cut_and_filled)
    trained = tokenizer.train_new_from_iterator(
        ["a b c"], 20, special_tokens_map={"[PAD]": "<pad>"}
    )
    trained.save_pretrained(tmp_path / "trained")
    pad = {"pad_token": "<pad>", "pad_id": trained.pad_token_id}
    assert blocks(tmp_path / "trained") == (CUT, {**FILLED, **pad})


# ---- ids that a file cannot keep -----------------------------------------------------------------


def check_and_fix(directory, out, **options):
    trietok.fix(directory, out, **options)
    return BertTokenizerFast.from_pretrained(out)


@pytest.mark.parametrize(
    ("words", "change", "said", "way"),
    [
        (
            ["a", "b", "a"],
            lambda tokenizer: tokenizer.add_tokens(["new"]),
            (
                r"Lines 6 and 8 of the vocabulary are both 'a': .*`trietok check -m DIR --fix -o"
                r" OUT` .*no id moves"
            ),
            lambda tokenizer, legacy, out: check_and_fix(legacy, out),
        ),
        (
            ["a", "", "b", ""],
            lambda tokenizer: tokenizer.add_tokens(["new"]),
            (
                r"Lines 7 and 9 of the vocabulary are blank: .*`trietok check -m DIR --fix -o OUT`"
                r" .*no id moves"
            ),
            lambda tokenizer, legacy, out: check_and_fix(legacy, out),
        ),
        (
            ["a"],
            lambda tokenizer: tokenizer.add_tokens(["new"]) and tokenizer.add_wordpieces(["b"]),
            r"Line 7 of the vocabulary has no token: .* --fix -o OUT --renumber` .*ids may move",
            lambda tokenizer, legacy, out: check_and_fix(legacy, out, renumber=True),
        ),
        (
            ["a"],
            lambda tokenizer: (
                tokenizer.add_tokens(["new", "x"]) and tokenizer.remove_tokens(["new"])
            ),
            r"No token has the id 6: remove_tokens\(\[\], compact=True\) moves",
            lambda tokenizer, legacy, out: tokenizer.remove_tokens([], compact=True) and tokenizer,
        ),
    ],
)
def test_every_way_out_that_a_refused_save_names_works(
    vocab_file, tmp_path, words, change, said, way
):
    tokenizer = BertTokenizerFast(vocab_file(*words))
    change(tokenizer)
    with pytest.raises(VocabularyError, match=said) as refused:
        tokenizer.save_pretrained(tmp_path / "saved")
    path = tmp_path / "saved" / "tokenizer.json"
    assert str(refused.value).startswith(f"{path}: ")
    assert refused.value.path == str(path)
    assert not (tmp_path / "saved").exists()
    legacy = tmp_path / "legacy"
    tokenizer.save_pretrained(legacy, legacy_format=True)
    assert "legacy_format=True" in str(refused.value)
    for kind in (BertTokenizerFast, BertTokenizer):
        assert kind.from_pretrained(legacy).get_vocab() == tokenizer.get_vocab()
    ids = tokenizer.get_vocab()
    mended = way(tokenizer, legacy, tmp_path / "mended")
    if "no id moves" in said:
        assert {token: mended.get_vocab()[token] for token in ids if token} == {
            t: i for t, i in ids.items() if t
        }
    mended.add_tokens(["another"])
    mended.save_pretrained(tmp_path / "saved")
    assert BertTokenizerFast.from_pretrained(tmp_path / "saved").get_vocab() == mended.get_vocab()


def test_a_refused_save_names_the_file_that_was_asked_for(vocab_file, tmp_path, monkeypatch):
    tokenizer = BertTokenizerFast(vocab_file("a", "b", "a"))
    tokenizer.add_tokens(["new"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VocabularyError, match=r"^out/tokenizer\.json: added_tokens\[5\]"):
        tokenizer.save_pretrained("out")


# ---- every class ---------------------------------------------------------------------------------

SLOW_AND_FAST = sorted(
    name
    for name in dir(trietok)
    if hasattr(trietok, f"{name}Fast") or name.endswith("TokenizerFast")
)


@pytest.mark.parametrize("name", SLOW_AND_FAST)
def test_the_file_of_every_class_gives_the_ids_of_the_fast_tokenizer(vocab_file, tmp_path, name):
    words = ("hello", "world", "hel", "##lo", "東", "a", "##b", "<s>", "</s>", "<pad>")
    words += ("<mask>", "<cls>", "<sep>", "[unk]", "<unk>", "[QUESTION]")
    tokenizer = getattr(trietok, name)(vocab_file(*words))
    tokenizer.save_pretrained(tmp_path / "saved", tokenizer_json=True)
    path = tmp_path / "saved" / "tokenizer.json"
    reader = BertTokenizerFast(tokenizer_file=path, **tokenizer.special_tokens_map)
    texts = ["hello world", "a\u0378b", "Hello 東 [MASK]", ""]
    differs = [text for text in texts if reader.encode(text) != tokenizer.encode(text)]
    assert differs == ([] if tokenizer.is_fast else ["a\u0378b"])
    rust = tokenizers.Tokenizer.from_file(str(path))
    for text in (*texts, "hello [QUESTION]"):
        assert rust.encode(text).ids == reader.encode(text)


# ---- a directory that says its added tokens in tokenizer.json alone ------------------------------


@pytest.fixture
def without_config(vocab_file, tmp_path) -> tuple[pathlib.Path, pathlib.Path]:
    """A directory without tokenizer_config.json, and the tokenizer.json of another one."""
    directory, other = tmp_path / "saved", tmp_path / "other"
    BertTokenizerFast(vocab_file("a")).save_pretrained(directory)
    (directory / "tokenizer_config.json").unlink()
    BertTokenizerFast(vocab_file("a", "other")).save_pretrained(other)
    return directory, other / "tokenizer.json"


def test_the_file_that_the_caller_names_is_read_instead(without_config):
    directory, other = without_config
    tokenizer = BertTokenizerFast.from_pretrained(directory, tokenizer_file=str(other))
    assert "other" in tokenizer.vocab
    assert "other" not in BertTokenizerFast.from_pretrained(directory).vocab
    (directory / "tokenizer.json").write_text("{}")
    with pytest.raises(trietok.FileFormatError):
        BertTokenizerFast.from_pretrained(directory)


def test_the_own_init_of_a_class_gets_paths(without_config):
    directory, other = without_config
    seen = {}

    class Mine(BertTokenizerFast):
        def __init__(self, *args, tokenizer_object=None, **kwargs):
            seen.update(kwargs, tokenizer_object=tokenizer_object)
            super().__init__(*args, **{**kwargs, "tokenizer_file": str(other)})

    assert "other" in Mine.from_pretrained(directory).vocab
    assert seen["tokenizer_object"] is None
    assert seen["tokenizer_file"] == str(directory / "tokenizer.json")
