"""A user's mistake is an error of trietok's own that says what is wrong and where, with the slow and
the fast tokenizer; and it changes nothing.
"""

from __future__ import annotations

import functools
import os

import numpy as np
import pytest

import trietok
from tests.conftest import needs, using_kernel
from tests.kernel import installed_kernel
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    InputError,
    InputTypeError,
    NotSupportedError,
    OptionError,
    PositionError,
    SpecialTokenError,
    TokenIdError,
    UnknownTokenError,
    VocabularyError,
)

NAMES = {"trietok": trietok, "np": np, "__file__": __file__}


@functools.cache
def shared(kind):
    """The slow class in plain Python, the fast one with the kernel; and the fingerprint."""
    is_compiled = kind is BertTokenizerFast and installed_kernel.is_there()
    with using_kernel("compiled" if is_compiled else "plain"):
        tokenizer = kind.from_pretrained("trietok-en")
        tokenizer("a b")
    for options in ({"max_length": 9, "padding": True}, {"max_length": 3}, {"padding": False}):
        tokenizer("a b", truncation=True, **options)  # what equals valid options is refused too
        tokenizer.encode("a b", truncation=True, **options)
    return tokenizer, tokenizer.fingerprint()


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast])
def refused(request, tmp_path):
    """A function that runs code with a mistake and returns the error: in the code `t` is a tokenizer,
    `K` its class and `empty` a directory without files.
    """

    def run(code, kind, words):
        tokenizer, before = shared(request.param)
        names = {**NAMES, "t": tokenizer, "K": request.param, "empty": str(tmp_path)}
        with pytest.raises(kind) as caught:
            eval(code, names)
        assert words in str(caught.value)
        if tokenizer.fingerprint() != before:
            shared.cache_clear()
            raise AssertionError("the tokenizer is another one now")
        assert os.listdir(tmp_path) == []
        return caught.value

    return run


def mistakes(table):
    """Run the test for each line: code, and after `#` words of the message."""
    lines = [line.partition("  # ") for line in table.strip().splitlines()]
    return pytest.mark.parametrize(("code", "words"), [(code, words) for code, _, words in lines])


@mistakes("""
t("a", trunction=True)  # 'trunction'; did you mean 'truncation'?
t(["a"], trunction=True)  # 'trunction'; did you mean 'truncation'?
t("a", colour=True)  # 'colour'; leave it out
t.encode("a", max_lenght=4)  # 'max_lenght'; did you mean 'max_length'?
t.tokenize("a", max_lenght=4)  # 'max_lenght'
t.explain("a", max_lenght=3)  # 'max_lenght'; did you mean 'max_length'?
t.decode([1], skip_special=True)  # 'skip_special'; did you mean 'skip_special_tokens'?
t.count("a", split_special_token=True)  # did you mean 'split_special_tokens'?
t.encode_flat(["a"], padding=True)  # 'padding'
t.add_tokens(["x"], lstrip=True)  # give it to each token: AddedToken('...', lstrip=...)
""")
def test_unknown_keywords_are_refused(refused, code, words):
    assert f"{refused(code, OptionError, words).name}=" in code


@pytest.mark.parametrize(
    "method", ["t", "t.encode", "t.encode_plus", "t.batch_encode_plus", "words"]
)
@pytest.mark.parametrize(
    ("dropped", "instead"),
    [
        ("pad_to_max_length", "padding='max_length'"),
        ("truncation_strategy", "truncation=..."),
        ("is_pretokenized", "is_split_into_words=..."),
        ("return_lengths", "return_length=..."),
    ],
)
def test_a_dropped_keyword_says_what_replaced_it(refused, method, dropped, instead):
    text = "['a b', 'c']" if "batch" in method else "'a b'"
    method, text = ("t.prepare_for_model", "[5]") if method == "words" else (method, text)
    error = refused(f"{method}({text}, {dropped}=True)", OptionError, f"write {instead} instead")
    assert error.name == dropped


