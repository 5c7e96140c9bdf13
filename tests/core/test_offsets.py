"""Where tokens came from: offsets, and what a `BatchEncoding` can be asked, in both profiles."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    CharSpan,
    InputError,
    NotSupportedError,
    PositionError,
    TokenSpan,
)

TOKENS = ["un", "##aff", "##able", "a", "e", "##e", "i", "hello", "world", "!", "世"]


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def tokenizer(request, vocab_file):
    return request.param(vocab_file(*TOKENS))


@pytest.fixture
def slow(vocab_file):
    return BertTokenizer(vocab_file(*TOKENS))


def spans(tokenizer, text, **options):
    return tokenizer(
        text, return_offsets_mapping=True, add_special_tokens=False, **options
    ).offset_mapping


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Hello  world!", [(0, 5), (7, 12), (12, 13)]),
        ("unaffable", [(0, 2), (2, 5), (5, 9)]),
        ("ünáffable", [(0, 2), (2, 5), (5, 9)]),
        ("\u200ba\u200b e", [(1, 2), (4, 5)]),
        ("İ", [(0, 1)]),
        ("zzz a", [(0, 3), (4, 5)]),
        ("世世", [(0, 1), (1, 2)]),
        ("a\x0be\ta", [(0, 1), (2, 3), (4, 5)]),
        ("", []),
        ("  ", []),
    ],
)
def test_both_profiles(tokenizer, text, want):
    assert spans(tokenizer, text) == want
    assert spans(tokenizer, [text, text]) == [want, want]
    for (start, end), token in zip(want, tokenizer.tokenize(text), strict=True):
        assert token == "[UNK]" or tokenizer.tokenize(text[start:end])


def test_composed_characters_differ(vocab_file):
    file = vocab_file(*TOKENS)
    assert spans(BertTokenizer(file), "e\u0301 a") == [(0, 2), (3, 4)]
    assert spans(BertTokenizerFast(file), "e\u0301 a") == [(0, 1), (3, 4)]


def test_eaten_whitespace_differs(vocab_file):
    for kind, want in (
        (BertTokenizer, [(0, 1), (3, 6), (7, 8)]),
        (BertTokenizerFast, [(0, 1), (1, 7), (7, 8)]),
    ):
        tokenizer = kind(vocab_file(*TOKENS))
        tokenizer.add_tokens([AddedToken("<m>", lstrip=True, rstrip=True)])
        assert spans(tokenizer, "a  <m> e") == want


def test_special_tokens_padding_and_pairs(tokenizer):
    encoding = tokenizer(
        "hello a", "e", padding="max_length", max_length=8, return_offsets_mapping=True
    )
    assert encoding.offset_mapping == [
        (0, 0),
        (0, 5),
        (6, 7),
        (0, 0),
        (0, 1),
        (0, 0),
        (0, 0),
        (0, 0),
    ]
    assert encoding.sequence_ids() == [None, 0, 0, None, 1, None, None, None]
    tokenizer.padding_side = "left"
    encoding = tokenizer(["a", "a e"], padding=True, return_offsets_mapping=True)
    assert encoding.offset_mapping[0] == [(0, 0), (0, 0), (0, 1), (0, 0)]
    assert encoding.token_to_chars(0, 2) == CharSpan(0, 1)


@pytest.mark.parametrize(
    ("side", "want"), [("right", [(0, 1), (2, 3)]), ("left", [(6, 7), (8, 9)])]
)
def test_truncation(tokenizer, side, want):
    tokenizer.truncation_side = side
    options = {"truncation": True, "max_length": 4, "return_offsets_mapping": True}
    encoding = tokenizer("a e a a e", **options)
    assert encoding.offset_mapping[1:-1] == want
    assert tokenizer.encode_plus("a e a a e", **options).offset_mapping == encoding.offset_mapping
    assert [encoding.token_to_chars(i) for i in (1, 2)] == want
    pair = tokenizer(
        "a e a", "e a", truncation="only_first", max_length=6, return_offsets_mapping=True
    )
    assert pair.offset_mapping[-3:-1] == [(0, 1), (2, 3)]


def test_words(tokenizer):
    encoding = tokenizer(
        ["hello", "unaffable a"], is_split_into_words=True, return_offsets_mapping=True
    )
    assert encoding.offset_mapping[1:-1] == [(0, 5), (0, 2), (2, 5), (5, 9), (10, 11)]
    assert encoding.word_ids() == [None, 0, 1, 1, 1, 1, None]
    assert encoding.word_to_tokens(1) == TokenSpan(2, 6)


def test_tensors(tokenizer):
    for batch in (["a", "a e"], "a e"):
        offsets = tokenizer(batch, padding=True, return_tensors="np", return_offsets_mapping=True)[
            "offset_mapping"
        ]
        assert isinstance(offsets, np.ndarray)
        assert offsets.shape == (len(batch) if isinstance(batch, list) else 1, 4, 2)
    pair = tokenizer("a", "e", return_tensors="np", return_offsets_mapping=True)["offset_mapping"]
    assert pair.shape == (1, 5, 2)


def test_questions(tokenizer):
    encoding = tokenizer("a unaffable", "hello")
    assert encoding.tokens() == ["[CLS]", "a", "un", "##aff", "##able", "[SEP]", "hello", "[SEP]"]
    assert encoding.word_ids() == [None, 0, 1, 1, 1, None, 0, None]
    assert encoding.words() == encoding.word_ids()
    assert encoding.token_to_sequence(6) == 1
    assert encoding.token_to_word(3) == 1
    assert encoding.token_to_chars(3) == CharSpan(4, 7)
    assert encoding.token_to_chars(0) is None
    assert encoding.char_to_token(4) == 3
    assert encoding.char_to_token(1) is None
    assert encoding.char_to_token(0, sequence_index=1) == 6
    assert encoding.char_to_word(5) == 1
    assert encoding.word_to_chars(1) == CharSpan(2, 11)
    assert encoding.word_to_tokens(1) == TokenSpan(2, 5)
    assert encoding.word_to_tokens(7) is None
    assert encoding.word_to_chars(7) is None


def test_questions_to_a_batch(tokenizer):
    batch = tokenizer(["a", "hello e"])
    assert batch.tokens(1) == ["[CLS]", "hello", "e", "[SEP]"]
    assert batch.token_to_chars(1, 2) == CharSpan(6, 7)
    assert batch.char_to_token(1, 6) == 2
    assert batch.char_to_word(1, 6) == 1
    assert batch.word_to_chars(1, 1) == CharSpan(6, 7)
    assert batch.word_to_tokens(1, 0) == TokenSpan(1, 2)
    assert batch.token_to_word(1, 1) == 0
    assert batch.token_to_sequence(1, 1) == 0


def test_only_the_fast_class_shows_encodings(tokenizer):
    encoding = tokenizer("a e")
    assert encoding.is_fast == tokenizer.is_fast
    if tokenizer.is_fast:
        assert encoding.n_sequences == 1
        assert tokenizer("a", "e").n_sequences == 2
        assert encoding[0].tokens == encoding.encodings[0].tokens == encoding.tokens()
    else:
        assert encoding.encodings is None
        with pytest.raises(KeyError):
            encoding[0]


def test_a_result_is_of_the_state_it_was_made_in(tokenizer):
    for encoding in (tokenizer("a hello"), tokenizer(["a hello"]), tokenizer("a hello", "e")):
        before = tokenizer.convert_ids_to_tokens(np.ravel(encoding.input_ids).tolist())
        tokenizer.add_tokens(["ello"])
        assert encoding.tokens() == before
        tokenizer.remove_tokens(["ello"])


def test_ids_that_were_masked_meanwhile(tokenizer):
    encoding = tokenizer(["a hello"])
    encoding["input_ids"][0][1] = 4
    assert encoding.tokens()[1] == "a"


def test_copies_keep_the_details_of_the_fast_class(tokenizer):
    encoding = tokenizer("a hello", "e")
    for other in (pickle.loads(pickle.dumps(encoding)), copy.deepcopy(encoding)):
        assert other == encoding
        if tokenizer.is_fast:
            assert other.tokens() == encoding.tokens()


def test_what_has_no_text_has_no_offsets(slow):
    encoding = slow.encode_plus(["a", "e"])
    with pytest.raises(InputError):
        encoding.tokens()
    with pytest.raises(NotSupportedError):
        slow.encode_plus(["a", "e"], return_offsets_mapping=True)


def test_stages_of_ones_own(vocab_file):
    class Mine(BertTokenizer):
        def _tokenize(self, text, **kwargs):
            return list(text.replace(" ", ""))

    mine = Mine(vocab_file(*TOKENS))
    assert mine.encode("ae", add_special_tokens=False) == [8, 9]
    with pytest.raises(NotSupportedError):
        mine("aea e", return_offsets_mapping=True)


def test_special_tokens_as_text(tokenizer):
    text = "a [CLS] e[SEP]"
    encoding = tokenizer(text, return_offsets_mapping=True, split_special_tokens=True)
    pieces = [text[start:end] for start, end in encoding.offset_mapping[1:-1]]
    want = ["a", "[", "CLS", "]", "e", "[", "SEP", "]"]
    if not tokenizer.is_fast:
        want[1:4] = ["[CLS]"]  # by itself it is a word that is kept whole, as in transformers
    assert pieces == want


@pytest.mark.parametrize(
    "ask",
    "char_to_token char_to_word token_to_chars token_to_word token_to_sequence word_to_tokens"
    " word_to_chars".split(),
)
def test_characters_tokens_and_words_count_from_0(tokenizer, ask):
    encoding = tokenizer(["a", "hello e"])
    for arguments in ((-1,), (1, -1)):
        with pytest.raises(PositionError) as caught:
            getattr(encoding, ask)(*arguments)
        assert isinstance(caught.value, (InputError, OverflowError))
    # the rows of a batch count from the end too
    assert getattr(encoding, ask)(-1, 0) == getattr(encoding, ask)(1, 0)
