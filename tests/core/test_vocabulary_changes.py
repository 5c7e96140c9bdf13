"""Worked examples of what can be done to a tokenizer's vocabulary, each saved and loaded, and the
mistakes that can be made with it.
"""

from __future__ import annotations

from typing import Any

import pytest

import trietok
from tests.conftest import SPECIAL
from tests.strategies import Change, apply
from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    SpecialTokenError,
    TokenIdError,
    UnknownTokenError,
    VocabularyError,
)

UNUSED = ["[unused0]", "[unused1]"]
KEPT = "max_id vocab_size added_tokens_decoder special_tokens_map vocabulary".split()


def add(*tokens: Any, special: bool = False) -> Change:
    return "add", ([*tokens], special)


def remove(*tokens: Any, compact: bool = False) -> Change:
    return "remove", ([*tokens], compact)


def list_special(*tokens: Any) -> Change:
    return "roles", ({"additional_special_tokens": [*tokens]}, True)


def assign(slot: str, token: Any) -> Change:
    return "assign", (slot, token)


def as_written(content: str) -> AddedToken:
    return AddedToken(content, normalized=False)


UNCHANGED = {i: i for i in range(6)}
FOUR = [add("<w>", "<x>", "<y>", "<z>"), ("roles", ({"bos_token": "<s>"}, True))]
# Entries of the vocabulary behind the special tokens, which have the ids 0 to 4; the changes; what
# the last one returns; then a text and its tokens, the ids of some tokens, and `len`, `vocab_size`
# and `max_id`.
EXAMPLES: dict[str, tuple[list[str], list[Change], Any, str, str, dict[str, int], tuple]] = {
    "a removed token leaves every other id as it is": (
        ["a"],
        [add("<x>", "<y>", AddedToken("<z>", special=True)), remove("<y>")],
        {**UNCHANGED, 6: 6, 8: 8},
        "<x>a<y><z>",
        "<x> a [UNK] [UNK] [UNK] <z>",
        {"<x>": 6, "<z>": 8},
        (8, 6, 8),
    ),
    "the id of a removed token is not given again": (
        ["a"],
        [add("<x>", "<y>"), remove("<y>"), add("<z>")],
        1,
        "<z>",
        "<z>",
        {"<x>": 6, "<z>": 8},
        (8, 6, 8),
    ),
    "compact removal closes the holes": (
        ["a"],
        [*FOUR, remove("<w>", AddedToken("<y>"), compact=True)],
        {**UNCHANGED, 7: 6, 9: 7, 10: 8},
        "<x>a<z><s>",
        "<x> a <z> <s>",
        {"<x>": 6, "<z>": 7, "<s>": 8},
        (9, 6, 8),
    ),
    "compact removal leaves the order of adding as it is": (
        [*UNUSED, "x", "##x", "c", "cx"],
        [
            add("gone", as_written("AB")),
            assign("[unused1]", as_written("ABC")),
            remove("gone", compact=True),
        ],
        {**{i: i for i in range(11)}, 12: 11},
        "xABCx",
        "x AB cx",
        {"AB": 11, "ABC": 6},
        (12, 11, 11),
    ),
    "a removed entry that was added is an entry still": (
        ["cat", "##s"],
        [add("cat"), remove("cat")],
        {i: i for i in range(7)},
        "cats",
        "cat ##s",
        {"cat": 5},
        (7, 7, 6),
    ),
    "an unused slot becomes a token": (
        [*UNUSED, "a", "subj"],
        [assign("[unused1]", AddedToken("[SUBJ]", special=True))],
        6,
        "a[SUBJ] [subj]",
        "a [SUBJ] [UNK] subj [UNK]",
        {"[SUBJ]": 6, "[unused0]": 5},
        (9, 9, 8),
    ),
    "an assigned token has its own flags": (
        UNUSED,
        [assign("[unused0]", AddedToken("<x>", lstrip=True))],
        5,
        "<x>",
        "<x>",
        {"<x>": 5},
        (7, 7, 6),
    ),
    "of tokens matched as written the one added first is kept": (
        [*UNUSED, "c"],
        [add(as_written("AB")), assign("[unused1]", as_written("ABC"))],
        6,
        "ABC",
        "AB c",
        {"AB": 8, "ABC": 6},
        (9, 8, 8),
    ),
    "removing an assigned token frees its slot": (
        UNUSED,
        [assign("[unused0]", "<x>"), remove("<x>"), assign("[unused0]", "<y>")],
        5,
        "<x><y>",
        "[UNK] [UNK] [UNK] <y>",
        {"<y>": 5},
        (7, 7, 6),
    ),
    "pieces are used inside words": (
        ["bio", "##log"],
        [("pieces", ["##logy", "zoo", "bio"])],
        2,
        "biology zoo",
        "bio ##logy zoo",
        {"##logy": 7, "zoo": 8},
        (9, 9, 8),
    ),
    "pieces come after added tokens": (
        ["a"],
        [add("covid", "<x>"), ("pieces", ["##s", "covi"]), add("<y>")],
        1,
        "as covid covi <x><y>",
        "a ##s covid covi <x> <y>",
        {"covid": 6, "<x>": 7, "##s": 8, "covi": 9, "<y>": 10},
        (11, 9, 10),
    ),
    "a token with a line break and a hole before pieces": (
        ["a"],
        [add("<x>", "b\nc", "<y>"), remove("<x>"), ("pieces", ["##s"])],
        1,
        "as b\nc <y>",
        "a ##s b\nc <y>",
        {"b\nc": 7, "<y>": 8, "##s": 9},
        (9, 8, 9),
    ),
    "an added piece stands by itself, as in transformers": (
        ["a"],
        [add("##x")],
        1,
        "a##x ax",
        "a ##x [UNK]",
        {"##x": 6},
        (7, 6, 6),
    ),
    "a token twice in the file has the later id": (
        ["a", "a", "b"],
        [add("<x>", "<y>"), remove("<x>")],
        {**{i: i for i in range(8) if i != 5}, 9: 9},
        "a <y>",
        "a <y>",
        {"a": 6, "<y>": 9},
        (8, 7, 9),
    ),
    "a listed special token is taken off the list": (
        ["a"],
        [list_special("<x>", "<y>"), remove("<x>")],
        {**UNCHANGED, 7: 7},
        "<y>",
        "<y>",
        {"<y>": 7},
        (7, 6, 7),
    ),
}


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_change_gives_the_tokens_and_ids_of_its_example_also_when_loaded(
    tmp_path, small, example
):
    entries, changes, returned, text, tokens, ids, sizes = EXAMPLES[example]
    tokenizer = small(*entries)
    for change in changes:
        last = apply(trietok, tokenizer, change)
    assert last == returned
    tokenizer.save_pretrained(tmp_path / "saved")
    again = BertTokenizer.from_pretrained(tmp_path / "saved")
    for each in (tokenizer, again):
        assert " ".join(each.tokenize(text)) == tokens
        assert {token: each.get_vocab()[token] for token in ids} == ids
        assert (len(each), each.vocab_size, each.max_id) == sizes
        assert each.all_special_tokens == tokenizer.all_special_tokens
    for name in KEPT:
        assert getattr(again, name) == getattr(tokenizer, name), name
    assert (again.get_vocab(), again.record()) == (tokenizer.get_vocab(), tokenizer.record())
    lines = (tmp_path / "saved" / "vocab.txt").read_text(encoding="utf-8").split("\n")
    assert [lines[token_id] for token_id in tokenizer.vocab.values()] == [*tokenizer.vocab]


