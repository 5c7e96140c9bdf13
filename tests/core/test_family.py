"""BERT's relatives: what sets each apart."""

from __future__ import annotations

import logging

import pytest

import trietok
from tests.conftest import SPECIAL
from trietok import AddedToken, InputError, OptionError, SpecialTokenError

FUNNEL = ["<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"]
MPNET = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"]
ROLES = {
    "FunnelTokenizer": FUNNEL,
    "MPNetTokenizer": MPNET,
    "SplinterTokenizer": [*SPECIAL, "[QUESTION]", "."],
}
NAMES = [
    "BertTokenizer",
    "DistilBertTokenizer",
    "ElectraTokenizer",
    "MobileBertTokenizer",
    "ConvBertTokenizer",
    "SqueezeBertTokenizer",
    "LayoutLMTokenizer",
    "LxmertTokenizer",
    "DPRContextEncoderTokenizer",
    "DPRQuestionEncoderTokenizer",
    "DPRReaderTokenizer",
    "RetriBertTokenizer",
    "FunnelTokenizer",
    "MPNetTokenizer",
    "SplinterTokenizer",
]


@pytest.fixture
def make(vocab_file):
    """A function that makes a tokenizer of the class of that name, on its special tokens and the
    words a, b, c.
    """

    def tokenizer(name: str, *tokens: str, **options):
        special = ROLES.get(name.removesuffix("Fast"), SPECIAL)
        path = vocab_file("a", "b", "c", *tokens, special=special)
        return getattr(trietok, name)(path, **options)

    return tokenizer


