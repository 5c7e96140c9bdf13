"""`BertTokenizer`: the calls by small named cases. `tests/parity/` compares them with transformers
live.
"""

from __future__ import annotations

import copy
import logging
import pickle

import numpy
import pytest

from tests.conftest import needs
from trietok import (
    AddedToken,
    BatchEncoding,
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    InputError,
    InputTypeError,
    NotSupportedError,
    OptionError,
    SpecialTokenError,
    TokenIdError,
    VocabularyError,
)

PAD, UNK, CLS, SEP, MASK, A, B, C = range(8)


@pytest.fixture
def abc(small):
    return small("a", "b", "c")


# ---- one text, a pair, a batch -------------------------------------------------------------------


def test_one_text(abc):
    assert abc.encode("A b?") == [CLS, A, B, UNK, SEP]
    assert abc("a b") == {
        "input_ids": [CLS, A, B, SEP],
        "token_type_ids": [0] * 4,
        "attention_mask": [1] * 4,
    }


def test_a_pair(abc):
    assert abc("a b", "c").data == {
        "input_ids": [CLS, A, B, SEP, C, SEP],
        "token_type_ids": [0, 0, 0, 0, 1, 1],
        "attention_mask": [1] * 6,
    }


def test_a_batch_is_padded_to_its_longest(abc):
    batch = abc(["a", "a b c"], padding=True, return_special_tokens_mask=True)
    assert batch.input_ids == [[CLS, A, SEP, PAD, PAD], [CLS, A, B, C, SEP]]
    assert batch.attention_mask == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert batch.special_tokens_mask == [[1, 0, 1, 1, 1], [1, 0, 0, 0, 1]]


def test_words(abc):
    assert abc(["a", "b c"], is_split_into_words=True).input_ids == [CLS, A, B, C, SEP]
    assert abc([["a"], ["b", "c"]], is_split_into_words=True).input_ids == [
        [CLS, A, SEP],
        [CLS, B, C, SEP],
    ]


def test_tokens_and_ids_are_taken_as_they_are(abc):
    assert abc.encode(["a", "nothing"]) == [CLS, A, UNK, SEP]
    assert abc.encode([A, 99], add_special_tokens=False) == [A, 99]


def test_targets_become_labels(abc):
    assert abc("a", text_target="b")["labels"] == [CLS, B, SEP]
    assert abc(text_target="b").input_ids == [CLS, B, SEP]


def test_an_empty_text(abc):
    assert abc.tokenize("") == []
    assert abc.encode("") == [CLS, SEP]
    assert abc(["", "a"], padding=True, add_special_tokens=False).input_ids == [[PAD], [A]]


def test_lone_surrogates_are_deleted(abc):
    assert abc.encode("\ud800a\udfff") == [CLS, A, SEP]


# ---- padding, truncation, masks ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({"padding": "max_length", "max_length": 5}, [CLS, A, B, SEP, PAD]),
        ({"padding": "max_length", "max_length": 5, "padding_side": "left"}, [PAD, CLS, A, B, SEP]),
        ({"padding": True, "pad_to_multiple_of": 8}, [CLS, A, B, SEP] + [PAD] * 4),
        ({"padding": "max_length", "max_length": 2}, [CLS, A, B, SEP]),
        ({"truncation": True, "max_length": 3}, [CLS, A, SEP]),
        ({"max_length": 3}, [CLS, A, SEP]),
        ({"truncation": "only_first", "max_length": 3}, [CLS, A, SEP]),
        ({"add_special_tokens": False}, [A, B]),
    ],
)
def test_options(abc, options, ids):
    assert abc.encode("a b", **options) == ids


