"""What can be done to a tokenizer's vocabulary, and that it is saved: removing, unused slots,
pieces, sizes.
"""

from __future__ import annotations

import json

import pytest

from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    SpecialTokenError,
    UnknownTokenError,
    VocabularyError,
)

UNUSED = ["[unused0]", "[unused1]"]


@pytest.fixture
def reloaded(tmp_path):
    """A function that saves a tokenizer, loads it again, and sees that nothing has changed."""

    def reload(tokenizer: BertTokenizer, *texts: str) -> BertTokenizer:
        tokenizer.save_pretrained(tmp_path / "saved")
        again = BertTokenizer.from_pretrained(tmp_path / "saved")
        for name in (
            "max_id",
            "vocab_size",
            "added_tokens_decoder",
            "special_tokens_map",
            "vocabulary",
        ):
            assert getattr(again, name) == getattr(tokenizer, name), name
        assert again.get_vocab() == tokenizer.get_vocab()
        assert len(again) == len(tokenizer)
        assert again.record() == tokenizer.record()
        for text in texts:
            assert again(text) == tokenizer(text)
        again.save_pretrained(tmp_path / "again")
        for path in (tmp_path / "saved").iterdir():
            assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
        return again

    return reload


# ---- remove_tokens -------------------------------------------------------------------------------


def test_removing_keeps_every_other_id(small, reloaded):
    tokenizer = small("a")
    tokenizer.add_tokens(["<x>", "<y>", AddedToken("<z>", special=True)])
    assert tokenizer.encode("<x>a<y><z>", add_special_tokens=False) == [6, 5, 7, 8]
    new_ids = tokenizer.remove_tokens(["<y>"])
    assert new_ids == {i: i for i in (0, 1, 2, 3, 4, 5, 6, 8)}
    assert tokenizer.encode("<x>a<z>", add_special_tokens=False) == [6, 5, 8]
    assert tokenizer.tokenize("<y>") == ["[UNK]", "[UNK]", "[UNK]"]
    assert tokenizer.decode([6, 7, 8]) == "<x> [UNK] <z>"
    reloaded(tokenizer, "<x>a<y><z>")


def test_the_id_of_a_removed_token_is_not_given_again(small, reloaded):
    tokenizer = small("a")
    tokenizer.add_tokens(["<x>", "<y>"])
    tokenizer.remove_tokens("<y>")
    assert (tokenizer.max_id, len(tokenizer)) == (7, 7)
    again = reloaded(tokenizer)
    for each in (tokenizer, again):
        each.add_tokens(["<z>"])
        assert each.convert_tokens_to_ids("<z>") == 8


def test_compact_closes_the_holes(small, reloaded):
    tokenizer = small("a")
    tokenizer.add_tokens(["<w>", "<x>", "<y>", "<z>"])
    tokenizer.add_special_tokens({"bos_token": "<s>"})
    new_ids = tokenizer.remove_tokens(["<w>", AddedToken("<y>")], compact=True)
    assert new_ids == {**{i: i for i in range(6)}, 7: 6, 9: 7, 10: 8}
    assert tokenizer.convert_tokens_to_ids(["<x>", "<z>", "<s>"]) == [6, 7, 8]
    assert (tokenizer.max_id, tokenizer.bos_token_id) == (8, 8)
    reloaded(tokenizer, "<w><x><y><z><s>")


def test_an_unknown_token_that_moves_is_found_where_it_is(vocab_file):
    path = vocab_file("the", special=["[PAD]", "[CLS]", "[SEP]", "[MASK]"])
    (path.parent / "added_tokens.json").write_text('{"x1": 5, "[UNK]": 6}')
    tokenizer = BertTokenizer.from_pretrained(path.parent)
    assert tokenizer.encode("the zzz", add_special_tokens=False) == [4, 6]
    tokenizer.remove_tokens("x1", compact=True)
    assert tokenizer.encode("the zzz", add_special_tokens=False) == [4, 5]


def test_compact_changes_no_other_text(small):
    tokenizer = small(*UNUSED, "x", "##x", "c", "cx")
    tokenizer.add_tokens(["gone", AddedToken("AB", normalized=False)])
    tokenizer.assign_unused("[unused1]", AddedToken("ABC", normalized=False))
    before = tokenizer.tokenize("xABCx")
    tokenizer.remove_tokens("gone", compact=True)
    assert tokenizer.tokenize("xABCx") == before == ["x", "AB", "cx"]