@mistakes("""
t("a", padding="longes")  # ['longest', 'max_length', 'do_not_pad']
t("a", padding=1)  # 1 is not a valid PaddingStrategy
t("a", padding=0)  # 0 is not a valid PaddingStrategy
t("a", padding=[])  # [] is not a valid PaddingStrategy
t.encode("a", padding="x")  # 'x' is not a valid PaddingStrategy
t.encode("a", padding=0)  # 0 is not a valid PaddingStrategy
t.pad([{"input_ids": [1]}], padding="x")  # 'x' is not a valid PaddingStrategy
t("a", truncation="yes")  # ['only_first', 'only_second', 'longest_first', 'do_not_truncate']
t.encode("a b", truncation=1, max_length=3)  # 1 is not a valid TruncationStrategy
t("a", max_length=-1)  # max_length is -1
t("a", max_length="4")  # max_length is '4'
t.encode("a b", truncation=True, max_length=3.0)  # max_length is 3.0
t("a", max_length=np.float64(4))  # max_length is np.float64(4.0)
t("the people", max_length=1, truncation=True)  # the special tokens alone are 2
t("a", "b", max_length=2, truncation=True)  # the special tokens alone are 3
t("a b", max_length=3, truncation=True, stride=-1)  # stride is -1
t("a", pad_to_multiple_of=0)  # pad_to_multiple_of is 0
t("a", pad_to_multiple_of=8.0)  # pad_to_multiple_of is 8.0
t.pad({"input_ids": [1]}, pad_to_multiple_of="2")  # pad_to_multiple_of is '2'
t.prepare_for_model([1], pad_to_multiple_of="2")  # pad_to_multiple_of is '2'
t("a b", padding=True, truncation=True, max_length=9, pad_to_multiple_of=8)  # no multiple of
t(["a", "a b"], padding=True, padding_side="lft")  # padding_side is 'left' or 'right', not 'lft'
t("a", padding="max_length", max_length=9, padding_side="top")  # not 'top'
t("a", return_tensors="tf")  # select one of ['np', 'pt']
t.pad({"input_ids": [[1]]}, return_tensors="tf")  # select one of ['np', 'pt']
t(["a", "a b"], return_tensors="np").convert_to_tensors("tf")  # select one of ['np', 'pt']
t.chunks("a dog", 2)  # max_tokens is 2; it is a whole number above the 2 special tokens
t.chunks("a dog", 0, add_special_tokens=False)  # max_tokens is 0
t.chunks("a dog", "8")  # max_tokens is '8'
t.chunks("a dog", 8, overlap=6)  # overlap is 6; it is a whole number from 0, below the 6 that fit
t.chunks("a dog", 8, overlap=-1)  # overlap is -1
t.chunks("a dog", 8, at="words")  # not 'words'
setattr(t, "cache_limit", -1)  # not -1
K.from_pretrained("trietok-en", padding_side="x")  # not 'x'
K.from_pretrained("trietok-en", chat_template={"a": 1})  # not {'a': 1}
trietok.AutoTokenizer.register("mine")  # a fast_tokenizer_class or both
trietok.AutoTokenizer.register(3, K)  # not 3
trietok.AutoTokenizer.register("bert", K)  # pass exist_ok=True
""")
def test_impossible_options_are_refused_even_without_an_effect(refused, code, words):
    refused(code, InputError, words)


@mistakes("""
t(123)  # text is int 123
t(None)  # text is None; give a str or a list of str
t(b"a")  # text is bytes b'a'; pass a str
t({"a": 1})  # text is dict {'a': 1}
t("a", b"b")  # text_pair is bytes b'b'
t.tokenize(b"a")  # bytes
t.count(None)  # text is NoneType None
t.encode(1)  # the text is int 1
t.encode_plus(None)  # the text is NoneType None
t.encode(["a", 1])  # int 1
t.encode([1, "x"])  # the text
t([1, 2])  # text is list [1, 2]
t(np.array([1, 2]))  # text is list [1, 2]
t([])  # the batch is empty
t([], return_tensors="np")  # the batch is empty
t(np.array([]))  # the batch is empty
t.encode_flat([])  # the batch is empty
t([None])  # text[0] is None; exclude it, or pass "" in its place
t(["a"], [None])  # text_pair[0] is None; exclude it, or pass "" in its place
t(["a", None])  # item 1 of the batch is NoneType None
t(["a", float("nan")])  # item 1 of the batch is float nan
t(np.array(["a", None], dtype=object))  # item 1 of the batch is NoneType None
t.batch_encode_plus([5])  # item 0 of the batch is int 5
t([["a", 5]], is_split_into_words=True)  # item 0 of the batch: position 1 holds int 5 among
t([1, "a"], is_split_into_words=True)  # text is list [1, 'a']
t([[]])  # item 0 of the batch is a list of 0
t(["a", ["a", "b", "c"]], padding=True, return_tensors="np")  # item 1 of the batch
t([("a", "b"), ("a", "b", "c")])  # item 1 of the batch is a tuple of 3: a pair has two
t(["a", "b"], ["c"])  # text has 2 items and text_pair 1
t(["a", "b"], return_tensors="np").convert_to_tensors("x")  # 'x' is not a valid TensorType
""")
def test_what_is_no_text_is_refused_and_the_message_says_where(refused, code, words):
    refused(code, InputError, words)


