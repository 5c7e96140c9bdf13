"""tokenizer.json: what is read, what is refused, and that reading and writing are each other's
inverse.
"""

from __future__ import annotations

import copy
import json
import os
import pathlib
import pickle

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from trietok import AddedToken, BertTokenizer, BertTokenizerFast, VocabularyError
from trietok.clients import to_rust, to_transformers
from trietok.files.formats import TOKENIZER_FILE
from trietok.files.tokenizer_json import BertNormalizer, read_tokenizer_json
from trietok.files.tokenizer_json_content import (
    JsonPadding,
    JsonTruncation,
    TokenizerJson,
    WordPieceDecoder,
)
from trietok.files.tokenizer_json_writer import tokenizer_json_text, write_tokenizer_json
from trietok.inputs.post_processors import (
    BertProcessing,
    RobertaProcessing,
    TemplatePiece,
    TemplateProcessing,
    TemplateToken,
)
from trietok.tokenizer.fast_relatives import FAST_CLASSES
from trietok.tokenizer.relatives import CLASSES

DATA = pathlib.Path(__file__).parents[1] / "data"
INVALID = sorted(path for path in (DATA / "invalid_tokenizer_json").iterdir())
LONGEST_MESSAGE = 600  # characters beside the path

VOCABULARY = {
    token: i for i, token in enumerate("[PAD] [UNK] [CLS] [SEP] [MASK] the people ##s".split())
}

SMALL = """{
  "version": "1.0",
  "truncation": {
    "direction": "Left",
    "max_length": 64,
    "strategy": "OnlyFirst",
    "stride": 2
  },
  "padding": {
    "strategy": {
      "Fixed": 64
    },
    "direction": "Left",
    "pad_to_multiple_of": 8,
    "pad_id": 1,
    "pad_type_id": 3,
    "pad_token": "[UNK]"
  },
  "added_tokens": [
    {
      "id": 0,
      "content": "[CLS]",
      "single_word": false,
      "lstrip": false,
      "rstrip": false,
      "normalized": false,
      "special": true
    },
    {
      "id": 4,
      "content": "<é>",
      "single_word": true,
      "lstrip": true,
      "rstrip": true,
      "normalized": true,
      "special": false
    }
  ],
  "normalizer": {
    "type": "BertNormalizer",
    "clean_text": false,
    "handle_chinese_chars": true,
    "strip_accents": null,
    "lowercase": false
  },
  "pre_tokenizer": {
    "type": "BertPreTokenizer"
  },
  "post_processor": {
    "type": "TemplateProcessing",
    "single": [
      {
        "SpecialToken": {
          "id": "[CLS]",
          "type_id": 2
        }
      },
      {
        "Sequence": {
          "id": "A",
          "type_id": 0
        }
      }
    ],
    "pair": [
      {
        "Sequence": {
          "id": "B",
          "type_id": 1
        }
      },
      {
        "Sequence": {
          "id": "A",
          "type_id": 0
        }
      }
    ],
    "special_tokens": {
      "[CLS]": {
        "id": "[CLS]",
        "ids": [
          0
        ],
        "tokens": [
          "[CLS]"
        ]
      }
    }
  },
  "decoder": {
    "type": "WordPiece",
    "prefix": "@@",
    "cleanup": false
  },
  "model": {
    "type": "WordPiece",
    "unk_token": "[UNK]",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 50,
    "vocab": {
      "[CLS]": 0,
      "[UNK]": 1,
      "\\"\\u0001\\n": 2,
      "한": 3
    }
  }
}"""

SMALL_VALUE = TokenizerJson(
    vocabulary={"[CLS]": 0, "[UNK]": 1, '"\x01\n': 2, "한": 3},
    max_input_chars_per_word=50,
    normalizer=BertNormalizer(clean_text=False, lowercase=False),
    post_processor=TemplateProcessing(
        single=(TemplatePiece("[CLS]", 2), TemplatePiece("A", 0, is_sequence=True)),
        pair=(TemplatePiece("B", 1, is_sequence=True), TemplatePiece("A", 0, is_sequence=True)),
        special_tokens={"[CLS]": TemplateToken("[CLS]", (0,), ("[CLS]",))},
    ),
    decoder=WordPieceDecoder("@@", cleanup=False),
    added_tokens={
        0: AddedToken("[CLS]", special=True),
        4: AddedToken("<é>", single_word=True, lstrip=True, rstrip=True),
    },
    truncation=JsonTruncation("Left", 64, "OnlyFirst", 2),
    padding=JsonPadding(64, "Left", 8, 1, 3, "[UNK]"),
)


