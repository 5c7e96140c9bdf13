"""AutoTokenizer: the class that files ask for."""

from __future__ import annotations

import json

import pytest

import trietok
from tests.conftest import SPECIAL
from trietok import AutoTokenizer, FileError, InputError, InputTypeError, TokenizerClassError
from trietok.tokenizer import auto


@pytest.fixture
def folder(tmp_path):
    """A function that writes a directory of a vocabulary and these files, and returns it."""

    def write(tokenizer_config=None, config=None, special=SPECIAL):
        (tmp_path / "vocab.txt").write_text(
            "\n".join([*special, "a", "b"]) + "\n", encoding="utf-8"
        )
        for name, values in (("tokenizer_config.json", tokenizer_config), ("config.json", config)):
            if values is not None:
                (tmp_path / name).write_text(json.dumps(values), encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def registry(monkeypatch):
    """The table, to be filled by one test only."""
    monkeypatch.setattr(auto._registry, "registered", {})
    return auto._registry


def kind(path, **options):
    return type(AutoTokenizer.from_pretrained(path, use_fast=False, **options)).__name__


CHOICES = [
    ({"tokenizer_class": "ElectraTokenizer"}, {"model_type": "bert"}, "ElectraTokenizer"),
    ({"tokenizer_class": "BertTokenizerLegacy"}, None, "BertTokenizer"),
    ({}, {"model_type": "distilbert"}, "DistilBertTokenizer"),
    ({}, {"model_type": "bert", "tokenizer_class": "LxmertTokenizer"}, "LxmertTokenizer"),
    (None, {"model_type": "visual_bert"}, "BertTokenizer"),
    (
        {"tokenizer_class": "TokenizersBackend"},
        {"model_type": "dpr"},
        "DPRQuestionEncoderTokenizer",
    ),
]


@pytest.mark.parametrize(("tokenizer_config", "config", "name"), CHOICES)
def test_the_class_the_files_ask_for(folder, tokenizer_config, config, name):
    assert kind(folder(tokenizer_config, config)) == name


def test_a_generic_fast_class_is_berts(tmp_path):
    fast = trietok.BertTokenizerFast.from_pretrained("trietok-en", do_lower_case=False)
    fast.add_tokens("<ent>")
    fast.save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(
        json.dumps({**json.loads(path.read_text()), "tokenizer_class": "PreTrainedTokenizerFast"})
    )
    for model_type, name in ((None, "Bert"), ("nothing-known", "Bert"), ("electra", "Electra")):
        if model_type is not None:
            (tmp_path / "config.json").write_text(json.dumps({"model_type": model_type}))
        for use_fast in (True, False):  # it has no slow form
            tokenizer = AutoTokenizer.from_pretrained(tmp_path, use_fast=use_fast)
            assert type(tokenizer).__name__ == f"{name}TokenizerFast"
            assert tokenizer.encode("The <ent> people") == fast.encode("The <ent> people")
    assert trietok.check(tmp_path).ok
    with pytest.raises(trietok.FileFormatError):
        trietok.BertTokenizer.from_pretrained(tmp_path)


def test_fast_in_the_file_and_use_fast_false(folder):
    assert kind(folder({"tokenizer_class": "BertTokenizerFast"})) == "BertTokenizer"


def test_arguments_and_options_go_on(folder):
    path = folder({"tokenizer_class": "ElectraTokenizer"})
    (path / "below").mkdir()
    for file in ("vocab.txt", "tokenizer_config.json"):
        (path / file).rename(path / "below" / file)
    tokenizer = AutoTokenizer.from_pretrained(
        path, subfolder="below", do_lower_case=False, trust_remote_code=True
    )
    assert (type(tokenizer), tokenizer.do_lower_case) == (trietok.ElectraTokenizerFast, False)


def test_a_type_or_a_config_by_hand(folder):
    path = folder()
    assert kind(path, tokenizer_type="lxmert") == "LxmertTokenizer"
    assert kind(path / "vocab.txt", tokenizer_type="bert") == "BertTokenizer"
    assert kind(path, config={"model_type": "electra"}) == "ElectraTokenizer"

    class Config:
        model_type = "mobilebert"

    assert kind(path, config=Config()) == "MobileBertTokenizer"


@pytest.mark.parametrize(
    ("tokenizer_config", "config", "name"),
    [
        ({"tokenizer_class": "RobertaTokenizer"}, None, "RobertaTokenizer"),
        ({}, {"model_type": "roberta"}, "roberta"),
        ({}, {"model_type": "no-such"}, "no-such"),
        ({}, {"model_type": "mt5"}, "mt5"),
    ],
)
def test_a_class_there_is_not(folder, tokenizer_config, config, name):
    path = folder(tokenizer_config, config)
    with pytest.raises(TokenizerClassError) as caught:
        AutoTokenizer.from_pretrained(path)
    assert caught.value.name == name
    assert caught.value.path == str(path)
    assert {"BertTokenizer", "MPNetTokenizer", "mpnet"} & set(caught.value.known)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize("config", [None, {}, {"hidden_size": 128}])
def test_where_no_file_names_a_class_a_wordpiece_vocabulary_is_berts(folder, config, caplog):
    path = folder(None, config)
    for name in (path, path / "vocab.txt"):
        for use_fast, expected in ((True, "BertTokenizerFast"), (False, "BertTokenizer")):
            caplog.clear()
            loaded = AutoTokenizer.from_pretrained(name, use_fast=use_fast)
            assert type(loaded).__name__ == expected
            assert loaded("A b").input_ids == [2, 5, 6, 3]
            (said,) = [record.getMessage() for record in caplog.records]
            assert "no file says which tokenizer" in said
            assert f"loaded with {expected}; tokenizer_type='bert'" in said
    caplog.clear()
    AutoTokenizer.from_pretrained(path, tokenizer_type="bert")
    assert not caplog.records


def test_a_tokenizer_json_alone_is_berts_where_it_is_wordpiece(folder, tmp_path, caplog):
    trietok.BertTokenizerFast(folder() / "vocab.txt").save_pretrained(
        tmp_path / "both", legacy_format=False
    )
    (tmp_path / "both" / "tokenizer_config.json").unlink()
    assert type(AutoTokenizer.from_pretrained(tmp_path / "both")) is trietok.BertTokenizerFast
    assert "no file says which tokenizer" in caplog.text
    json_file = tmp_path / "both" / "tokenizer.json"
    content = json.loads(json_file.read_text(encoding="utf-8"))
    json_file.write_text(
        json.dumps({**content, "model": {"type": "Unigram", "vocab": [["a", 0]]}}), encoding="utf-8"
    )
    with pytest.raises(TokenizerClassError):
        AutoTokenizer.from_pretrained(tmp_path / "both")


def test_a_type_is_not_guessed_from_the_name(folder):
    path = folder({}, {}, special=["<unk>"])
    (path / "bert").mkdir()
    for file in ("vocab.txt", "tokenizer_config.json", "config.json"):
        (path / file).rename(path / "bert" / file)
    with pytest.raises(TokenizerClassError):
        AutoTokenizer.from_pretrained(path / "bert")


def test_other_mistakes(folder, tmp_path):
    with pytest.raises(OSError, match="from_pretrained"):
        AutoTokenizer()
    with pytest.raises(TokenizerClassError):
        AutoTokenizer.from_pretrained(folder(), tokenizer_type="gpt2")
    with pytest.raises(FileError):
        AutoTokenizer.from_pretrained(tmp_path / "no such place/")
    with pytest.raises(InputTypeError):
        AutoTokenizer.from_pretrained(None)
    with pytest.raises(TokenizerClassError):
        AutoTokenizer.from_pretrained(folder(special=["<unk>"]) / "vocab.txt")


class Mine(trietok.BertTokenizer):
    """A class of the user's own."""


def test_a_class_of_ones_own(folder, registry):
    path = folder({"tokenizer_class": "Mine"})
    with pytest.raises(TokenizerClassError):
        kind(path)
    AutoTokenizer.register("mine", Mine)
    assert kind(path) == "Mine"
    assert kind(path, tokenizer_type="mine") == "Mine"
    (path / "tokenizer_config.json").unlink()
    assert kind(folder(None, {"model_type": "mine"})) == "Mine"


def test_registering(registry, folder):
    with pytest.raises(InputError):
        AutoTokenizer.register("mine")
    with pytest.raises(InputTypeError):
        AutoTokenizer.register(3, Mine)
    with pytest.raises(InputError):
        AutoTokenizer.register("bert", Mine)

    class MineFast(trietok.BertTokenizerFast):
        pass

    class Config:
        model_type = "mine"

    AutoTokenizer.register(Config, Mine)
    AutoTokenizer.register(Config, fast_tokenizer_class=MineFast, exist_ok=True)
    for tokenizer_config, config in (
        (None, {"model_type": "mine"}),
        ({"tokenizer_class": "Mine"}, None),
        ({"tokenizer_class": "MineFast"}, None),
    ):
        path = folder(tokenizer_config, config)
        for use_fast, kind in ((True, MineFast), (False, Mine)):
            assert type(AutoTokenizer.from_pretrained(path, use_fast=use_fast)) is kind
        for name in ("tokenizer_config.json", "config.json"):
            (path / name).unlink(missing_ok=True)


# ---- directories of sentence-transformers --------------------------------------------------------

MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
]