def test_truncation_of_a_pair(abc):
    def ids(**options):
        return abc.encode("a a a a", "b b", truncation=options.pop("truncation", True), **options)

    assert ids(max_length=7) == [CLS, A, A, SEP, B, B, SEP]
    assert ids(max_length=6) == [CLS, A, A, SEP, B, SEP]
    assert ids(max_length=7, truncation="only_first") == [CLS, A, A, SEP, B, B, SEP]
    assert ids(max_length=8, truncation="only_second") == [CLS, A, A, A, A, SEP, B, SEP]
    abc.truncation_side = "left"
    assert abc.encode("a b c", truncation=True, max_length=3) == [CLS, C, SEP]


def test_overflowing_tokens(abc):
    encoding = abc("a b c", truncation=True, max_length=4, stride=1, return_overflowing_tokens=True)
    assert encoding.input_ids == [CLS, A, B, SEP]
    assert (encoding.overflowing_tokens, encoding.num_truncated_tokens) == ([B, C], 1)


def test_the_models_own_length_is_used(small):
    tokenizer = small("a", model_max_length=4)
    assert len(tokenizer.encode("a a a a a", truncation=True)) == 4
    assert len(tokenizer.encode("a", padding="max_length")) == 4
    assert (tokenizer.max_len_single_sentence, tokenizer.max_len_sentences_pair) == (2, 1)


def test_a_text_longer_than_the_model_takes_is_warned_of_once(small, caplog):
    tokenizer = small("a", model_max_length=3)
    with caplog.at_level(logging.WARNING, "trietok"):
        tokenizer.encode("a a")
        tokenizer.encode("a a a")
    assert [record.getMessage() for record in caplog.records] == [
        "a text has 4 tokens, more than the 3 the model takes; pass truncation=True"
    ]


def test_lengths_and_inputs_chosen(abc):
    assert abc("a", return_length=True)["length"] == 3
    assert list(abc("a", return_token_type_ids=False, return_attention_mask=False)) == ["input_ids"]
    abc.model_input_names = ["input_ids"]
    assert list(abc("a")) == ["input_ids"]


def test_pad(abc):
    rows = [{"input_ids": [CLS, A, SEP], "labels": 1}, {"input_ids": [CLS, SEP], "labels": 0}]
    before = copy.deepcopy(rows)
    padded = abc.pad(rows, padding="max_length", max_length=4)
    assert padded.input_ids == [[CLS, A, SEP, PAD], [CLS, SEP, PAD, PAD]]
    assert padded.attention_mask == [[1, 1, 1, 0], [1, 1, 0, 0]]
    assert padded.labels == [1, 0]
    assert rows == before
    assert abc.pad({"input_ids": []}, return_attention_mask=True) == {
        "input_ids": [],
        "attention_mask": [],
    }


def test_masks_and_templates(abc):
    assert abc.get_special_tokens_mask([A], [B]) == [1, 0, 1, 0, 1]
    assert abc.get_special_tokens_mask([CLS, A, SEP], already_has_special_tokens=True) == [1, 0, 1]
    assert abc.num_special_tokens_to_add() == 2
    assert abc.num_special_tokens_to_add(pair=True) == 3
    assert abc.create_token_type_ids_from_sequences([A], [B, C]) == [0, 0, 0, 1, 1, 1]
    assert abc.build_inputs_with_special_tokens([A], [B]) == [CLS, A, SEP, B, SEP]
    assert abc.truncate_sequences([A, B, C], num_tokens_to_remove=2) == ([A], None, [B, C])
    assert abc.prepare_for_model([A], [B]).input_ids == [CLS, A, SEP, B, SEP]


# ---- tensors -------------------------------------------------------------------------------------


def test_numpy(abc):
    one = abc("a", return_tensors="np")
    assert one.input_ids.shape == (1, 3)
    assert one.input_ids.dtype == numpy.int64
    batch = abc(["a", "b c"], padding=True, return_tensors="np")
    assert batch.attention_mask.tolist() == [[1, 1, 1, 0], [1, 1, 1, 1]]
    assert isinstance(abc.pad(one).input_ids, numpy.ndarray)
    assert abc.batch_decode(batch.input_ids) == ["[CLS] a [SEP] [PAD]", "[CLS] b c [SEP]"]