def test_pieces_and_the_tokens_before_them_have_a_line_each_in_the_file(small, tmp_path):
    tokenizer = small("a")
    tokenizer.add_tokens(["covid", "<x>", "<y>"])
    tokenizer.remove_tokens(["<y>"])
    tokenizer.add_wordpieces(["##s"])
    tokenizer.save_pretrained(tmp_path)
    lines = (tmp_path / "vocab.txt").read_text().splitlines()
    assert lines[5:] == ["a", "covid", "<x>", "[unused-id-8]", "##s"]


def test_an_unknown_token_that_moves_is_found_where_it_is(vocab_file):
    path = vocab_file("the", special=["[PAD]", "[CLS]", "[SEP]", "[MASK]"])
    (path.parent / "added_tokens.json").write_text('{"x1": 5, "[UNK]": 6}')
    tokenizer = BertTokenizer.from_pretrained(path.parent)
    assert tokenizer.encode("the zzz", add_special_tokens=False) == [4, 6]
    tokenizer.remove_tokens("x1", compact=True)
    assert tokenizer.encode("the zzz", add_special_tokens=False) == [4, 5]


# ---- mistakes ------------------------------------------------------------------------------------

# Of the vocabulary "[unused0] [unused1] a" with the added token "<y>", and "[S]" in a slot.
MISTAKES: list[tuple[Change, type[Exception]]] = [
    *((("add", (["x", bad], False)), InputError) for bad in (None, 5, b"a", "")),
    (("add", (["x", "\ud800"], False)), InputError),
    (("add", (["x", "a" * 100_001], False)), InputError),
    (add("[unused1]"), VocabularyError),
    (remove("<y>", "<nothing>"), UnknownTokenError),
    (remove("a"), UnknownTokenError),
    (remove("<y>", "[CLS]"), SpecialTokenError),
    (remove("[UNK]"), SpecialTokenError),
    (assign("[unused9]", "<x>"), SpecialTokenError),
    (assign("a", "<x>"), SpecialTokenError),
    (assign("[unused1]", "[T]"), SpecialTokenError),
    (assign("[unused0]", "a"), VocabularyError),
    (assign("[unused0]", "<y>"), VocabularyError),
    (assign("[unused0]", "x\ny"), VocabularyError),
    (assign("[unused0]", ""), InputError),
    (assign("[unused0]", 5), InputTypeError),
    *(
        (("pieces", ["bio", bad]), InputError)
        for bad in ("Bio", "##é", "covid-19", "a b", "##", "", "x" * 101)
    ),
    (("pieces", ["bio", 5]), InputTypeError),
    (("pieces", ["bio", "<y>"]), VocabularyError),
    (("pieces", ["[unused1]"]), VocabularyError),
    (("pieces", "bio"), InputTypeError),
    (("keep", {1}), VocabularyError),  # leaves out the unknown token
    (("keep", {9}), VocabularyError),  # leaves out an added token
    (("roles", ({"no_such_token": "x"}, True)), SpecialTokenError),
    (("roles", ({"cls_token": None}, True)), SpecialTokenError),
]


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
@pytest.mark.parametrize(("change", "error"), MISTAKES, ids=lambda value: ascii(value)[:60])
def test_a_mistake_is_an_error_and_changes_nothing(vocab_file, kind, change, error):
    tokenizer = kind(vocab_file(*UNUSED, "a", "bio"))
    tokenizer.add_tokens(["<y>"])
    tokenizer.assign_unused("[unused1]", "[S]")
    before = (tokenizer.get_vocab(), tokenizer.record(), tokenizer.encode("x bio zoo <y> [S]"))
    with pytest.raises(error):
        apply(trietok, tokenizer, change)
    after = (tokenizer.get_vocab(), tokenizer.record(), tokenizer.encode("x bio zoo <y> [S]"))
    assert after == before


