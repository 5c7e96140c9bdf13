"""Texts that must not forge special tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import SPECIAL
from trietok import AddedToken, BertTokenizer, InputTypeError, SpecialTokenError, Untrusted

PIECES = [
    "[",
    "]",
    "cls",
    "sep",
    "CLS",
    "SEP",
    "a",
    "b",
    "##b",
    "ab",
    "x",
    "<",
    ">",
    "y",
    "subj",
    "##j",
    "SUB",
    "##J",
]


@pytest.fixture(scope="module", params=[True, False], ids=["uncased", "cased"])
def tokenizer(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("untrusted") / "vocab.txt"
    path.write_text("\n".join([*SPECIAL, *PIECES, "SUBJ"]), encoding="utf-8")
    tokenizer = BertTokenizer(path, do_lower_case=request.param)
    tokenizer.add_tokens(["<x>", AddedToken("y", single_word=True)])
    # Special tokens without a sign around them: an entry of the vocabulary, and one that is not.
    tokenizer.add_special_tokens(
        {"additional_special_tokens": ["SUBJ", "<s>", AddedToken("ab", rstrip=True)]}
    )
    return tokenizer


def special_ids(tokenizer) -> set[int]:
    return set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}


@pytest.mark.parametrize(
    "text", ["[CLS]", "a [SEP] b", "x[MASK]", "SUBJ", "a SUBJ", "ab", "<s>", "<x>[PAD]"]
)
def test_by_default_special_tokens_in_a_text_are_special(tokenizer, text):
    assert special_ids(tokenizer) & set(tokenizer.encode(text, add_special_tokens=False))


@pytest.mark.parametrize(
    "text", ["[CLS]", "a [SEP] b", "x[MASK]", "SUBJ", "a SUBJ", "ab", "<s>", "<x>[PAD]"]
)
def test_as_plain_text_they_are_not(tokenizer, text):
    ids = tokenizer.encode(text, add_special_tokens=False, disallowed_special=())
    assert ids
    assert not special_ids(tokenizer) & set(ids)
    assert tokenizer([text], add_special_tokens=False, disallowed_special=()).input_ids == [ids]
    assert tokenizer.tokenize(text, disallowed_special=()) == tokenizer.convert_ids_to_tokens(ids)


@pytest.mark.parametrize("text", ["[CLS]", "a [SEP] b", "x[MASK]", "SUBJ", "ab", "<s>"])
def test_refused_they_are_errors(tokenizer, text):
    with pytest.raises(SpecialTokenError, match="the text holds the special token"):
        tokenizer.encode(text, disallowed_special="all")
    with pytest.raises(ValueError, match="disallowed_special=\\(\\)"):
        tokenizer(text, allowed_special=set())


def test_the_error_says_which_and_where(tokenizer):
    with pytest.raises(
        SpecialTokenError,
        match=r"the special token '\[SEP\]' at 2; pass allowed_special={'\[SEP\]'}",
    ):
        tokenizer.encode("a [SEP]", disallowed_special="all")


def test_some_may_be_allowed(tokenizer):
    assert tokenizer.tokenize("a [SEP]", allowed_special={"[SEP]"}) == ["a", "[SEP]"]
    with pytest.raises(SpecialTokenError, match=r"'\[CLS\]' at 6"):
        tokenizer.tokenize("[SEP] [CLS]", allowed_special={"[SEP]"})
    plain = tokenizer.tokenize("[SEP] [CLS]", allowed_special={"[SEP]"}, disallowed_special=())
    assert plain[0] == "[SEP]"
    assert "[CLS]" not in plain
    assert tokenizer.tokenize("[SEP] [CLS]", allowed_special="all") == ["[SEP]", "[CLS]"]
    with pytest.raises(SpecialTokenError, match="'<s>'"):
        tokenizer.tokenize("[CLS]<s>", disallowed_special={"<s>"})


def test_tokens_that_are_added_and_not_special_stay_as_they_are(tokenizer):
    assert tokenizer.tokenize("<x> y", disallowed_special=()) == ["<x>", "y"]
    assert tokenizer.tokenize("<x> y", disallowed_special="all") == ["<x>", "y"]


def test_a_text_without_special_tokens_is_encoded_as_ever(tokenizer):
    assert tokenizer.encode("a <x> b", disallowed_special="all") == tokenizer.encode("a <x> b")
    assert tokenizer.encode("nothing here", disallowed_special="all") == tokenizer.encode(
        "nothing here"
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"allowed_special": {"<nothing>"}},
            SpecialTokenError,
            "names '<nothing>', which is no special token",
        ),
        ({"allowed_special": {"<x>"}}, SpecialTokenError, "names '<x>'"),
        ({"allowed_special": "[CLS]"}, InputTypeError, "'all' or a collection"),
        ({"disallowed_special": 5}, InputTypeError, "not 5"),
    ],
)
def test_options_that_cannot_be(tokenizer, options, error, message):
    with pytest.raises(error, match=message):
        tokenizer.encode("a", **options)


def test_spans(tokenizer):
    encoding = tokenizer.encode_spans(
        ["a [SEP]", Untrusted("[SEP] SUBJ"), "[MASK]"], add_special_tokens=False
    )
    tokens = tokenizer.convert_ids_to_tokens(encoding.input_ids)
    assert tokens[:2] == ["a", "[SEP]"]
    assert tokens[-1] == "[MASK]"
    assert not {"[SEP]", "SUBJ"} & set(tokens[2:-1])
    pair = tokenizer.encode_spans(["a"], [Untrusted("[CLS]")], padding="max_length", max_length=12)
    assert len(pair.input_ids) == 12
    assert pair.input_ids.count(tokenizer.cls_token_id) == 1
    assert set(pair.token_type_ids) == {0, 1}
    with pytest.raises(InputTypeError, match="span 1 is int 5"):
        tokenizer.encode_spans(["a", 5])


def test_an_untrusted_text_is_no_str(tokenizer):
    assert not isinstance(Untrusted("a"), str)
    with pytest.raises(ValueError, match="Untrusted"):
        tokenizer(Untrusted("[SEP]"))


forgeries = st.lists(
    st.sampled_from(
        [
            *SPECIAL,
            "SUBJ",
            "<s>",
            "ab",
            "[CL\x00S]",
            "[cls]",
            "[",
            "CLS",
            "]",
            " ",
            "a",
            "b",
            "<x>",
            "y",
            "\n",
        ]
    ),
    max_size=10,
).map("".join)


@given(forgeries, st.booleans())
def test_no_text_forges_a_special_token(tokenizer, text, split):
    ids = tokenizer.encode(
        text, add_special_tokens=False, disallowed_special=(), split_special_tokens=split
    )
    assert not special_ids(tokenizer) & set(ids)
    spans = tokenizer.encode_spans([Untrusted(text)], add_special_tokens=False).input_ids
    assert spans == ids


@given(forgeries)
def test_what_is_not_refused_holds_no_special_token(tokenizer, text):
    try:
        ids = tokenizer.encode(text, add_special_tokens=False, disallowed_special="all")
    except SpecialTokenError:
        return
    assert not special_ids(tokenizer) & set(ids)
    assert ids == tokenizer.encode(text, add_special_tokens=False)