def test_an_encoding_is_not_cast_to_a_dtype(abc, caplog):
    torch = needs("torch")
    batch = abc("a", return_tensors="pt")
    for other in (torch.float16, torch.tensor([1.0]), None):
        assert batch.to(other) is batch
        assert batch.input_ids.dtype == torch.int64
        assert f"to({other}) was ignored" in caplog.text
    caplog.clear()
    assert batch.to(torch.device("cpu"), non_blocking=True) is batch
    assert not caplog.text


def test_torch(abc):
    torch = needs("torch")
    batch = abc(["a", "b c"], padding=True, return_tensors="pt")
    assert batch.input_ids.dtype == torch.int64
    assert batch.input_ids.tolist() == [[CLS, A, SEP, PAD], [CLS, B, C, SEP]]
    assert batch.to("cpu") is batch
    assert abc.decode(batch.input_ids[0]) == "[CLS] a [SEP] [PAD]"
    assert isinstance(
        abc.pad([{"input_ids": row} for row in batch.input_ids]).attention_mask, torch.Tensor
    )
    with pytest.raises(InputError):
        abc(["a", "b c"], return_tensors="pt")


def test_an_unknown_kind_of_tensor(abc):
    with pytest.raises(InputError):
        abc("a", return_tensors="tf")


# ---- decoding ------------------------------------------------------------------------------------


def test_decode(small):
    tokenizer = small("he", "##llo", ",", "don", "'", "t", "s")
    ids = tokenizer.encode("Hello, he's don't")
    assert tokenizer.decode(ids) == "[CLS] hello, he's don't [SEP]"
    assert (
        tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        == "hello , he ' s don ' t"
    )
    assert tokenizer.decode(ids[1]) == "he"
    assert tokenizer.batch_decode([ids[1:3], ids[:1]]) == ["hello", "[CLS]"]
    tokenizer.add_tokens(["<x>"])
    assert (
        tokenizer.decode([tokenizer.max_id, ids[1]], spaces_between_special_tokens=False) == "<x>he"
    )


def test_ids_that_no_text_gives(small):
    tokenizer = small("a", "a")
    assert tokenizer.convert_ids_to_tokens([5, 6]) == ["[UNK]", "a"]  # the earlier of two lines
    for token_id in (-100, 7):
        with pytest.raises(TokenIdError) as caught:
            tokenizer.decode([5, token_id])
        assert (caught.value.token_id, caught.value.max_id) == (token_id, 6)
    for bad in (["a"], "12", [2.5], None, {1: 2}):
        with pytest.raises(InputTypeError):
            tokenizer.decode(bad)


# ---- roles ---------------------------------------------------------------------------------------


def test_roles_have_ids_and_setters(abc):
    assert (abc.cls_token, abc.cls_token_id, abc.bos_token, abc.bos_token_id) == (
        "[CLS]",
        CLS,
        None,
        None,
    )
    abc.bos_token = "a"
    assert abc.bos_token_id == A
    abc.eos_token_id = B
    assert abc.eos_token == "b"
    abc.additional_special_tokens = ["c"]
    assert abc.additional_special_tokens_ids == [C]
    assert abc.special_tokens_map["bos_token"] == "a"
    assert abc.all_special_tokens == ["a", "b", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]", "c"]
    abc.cls_token = "a"
    assert abc.encode("b") == [A, B, SEP]
    with pytest.raises(SpecialTokenError):
        abc.pad_token = 5


def test_roles_of_the_users_own(small):
    tokenizer = small("a", extra_special_tokens={"image_token": "<image>"})
    assert tokenizer.image_token == "<image>"
    assert tokenizer.image_token_id == tokenizer.max_id
    assert "<image>" in tokenizer.all_special_tokens
    listed = small("a", extra_special_tokens=["<x>"])
    assert listed.additional_special_tokens == ["<x>"]


