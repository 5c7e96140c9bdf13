"""BERT's relatives: what sets each apart."""

from __future__ import annotations

import pytest

import trietok
from tests.conftest import SPECIAL
from trietok import AddedToken, InputError, OptionError, SpecialTokenError

ROLES = {
    "FunnelTokenizer": ["<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"],
    "MPNetTokenizer": ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"],
    "SplinterTokenizer": [*SPECIAL, "[QUESTION]", "."],
}
NAMES = [
    f"{name}Tokenizer"
    for name in "Bert DistilBert Electra MobileBert ConvBert SqueezeBert LayoutLM Lxmert"
    " DPRContextEncoder DPRQuestionEncoder DPRReader RetriBert Funnel MPNet Splinter".split()
]
EACH = pytest.mark.parametrize("name", NAMES)


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


@pytest.mark.parametrize("name", [*NAMES, "MPNetTokenizerFast"])
def test_a_pair_has_the_template_of_its_class(kernel, make, name):
    tokenizer = make(name)
    tokens, types, mask = PAIRS.get(name.removesuffix("Fast"), PAIRS["BertTokenizer"])
    asked = {"return_token_type_ids": True, "return_special_tokens_mask": True}
    encoding = tokenizer("a", "b c", **asked)
    assert tokenizer.convert_ids_to_tokens(encoding.input_ids) == tokens.split()
    assert encoding.special_tokens_mask == mask
    ids = [tokenizer.convert_tokens_to_ids(list(words)) for words in ("a", "bc")]
    assert tokenizer.build_inputs_with_special_tokens(*ids) == encoding.input_ids
    assert tokenizer.create_token_type_ids_from_sequences(*ids) == types
    if not tokenizer.is_fast:
        assert encoding.token_type_ids == types
        assert tokenizer.get_special_tokens_mask(*ids) == mask


@EACH
def test_a_call_returns_the_inputs_of_its_model(make, name):
    without_types = ["DistilBertTokenizer", "DPRReaderTokenizer", "MPNetTokenizer"]
    has_types = name not in [*without_types, "RetriBertTokenizer"]
    assert ("token_type_ids" in make(name)("a")) == has_types
    cleans_up = name not in ("RetriBertTokenizer", "SplinterTokenizer")
    assert make(name).clean_up_tokenization_spaces == cleans_up


@EACH
def test_a_relative_loads_from_a_vocabulary_alone_and_as_it_was_saved(make, name, tmp_path):
    kind = getattr(trietok, name)
    assert make(name)("a", "b") == kind.from_pretrained(tmp_path / "vocab.txt")("a", "b")
    tokenizer = make(name, do_lower_case=False, model_max_length=9)
    tokenizer.add_tokens(["new word"])
    tokenizer.save_pretrained(tmp_path / "saved")
    again = kind.from_pretrained(tmp_path / "saved")
    assert again.fingerprint() == tokenizer.fingerprint()
    padded = tokenizer("a new word", "b", padding="max_length")
    assert again("a new word", "b", padding="max_length") == padded
    again.save_pretrained(tmp_path / "again")
    for file in (tmp_path / "saved").iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


def test_the_first_type_id_of_funnel_can_be_set(make):
    tokenizer = make("FunnelTokenizer")
    tokenizer.cls_token_type_id = 5
    assert tokenizer("a").token_type_ids == [5, 0, 0]
    assert tokenizer.num_special_tokens_to_add(pair=True) == 3


def test_the_mask_of_mpnet_strips_the_space_before_it(make):
    tokenizer = make("MPNetTokenizer", do_lower_case=False)
    assert tokenizer.added_tokens_decoder[5] == AddedToken("<mask>", lstrip=True, special=True)
    tokenizer.add_tokens([" x"])
    assert tokenizer.tokenize("a  <mask> x") == ["a", "<mask>", " x"]
    other = make("MPNetTokenizer", mask_token=AddedToken("a", special=True))
    assert not other.added_tokens_decoder[6].lstrip


def test_splinter_puts_the_question_second_on_the_left_and_composes_nothing(make, small):
    tokenizer = make("SplinterTokenizer", padding_side="left")
    encoding = tokenizer("a", "b", padding="max_length", max_length=9)
    tokens = "[PAD] [PAD] [CLS] a [SEP] b [QUESTION] . [SEP]"
    assert tokenizer.convert_ids_to_tokens(encoding.input_ids) == tokens.split()
    assert encoding.token_type_ids == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert make("SplinterTokenizer", "é", do_lower_case=False).tokenize("e\u0301") == ["[UNK]"]
    assert small("é", do_lower_case=False).tokenize("e\u0301") == ["é"]


def test_the_question_token_is_saved_and_is_no_special_token(make, tmp_path):
    tokenizer = make("SplinterTokenizer", "[", "]", "question", question_token="c")
    assert tokenizer.question_token_id == tokenizer.convert_tokens_to_ids("c")
    assert tokenizer.tokenize("[QUESTION]") == ["[", "question", "]"]
    assert "question_token" not in tokenizer.special_tokens_map
    with pytest.raises(SpecialTokenError):
        make("SplinterTokenizer", question_token=5)
    tokenizer.question_token = "b"
    tokenizer.save_pretrained(tmp_path / "saved")
    assert trietok.SplinterTokenizer.from_pretrained(tmp_path / "saved").question_token == "b"


def test_files_of_a_relative_are_loaded_with_a_warning_unless_it_is_the_parent(
    make, tmp_path, caplog
):
    class Mine(trietok.ElectraTokenizer):
        pass

    make("ElectraTokenizer").save_pretrained(tmp_path / "saved")
    for kind in (trietok.ElectraTokenizer, Mine):
        assert kind.from_pretrained(tmp_path / "saved").encode("a") == [2, 5, 3]
        assert not caplog.records
    loaded = trietok.DistilBertTokenizer.from_pretrained(tmp_path / "saved")
    assert loaded("a") == {"input_ids": [2, 5, 3], "attention_mask": [1, 1, 1]}
    assert caplog.messages == [
        "the tokenizer was saved as a ElectraTokenizer and is loaded as a DistilBertTokenizer"
    ]


def test_dprs_reader_encodes_a_question_with_many_passages(make):
    reader = make("DPRReaderTokenizer")
    batch = reader("a", titles=["b", "c"], texts=["a b", "c"], padding=True)
    assert reader.batch_decode(batch.input_ids) == [
        "[CLS] a [SEP] b [SEP] a b",
        "[CLS] a [SEP] c [SEP] c [PAD]",
    ]
    assert batch.attention_mask == [[1] * 7, [1, 1, 1, 1, 1, 1, 0]]
    assert reader("a", "b", "c", truncation=True, max_length=3).input_ids == [[2, 5, 3]]
    assert reader("a").input_ids == [2, 5, 3]
    assert reader("a", titles="b").input_ids == reader("a", texts="b").input_ids == [2, 5, 3, 6, 3]
    assert reader.count("a b") == 4


def test_dprs_reader_refuses_what_has_no_effect(make):
    reader = make("DPRReaderTokenizer")
    with pytest.raises(InputError):
        reader("a", ["b", "c"], ["a"])
    with pytest.raises(OptionError):
        reader("a", ["b"], ["a"], add_special_tokens=False)