PAIRS = {
    "BertTokenizer": ("[CLS] a [SEP] b c [SEP]", [0, 0, 0, 1, 1, 1], [1, 0, 1, 0, 0, 1]),
    "FunnelTokenizer": ("<cls> a <sep> b c <sep>", [2, 0, 0, 1, 1, 1], [1, 0, 1, 0, 0, 1]),
    "MPNetTokenizer": ("<s> a </s> </s> b c </s>", [0] * 7, [1, 0, 1, 1, 0, 0, 1]),
    "SplinterTokenizer": (
        "[CLS] a [QUESTION] . [SEP] b c [SEP]",
        [0, 0, 0, 0, 0, 1, 1, 1],
        [1, 0, 1, 0, 0, 1],
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_pair(make, name):
    tokens, types, mask = PAIRS.get(name, PAIRS["BertTokenizer"])
    encoding = make(name)("a", "b c", return_token_type_ids=True, return_special_tokens_mask=True)
    assert make(name).convert_ids_to_tokens(encoding.input_ids) == tokens.split()
    assert encoding.token_type_ids == types
    assert encoding.special_tokens_mask == mask
    ids = [make(name).convert_tokens_to_ids(list(words)) for words in ("a", "bc")]
    assert make(name).build_inputs_with_special_tokens(*ids) == encoding.input_ids
    assert make(name).create_token_type_ids_from_sequences(*ids) == types
    assert make(name).get_special_tokens_mask(*ids) == mask


def test_a_pair_of_the_fast_mpnet(make):
    tokenizer = make("MPNetTokenizerFast")
    tokens, types, mask = PAIRS["MPNetTokenizer"]
    encoding = tokenizer("a", "b c", return_special_tokens_mask=True)
    assert encoding.special_tokens_mask == mask
    assert tokenizer.convert_ids_to_tokens(encoding.input_ids) == tokens.split()
    ids = [tokenizer.convert_tokens_to_ids(list(words)) for words in ("a", "bc")]
    assert tokenizer.build_inputs_with_special_tokens(*ids) == encoding.input_ids
    assert tokenizer.create_token_type_ids_from_sequences(*ids) == types


WITHOUT_TYPES = [
    "DistilBertTokenizer",
    "DPRReaderTokenizer",
    "MPNetTokenizer",
    "RetriBertTokenizer",
]


@pytest.mark.parametrize("name", NAMES)
def test_the_inputs_of_the_model(make, name):
    assert ("token_type_ids" in make(name)("a")) == (name not in WITHOUT_TYPES)


def test_the_first_type_id_of_funnel_can_be_set(make):
    tokenizer = make("FunnelTokenizer")
    tokenizer.cls_token_type_id = 5
    assert tokenizer("a").token_type_ids == [5, 0, 0]
    assert tokenizer.num_special_tokens_to_add(pair=True) == 3


def test_the_mask_of_mpnet_takes_the_space_before_it_along(make):
    tokenizer = make("MPNetTokenizer", do_lower_case=False)
    assert tokenizer.mask_token == "<mask>"
    assert tokenizer.added_tokens_decoder[5] == AddedToken("<mask>", lstrip=True, special=True)
    tokenizer.add_tokens([" x"])
    assert tokenizer.tokenize("a  <mask> x") == ["a", "<mask>", " x"]
    other = make("MPNetTokenizer", mask_token=AddedToken("a", special=True))
    assert not other.added_tokens_decoder[6].lstrip


def test_splinter_with_the_question_second(make):
    tokenizer = make("SplinterTokenizer", padding_side="left")
    encoding = tokenizer("a", "b", padding="max_length", max_length=9)
    tokens = "[PAD] [PAD] [CLS] a [SEP] b [QUESTION] . [SEP]"
    assert tokenizer.convert_ids_to_tokens(encoding.input_ids) == tokens.split()
    assert encoding.token_type_ids == [0, 0, 0, 0, 0, 1, 1, 1, 1]


def test_splinter_does_not_compose(make, small):
    assert make("SplinterTokenizer", "é", do_lower_case=False).tokenize("e\u0301") == ["[UNK]"]
    assert small("é", do_lower_case=False).tokenize("e\u0301") == ["é"]


def test_the_question_token_is_no_role(make, tmp_path):
    tokenizer = make("SplinterTokenizer", "[", "]", "question", question_token="c")
    assert tokenizer.question_token_id == tokenizer.convert_tokens_to_ids("c")
    assert tokenizer.tokenize("[QUESTION]") == ["[", "question", "]"]
    assert "question_token" not in tokenizer.special_tokens_map
    with pytest.raises(SpecialTokenError):
        make("SplinterTokenizer", question_token=5)
    tokenizer.question_token = "b"
    tokenizer.save_pretrained(tmp_path / "saved")
    assert trietok.SplinterTokenizer.from_pretrained(tmp_path / "saved").question_token == "b"


def test_decoding_leaves_spaces_where_the_class_does(make):
    kept = [name for name in NAMES if not make(name).clean_up_tokenization_spaces]
    assert kept == ["RetriBertTokenizer", "SplinterTokenizer"]


@pytest.mark.parametrize("name", NAMES)
def test_a_lone_vocabulary(make, name, tmp_path):
    tokenizer = make(name)
    loaded = getattr(trietok, name).from_pretrained(tmp_path / "vocab.txt")
    assert loaded("a", "b") == tokenizer("a", "b")


@pytest.mark.parametrize("name", NAMES)
def test_what_is_saved_is_loaded(make, name, tmp_path):
    tokenizer = make(name, do_lower_case=False, model_max_length=9)
    tokenizer.add_tokens(["new word"])
    tokenizer.save_pretrained(tmp_path / "saved")
    again = getattr(trietok, name).from_pretrained(tmp_path / "saved")
    assert again.fingerprint() == tokenizer.fingerprint()
    assert again("a new word", "b", padding="max_length") == tokenizer(
        "a new word", "b", padding="max_length"
    )
    again.save_pretrained(tmp_path / "again")
    for file in (tmp_path / "saved").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_a_relatives_files_load_with_a_warning(make, tmp_path, caplog):
    make("ElectraTokenizer").save_pretrained(tmp_path / "saved")
    with caplog.at_level(logging.WARNING, "trietok"):
        trietok.ElectraTokenizer.from_pretrained(tmp_path / "saved")
        assert not caplog.records
        loaded = trietok.DistilBertTokenizer.from_pretrained(tmp_path / "saved")
    assert loaded("a") == {"input_ids": [2, 5, 3], "attention_mask": [1, 1, 1]}
    assert [record.getMessage() for record in caplog.records] == [
        "the tokenizer was saved as a ElectraTokenizer and is loaded as a DistilBertTokenizer"
    ]


def test_a_subclass_of_ones_own_loads_what_its_parent_saved(make, tmp_path, caplog):
    class Mine(trietok.ElectraTokenizer):
        pass

    make("ElectraTokenizer").save_pretrained(tmp_path / "saved")
    with caplog.at_level(logging.WARNING, "trietok"):
        assert Mine.from_pretrained(tmp_path / "saved").encode("a") == [2, 5, 3]
    assert not caplog.records


# ---- DPR's reader --------------------------------------------------------------------------------


@pytest.fixture
def reader(make):
    return make("DPRReaderTokenizer")


def test_a_question_with_many_passages(reader):
    rows = reader("a", titles=["b", "c"], texts=["a b", "c"], padding=True)
    assert reader.batch_decode(rows.input_ids) == [
        "[CLS] a [SEP] b [SEP] a b",
        "[CLS] a [SEP] c [SEP] c [PAD]",
    ]
    assert rows.attention_mask == [[1] * 7, [1, 1, 1, 1, 1, 1, 0]]
    assert reader("a", titles="b", texts="c").input_ids == [[2, 5, 3, 6, 3, 7]]
    assert reader("a", "b", "c", truncation=True, max_length=3).input_ids == [[2, 5, 3]]
    assert list(reader("a", "b", "c", return_attention_mask=False)) == [
        "input_ids",
        "attention_mask",
    ]


def test_a_call_without_titles_or_texts_is_an_ordinary_one(reader):
    assert reader("a").input_ids == [2, 5, 3]
    assert reader("a", titles="b").input_ids == reader("a", texts="b").input_ids == [2, 5, 3, 6, 3]


def test_what_the_readers_call_refuses(reader):
    with pytest.raises(InputError):
        reader("a", ["b", "c"], ["a"])
    with pytest.raises(OptionError):
        reader("a", ["b"], ["a"], add_special_tokens=False)