def test_roles_that_the_vocabulary_lacks_are_added(vocab_file):
    tokenizer = BertTokenizer(vocab_file("a", special=["[UNK]"]))
    assert tokenizer.tokenize("[CLS] a") == ["[CLS]", "a"]
    assert (tokenizer.sep_token_id, tokenizer.pad_token_id, tokenizer.cls_token_id) == (2, 3, 4)


def test_no_additional_special_tokens(small):
    tokenizer = small("a", additional_special_tokens=["<x>"])
    tokenizer.additional_special_tokens = None
    assert tokenizer.additional_special_tokens == tokenizer.additional_special_tokens_ids == []
    tokenizer.add_tokens(["<y>"], special_tokens=True)
    assert tokenizer.additional_special_tokens == ["<y>"]


def test_additional_special_tokens_are_a_list(small):
    tokenizer = small("a")
    with pytest.raises(SpecialTokenError):
        tokenizer.additional_special_tokens = "x"
    assert tokenizer.additional_special_tokens == []
    with pytest.raises(AssertionError):
        small("a", additional_special_tokens="x")


@pytest.mark.parametrize("role", ["cls_token", "sep_token"])
@pytest.mark.parametrize(
    "call",
    [
        lambda t: t("a"),
        lambda t: t("a", "b"),
        lambda t: t(["a", "b"], return_attention_mask=False),
        lambda t: t("a", return_tensors="np"),
        lambda t: t.encode("a"),
        lambda t: t.prepare_for_model([A]),
    ],
)
def test_a_role_of_the_template_without_a_token(abc, role, call):
    setattr(abc, role, None)
    with pytest.raises(SpecialTokenError) as caught:
        call(abc)
    assert caught.value.role == role
    assert abc("a", add_special_tokens=False).input_ids == [A]
    setattr(abc, role, "b")
    assert B in abc("a").input_ids


@pytest.mark.parametrize(
    "bad", [{"no_token": "x"}, {"cls_token": 5}, {"additional_special_tokens": "x"}]
)
def test_a_role_that_is_none_changes_nothing(abc, bad):
    with pytest.raises(SpecialTokenError):
        abc.add_special_tokens({"bos_token": "<s>", **bad})
    assert abc.bos_token is None
    assert len(abc) == 8


# ---- mistakes ------------------------------------------------------------------------------------


def test_the_message_says_where(abc):
    with pytest.raises(InputError, match="item 1 of the batch is NoneType None"):
        abc(["a", None])
    with pytest.raises(InputError, match="text is bytes b'a'; pass a str"):
        abc(b"a")
    with pytest.raises(InputTypeError, match="a text is a str, not bytes"):
        abc.tokenize(b"a")
    with pytest.raises(InputError, match="position 1 holds str 'x' among ints"):
        abc.encode([1, "x"])
    with pytest.raises(InputError, match="item 0 of the batch is a list of 3"):
        abc([["a", "b", "c"]])
    with pytest.raises(InputError, match="text has 2 items and text_pair 1"):
        abc(["a", "b"], ["c"])
    with pytest.raises(TypeError, match="text_pair must be a list"):
        abc(["a"], "b")


def test_unknown_keywords(abc):
    for text in ("a", ["a"]):
        with pytest.raises(OptionError, match=r"'trunction'; did you mean 'truncation'\?$"):
            abc(text, trunction=True)
    for call, keyword in (
        (lambda **options: abc("a", **options), "colour"),
        (lambda **options: abc.encode("a", **options), "max_lenght"),
        (lambda **options: abc.decode([A], **options), "skip_special"),
        (lambda **options: abc.tokenize("a", **options), "add_special_tokens"),
        (lambda **options: abc.tokenize("a", **options), "pair"),
    ):
        with pytest.raises(OptionError, match=f"'{keyword}'"):
            call(**{keyword: True})