def test_other_mistakes_are_errors_that_say_what_is_wrong(small):
    tokenizer = small("a")
    with pytest.raises(TypeError, match="lstrip"):
        tokenizer.add_tokens("<x>", lstrip=True)
    with pytest.raises(TokenIdError):
        tokenizer.keep_only([0, 1, 2, 3, 4, 99])
    with pytest.raises(InputError):
        tokenizer.embedding_rows(0)
    assert tokenizer.max_id == len(SPECIAL)


# ---- embedding rows ------------------------------------------------------------------------------


def test_embedding_rows_are_rounded_up_and_limited(small):
    tokenizer = small("a", max_embedding_rows=8)
    assert [tokenizer.embedding_rows(), tokenizer.embedding_rows(1)] == [8, 6]
    assert tokenizer.embedding_rows(64) == 64
    assert tokenizer.add_tokens(["<x>", "a"]) == 1
    for change in (add("<y>", "<z>"), ("pieces", ["b", "c"])):
        with pytest.raises(VocabularyError):
            apply(trietok, tokenizer, change)
    assert (tokenizer.max_id, len(tokenizer)) == (6, 7)
    tokenizer.max_embedding_rows = None
    assert tokenizer.add_tokens(["<y>", "<z>"]) == 2


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_saving_says_once_that_the_model_lacks_rows(kind, vocab_file, tmp_path, caplog):
    path = vocab_file("a")
    (tmp_path / "config.json").write_text('{"vocab_size": 7, "model_type": "bert"}')
    tokenizer = kind.from_pretrained(path.parent)
    caplog.clear()
    tokenizer.add_tokens(["<x>"])
    tokenizer.save_pretrained(tmp_path / "fits")
    tokenizer.add_tokens(["<y>", "<z>"])
    assert caplog.messages == []
    for name in ("out", "out2"):
        tokenizer.save_pretrained(tmp_path / name)
    (message,) = caplog.messages
    for part in ("needs 9 embedding rows", "has 7", str(tmp_path)):
        assert part in message
    # What counts is the model that it is saved beside, where there is one; any other file is none.
    for config, messages in (('{"vocab_size": 64}', 0), ('{"vocab_size": 5}', 1), ("{", 0)):
        again = kind.from_pretrained(path.parent)
        again.add_tokens(["<x>"])
        caplog.clear()
        folder = tmp_path / str(len(config))
        folder.mkdir()
        (folder / "config.json").write_text(config)
        again.save_pretrained(folder)
        assert len(caplog.messages) == messages, config


# ---- roles ---------------------------------------------------------------------------------------


def test_replacing_special_tokens_says_which_are_dropped(small, caplog):
    tokenizer = small("a", extra_special_tokens=["<x>", "<y>"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<y>", "<z>"]})
    (message,) = caplog.messages
    assert "'<x>'" in message
    assert "replace_additional_special_tokens=False" in message
    caplog.clear()
    tokenizer.add_special_tokens(
        {"extra_special_tokens": ["<w>"]}, replace_additional_special_tokens=False
    )
    assert tokenizer.additional_special_tokens == ["<y>", "<z>", "<w>"]
    assert caplog.records == []
    assert tokenizer.tokenize("<x><y><w>") == ["<x>", "<y>", "<w>"]


def test_views_are_the_same_until_something_changes(small):
    tokenizer = small("a")
    view = tokenizer.added_tokens_encoder
    assert tokenizer.added_tokens_encoder is view
    assert tokenizer.added_tokens_decoder is tokenizer.added_tokens_decoder
    for each in (view, tokenizer.vocab, tokenizer.ids_to_tokens, tokenizer.added_tokens_decoder):
        with pytest.raises(TypeError):
            each["x"] = 1
    tokenizer.add_tokens(["<x>"])
    assert "<x>" not in view
    assert tokenizer.added_tokens_encoder["<x>"] == 6