def test_a_slot_in_use_is_no_name_for_a_token(small):
    tokenizer = small(*UNUSED, do_basic_tokenize=False)
    tokenizer.assign_unused("[unused1]", "[S]")
    for add in (
        lambda: tokenizer.add_tokens(["[unused1]"]),
        lambda: tokenizer.add_wordpieces(["[unused1]"]),
    ):
        with pytest.raises(VocabularyError):
            add()


def test_removing_a_listed_special_token_takes_it_off_the_list(small):
    tokenizer = small("a")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<x>", "<y>"]})
    tokenizer.remove_tokens(["<x>"])
    assert tokenizer.additional_special_tokens == ["<y>"]
    assert "<x>" not in tokenizer.all_special_tokens


def test_removing_a_vocabulary_entry_that_was_added_leaves_the_entry(small):
    tokenizer = small("cat", "##s")
    tokenizer.add_tokens(["cat"])
    assert tokenizer.tokenize("cats") == ["cat", "[UNK]"]
    assert tokenizer.remove_tokens(["cat"])[5] == 5
    assert tokenizer.tokenize("cats") == ["cat", "##s"]


@pytest.mark.parametrize(
    ("tokens", "error"),
    [
        (["<x>", "<nothing>"], UnknownTokenError),
        (["a"], UnknownTokenError),
        (["<x>", "[CLS]"], SpecialTokenError),
        (["[UNK]"], SpecialTokenError),
    ],
)
def test_what_cannot_be_removed(small, tokens, error):
    tokenizer = small("a")
    tokenizer.add_tokens(["<x>"])
    before = tokenizer.get_vocab()
    with pytest.raises(error):
        tokenizer.remove_tokens(tokens)
    assert tokenizer.get_vocab() == before
    assert tokenizer.tokenize("<x>") == ["<x>"]


# ---- assign_unused -------------------------------------------------------------------------------


def test_an_unused_slot_becomes_a_token(small, reloaded):
    tokenizer = small(*UNUSED, "a", "subj")
    before = (len(tokenizer), tokenizer.vocab_size, tokenizer.max_id)
    assert tokenizer.assign_unused("[unused1]", "[SUBJ]") == 6
    assert (len(tokenizer), tokenizer.vocab_size, tokenizer.max_id) == before
    assert tokenizer.tokenize("a[SUBJ] [subj]") == ["a", "[SUBJ]", "[UNK]", "subj", "[UNK]"]
    assert tokenizer.decode([6, 7], skip_special_tokens=True) == "a"
    again = reloaded(tokenizer, "a[SUBJ] [subj] [unused1]")
    for each in (tokenizer, again):
        with pytest.raises(SpecialTokenError):
            each.assign_unused("[unused1]", "[OBJ]")


def test_an_assigned_token_has_the_flags_it_is_given(small):
    tokenizer = small(*UNUSED)
    tokenizer.assign_unused("[unused0]", AddedToken("<x>", lstrip=True))
    tokenizer.assign_unused("[unused1]", "ABC", special=False)
    assert tokenizer.added_tokens_decoder[5] == AddedToken("<x>", lstrip=True)
    assert tokenizer.tokenize("Abc") == ["abc"]
    assert tokenizer.additional_special_tokens == []


def test_the_order_of_adding_is_kept_where_it_counts(small, reloaded):
    tokenizer = small(*UNUSED, "c")
    tokenizer.add_tokens([AddedToken("AB", normalized=False)])
    tokenizer.assign_unused("[unused1]", AddedToken("ABC", normalized=False))
    # of tokens matched as written the one added first is kept
    assert tokenizer.tokenize("ABC") == ["AB", "c"]
    reloaded(tokenizer, "ABC", "AB ABC")


def test_removing_an_assigned_token_frees_its_slot(small, reloaded):
    tokenizer = small(*UNUSED)
    tokenizer.assign_unused("[unused0]", "<x>")
    tokenizer.remove_tokens(["<x>"])
    assert tokenizer.convert_ids_to_tokens(5) == "[unused0]"
    assert tokenizer.assign_unused("[unused0]", "<y>") == 5
    reloaded(tokenizer, "<x><y>")


@pytest.mark.parametrize(
    ("slot", "token", "error"),
    [
        ("[unused9]", "<x>", SpecialTokenError),
        ("a", "<x>", SpecialTokenError),
        ("[unused0]", "a", VocabularyError),
        ("[unused0]", "<y>", VocabularyError),
        ("[unused0]", "x\ny", VocabularyError),
        ("[unused0]", "", InputError),
        ("[unused0]", 5, InputTypeError),
    ],
)
def test_what_cannot_be_assigned(small, slot, token, error):
    tokenizer = small(*UNUSED, "a")
    tokenizer.add_tokens(["<y>"])
    before = tokenizer.get_vocab()
    with pytest.raises(error):
        tokenizer.assign_unused(slot, token)
    assert tokenizer.get_vocab() == before