@pytest.fixture
def read(tmp_path):
    """A function that writes a text, or an object as JSON, and reads it as a tokenizer.json."""

    def read_text(content) -> TokenizerJson:
        path = tmp_path / "tokenizer.json"
        text = content if isinstance(content, str) else json.dumps(content)
        path.write_text(text, encoding="utf-8", newline="\n")
        return read_tokenizer_json(path)

    return read_text


# ---- one file, both ways -------------------------------------------------------------------------


def test_every_part_is_read(read):
    assert read(SMALL) == SMALL_VALUE


def test_every_part_is_written():
    assert tokenizer_json_text(SMALL_VALUE) == SMALL


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "tokenizer.json"
    write_tokenizer_json(path, SMALL_VALUE)
    assert path.read_bytes() == SMALL.encode("utf-8")


def test_entries_are_written_in_the_order_of_their_ids():
    value = TokenizerJson(
        {"b": 2, "[UNK]": 0, "a": 1}, added_tokens={2: AddedToken("b"), 1: AddedToken("a")}
    )
    whole = json.loads(tokenizer_json_text(value))
    assert list(whole["model"]["vocab"]) == ["[UNK]", "a", "b"]
    assert [token["id"] for token in whole["added_tokens"]] == [1, 2]


# ---- what may be left out ------------------------------------------------------------------------


def test_what_may_be_missing_has_its_default(read):
    whole = json.loads(SMALL)
    for key in (
        "version",
        "truncation",
        "padding",
        "added_tokens",
        "normalizer",
        "post_processor",
        "decoder",
    ):
        del whole[key]
    del whole["model"]["type"]
    value = read(whole)
    assert (value.normalizer, value.post_processor, value.decoder) == (None, None, None)
    assert (value.truncation, value.padding, value.added_tokens) == (None, None, {})
    assert value.vocabulary == SMALL_VALUE.vocabulary


def test_keys_that_old_files_lack(read):
    whole = json.loads(SMALL)
    del (
        whole["truncation"]["direction"],
        whole["padding"]["pad_to_multiple_of"],
        whole["normalizer"]["strip_accents"],
    )
    value = read(whole)
    assert value.truncation == JsonTruncation("Right", 64, "OnlyFirst", 2)
    assert value.padding == JsonPadding(64, "Left", None, 1, 3, "[UNK]")
    assert value.normalizer == SMALL_VALUE.normalizer


def test_the_order_of_keys_does_not_matter(read):
    def reverse(item):
        return (
            {key: reverse(item[key]) for key in reversed(item)} if isinstance(item, dict) else item
        )

    assert read(reverse(json.loads(SMALL))) == SMALL_VALUE


# ---- templates -----------------------------------------------------------------------------------


def test_a_template_token_that_is_nowhere_else_keeps_its_id(read):
    # Splinter's converter writes "." so, with the unknown token's id, where the vocabulary has no
    # full stop
    whole = json.loads(SMALL)
    whole["post_processor"]["special_tokens"]["."] = {"id": ".", "ids": [1], "tokens": ["."]}
    assert read(whole).post_processor.special_tokens["."] == TemplateToken(".", (1,), (".",))


@pytest.mark.parametrize(
    ("processor", "single", "pair"),
    [
        (BertProcessing(("[SEP]", 3), ("[CLS]", 2)), "2:0 A:0 3:0", "2:0 A:0 3:0 B:1 3:1"),
        (
            RobertaProcessing(("[SEP]", 3), ("[CLS]", 2), False, True),
            "2:0 A:0 3:0",
            "2:0 A:0 3:0 3:0 B:0 3:0",
        ),
    ],
)
def test_processors_with_a_template_of_their_own(read, processor, single, pair):
    def shown(pieces):
        names = [
            piece.token_id if piece.sequence is None else "AB"[piece.sequence] for piece in pieces
        ]
        return " ".join(
            f"{name}:{piece.type_id}" for name, piece in zip(names, pieces, strict=True)
        )

    value = TokenizerJson(VOCABULARY, post_processor=processor)
    assert (shown(value.pieces()), shown(value.pieces(pair=True))) == (single, pair)
    assert read(tokenizer_json_text(value)) == value