def sentence_transformers(path, model_type):
    (path / "modules.json").write_text(json.dumps(MODULES))
    (path / "sentence_bert_config.json").write_text(
        '{"max_seq_length": 256, "do_lower_case": false}'
    )
    (path / "1_Pooling").mkdir()
    (path / "1_Pooling" / "config.json").write_text('{"word_embedding_dimension": 8}')
    (path / "config.json").write_text(json.dumps({"model_type": model_type, "vocab_size": 9}))
    return path


def test_a_directory_of_sentence_transformers_with_bert(folder):
    """As of all-MiniLM, BGE and E5."""
    settings = {
        "tokenizer_class": "BertTokenizer",
        "model_max_length": 512,
        "do_lower_case": True,
        "max_length": 128,
    }
    settings |= {
        "stride": 0,
        "truncation_strategy": "longest_first",
        "pad_token_type_id": 0,
        "padding_side": "right",
    }
    settings |= {
        "name_or_path": "somewhere/else",
        "special_tokens_map_file": "/nowhere/special_tokens_map.json",
    }
    tokenizer = AutoTokenizer.from_pretrained(sentence_transformers(folder(settings), "bert"))
    assert tokenizer(["query: a", "b"], padding=True).input_ids == [
        [2, 1, 1, 5, 3],
        [2, 6, 3, 0, 0],
    ]