# ---- add_wordpieces ------------------------------------------------------------------------------


def test_pieces_are_used_inside_words(small, reloaded, tmp_path):
    tokenizer = small("bio", "##log")
    assert tokenizer.tokenize("biology zoo") == ["[UNK]", "[UNK]"]
    assert tokenizer.add_wordpieces(["##logy", "zoo", "bio"]) == 2
    assert tokenizer.tokenize("biology zoo") == ["bio", "##logy", "zoo"]
    assert tokenizer.convert_tokens_to_ids(["##logy", "zoo"]) == [7, 8]
    assert (tokenizer.vocab_size, len(tokenizer), tokenizer.max_id) == (9, 9, 8)
    reloaded(tokenizer, "biology zoo")
    assert (tmp_path / "saved" / "vocab.txt").read_text().splitlines()[5:] == [
        "bio",
        "##log",
        "##logy",
        "zoo",
    ]


def test_pieces_come_after_added_tokens(small, reloaded, tmp_path):
    tokenizer = small("a")
    tokenizer.add_tokens(["covid", "<x>"])
    tokenizer.add_wordpieces(["##s", "covi"])
    assert tokenizer.convert_tokens_to_ids(["covid", "<x>", "##s", "covi"]) == [6, 7, 8, 9]
    assert tokenizer.tokenize("as covi <x>") == ["a", "##s", "covi", "<x>"]
    assert tokenizer.add_tokens(["<y>"]) == 1
    assert tokenizer.convert_tokens_to_ids("<y>") == 10
    reloaded(tokenizer, "as covid covi <x><y>")
    assert (tmp_path / "saved" / "vocab.txt").read_text().splitlines()[5:] == [
        "a",
        "covid",
        "<x>",
        "##s",
        "covi",
    ]
    config = json.loads((tmp_path / "saved" / "tokenizer_config.json").read_text())
    # No text gives "<x>" as an entry, so it is one; "covid" would begin longer words.
    assert config["trietok"] == {"vocab_holes": [6], "assigned_unused": {"[unused-id-7]": "<x>"}}


def test_every_line_of_vocab_txt_is_there_once(small, reloaded, tmp_path):
    tokenizer = small("a")
    tokenizer.add_tokens(["<x>", "b\nc", "<y>"])
    tokenizer.remove_tokens(["<x>"])
    tokenizer.add_wordpieces(["##s"])
    reloaded(tokenizer, "as <x> b\nc <y>")
    lines = (tmp_path / "saved" / "vocab.txt").read_text().splitlines()
    assert lines[5:] == ["a", "[unused-id-6]", "[unused-id-7]", "<y>", "##s"]


def test_add_tokens_on_a_piece_keeps_transformers_meaning(small):
    tokenizer = small("a")
    assert tokenizer.add_tokens(["##x"]) == 1
    assert tokenizer.tokenize("a##x ax") == ["a", "##x", "[UNK]"]


@pytest.mark.parametrize(
    ("piece", "error"),
    [
        ("Bio", InputError),
        ("##é", InputError),
        ("covid-19", InputError),
        ("a b", InputError),
        ("##", InputError),
        ("", InputError),
        ("x" * 101, InputError),
        (5, InputTypeError),
        ("<y>", VocabularyError),
    ],
)
def test_pieces_that_no_text_can_give(small, piece, error):
    tokenizer = small("a")
    tokenizer.add_tokens(["<y>"])
    with pytest.raises(error):
        tokenizer.add_wordpieces(["bio", piece])
    assert tokenizer.max_id == 6
    assert tokenizer.tokenize("bio") == ["[UNK]"]
    with pytest.raises(TypeError, match="list"):
        tokenizer.add_wordpieces("bio")


# ---- sizes ---------------------------------------------------------------------------------------


def test_sizes(small):
    tokenizer = small("a", "a", "b")  # 8 lines, 7 different tokens
    tokenizer.add_tokens(["<x>", "<y>"])
    tokenizer.remove_tokens(["<x>"])
    assert (tokenizer.vocab_size, len(tokenizer), tokenizer.max_id) == (7, 8, 9)
    assert (
        tokenizer.embedding_rows(),
        tokenizer.embedding_rows(1),
        tokenizer.embedding_rows(64),
    ) == (16, 10, 64)
    with pytest.raises(InputError):
        tokenizer.embedding_rows(0)