@mistakes("""
t([("a", "b"), ("c", None)])  # item 1 of the batch is a pair whose second text is None
t(["a", "b"], ["c", None], padding=True)  # item 1 of the batch is a pair
t(np.array(["a", "b"], object), np.array(["c", None], object))  # item 1 of the batch is a pair
t([["a"], ["b"]], [["c"], None], is_split_into_words=True)  # item 1 of the batch is a pair
t.batch_encode_plus([("a", None)])  # item 0 of the batch is a pair
""")
def test_a_missing_second_text_is_an_error_that_says_where(refused, code, words):
    assert refused(code, InputTypeError, words).value[1] is None


@mistakes("""
t(["a"], "b")  # text_pair must be a list of the same length, not a str
t.batch_encode_plus(1.5)  # a batch is a list, not float 1.5
t.encode_flat("a text")  # texts is a str
t.chunks(["a"], 8)  # not list: ['a']
t.explain(["a"])  # explain takes one text
t.decode("a")  # not str 'a'
t.decode(None)  # not NoneType None
t.decode([[1]])  # not list [1]; decode a batch with batch_decode
t.decode([2.5])  # not float 2.5
t.decode({1: 2})  # not dict {1: 2}
t.convert_ids_to_tokens([6, "6"])  # not str '6'
t.convert_ids_to_tokens([6, 6 + 0j])  # not complex (6+0j)
t.convert_tokens_to_ids(5)  # not int 5
t.convert_tokens_to_ids(["a", 5])  # not int: 5
t.build_inputs_with_special_tokens(np.array([5, 6]))  # not ndarray array([5, 6])
t.build_inputs_with_special_tokens([5], {5: 6})  # not dict {5: 6}
t.prepare_for_model(np.array(["a", None], object))  # not ndarray
t.prepare_for_model([5], "ab", truncation=True, max_length=4)  # not str 'ab'
t.add_tokens([5])  # not int: 5
K(None)  # vocab_file
K.from_pretrained(5)  # not 5
K.from_pretrained("trietok-en", chat_template=3)  # not 3
trietok.AutoTokenizer.from_pretrained(None)  # not None
""")
def test_values_of_other_types_are_refused(refused, code, words):
    refused(code, InputTypeError, words)


@mistakes("""
t.pad([{"ids": [1]}])  # with input_ids; it was given ['ids']
t.pad({"input_ids": ["a"]})  # input_ids holds str 'a'
t.add_tokens([""])  # an added token's content is empty
t.add_wordpieces(["a b"])  # 'a b'
""")
def test_wrong_tokens_and_encodings_are_refused(refused, code, words):
    refused(code, InputError, words)


@mistakes("""
t.decode([5, -100])  # id -100 is outside the vocabulary, whose ids run from 0 to 7999
t.batch_decode([[10**9]])  # id 1000000000
t.convert_ids_to_tokens([6, 8000])  # id 8000
t.keep_only([10**9])  # id 1000000000
""")
def test_ids_outside_the_vocabulary_are_refused(refused, code, words):
    error = refused(code, TokenIdError, words)
    assert str(error.token_id) in code.replace("10**9", "1000000000")
    assert error.max_id == 7999