@pytest.mark.parametrize("loader", [AutoTokenizer, trietok.BertTokenizer])
@pytest.mark.parametrize(
    ("keyword", "meant"),
    [
        ("use_fats", "use_fast"),
        ("subfoldr", "subfolder"),
        ("cache_limt", "cache_limit"),
        ("paddingside", "padding_side"),
    ],
)
def test_a_misspelt_option_of_loading_is_named_and_kept(folder, caplog, loader, keyword, meant):
    tokenizer = loader.from_pretrained(
        folder({"tokenizer_class": "BertTokenizer"}), **{keyword: False}
    )
    (message,) = caplog.messages
    assert repr(keyword) in message
    assert f"did you mean {meant!r}" in message
    assert tokenizer.init_kwargs[keyword] is False  # as in transformers


@pytest.mark.parametrize(
    "keyword",
    ["use_fast", "from_slow", "cache_limit", "proxies", "tokens", "my_note", "torch_dtype"],
)
def test_an_option_that_is_known_or_like_none_is_no_misspelt_one(folder, caplog, keyword):
    AutoTokenizer.from_pretrained(folder({"tokenizer_class": "BertTokenizer"}), **{keyword: 0})
    assert not [record for record in caplog.records if keyword in record.getMessage()]


def test_a_key_of_a_file_is_no_option_of_loading(folder, caplog):
    AutoTokenizer.from_pretrained(folder({"tokenizer_class": "BertTokenizer", "revisions": 3}))
    assert not caplog.records
