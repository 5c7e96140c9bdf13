"""Added tokens: their fields, the split of a text at them, and what adding does to ids."""

from __future__ import annotations

import copy
import logging
import pickle

import pytest

from tests.strategies import FIELDS
from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    PreTrainedTokenizer,
)


def test_an_added_token_has_the_fields_and_defaults_of_tokenizers():
    token = AddedToken("a")
    assert tuple(token.__getstate__()) == FIELDS
    assert token.__getstate__() == dict(
        zip(FIELDS, ["a", False, False, False, True, False], strict=True)
    )
    assert AddedToken("a", special=True).normalized is False
    assert AddedToken("a", special=True, normalized=True).normalized is True
    assert str(token) == "a"
    assert (
        repr(token)
        == 'AddedToken("a", rstrip=False, lstrip=False, single_word=False, normalized=True,'
        " special=False)"
    )


def test_equality_is_of_all_fields_and_hash_goes_with_it():
    assert AddedToken("a") == AddedToken("a")
    assert hash(AddedToken("a")) == hash(AddedToken("a"))
    for flag in FIELDS[1:]:
        assert AddedToken("a") != AddedToken("a").replace(
            **{flag: not getattr(AddedToken("a"), flag)}
        )
    assert AddedToken("a") != "a"
    for other in (
        pickle.loads(pickle.dumps(AddedToken("a", lstrip=True))),
        copy.deepcopy(AddedToken("a", lstrip=True)),
    ):
        assert other == AddedToken("a", lstrip=True)


def test_a_token_cannot_be_changed():
    token = AddedToken("a")
    with pytest.raises(AttributeError):
        token.lstrip = True
    assert token == AddedToken("a")


@pytest.mark.parametrize(
    ("bad", "error"), [(5, InputTypeError), (b"a", InputTypeError), ("", InputError)]
)
def test_content_is_a_string_that_is_not_empty(bad, error):
    with pytest.raises(error):
        AddedToken(bad)


@pytest.mark.parametrize(
    ("tokens", "text", "pieces"),
    [
        ([AddedToken("<a>")], "x <a> y", ["x ", "<a>", " y"]),
        ([AddedToken("<a>", lstrip=True)], "x \t<a> y", ["x", "<a>", " y"]),
        ([AddedToken("<a>", rstrip=True)], "x <a> \u3000y", ["x ", "<a>", "y"]),
        ([AddedToken("<a>", lstrip=True, rstrip=True)], " <a> <a> ", ["<a>", "<a>"]),
        ([AddedToken("<a>", rstrip=True), AddedToken("\n")], "<a>\n\n", ["<a>", "\n"]),
        (
            [AddedToken("ing", single_word=True)],
            "ing sing ing_ (ing)",
            ["ing", " sing ing_ (", "ing", ")"],
        ),
        ([AddedToken("a b", single_word=True), AddedToken("b")], "a b", ["a b"]),
        ([AddedToken("a b", single_word=True), AddedToken("b")], "a bx", ["a bx"]),
        ([AddedToken("a", single_word=True)], "a\u0301 a", ["a\u0301 ", "a"]),
        ([AddedToken("a", single_word=True)], "éa aé", ["éa aé"]),
        ([AddedToken("<a>")], "<a>", ["<a>"]),
        ([AddedToken("<a>")], "", []),
    ],
)
def test_a_text_is_split_at_the_leftmost_longest_added_tokens(tokens, text, pieces):
    tokenizer = Pieces()
    tokenizer.add_tokens(tokens)
    assert tokenizer.tokenize(text) == pieces


class Pieces(PreTrainedTokenizer):
    """Leaves each piece of text between added tokens whole."""

    vocab_size = 0

    def get_vocab(self):
        return dict(self.added_tokens_encoder)

    def _tokenize(self, text, **options):
        return [text]


def test_a_rejected_match_that_is_a_piece_by_itself_is_no_token(small):
    tokenizer = small("q", "##z", "##q")
    tokenizer.add_tokens(["x1", AddedToken("qzq", single_word=True)])
    for text in ("x1qzq", "x1qzq ", "x1qzq q"):
        tokens = tokenizer.tokenize(text)
        assert tokens[:4] == ["x1", "q", "##z", "##q"]
        assert tokenizer.encode(text, add_special_tokens=False) == tokenizer.convert_tokens_to_ids(
            tokens
        )


def test_a_new_id_follows_the_highest(small):
    tokenizer = small("a", "a", "b")  # 8 lines, 7 different tokens
    assert (len(tokenizer), tokenizer.vocab_size, tokenizer.max_id) == (7, 7, 7)
    assert tokenizer.add_tokens(["x", "b", "y", "x"]) == 2
    assert tokenizer.convert_tokens_to_ids(["x", "b", "y"]) == [8, 7, 9]
    assert (len(tokenizer), tokenizer.max_id) == (9, 9)
    assert len(set(tokenizer.get_vocab().values())) == len(tokenizer)