@mistakes("""
t.add_special_tokens({"no_token": "x"})  # no_token
t.add_special_tokens({"pad_token": None})  # pad_token
t.add_special_tokens({"bos_token": "<s>", "cls_token": 5})  # cls_token
t.add_special_tokens({"bos_token": "x", "additional_special_tokens": "x"})  # additional_special_tokens
setattr(t, "additional_special_tokens", "x")  # additional_special_tokens
setattr(t, "pad_token", 5)  # pad_token
K.from_pretrained("trietok-en", pad_token=5)  # pad_token
K.from_pretrained("trietok-en", additional_special_tokens="x")  # additional_special_tokens
t.remove_tokens(["[CLS]"])  # cls_token
""")
def test_a_special_token_that_cannot_be_names_its_role(refused, code, words):
    assert refused(code, SpecialTokenError, words).role == words


def test_changes_that_cannot_be_name_the_token(refused):
    assert refused("t.remove_tokens(['nope'])", UnknownTokenError, "'nope'").item == "nope"
    refused("t.assign_unused('the', 'x')", SpecialTokenError, "'the' is not an unused slot")
    error = refused("t.keep_only([1])", VocabularyError, "remove_tokens")
    assert (error.token, error.found_id) == ("[PAD]", 0)


@mistakes("""
t.save_pretrained(__file__)  # is a file
t.save_vocabulary(empty + "/no/such")  # cannot write
K.from_pretrained(empty + "/no/such")  # /no/such is neither a directory nor a file
K.from_pretrained(empty)  # is empty
K(empty + "/vocab.txt")  # is not there; from_pretrained takes a directory or a name
trietok.AutoTokenizer.from_pretrained(empty)  # is empty
trietok.AutoTokenizer.from_pretrained(empty + "/no such/")  # neither a directory nor a file
trietok.load_vocab(empty + "/vocab.txt")  # cannot read
""")
def test_files_that_are_missing_or_cannot_be_written_are_named(refused, code, words):
    error = refused(code, FileError, words)
    assert error.path in str(error) or error.path.endswith("vocab.txt")


@mistakes("""
t.apply_chat_template([])  # render the template with transformers or jinja2
t.save_chat_templates("x")  # save_pretrained writes them
t.push_to_hub("x")  # upload the directory with huggingface_hub
t.as_target_tokenizer  # text_target=...
t.prepare_seq2seq_batch  # text_target=...
t.prepare_for_model([1], return_offsets_mapping=True)  # return_offsets_mapping is not available
K.from_pretrained("trietok-en", encode=True)  # conflicts with the method encode
""")
def test_what_is_left_out_says_what_to_do(refused, code, words):
    error = refused(code, NotSupportedError, words)
    assert isinstance(error, AttributeError)
    assert isinstance(error, NotImplementedError)


@mistakes("""
t.pad_tokn  # has no attribute pad_tokn
t("a").inputs_ids  # its keys are ['input_ids', 'token_type_ids', 'attention_mask']
""")
def test_attributes_that_do_not_exist_are_attribute_errors(refused, code, words):
    refused(code, AttributeError, words)


@pytest.mark.parametrize("code", ["t('a', 'b').{}(-1)", "t(['a', 'hello e']).{}(1, -1)"])
@pytest.mark.parametrize(
    "question",
    "char_to_token char_to_word token_to_chars token_to_word token_to_sequence word_to_tokens"
    " word_to_chars".split(),
)
def test_negative_numbers_of_characters_tokens_and_words_are_refused(refused, code, question):
    error = refused(code.format(question), PositionError, "index is -1")
    assert isinstance(error, OverflowError)