def test_rows_that_a_model_does_not_have(small):
    tokenizer = small("a", max_embedding_rows=8)
    assert tokenizer.add_tokens(["<x>", "a"]) == 1
    for add in (
        lambda: tokenizer.add_tokens(["<y>", "<z>"]),
        lambda: tokenizer.add_wordpieces(["b", "c"]),
    ):
        with pytest.raises(VocabularyError):
            add()
    assert (tokenizer.max_id, len(tokenizer)) == (6, 7)
    tokenizer.max_embedding_rows = None
    assert tokenizer.add_tokens(["<y>", "<z>"]) == 2


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def model(request, vocab_file):
    """The directory of a model with seven rows, and its tokenizer."""
    directory = vocab_file("a").parent / "my model"
    directory.mkdir()
    (directory.parent / "vocab.txt").rename(directory / "vocab.txt")
    (directory / "config.json").write_text('{"vocab_size": 7, "model_type": "bert"}')
    return directory, request.param.from_pretrained(directory)


def test_saving_says_once_that_the_model_lacks_rows(model, tmp_path, caplog):
    directory, tokenizer = model
    tokenizer.add_tokens(["<x>"])
    tokenizer.save_pretrained(tmp_path / "fits")
    tokenizer.add_tokens(["<y>", "<z>"])
    assert caplog.messages == []
    for name in ("out", "out2"):
        tokenizer.save_pretrained(tmp_path / name)
    (message,) = caplog.messages
    assert "needs 9 embedding rows" in message
    assert "has 7" in message
    assert str(directory) in message
    caplog.clear()
    again = type(tokenizer).from_pretrained(directory)
    again.add_tokens(["<x>", "<y>", "<z>"])
    again.save_pretrained(directory)  # over the tokenizer of the model
    (message,) = caplog.messages
    assert "needs 9 embedding rows" in message


def test_saving_is_silent_where_the_model_beside_it_has_the_rows(model, tmp_path, caplog):
    _, tokenizer = model
    tokenizer.add_tokens(["<x>", "<y>"])
    for rows in (8, 64):
        (tmp_path / str(rows)).mkdir()
        (tmp_path / str(rows) / "config.json").write_text(f'{{"vocab_size": {rows}}}')
        tokenizer.save_pretrained(tmp_path / str(rows))
    assert caplog.messages == []
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "config.json").write_text('{"vocab_size": 5}')
    tokenizer.save_pretrained(tmp_path / "few")
    assert ["has 5" in message for message in caplog.messages] == [True]


def test_a_config_that_cannot_be_read_is_no_reason_not_to_save(small, tmp_path, caplog):
    for config in ("{", "[]", '{"vocab_size": "many"}'):
        (tmp_path / "config.json").write_text(config)
        small("a").save_pretrained(tmp_path)
    assert caplog.messages == []


# ---- roles ---------------------------------------------------------------------------------------


def test_replacing_special_tokens_says_which_are_dropped(small, caplog):
    tokenizer = small("a", additional_special_tokens=["<x>", "<y>"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<y>", "<z>"]})
    (message,) = caplog.messages
    assert "'<x>'" in message
    assert "replace_additional_special_tokens=False" in message
    caplog.clear()
    tokenizer.add_special_tokens(
        {"additional_special_tokens": ["<w>"]}, replace_additional_special_tokens=False
    )
    assert tokenizer.additional_special_tokens == ["<y>", "<z>", "<w>"]
    assert caplog.records == []
    tokenizer.add_special_tokens({"additional_special_tokens": ["<w>"]})
    assert "'<y>', '<z>'" in caplog.text


def test_the_newer_name_of_additional_special_tokens(small):
    tokenizer = small("a", extra_special_tokens=["<x>"])
    tokenizer.add_special_tokens(
        {"extra_special_tokens": ["<y>"]}, replace_additional_special_tokens=False
    )
    assert tokenizer.additional_special_tokens == ["<x>", "<y>"]
    assert tokenizer.tokenize("<x><y>") == ["<x>", "<y>"]


def test_views_are_the_same_until_something_changes(small):
    tokenizer = small("a")
    view = tokenizer.added_tokens_encoder
    assert tokenizer.added_tokens_encoder is view
    assert tokenizer.added_tokens_decoder is tokenizer.added_tokens_decoder
    with pytest.raises(TypeError):
        view["x"] = 1
    tokenizer.add_tokens(["<x>"])
    assert "<x>" not in view
    assert tokenizer.added_tokens_encoder["<x>"] == 6


def test_a_flag_for_a_list_of_strings_is_refused(small):
    tokenizer = small("a")
    with pytest.raises(TypeError):
        tokenizer.add_tokens("<x>", lstrip=True)
    assert "<x>" not in tokenizer.get_vocab()
