"""`BertTokenizerFast` by worked examples: words, added tokens, special tokens, files.

`tests/parity/` compares it with transformers live, and test_fast_spans.py with tokenizers.
"""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import trietok
from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    NotSupportedError,
    VocabularyError,
)

UNK, CLS, SEP, A, B, WORLD, LESS, GREATER, E, CAPITAL_WORLD, ADDED = 1, 2, 3, *range(5, 13)


@pytest.fixture
def make(vocab_file):
    """A function that makes a `BertTokenizerFast` of the special tokens and these."""
    return lambda *tokens, **options: BertTokenizerFast(vocab_file(*tokens), **options)


@pytest.fixture
def fast(make):
    return make("a", "b", "world", "<", ">", "e", "World")


def ids(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False)


def edit(path, **changes):
    whole = {**json.loads(path.read_text(encoding="utf-8")), **changes}
    kept = {key: value for key, value in whole.items() if value != "gone"}
    path.write_text(json.dumps(kept), encoding="utf-8")


# ---- words and added tokens ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "cased", "want"),
    [
        ("e\u0301", True, ["e\u0301"]),  # nothing is composed
        ("É", False, ["e"]),
        ("a\x0bb", False, ["ab"]),
        ("a\u2028b", False, ["a", "b"]),
        ("a\u0378b", False, ["a\u0378b"]),  # unassigned: kept
        ("世界", False, ["世", "界"]),
        ("x\U0002b820", False, ["x\U0002b820"]),  # the Rust library leaves it out of Chinese
        ("İ", False, ["i"]),
        ("ΟΔΟΣ", False, ["οδοσ"]),
        ("\u1fef", False, ["`"]),  # its decomposition is punctuation
        ("a" * 100, False, ["a" * 100]),
        ("a" * 101, False, ["[UNK]"]),
    ],
)
def test_text_becomes_the_words_of_the_rust_library(kernel, make, text, cased, want):
    assert make(*want, "a" * 101, do_lower_case=not cased).tokenize(text) == want


ADDINGS = [
    # Tokens that are not normalized are found first; those that are, in normalized text.
    (
        ["New York", AddedToken("k a", normalized=False)],
        "new york a NEW  York b new york",
        ["[UNK]", "[UNK]", "k a", "[UNK]", "[UNK]", "b", "New York"],
    ),
    (["É"], "e É xe", ["É", "É", "[UNK]", "É"]),
    # Whitespace belongs to the token that takes it.
    ([AddedToken("<m>", lstrip=True, rstrip=True)], "a  <m> \n b", ["a", "<m>", "b"]),
    # A special token is raw unless it says otherwise.
    ([AddedToken("<X>", special=True)], "<x> <X>", ["<", "[UNK]", ">", "<X>"]),
    ([AddedToken("<Y>", special=True, normalized=True)], "<y>", ["<Y>"]),
    ([AddedToken("<m>"), AddedToken("<m>", lstrip=True)], "a <m>", ["a", "<m>"]),
]


@pytest.mark.parametrize(("tokens", "text", "want"), ADDINGS)
def test_added_tokens_are_found_as_in_the_example(kernel, fast, tokens, text, want):
    fast.add_tokens(tokens)
    assert fast.convert_ids_to_tokens(ids(fast, text)) == want


def test_a_token_of_whitespace_that_another_has_eaten_is_not_found(fast):
    fast.add_tokens([AddedToken("<m>", rstrip=True), AddedToken("  ", lstrip=True)])
    assert ids(fast, "a<m>  b") == [A, ADDED, B]  # the Rust library panics


def test_a_token_that_normalizes_to_nothing_is_never_found(fast):
    fast.add_tokens(["\u0301"])
    assert ids(fast, "a\u0301b") == [UNK]
    assert fast.decode([ADDED]) == "\u0301"