# ---- ids -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("vocabulary", "added"),
    [({"[UNK]": 0, "a": 7}, {8: "<x>"}), ({"[UNK]": 0, "b": 5}, {5: "b", 6: "<x>"})],
)
def test_writing_refuses_what_would_be_numbered_otherwise(tmp_path, vocabulary, added):
    path = tmp_path / "tokenizer.json"
    path.write_text("there before")
    tokens = {token_id: AddedToken(token) for token_id, token in added.items()}
    with pytest.raises(VocabularyError) as caught:
        write_tokenizer_json(path, TokenizerJson(vocabulary, added_tokens=tokens))
    error = caught.value
    assert (error.token, error.expected_id, error.found_id) == ("<x>", 2, max(added))
    assert (error.path, path.read_text()) == (str(path), "there before")


def test_holes_without_new_tokens_are_kept(read):
    value = TokenizerJson({"[UNK]": 0, "a": 7}, added_tokens={7: AddedToken("a")})
    assert read(tokenizer_json_text(value)).vocabulary == {"[UNK]": 0, "a": 7}


@pytest.mark.parametrize(
    ("change", "error", "place"),
    [
        (
            {"truncation": JsonTruncation(strategy="longest_first")},
            "FileFormatError",
            "truncation.strategy",
        ),
        ({"padding": JsonPadding(strategy=-1)}, "FileFormatError", "padding.strategy.Fixed"),
        ({"unk_token": "<unk>"}, "VocabularyError", "model.unk_token"),
        ({"vocabulary": {"[UNK]": 0, "a": 0}}, "VocabularyError", "model.vocab"),
        ({"vocabulary": {"[UNK]": 0, "\ud800": 1}}, "FileFormatError", "model.vocab"),
        (
            {"post_processor": BertProcessing(("[SEP]", 1), ("[CLS]", 9))},
            "VocabularyError",
            "post_processor.cls",
        ),
    ],
)
def test_what_could_not_be_read_is_not_written(tmp_path, change, error, place):
    value = TokenizerJson(**{"vocabulary": {"[UNK]": 0, "[SEP]": 1}, **change})
    with pytest.raises(trietok.TrietokError, match=place) as caught:
        write_tokenizer_json(tmp_path / "tokenizer.json", value)
    assert type(caught.value).__name__ == error
    assert list(tmp_path.iterdir()) == []


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("folder", INVALID, ids=lambda folder: folder.name)
def test_what_is_invalid_is_refused_with_its_place(folder):
    want = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    with pytest.raises(trietok.TrietokError) as caught:
        read_tokenizer_json(folder / "tokenizer.json")
    message = str(caught.value).replace(str(folder), "")
    assert type(caught.value).__name__ == want["error"], message
    assert [part for part in want["message"] if part not in message] == [], message
    assert len(message) <= LONGEST_MESSAGE


def test_a_missing_file(tmp_path):
    with pytest.raises(trietok.FileError):
        read_tokenizer_json(tmp_path / "tokenizer.json")


# ---- any value -----------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
TOKEN = TEXT.filter(bool)
FLAGS = st.fixed_dictionaries(
    {name: st.booleans() for name in "single_word lstrip rstrip normalized special".split()}
)


@st.composite
def values(draw) -> TokenizerJson:
    """Anything that a file can say, with ids the Rust tokenizer keeps."""
    tokens = draw(st.lists(TEXT, min_size=1, max_size=8, unique=True))
    vocabulary = {token: i for i, token in enumerate(tokens)}
    new = [
        token for token in draw(st.lists(TOKEN, max_size=4, unique=True)) if token not in vocabulary
    ]
    old = [token for token in tokens if token and draw(st.booleans())]
    ids = {
        **{token: vocabulary[token] for token in old},
        **{token: len(tokens) + i for i, token in enumerate(new)},
    }
    added = {
        i: AddedToken(token, **draw(FLAGS))
        for token, i in sorted(ids.items(), key=lambda entry: entry[1])
    }
    known = st.sampled_from([*vocabulary.items(), *ids.items()])
    number = st.integers(0, 9)
    return TokenizerJson(
        vocabulary=vocabulary,
        unk_token=draw(st.sampled_from(tokens)),
        continuing_subword_prefix=draw(TEXT),
        max_input_chars_per_word=draw(number),
        normalizer=draw(
            st.none()
            | st.builds(
                BertNormalizer,
                st.booleans(),
                st.booleans(),
                st.none() | st.booleans(),
                st.booleans(),
            )
        ),
        post_processor=draw(
            st.none()
            | st.builds(BertProcessing, known, known)
            | st.builds(RobertaProcessing, known, known, st.booleans(), st.booleans())
            | templates(known, number)
        ),
        decoder=draw(st.none() | st.builds(WordPieceDecoder, TEXT, st.booleans())),
        added_tokens=added,
        truncation=draw(st.none() | truncations(number)),
        padding=draw(st.none() | paddings(number)),
    )