def test_the_callers_token_stays_as_it_is_and_is_lower_cased_inside(small):
    tokenizer = small("a")
    token = AddedToken("ABC")
    tokenizer.add_tokens([token])
    assert token == AddedToken("ABC")
    assert tokenizer.tokenize("Abc") == ["abc"]
    assert tokenizer.added_tokens_encoder["abc"] == 6


def test_adding_again_changes_flags_and_keeps_the_id(small):
    tokenizer = small("a")
    assert tokenizer.add_tokens([AddedToken("<x>")]) == 1
    assert tokenizer.add_tokens([AddedToken("<x>", lstrip=True)]) == 0
    assert tokenizer.added_tokens_decoder[6] == AddedToken("<x>", lstrip=True)
    assert tokenizer.add_tokens(["<x>"]) == 0
    assert tokenizer.added_tokens_decoder[6] == AddedToken("<x>", lstrip=True)


def test_a_token_that_matches_as_written_keeps_its_capitals(small):
    tokenizer = small("a")
    tokenizer.add_tokens([AddedToken("ABC", normalized=False)])
    assert tokenizer.tokenize("a ABC abc") == ["a", "ABC", "[UNK]"]


@pytest.mark.parametrize("bad", [None, 5, b"a", ""])
def test_a_mistake_in_a_list_adds_nothing(small, bad):
    tokenizer = small("a")
    before = dict(tokenizer.get_vocab())
    with pytest.raises(InputError):
        tokenizer.add_tokens(["x", bad])
    assert tokenizer.get_vocab() == before
    assert tokenizer.tokenize("x") == ["[UNK]"]


def test_special_tokens_are_listed_and_plain_ones_are_not(small):
    tokenizer = small("a")
    tokenizer.add_tokens(["<x>"])
    tokenizer.add_tokens(["<y>"], special_tokens=True)
    tokenizer.add_special_tokens(
        {"additional_special_tokens": ["<z>"]}, replace_additional_special_tokens=False
    )
    assert tokenizer.additional_special_tokens == ["<y>", "<z>"]
    assert tokenizer.all_special_tokens == "[UNK] [SEP] [PAD] [CLS] [MASK] <y> <z>".split()
    assert tokenizer.decode([6, 7, 8, 5], skip_special_tokens=True) == "<x> a"


# ---- which tokens are known already --------------------------------------------------------------


def test_known_tokens_are_those_that_get_no_new_id(small):
    tokenizer = small("a", "b", "##c")
    tokenizer.add_tokens(["<x>", AddedToken("<Y>", normalized=False)])
    terms = [
        *"A new <X> <Y> <y> NEW ##c".split(),
        AddedToken("B", normalized=False),
        AddedToken("B"),
        "[CLS]",
    ]
    known = tokenizer.known_tokens(terms)
    assert known == ["A", "<X>", "<Y>", "NEW", "##c", "B", "[CLS]"]
    size = len(tokenizer)
    assert tokenizer.add_tokens(terms) == len(terms) - len(known) == len(tokenizer) - size == 3
    assert tokenizer.known_tokens(terms) == list(map(str, terms))


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_known_tokens_are_those_that_get_no_new_id_in_any_class(vocab_file, kind, special):
    tokenizer = kind(vocab_file("a", "b"))
    terms = ["a", "A", "n", "N", AddedToken("B", special=True), "B", "n"]
    size, known = len(tokenizer), tokenizer.known_tokens(terms, special_tokens=special)
    tokenizer.add_tokens(terms, special_tokens=special)
    assert len(terms) - len(known) == len(tokenizer) - size


def test_known_tokens_takes_what_add_tokens_takes(small):
    tokenizer = small("a")
    assert tokenizer.known_tokens("a") == tokenizer.known_tokens(AddedToken("a")) == ["a"]
    assert tokenizer.known_tokens([]) == []
    for wrong, error in ((["a", 5], InputTypeError), (None, InputTypeError), ([""], InputError)):
        with pytest.raises(error):
            tokenizer.known_tokens(wrong)


def test_the_log_names_known_tokens_where_somebody_wants_to_hear(small, caplog):
    tokenizer = small(*(f"w{number}" for number in range(12)))
    terms = ["new", *(f"w{number}" for number in range(12))]
    with caplog.at_level(logging.WARNING, "trietok"):
        assert tokenizer.add_tokens(["w0", "other"]) == 1
    assert caplog.messages == []
    with caplog.at_level(logging.INFO, "trietok"):
        assert tokenizer.add_tokens(["newer"]) == 1
        assert tokenizer.add_tokens(terms) == 1
    (message,) = caplog.messages
    assert "12 of 13" in message
    assert "'w0', 'w1'" in message