def test_adding_again_changes_the_flags(fast):
    assert fast.add_tokens(["<m>", "<m>"]) == 1
    assert fast.add_tokens([AddedToken("<m>", lstrip=True)]) == 1
    assert fast.tokenize("a <m>") == ["a", " <m>"]
    assert fast.added_tokens_decoder[ADDED].lstrip
    fast.add_tokens(["<n>"])
    fast.remove_tokens(["<m>"])
    assert fast.tokenize("<n>") == ["<n>"]
    assert "<m>" not in fast.tokenize("<m>")


def test_a_token_that_becomes_special_is_not_normalized(fast):
    token = AddedToken("<E>", lstrip=True)
    assert fast.add_special_tokens({"mask_token": token}) == 1
    assert not fast.added_tokens_decoder[ADDED].normalized
    assert ids(fast, "<E><e>") == [ADDED, LESS, E, GREATER]
    assert fast.add_special_tokens({"mask_token": token}) == 0


def test_tokens_that_are_set_are_normalized_as_the_tokenizer_is_now(make):
    tokenizer = make("a", "e", do_basic_tokenize=False)
    tokenizer.added_tokens_decoder = {20: "\u00e9"}
    assert tokenizer.encode("\u00e9 e") == [CLS, 20, 20, SEP]


# ---- the object ----------------------------------------------------------------------------------


def test_there_is_no_backend_tokenizer(fast):
    with pytest.raises(NotSupportedError):
        fast.backend_tokenizer  # noqa: B018
    assert not hasattr(fast, "backend_tokenizer")


def test_copies_and_pickles_are_alike_and_independent(fast):
    fast.add_tokens(["É", AddedToken("<m>", special=True)])
    for other in (pickle.loads(pickle.dumps(fast)), copy.deepcopy(fast)):
        assert other.encode("E a<m>") == fast.encode("E a<m>")
        other.add_tokens(["bb"])
        assert fast.tokenize("bb") == ["[UNK]"]
        assert other.tokenize("bb") == ["bb"]


def test_prepare_for_tokenization_of_a_subclass_is_called(vocab_file):
    class Shouting(BertTokenizerFast):
        def prepare_for_tokenization(self, text, is_split_into_words=False, **kwargs):
            return text.replace("!", "a"), kwargs

    tokenizer = Shouting(vocab_file("a", "b"))
    assert ids(tokenizer, "b !") == tokenizer.convert_tokens_to_ids(["b", "a"])
    assert tokenizer.tokenize("b !") == ["b", "a"]


def test_lower_casing_is_not_switched_by_an_attribute(fast):
    fast.do_lower_case = True
    with pytest.raises(NotSupportedError):
        fast.do_lower_case = False
    assert fast.do_lower_case
    fast.basic_tokenizer.do_lower_case = False
    assert not fast.do_lower_case
    assert ids(fast, "World") == [CAPITAL_WORLD]
    fast.basic_tokenizer.do_split_on_punc = (
        False  # an option of the slow classes, which no file has
    )
    assert (
        ids(fast, "a,b") == fast.explain("a,b", add_special_tokens=False).input_ids == [A, UNK, B]
    )


# ---- files ---------------------------------------------------------------------------------------


def test_a_directory_with_only_tokenizer_json_is_loaded(fast, tmp_path):
    fast.add_tokens(["New York"])
    fast.save_pretrained(tmp_path / "saved", legacy_format=False)
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == [
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer_config.json",
    ]
    again = trietok.AutoTokenizer.from_pretrained(tmp_path / "saved")
    assert type(again) is BertTokenizerFast
    assert again.encode("a new york") == fast.encode("a new york") == [CLS, A, ADDED, SEP]
    slow = BertTokenizer.from_pretrained(tmp_path / "saved")
    assert slow.vocab == fast.vocab