@st.composite
def templates(draw, known, number) -> TemplateProcessing:
    tokens = {}
    for name in draw(st.lists(TEXT, max_size=3, unique=True)):
        entries = draw(st.lists(known, max_size=2))
        tokens[name] = TemplateToken(
            draw(TEXT), tuple(i for _, i in entries), tuple(token for token, _ in entries)
        )

    def template(sequences: str) -> tuple[TemplatePiece, ...]:
        names = draw(st.lists(st.sampled_from(sorted(tokens)), max_size=3)) if tokens else []
        pieces = [TemplatePiece(name, draw(number)) for name in names]
        pieces += [TemplatePiece(name, draw(number), is_sequence=True) for name in sequences]
        return tuple(draw(st.permutations(pieces)))

    return TemplateProcessing(template("A"), template("AB"), tokens)


def truncations(number) -> st.SearchStrategy[JsonTruncation]:
    sides, strategies = (
        st.sampled_from(["Left", "Right"]),
        ["LongestFirst", "OnlyFirst", "OnlySecond"],
    )
    return st.builds(JsonTruncation, sides, number, st.sampled_from(strategies), number)


def paddings(number) -> st.SearchStrategy[JsonPadding]:
    sides = st.sampled_from(["Left", "Right"])
    return st.builds(
        JsonPadding,
        st.just("BatchLongest") | number,
        sides,
        st.none() | number,
        number,
        number,
        TEXT,
    )


@given(values(), st.booleans())
def test_what_is_written_is_read_again(tmp_path_factory, value, pretty):
    path = tmp_path_factory.getbasetemp() / "tokenizer.json"
    write_tokenizer_json(path, value, pretty=pretty)
    assert read_tokenizer_json(path) == value


# ---- truncation and padding of a model's file ----------------------------------------------------


def blocks(path):
    read = read_tokenizer_json(path)
    return read.truncation, read.padding


@pytest.fixture
def cut_and_filled(vocab_file, tmp_path):
    """A model's directory in which `[PAD]` is not 0, and what its tokenizer.json says of truncation
    and padding.
    """
    words = ["a", "b", "[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]", "c"]
    tokenizer = BertTokenizerFast(vocab_file(*words, special=[]))
    tokenizer.truncation_in_file, tokenizer.padding_in_file = (
        JsonTruncation(max_length=128),
        JsonPadding(128, pad_id=3),
    )
    tokenizer.save_pretrained(tmp_path / "model")
    said = JsonTruncation(max_length=128), JsonPadding(128, pad_id=3)
    assert blocks(tmp_path / "model" / TOKENIZER_FILE) == said
    return tmp_path / "model", said


