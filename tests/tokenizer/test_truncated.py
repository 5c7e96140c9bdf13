"""What truncation cuts: `BatchEncoding.truncated` and `on_truncation`, which transformers does not
have.
"""

from __future__ import annotations

import logging
import pickle

import pytest

from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    CharSpan,
    InputError,
    NotSupportedError,
    OptionError,
    Truncated,
)

LETTERS = "a b c d e f g h i j k l".split()
TEXT = " ".join(LETTERS)


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def tokenizer(request, vocab_file):
    return request.param(vocab_file(*LETTERS, "##b"))


def tokens(encoding, row=0):
    return " ".join(encoding.tokens(row)).replace("[CLS]", "(").replace("[SEP]", ")")


# ---- truncated -----------------------------------------------------------------------------------


def spans(encoding):
    return {
        cut.item: [list(map(tuple, spans)) for spans in cut.spans] for cut in encoding.truncated()
    }


def test_a_result_tells_what_was_cut(tokenizer):
    encoding = tokenizer([TEXT, "a b", "ab  abb "], truncation=True, max_length=4)
    assert encoding.truncated() == [
        Truncated(0, ([CharSpan(4, 23)],), tokens=14, removed=10),
        Truncated(2, ([CharSpan(4, 7)],), tokens=7, removed=3),
    ]
    assert str(encoding.truncated()[1]) == "3 of the 7 tokens of item 2 ([4:7])"
    tokenizer.truncation_side = "left"
    assert spans(tokenizer(TEXT, truncation=True, max_length=4)) == {0: [[(0, 19)]]}
    assert encoding.truncated()[0].spans[0] == [(4, 23)]  # a result is of the state it was made in


@pytest.mark.parametrize(
    "options", [{}, {"truncation": True}, {"max_length": 14, "truncation": True}]
)
def test_where_nothing_was_cut_there_is_nothing_to_tell(tokenizer, options):
    assert tokenizer(TEXT, **options).truncated() == []


def test_pairs_and_words(tokenizer):
    assert spans(tokenizer(TEXT, "a b", truncation="only_first", max_length=7)) == {
        0: [[(4, 23)], []]
    }
    assert spans(tokenizer([("a", TEXT)], truncation="only_second", max_length=6)) == {
        0: [[], [(4, 23)]]
    }
    words = tokenizer(["a", "abb", "c"], is_split_into_words=True, truncation=True, max_length=4)
    assert spans(words) == {0: [[(1, 3)]]}  # the second word has lost tokens, the third is gone


def test_overflow_is_told_too(tokenizer):
    options = {"truncation": True, "max_length": 6, "stride": 1, "return_overflowing_tokens": True}
    assert spans(tokenizer([TEXT, "a"], **options)) == {0: [[(8, 23)]]}


def test_what_has_no_text_cannot_tell(tokenizer):
    with pytest.raises(InputError, match="not made from texts"):
        tokenizer.prepare_for_model([5, 6, 7], truncation=True, max_length=3).truncated()
    with pytest.raises(InputError, match="or was pickled"):
        pickle.loads(pickle.dumps(tokenizer(TEXT, truncation=True, max_length=3))).truncated()


# ---- on_truncation -------------------------------------------------------------------------------


@pytest.fixture
def told(tokenizer):
    """What a function is told of a call's truncation."""

    def tell(*texts, **options):
        found = []
        encoding = tokenizer(*texts, on_truncation=found.append, **options)
        assert str(encoding) == str(tokenizer(*texts, **options))
        assert found == encoding.truncated()
        return [cut.item for cut in found]

    return tell


def test_a_function_is_told_of_each_item(told):
    assert told([TEXT, "a", TEXT], truncation=True, max_length=4) == [0, 2]
    assert told([TEXT, "a", TEXT]) == []
    assert told(
        [TEXT], ["a"], max_length=9, truncation=True, padding="max_length", return_tensors="np"
    ) == [0]


def test_it_warns_once_for_a_call_and_each_time(tokenizer, caplog):
    with caplog.at_level(logging.WARNING, "trietok"):
        for _ in range(2):
            tokenizer([TEXT, "a", TEXT], truncation=True, max_length=4, on_truncation="warn")
        tokenizer(["a"], truncation=True, max_length=4, on_truncation="warn")
    said = "truncation has cut 10 of the 14 tokens of item 0 ([4:23]), and tokens of 1 more"
    assert caplog.messages == [said, said]


@pytest.mark.parametrize("method", ["__call__", "encode", "encode_plus", "batch_encode_plus"])
def test_it_is_an_error(tokenizer, method):
    encode = getattr(tokenizer, method)
    text = [TEXT] if method.startswith("batch") else TEXT
    with pytest.raises(
        InputError, match=r"would cut 10 of the 14 tokens of item 0 \(\[4:23\]\); raise max_length"
    ):
        encode(text, truncation=True, max_length=4, on_truncation="error")
    assert encode(text, truncation=True, max_length=14, on_truncation="error")
    assert encode(text, truncation=True, max_length=4, on_truncation=None)


def test_methods_of_ones_own_take_it_too(vocab_file):
    class Mine(BertTokenizer):
        def build_inputs_with_special_tokens(self, token_ids_0, token_ids_1=None):
            return [2, *token_ids_0]

        def encode_plus(self, text, text_pair=None, **options):
            return super().encode_plus(text, text_pair, **options)

    found = []
    Mine(vocab_file(*LETTERS))(TEXT, truncation=True, max_length=4, on_truncation=found.append)
    assert [cut.spans for cut in found] == [([(6, 23)],)]


def test_values_that_cannot_be(tokenizer):
    with pytest.raises(
        InputError, match="on_truncation is 'warn', 'error' or a function, not 'raise'"
    ):
        tokenizer("a", on_truncation="raise")
    with pytest.raises(OptionError, match="did you mean 'on_truncation'"):
        tokenizer("a", on_truncating="error")
    slow = BertTokenizer.from_pretrained("trietok-en")
    with pytest.raises(NotSupportedError, match="tokens and ids are of no text"):
        slow.encode([5, 6, 7], truncation=True, max_length=3, on_truncation="error")


# ---- what cannot be cut --------------------------------------------------------------------------

UNCUT = [(("a b", TEXT), "only_first"), ((TEXT, "a"), "only_second"), ((TEXT,), "only_second")]


@pytest.mark.parametrize(("texts", "strategy"), UNCUT)
@pytest.mark.parametrize(
    "options", [{}, {"return_offsets_mapping": True}, {"return_tensors": "np"}]
)
def test_what_stays_too_long_is_an_error(tokenizer, texts, strategy, options):
    with pytest.raises(InputError) as caught:
        tokenizer(*texts, truncation=strategy, max_length=6, on_truncation="error", **options)
    if not tokenizer.is_fast:  # whose calls log it and go on, where they are not asked
        assert "truncation cannot cut all: item 0 stays 1" in str(caught.value)
    batch = [("a", TEXT), texts if len(texts) == 2 else (TEXT, "a")]
    with pytest.raises(InputError):
        tokenizer(batch, truncation=strategy, max_length=5, on_truncation="error")


def test_ids_are_of_no_text(tokenizer):
    with pytest.raises(NotSupportedError, match="tokens and ids are of no text"):
        tokenizer.prepare_for_model([5, 6, 7], truncation=True, max_length=3, on_truncation="error")
