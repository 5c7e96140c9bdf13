"""Offsets by worked examples, and what a `BatchEncoding` can be asked, with both classes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from trietok import (
    AddedToken,
    BatchEncoding,
    BertTokenizer,
    BertTokenizerFast,
    CharSpan,
    InputError,
    NotSupportedError,
    TokenSpan,
)

TOKENS = ["un", "##aff", "##able", "a", "e", "##e", "i", "hello", "world", "!", "世"]


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def tokenizer(request, kernel, vocab_file):
    return request.param(vocab_file(*TOKENS))


def spans(tokenizer, text, **options):
    options |= {"return_offsets_mapping": True, "add_special_tokens": False}
    return tokenizer(text, **options).offset_mapping


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("Hello  world!", [(0, 5), (7, 12), (12, 13)]),
        ("unaffable", [(0, 2), (2, 5), (5, 9)]),
        ("ünáffable", [(0, 2), (2, 5), (5, 9)]),
        ("\u200ba\u200b e", [(1, 2), (4, 5)]),  # nobody has the span of what is deleted
        ("İ", [(0, 1)]),
        ("zzz a", [(0, 3), (4, 5)]),  # an unknown word
        ("世世", [(0, 1), (1, 2)]),
        ("a\x0be\ta", [(0, 1), (2, 3), (4, 5)]),
        ("", []),
        ("  ", []),
    ],
)
def test_spans_of_both_classes_are_those_of_the_example(tokenizer, text, want):
    assert spans(tokenizer, text) == want
    assert spans(tokenizer, [text, text]) == [want, want]


def test_composed_characters_and_stripped_whitespace_have_other_spans_in_each_class(vocab_file):
    slow, fast = (kind(vocab_file(*TOKENS)) for kind in (BertTokenizer, BertTokenizerFast))
    assert spans(slow, "e\u0301 a") == [(0, 2), (3, 4)]
    assert spans(fast, "e\u0301 a") == [(0, 1), (3, 4)]
    for tokenizer in (slow, fast):
        tokenizer.add_tokens([AddedToken("<m>", lstrip=True, rstrip=True)])
    assert spans(slow, "a  <m> e") == [(0, 1), (3, 6), (7, 8)]
    assert spans(fast, "a  <m> e") == [(0, 1), (1, 7), (7, 8)]


@pytest.mark.parametrize("text", ["\u1112\u1161", "\u09c7\u09be"])
def test_what_is_composed_without_a_mark_has_one_span_though_it_is_taken_apart_again(
    kernel, vocab_file, text
):
    slow = BertTokenizer(vocab_file(text[0], f"##{text[1]}"))
    assert spans(slow, text) == [(0, 2), (0, 2)]
    assert spans(slow, f"{text} [SEP] {text}") == [(0, 2), (0, 2), (3, 8), (9, 11), (9, 11)]


def test_special_tokens_and_padding_have_empty_spans(tokenizer):
    options = {"padding": "max_length", "max_length": 8, "return_offsets_mapping": True}
    encoding = tokenizer("hello a", "e", **options)
    none = (0, 0)
    assert encoding.offset_mapping == [none, (0, 5), (6, 7), none, (0, 1), none, none, none]
    assert encoding.sequence_ids() == [None, 0, 0, None, 1, None, None, None]
    tokenizer.padding_side = "left"
    batch = tokenizer(["a", "a e"], padding=True, return_offsets_mapping=True)
    assert batch.offset_mapping[0] == [none, none, (0, 1), none]
    assert batch.token_to_chars(0, 2) == CharSpan(0, 1)


@pytest.mark.parametrize(
    ("side", "want"), [("right", [(0, 1), (2, 3)]), ("left", [(6, 7), (8, 9)])]
)
def test_truncated_texts_keep_the_spans_of_the_tokens_that_stay(tokenizer, side, want):
    tokenizer.truncation_side = side
    options = {"truncation": "only_first", "return_offsets_mapping": True}
    encoding = tokenizer("a e a a e", max_length=4, **options)
    assert encoding.offset_mapping[1:-1] == want
    assert [encoding.token_to_chars(i) for i in (1, 2)] == want
    pair = tokenizer("a e a", "e a", max_length=6, **options)
    assert pair.offset_mapping[-3:-1] == [(0, 1), (2, 3)]


def test_spans_of_words_count_from_each_words_beginning(tokenizer):
    words = ["hello", "", "unaffable a"]
    encoding = tokenizer(words, ["e"], is_split_into_words=True, return_offsets_mapping=True)
    assert encoding.offset_mapping[1:-1] == [
        *((0, 5), (0, 2), (2, 5), (5, 9), (10, 11)),
        *((0, 0), (0, 1)),
    ]
    assert encoding.word_ids() == [None, 0, 2, 2, 2, 2, None, 0, None]
    assert encoding.word_to_tokens(2) == TokenSpan(2, 6)


def test_offsets_become_arrays(tokenizer):
    for batch, shape in ((["a", "a e"], (2, 4, 2)), ("a e", (1, 4, 2))):
        options = {"return_tensors": "np", "return_offsets_mapping": True}
        offsets = tokenizer(batch, padding=True, **options)["offset_mapping"]
        assert isinstance(offsets, np.ndarray)
        assert offsets.shape == shape
    ragged = tokenizer(["a", "a e"], **options)
    assert ragged["offset_mapping"][0].tolist() == [[0, 0], [0, 1], [0, 0]]
    assert ragged.tokens(1) == ["[CLS]", "a", "e", "[SEP]"]


def test_an_encoding_answers_for_characters_tokens_and_words(tokenizer):
    encoding = tokenizer("a unaffable", "hello")
    assert encoding.tokens() == ["[CLS]", "a", "un", "##aff", "##able", "[SEP]", "hello", "[SEP]"]
    assert encoding.words() == encoding.word_ids() == [None, 0, 1, 1, 1, None, 0, None]
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
    assert encoding.word_to_tokens(7) is encoding.word_to_chars(7) is None


def test_a_batch_answers_for_each_row(tokenizer):
    batch = tokenizer(["a", "hello e"])
    assert batch.tokens(1) == ["[CLS]", "hello", "e", "[SEP]"]
    for row in (1, -1):  # rows count from the end too
        assert batch.token_to_chars(row, 2) == CharSpan(6, 7)
        assert batch.char_to_token(row, 6) == 2
        assert batch.char_to_word(row, 6) == 1
        assert batch.word_to_chars(row, 1) == CharSpan(6, 7)
        assert batch.word_to_tokens(row, 0) == TokenSpan(1, 2)
        assert batch.token_to_word(row, 1) == 0
        assert batch.token_to_sequence(row, 1) == 0


def test_answers_are_of_the_texts_and_the_tokenizer_at_the_time_of_the_call(tokenizer):
    for encoding in (tokenizer("a hello"), tokenizer(["a hello"]), tokenizer("a hello", "e")):
        before = tokenizer.convert_ids_to_tokens(np.ravel(encoding.input_ids).tolist())
        tokenizer.add_tokens(["ello"])
        assert encoding.tokens() == before
        tokenizer.remove_tokens(["ello"])
    words = [["hello", "a"]]
    encoding = tokenizer(words, is_split_into_words=True)
    encoding["input_ids"][0][1] = 4  # as a collator masks it
    words[0][0] = "e"
    assert encoding.tokens(0) == ["[CLS]", "hello", "a", "[SEP]"]


def test_special_tokens_as_text_have_spans(tokenizer):
    text = "a [CLS] e[SEP]"
    encoding = tokenizer(text, return_offsets_mapping=True, split_special_tokens=True)
    pieces = [text[start:end] for start, end in encoding.offset_mapping[1:-1]]
    # By itself it is a word that the slow class keeps whole, as in transformers.
    cls = ["[", "CLS", "]"] if tokenizer.is_fast else ["[CLS]"]
    assert pieces == ["a", *cls, "e", "[", "SEP", "]"]


def test_only_the_fast_class_shows_encodings_and_copies_details(tokenizer):
    encoding = tokenizer("a e", "hello")
    assert encoding.is_fast == tokenizer.is_fast
    for other in (pickle.loads(pickle.dumps(encoding)), copy.deepcopy(encoding)):
        assert other == encoding
        if tokenizer.is_fast:
            assert other.tokens() == encoding.tokens()
    if tokenizer.is_fast:
        assert (encoding.n_sequences, tokenizer("a").n_sequences) == (2, 1)
        assert encoding[0].tokens == encoding.encodings[0].tokens == encoding.tokens()
    else:
        assert (encoding.encodings, encoding.n_sequences) == (None, None)
        with pytest.raises(KeyError):
            encoding[0]


def test_an_encoding_is_a_mapping_with_attributes(tokenizer):
    batch = tokenizer(["a", "e"])
    assert batch.input_ids is batch["input_ids"]
    if tokenizer.is_fast:
        assert batch[:1] == [batch.encodings[0]]
    else:
        assert batch[:1]["input_ids"] == [[2, 8, 3]]
    assert copy.copy(batch).input_ids == batch.input_ids
    with pytest.raises(AttributeError):
        batch.offsets  # noqa: B018
    assert BatchEncoding() == {}


@pytest.mark.parametrize("question", ["tokens", "word_ids", "sequence_ids", "words"])
def test_ids_without_a_text_have_no_tokens_and_no_offsets(small, question):
    without_text = small("a").encode_plus(["a", "e"])
    for encoding in (without_text, BatchEncoding(without_text.data)):
        with pytest.raises(InputError):
            getattr(encoding, question)()
        with pytest.raises(InputError):
            encoding.char_to_token(0)


def test_a_tokenize_of_ones_own_has_ids_and_no_offsets(vocab_file):
    class Mine(BertTokenizer):
        def _tokenize(self, text, **kwargs):
            return list(text.replace(" ", ""))

    mine = Mine(vocab_file(*TOKENS))
    assert mine.encode("ae", add_special_tokens=False) == [8, 9]
    with pytest.raises(NotSupportedError):
        mine("aea e", return_offsets_mapping=True)