@pytest.mark.parametrize("fast", [True, False])
def test_truncation_and_padding_of_a_model_stay(cut_and_filled, tmp_path, fast):
    model, said = cut_and_filled
    tokenizer = trietok.AutoTokenizer.from_pretrained(model, use_fast=fast)
    tokenizer.add_tokens(["new"])
    for made in (tokenizer, copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        made.save_pretrained(tmp_path / "saved", tokenizer_json=True)
        assert blocks(tmp_path / "saved" / TOKENIZER_FILE) == said
    assert len(tokenizer("a " * 600, verbose=False).input_ids) == 602  # a call heeds neither
    small = trietok.trim(tokenizer, ["b c"]).tokenizer
    small.save_pretrained(tmp_path / "small", tokenizer_json=True)
    assert small.pad_token_id == 2
    assert blocks(tmp_path / "small" / TOKENIZER_FILE) == (said[0], JsonPadding(128, pad_id=2))


def test_truncation_and_padding_reach_tokenizers_and_transformers(cut_and_filled, tmp_path):
    model, said = cut_and_filled
    tokenizer = BertTokenizerFast.from_pretrained(model)
    assert (
        len(to_rust(tokenizer).encode("a " * 600).ids)
        == len(to_rust(tokenizer).encode("a").ids)
        == 128
    )
    theirs = to_transformers(tokenizer)
    assert (
        theirs.backend_tokenizer.truncation["max_length"]
        == theirs.backend_tokenizer.padding["length"]
        == 128
    )
    theirs.save_pretrained(tmp_path / "theirs")
    assert blocks(tmp_path / "theirs" / TOKENIZER_FILE) == said


def test_a_retrained_tokenizer_pads_with_the_id_that_its_padding_token_has(
    cut_and_filled, tmp_path
):
    tokenizer = BertTokenizerFast.from_pretrained(cut_and_filled[0])
    trained = tokenizer.train_new_from_iterator(
        ["a b c"], 20, special_tokens_map={"[PAD]": "<pad>"}
    )
    trained.save_pretrained(tmp_path / "trained")
    truncation, padding = blocks(tmp_path / "trained" / TOKENIZER_FILE)
    assert (truncation, padding.pad_token, padding.pad_id) == (
        cut_and_filled[1][0],
        "<pad>",
        trained.pad_token_id,
    )


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
def test_every_way_that_a_refused_save_names_is_one(vocab_file, tmp_path, words, change, said, way):
    tokenizer = BertTokenizerFast(vocab_file(*words))
    change(tokenizer)
    with pytest.raises(VocabularyError, match=said) as refused:
        tokenizer.save_pretrained(tmp_path / "saved")
    path = tmp_path / "saved" / TOKENIZER_FILE
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


def test_no_error_names_a_folder_that_is_gone(vocab_file, tmp_path, monkeypatch):
    tokenizer = BertTokenizerFast(vocab_file("a", "b", "a"))
    tokenizer.add_tokens(["new"])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(VocabularyError, match=r"^out/tokenizer\.json: added_tokens\[5\]"):
        tokenizer.save_pretrained("out")
    broken = BertTokenizerFast(tokenizer_object=TokenizerJson({**VOCABULARY, "two\nlines": 8}))
    with pytest.raises(VocabularyError) as refused:
        broken.save_pretrained("saved")
    assert refused.value.path == os.path.join("saved", "vocab.txt")


# ---- every class ---------------------------------------------------------------------------------

PROFILES = ["hello world", "a\u0378b", "Hello 東 [MASK]", ""]


@pytest.mark.parametrize("kind", [*CLASSES, *FAST_CLASSES], ids=lambda kind: kind.__name__)
def test_the_file_of_every_class_gives_the_ids_of_the_fast_profile(vocab_file, tmp_path, kind):
    words = ("hello", "world", "hel", "##lo", "東", "a", "##b", "<s>", "</s>", "<pad>")
    words += ("<mask>", "<cls>", "<sep>", "[unk]", "<unk>", "[QUESTION]")
    tokenizer = kind(vocab_file(*words))
    tokenizer.save_pretrained(tmp_path / "saved", tokenizer_json=True)
    path = tmp_path / "saved" / TOKENIZER_FILE
    reader = BertTokenizerFast(tokenizer_file=path, **tokenizer.special_tokens_map)
    differs = [text for text in PROFILES if reader.encode(text) != tokenizer.encode(text)]
    assert differs == ([] if tokenizer.is_fast else ["a\u0378b"])
    rust = tokenizers.Tokenizer.from_file(str(path))
    for text in (*PROFILES, "hello [QUESTION]"):
        assert rust.encode(text).ids == reader.encode(text)


# ---- a directory that says its added tokens in tokenizer.json alone ------------------------------


@pytest.fixture
def without_config(tmp_path):
    """A directory without tokenizer_config.json, and the vocabulary of another file."""
    directory, other = tmp_path / "saved", tmp_path / "other.json"
    BertTokenizerFast(tokenizer_object=TokenizerJson(VOCABULARY)).save_pretrained(directory)
    (directory / "tokenizer_config.json").unlink()
    write_tokenizer_json(other, TokenizerJson({**VOCABULARY, "other": len(VOCABULARY)}))
    return directory, other


def test_the_file_that_the_caller_names_is_read_instead(without_config):
    directory, other = without_config
    tokenizer = BertTokenizerFast.from_pretrained(directory, tokenizer_file=str(other))
    assert "other" in tokenizer.vocab
    assert "other" not in BertTokenizerFast.from_pretrained(directory).vocab
    (directory / TOKENIZER_FILE).write_text("{}")
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
    assert seen["tokenizer_file"] == str(directory / TOKENIZER_FILE)