def test_whole_numbers_of_numpy_are_lengths(abc):
    options = {
        "truncation": True,
        "max_length": numpy.int64(4),
        "stride": numpy.int32(1),
        "padding": "max_length",
    }
    ids = [[CLS, A, B, SEP], [CLS, C, SEP, PAD]]
    assert abc(["a b c", "c"], pad_to_multiple_of=numpy.int64(2), **options).input_ids == ids
    assert abc("c", **options).input_ids == ids[1]
    assert abc.prepare_for_model([C], **options).input_ids == ids[1]
    assert abc.pad(
        [{"input_ids": ids[1][:3]}], padding="max_length", max_length=numpy.int64(4)
    ).input_ids == [ids[1]]
    abc.build_inputs_with_special_tokens = lambda ids, pair=None: [*ids, SEP]
    assert abc(["a b c", "c"], **options).input_ids == [[A, B, C, SEP], [C, SEP, PAD, PAD]]
    with pytest.raises(InputTypeError):
        abc("a", max_length=numpy.float64(4))


def test_mistakes_are_found_before_they_have_an_effect(abc, vocab_file):
    with pytest.raises(InputTypeError):
        abc.batch_encode_plus(1.5)
    for method in (abc.pad, abc.prepare_for_model):
        with pytest.raises(InputTypeError):
            method({"input_ids": [A]} if method == abc.pad else [A], pad_to_multiple_of="2")
    with pytest.raises(InputError):
        abc("a", pad_to_multiple_of=0)
    fast = BertTokenizerFast(vocab_file("a", "b"))
    fast.truncation_side = "up"
    for length in (3, 8):
        with pytest.raises(InputError):
            fast("a b", truncation=True, max_length=length)
    for tokenizer in (abc, fast):
        with pytest.raises(InputTypeError):
            tokenizer.convert_tokens_to_ids(["a", 5])


@pytest.mark.parametrize(
    "options",
    [
        {"max_length": 1, "truncation": True},
        {"max_length": -1},
        {"max_length": "10"},
        {"max_length": 9.0},
        {"max_length": 3, "truncation": True, "stride": -1},
        {"padding": "longst"},
        {"padding": 1},
        {"padding": []},
        {"truncation": "first"},
        {"truncation": 1},
        {"padding": True, "pad_to_multiple_of": 0},
        {"pad_to_multiple_of": 8.0},
        {"padding": True, "truncation": True, "max_length": 9, "pad_to_multiple_of": 8},
        {"padding": "max_length", "max_length": 9, "padding_side": "top"},
        {"add_special_tokens": False, "return_token_type_ids": True},
    ],
)
def test_options_that_cannot_be(abc, options):
    assert abc("a b", padding=True, truncation=True, max_length=9).input_ids == [CLS, A, B, SEP]
    with pytest.raises(InputError):
        abc("a b", **options)


def test_overflow_that_cannot_be(abc):
    with pytest.raises(InputError):
        abc("a", "b", truncation=True, max_length=4, return_overflowing_tokens=True)
    with pytest.raises(TypeError):
        abc("a", return_overflowing_tokens=True)


def test_padding_without_a_padding_token(abc):
    abc.pad_token = None
    with pytest.raises(SpecialTokenError):
        abc(["a"], padding=True)


def test_vocabularies_that_cannot_be(tmp_path, vocab_file):
    with pytest.raises(FileError) as caught:
        BertTokenizer(tmp_path / "none.txt")
    assert isinstance(caught.value, ValueError)
    with pytest.raises(VocabularyError) as no_unk:
        BertTokenizer(vocab_file("a", special=["[CLS]"]))
    assert no_unk.value.token == "[UNK]"
    assert (
        BertTokenizer(vocab_file("a", "<unk>", special=[]), unk_token="<unk>").encode("b")[1] == 1
    )
    with pytest.raises(VocabularyError):
        BertTokenizer(vocab_file(special=[]))


@pytest.mark.parametrize(
    "name",
    [
        "apply_chat_template",
        "save_chat_templates",
        "push_to_hub",
        "as_target_tokenizer",
        "prepare_seq2seq_batch",
    ],
)
def test_what_is_left_out_says_what_to_do(abc, name):
    assert not hasattr(abc, name)
    with pytest.raises(NotSupportedError) as caught:
        getattr(abc, name)
    assert caught.value.name == name
    with pytest.raises(AttributeError):
        abc.no_such_thing  # noqa: B018