def test_a_save_writes_both_formats_and_takes_away_the_one_it_leaves_out(fast, tmp_path):
    paths = fast.save_pretrained(tmp_path / "both")
    assert [path.rsplit("/", 1)[-1] for path in paths] == [
        "tokenizer_config.json",
        "special_tokens_map.json",
        "vocab.txt",
        "tokenizer.json",
    ]
    config = json.loads((tmp_path / "both" / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert config["tokenizer_class"] == "BertTokenizer"
    for use_fast in (True, False):
        loaded = trietok.AutoTokenizer.from_pretrained(tmp_path / "both", use_fast=use_fast)
        assert loaded.is_fast == use_fast
    fast.save_pretrained(tmp_path / "both", legacy_format=True)
    assert not (tmp_path / "both" / "tokenizer.json").exists()


@pytest.mark.parametrize("options", [{"legacy_format": True}, {"tokenizer_json": False}], ids=str)
def test_no_save_loses_the_files_template(fast, tmp_path, options):
    fast.save_pretrained(tmp_path / "model")
    again = BertTokenizerFast.from_pretrained(tmp_path / "model", cls_token="a")
    assert (again.cls_token_id, again.encode("b")) == (A, [CLS, B, SEP])
    with pytest.raises(NotSupportedError):
        again.save_pretrained(tmp_path / "legacy", **options)
    assert not (tmp_path / "legacy").exists()
    again.save_pretrained(tmp_path / "whole")
    assert BertTokenizerFast.from_pretrained(tmp_path / "whole").encode("b") == [CLS, B, SEP]
    again.cls_token = "[CLS]"
    again.save_pretrained(tmp_path / "legacy", **options)
    assert BertTokenizerFast.from_pretrained(tmp_path / "legacy").encode("b") == [CLS, B, SEP]
    file = json.loads((tmp_path / "model" / "tokenizer.json").read_text())
    file["post_processor"]["pair"][3]["Sequence"]["type_id"] = 0
    edit(tmp_path / "model" / "tokenizer.json", post_processor=file["post_processor"])
    again = BertTokenizerFast.from_pretrained(tmp_path / "model")
    with pytest.raises(NotSupportedError):
        again.save_pretrained(tmp_path / "types", **options)


def test_no_calls_settings_are_saved(fast, tmp_path):
    fast("a", padding="max_length", max_length=6, truncation=True)
    fast.save_pretrained(tmp_path)
    file = json.loads((tmp_path / "tokenizer.json").read_text())
    assert (file["padding"], file["truncation"]) == (None, None)


def test_a_saved_file_lists_added_tokens_that_are_in_the_vocabulary(fast, tmp_path):
    fast.add_tokens(["xyz"])
    fast.add_tokens(["b"])
    fast.save_pretrained(tmp_path)
    listed = json.loads((tmp_path / "tokenizer.json").read_text())["added_tokens"]
    assert {"xyz", "b"} < {token["content"] for token in listed}
    again = BertTokenizerFast.from_pretrained(tmp_path)
    assert again("a xyz b").input_ids == fast("a xyz b").input_ids
    assert again.all_special_ids == fast.all_special_ids


@pytest.mark.parametrize("role", [{"additional_special_tokens": ["<e>"]}, {"eos_token": "<e>"}])
@pytest.mark.parametrize("place", ["argument", "config", "map"])
def test_a_role_makes_a_saved_token_special(fast, tmp_path, role, place):
    fast.add_tokens(["<e>"])
    fast.save_pretrained(tmp_path)
    if place == "config":
        edit(tmp_path / "tokenizer_config.json", **role)
    if place == "map":  # which counts for nothing where the config lists added tokens
        edit(tmp_path / "tokenizer_config.json", added_tokens_decoder="gone")
        edit(tmp_path / "special_tokens_map.json", **role)
    loaded = BertTokenizerFast.from_pretrained(tmp_path, **(role if place == "argument" else {}))
    assert loaded.added_tokens_decoder[ADDED].special
    assert loaded.decode([A, ADDED, A], skip_special_tokens=True) == "a a"


@pytest.mark.parametrize("options", [{"tokenizer_file": None}, {"from_slow": True}, {}], ids=str)
def test_a_tokenizer_json_that_is_left_aside_needs_a_vocab_txt(fast, tmp_path, options):
    fast.save_pretrained(tmp_path)
    edit(tmp_path / "tokenizer.json", post_processor=None)
    assert BertTokenizerFast.from_pretrained(tmp_path).encode("a") == [A]
    if not options:
        edit(tmp_path / "tokenizer_config.json", tokenizer_file=None)
    loaded = BertTokenizerFast.from_pretrained(tmp_path, **options)
    assert loaded.encode("a") == [CLS, A, SEP]
    assert "from_slow" not in loaded.init_kwargs
    (tmp_path / "vocab.txt").unlink()
    with pytest.raises(FileError, match=r"has no vocab\.txt.* leaves tokenizer\.json aside"):
        BertTokenizerFast.from_pretrained(tmp_path, **options)


def flagged(content, **flags):
    return {"content": content, **AddedToken(content, **flags).__getstate__()}


def test_flags_that_differ_in_the_two_files_are_warned_of(fast, tmp_path, caplog):
    fast.add_tokens(["<E>"])
    fast.save_pretrained(tmp_path)
    tokens = {ADDED: flagged("<E>", normalized=False, lstrip=True)}
    edit(tmp_path / "tokenizer_config.json", added_tokens_decoder=tokens)
    loaded = BertTokenizerFast.from_pretrained(tmp_path)
    assert "give the added token '<E>' other flags" in caplog.text
    assert loaded.added_tokens_decoder[ADDED].lstrip
    assert ids(loaded, "<E><e>") == [ADDED, ADDED]  # as each file says it


@pytest.mark.parametrize(("token_id", "content"), [(ADDED, "<F>"), (20, "<E>")])
def test_ids_that_differ_in_the_two_files_are_an_error(fast, tmp_path, token_id, content):
    fast.add_tokens(["<E>"])
    fast.save_pretrained(tmp_path, legacy_format=False)
    edit(tmp_path / "tokenizer_config.json", added_tokens_decoder={token_id: flagged(content)})
    with pytest.raises(VocabularyError) as caught:
        BertTokenizerFast.from_pretrained(tmp_path)
    error = caught.value
    assert (error.token, error.expected_id, error.found_id) == (content, ADDED, token_id)


@pytest.mark.parametrize("legacy_format", [None, True, False])
@pytest.mark.parametrize(
    "tokens", [["World", "world"], ["world", "World"], ["Á", "World", "world"]]
)
def test_of_two_tokens_alike_when_normalized_the_first_is_found(
    fast, tmp_path, tokens, legacy_format
):
    fast.add_tokens(tokens)
    before = [ids(fast, text) for text in ("world", "World", "á Á")]
    fast.save_pretrained(tmp_path, legacy_format=legacy_format)
    loaded = BertTokenizerFast.from_pretrained(tmp_path)
    assert [ids(loaded, text) for text in ("world", "World", "á Á")] == before
    loaded.save_pretrained(tmp_path / "again", legacy_format=legacy_format)
    for path in (tmp_path / "again").iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes()


def test_the_template_has_the_ids_of_its_tokens(fast, tmp_path):
    fast.add_tokens(["<E>"])
    fast.save_pretrained(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    loaded = BertTokenizerFast.from_pretrained(tmp_path, eos_token="<e>", cls_token="<E>")
    assert loaded.convert_ids_to_tokens(loaded.encode("a")) == ["<E>", "a", "[SEP]"]
    loaded = BertTokenizerFast.from_pretrained(tmp_path, sep_token="$")
    assert loaded.convert_ids_to_tokens(loaded.encode("a")) == ["[CLS]", "a", "$"]


def test_an_added_unknown_token_is_that_of_the_lookup_and_not_of_the_model(fast, tmp_path):
    fast.add_special_tokens({"unk_token": "<unk>"})
    assert fast.convert_tokens_to_ids(["nope", "a"]) == [ADDED, A]
    assert ids(fast, "nope") == [UNK]  # as the model says
    fast.save_pretrained(tmp_path)
    assert ids(BertTokenizerFast.from_pretrained(tmp_path), "nope") == [UNK]
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(VocabularyError):
        BertTokenizerFast.from_pretrained(tmp_path)
    with pytest.raises(VocabularyError):
        fast.save_pretrained(tmp_path / "legacy", legacy_format=True)