SLOW = [
    ("t('a', add_special_tokens=False, return_token_type_ids=True)", InputError),
    ("t('a', 'b', truncation=True, max_length=4, return_overflowing_tokens=True)", InputError),
    ("t('a', return_overflowing_tokens=True)", InputTypeError),
    ("t.encode([])", InputError),
    ("t.encode_plus([5, 6], return_offsets_mapping=True)", NotSupportedError),
]
FAST = [
    ("t('a', 'b', is_split_into_words=True)", InputError),
    ("t('a b', is_split_into_words=True)", InputTypeError),
    ("t('a', 3)", InputError),
    ("t('a b c', truncation='only_second', max_length=3)", InputError),
    ("t('a b c', 'a b c', truncation='only_first', max_length=6)", InputError),
    ("t('a b c', truncation=True, max_length=4, stride=2)", InputError),  # Rust panics
    *[
        (f"t.{method}({no_pair})", InputTypeError)
        for method in ("encode", "encode_plus", "tokenize")
        for no_pair in (
            "('a',)",
            "['a', 'b', 'c']",
            "[]",
            "['a', None]",
            "['a', 5]",
            "[['a'], ['b']]",
        )
    ],
]


@pytest.mark.parametrize("refused", [BertTokenizer], indirect=True)
@pytest.mark.parametrize(("code", "error"), SLOW)
def test_calls_that_only_the_fast_class_makes_are_refused(refused, code, error):
    refused(code, error, "")


@pytest.mark.parametrize("refused", [BertTokenizerFast], indirect=True)
@pytest.mark.parametrize(("code", "error"), FAST)
def test_calls_that_only_the_slow_class_makes_are_refused(refused, code, error):
    refused(code, error, "")


def test_rows_of_several_lengths_are_no_tensor(refused):
    needs("torch")
    refused("t(['a', 'b c'], return_tensors='pt')", InputError, "padding=True")


def test_sides_that_are_neither_left_nor_right_are_refused_when_they_are_used(small, vocab_file):
    fast = BertTokenizerFast(vocab_file("a", "b"))
    fast.truncation_side = "up"
    for length in (3, 8):
        with pytest.raises(InputError):
            fast("a b", truncation=True, max_length=length)
    fast.truncation_side = "right"
    strategies = trietok.PaddingStrategy.MAX_LENGTH, trietok.TruncationStrategy.LONGEST_FIRST
    fast.set_truncation_and_padding(*strategies, 4, 1, None, "left")
    for mistake in (("longes", strategies[1], 4, 1, None, "left"), (*strategies, 4, 0, None, "up")):
        with pytest.raises(InputError):
            fast.set_truncation_and_padding(*mistake)


@pytest.mark.parametrize("role", ["cls_token", "sep_token"])
@pytest.mark.parametrize(
    "code",
    [
        "t('a')",
        "t('a', 'b')",
        "t(['a', 'b'], return_attention_mask=False)",
        "t('a', return_tensors='np')",
        "t.encode('a')",
        "t.count('a')",
        "t.prepare_for_model([5])",
    ],
)
def test_a_role_of_the_template_without_a_token_is_named(kernel, small, role, code):
    tokenizer = small("a", "b")
    setattr(tokenizer, role, None)
    with pytest.raises(SpecialTokenError) as caught:
        eval(code, {"t": tokenizer})
    assert caught.value.role == role
    assert tokenizer("a", add_special_tokens=False).input_ids == [5]
    setattr(tokenizer, role, "b")
    assert 6 in tokenizer("a").input_ids


def test_padding_needs_a_padding_token(kernel, small):
    tokenizer = small("a", pad_token=None)
    with pytest.raises(SpecialTokenError):
        tokenizer(["a"], padding=True)


def test_vocabularies_without_the_unknown_token_are_refused(tmp_path, vocab_file):
    with pytest.raises(VocabularyError) as caught:
        BertTokenizer(vocab_file("a", special=["[CLS]"]))
    assert caught.value.token == "[UNK]"
    tokenizer = BertTokenizer(vocab_file("a", "<unk>", special=[]), unk_token="<unk>")
    assert tokenizer.encode("b", add_special_tokens=False) == [1]
    with pytest.raises(VocabularyError):
        BertTokenizer(vocab_file(special=[]))


def test_misspelt_options_of_a_tokenizer_are_warned_of(small, caplog):
    small("a", do_lowercase=False, modelmaxlength=5, something_else=1)
    assert sorted(caplog.messages) == [
        "the keyword 'do_lowercase' changes nothing; did you mean 'do_lower_case'?",
        "the keyword 'modelmaxlength' changes nothing; did you mean 'model_max_length'?",
    ]