def test_ids_have_no_offsets(abc):
    for call in (
        lambda: abc.encode_plus([5, 6], return_offsets_mapping=True),
        lambda: abc.prepare_for_model([5], return_offsets_mapping=True),
    ):
        with pytest.raises(NotImplementedError):
            call()


# ---- settings ------------------------------------------------------------------------------------


def test_without_basic_tokenization(vocab_file):
    tokenizer = BertTokenizer(vocab_file("A", "a,"), do_basic_tokenize=False)
    assert tokenizer.tokenize("A a,  a") == ["A", "a,", "[UNK]"]
    assert not hasattr(tokenizer, "do_lower_case")


def test_never_split(small):
    tokenizer = small("a.b", "a", ".", "b", never_split=["a.b", "c.d"])
    assert tokenizer.tokenize("a.b A.B c.d") == ["a.b", "a.b", "c.d"]


def test_special_tokens_as_text(small):
    tokenizer = small("[", "]", "cls", "##]")
    assert tokenizer.tokenize("x[CLS]", split_special_tokens=True) == ["[UNK]", "[", "cls", "]"]
    assert tokenizer(["x[CLS]"], split_special_tokens=True).input_ids[0][1:-1] == [UNK, 5, 7, 6]
    tokenizer.split_special_tokens = True
    assert tokenizer.tokenize("x[CLS]") == ["[UNK]", "[", "cls", "]"]


def test_a_keyword_with_a_methods_name(small):
    with pytest.raises(AttributeError):
        small("a", encode=True)


def test_a_misspelt_keyword_is_warned_of(small, caplog):
    with caplog.at_level(logging.WARNING, "trietok"):
        small("a", do_lowercase=False, modelmaxlength=5, something_else=1)
    assert sorted(record.getMessage() for record in caplog.records) == [
        "the keyword 'do_lowercase' changes nothing; did you mean 'do_lower_case'?",
        "the keyword 'modelmaxlength' changes nothing; did you mean 'model_max_length'?",
    ]


def test_copies_are_alike(small):
    tokenizer = small("a", "##b", additional_special_tokens=[AddedToken("<x>", lstrip=True)])
    tokenizer.add_tokens(["<y>"])
    # read before copying: a view cannot be pickled
    assert list(tokenizer.added_tokens_encoder)[-1] == "<y>"
    for other in (copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert other("ab <x><y>") == tokenizer("ab <x><y>")
        assert repr(other) == repr(tokenizer)
        other.add_tokens(["<z>"])
        assert "<z>" not in tokenizer.get_vocab()


def test_repr_shows_the_settings(abc):
    assert repr(abc).startswith("BertTokenizer(name_or_path='', vocab_size=8, model_max_length=")
    assert '\t2: AddedToken("[CLS]", rstrip=False' in repr(abc)


# ---- BatchEncoding -------------------------------------------------------------------------------


def test_batch_encoding(abc):
    batch = abc(["a", "b"])
    assert batch.input_ids is batch["input_ids"]
    assert batch[:1]["input_ids"] == [[CLS, A, SEP]]
    assert (batch.is_fast, batch.encodings, batch.n_sequences) == (False, None, None)
    assert pickle.loads(pickle.dumps(batch)) == batch
    assert copy.copy(batch).input_ids == batch.input_ids
    with pytest.raises(KeyError):
        batch[0]
    with pytest.raises(AttributeError):
        batch.offsets  # noqa: B018
    without_texts = BatchEncoding(batch.data)
    for method in ("tokens", "word_ids", "sequence_ids", "words"):
        with pytest.raises(InputError):
            getattr(without_texts, method)()
    with pytest.raises(InputError):
        without_texts.char_to_token(0)
    assert BatchEncoding() == {}
