"""AutoTokenizer: the class that files ask for."""

from __future__ import annotations

import json

import pytest

import trietok
from tests.conftest import SPECIAL
from trietok import AutoTokenizer, FileError, TokenizerClassError


@pytest.fixture
def folder(tmp_path):
    """A function that writes a directory of a vocabulary and these files, and returns it."""

    def write(tokenizer_config=None, config=None, special=SPECIAL):
        words = "\n".join([*special, "a", "b"]) + "\n"
        (tmp_path / "vocab.txt").write_text(words, encoding="utf-8")
        for name, values in (("tokenizer_config.json", tokenizer_config), ("config.json", config)):
            (tmp_path / name).unlink(missing_ok=True)
            if values is not None:
                (tmp_path / name).write_text(json.dumps(values), encoding="utf-8")
        return tmp_path

    return write


def kind(path, **options):
    return type(AutoTokenizer.from_pretrained(path, use_fast=False, **options)).__name__


@pytest.mark.parametrize(
    ("tokenizer_config", "config", "name"),
    [
        ({"tokenizer_class": "ElectraTokenizer"}, {"model_type": "bert"}, "ElectraTokenizer"),
        ({"tokenizer_class": "BertTokenizerLegacy"}, None, "BertTokenizer"),
        ({"tokenizer_class": "BertTokenizerFast"}, None, "BertTokenizer"),  # use_fast is False
        ({}, {"model_type": "distilbert"}, "DistilBertTokenizer"),
        ({}, {"model_type": "bert", "tokenizer_class": "LxmertTokenizer"}, "LxmertTokenizer"),
        (None, {"model_type": "visual_bert"}, "BertTokenizer"),
        (
            {"tokenizer_class": "TokenizersBackend"},
            {"model_type": "dpr"},
            "DPRQuestionEncoderTokenizer",
        ),
    ],
)
def test_the_class_is_the_one_the_files_ask_for(folder, tokenizer_config, config, name):
    assert kind(folder(tokenizer_config, config)) == name


def test_a_type_or_a_config_by_hand_decides(folder):
    path = folder()
    assert kind(path, tokenizer_type="lxmert") == "LxmertTokenizer"
    assert kind(path / "vocab.txt", tokenizer_type="bert") == "BertTokenizer"
    assert kind(path, config={"model_type": "electra"}) == "ElectraTokenizer"
    config = type("Config", (), {"model_type": "mobilebert"})()
    assert kind(path, config=config) == "MobileBertTokenizer"


def test_a_generic_fast_class_is_berts(tmp_path):
    fast = trietok.BertTokenizerFast.from_pretrained("trietok-en", do_lower_case=False)
    fast.add_tokens("<ent>")
    fast.save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    generic = {**json.loads(path.read_text()), "tokenizer_class": "PreTrainedTokenizerFast"}
    path.write_text(json.dumps(generic))
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


def test_arguments_and_options_reach_the_class(folder):
    path = folder({"tokenizer_class": "ElectraTokenizer"})
    (path / "below").mkdir()
    for file in ("vocab.txt", "tokenizer_config.json"):
        (path / file).rename(path / "below" / file)
    options = {"do_lower_case": False, "trust_remote_code": True}
    tokenizer = AutoTokenizer.from_pretrained(path, subfolder="below", **options)
    assert (type(tokenizer), tokenizer.do_lower_case) == (trietok.ElectraTokenizerFast, False)


@pytest.mark.parametrize(
    ("tokenizer_config", "config", "name"),
    [
        ({"tokenizer_class": "RobertaTokenizer"}, None, "RobertaTokenizer"),
        ({}, {"model_type": "roberta"}, "roberta"),
        ({}, {"model_type": "no-such"}, "no-such"),
    ],
)
def test_a_class_that_trietok_lacks_is_named(folder, tokenizer_config, config, name):
    path = folder(tokenizer_config, config)
    with pytest.raises(TokenizerClassError) as caught:
        AutoTokenizer.from_pretrained(path)
    assert (caught.value.name, caught.value.path) == (name, str(path))
    assert {"BertTokenizer", "MPNetTokenizer", "mpnet"} & set(caught.value.known)
    with pytest.raises(OSError, match="'gpt2'"):
        AutoTokenizer.from_pretrained(path, tokenizer_type="gpt2")
    with pytest.raises(OSError, match="from_pretrained"):
        AutoTokenizer()


@pytest.mark.parametrize("config", [None, {}, {"hidden_size": 128}])
def test_a_wordpiece_vocabulary_without_a_class_is_berts_with_a_warning(folder, config, caplog):
    path = folder(None, config)
    for name in (path, path / "vocab.txt"):
        for use_fast, expected in ((True, "BertTokenizerFast"), (False, "BertTokenizer")):
            caplog.clear()
            loaded = AutoTokenizer.from_pretrained(name, use_fast=use_fast)
            assert type(loaded).__name__ == expected
            assert loaded("A b").input_ids == [2, 5, 6, 3]
            (message,) = caplog.messages
            assert "no file says which tokenizer" in message
    caplog.clear()
    AutoTokenizer.from_pretrained(path, tokenizer_type="bert")
    assert not caplog.records


def test_a_tokenizer_json_without_a_class_is_berts_where_it_is_wordpiece(folder, caplog):
    path = folder() / "both"
    trietok.BertTokenizerFast(path.parent / "vocab.txt").save_pretrained(path, legacy_format=False)
    (path / "tokenizer_config.json").unlink()
    assert type(AutoTokenizer.from_pretrained(path)) is trietok.BertTokenizerFast
    assert "no file says which tokenizer" in caplog.text
    content = json.loads((path / "tokenizer.json").read_text(encoding="utf-8"))
    content["model"] = {"type": "Unigram", "vocab": [["a", 0]]}
    (path / "tokenizer.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(TokenizerClassError):
        AutoTokenizer.from_pretrained(path)


def test_a_type_is_not_guessed_from_the_name(folder):
    path = folder({}, {}, special=["<unk>"])
    (path / "bert").mkdir()
    for file in ("vocab.txt", "tokenizer_config.json", "config.json"):
        (path / file).rename(path / "bert" / file)
    for name in (path / "bert", path / "bert" / "vocab.txt"):
        with pytest.raises(TokenizerClassError):
            AutoTokenizer.from_pretrained(name)
    with pytest.raises(FileError):
        AutoTokenizer.from_pretrained(path / "no such place")


class Mine(trietok.BertTokenizer):
    """A class of the user's own."""


class MineFast(trietok.BertTokenizerFast):
    """Its fast form."""


def test_a_registered_class_is_the_one_of_its_name_and_of_its_type(folder):
    path = folder({"tokenizer_class": "Mine"})
    with pytest.raises(TokenizerClassError):
        kind(path)
    config = type("Config", (), {"model_type": "mine"})
    AutoTokenizer.register(config, Mine)  # for this process: no other test has these names
    assert kind(path) == kind(path, tokenizer_type="mine") == "Mine"
    AutoTokenizer.register(config, fast_tokenizer_class=MineFast, exist_ok=True)
    for files in (
        (None, {"model_type": "mine"}),
        ({"tokenizer_class": "Mine"}, None),
        ({"tokenizer_class": "MineFast"}, None),
    ):
        path = folder(*files)
        for use_fast, expected in ((True, MineFast), (False, Mine)):
            assert type(AutoTokenizer.from_pretrained(path, use_fast=use_fast)) is expected


def test_a_directory_of_sentence_transformers_is_loaded(folder):
    """As those of all-MiniLM, BGE and E5."""
    settings = {
        "tokenizer_class": "BertTokenizer",
        "model_max_length": 512,
        "max_length": 128,
        "stride": 0,
        "truncation_strategy": "longest_first",
        "pad_token_type_id": 0,
        "name_or_path": "somewhere/else",
        "special_tokens_map_file": "/nowhere/special_tokens_map.json",
    }
    path = folder(settings, {"model_type": "bert", "vocab_size": 9})
    (path / "modules.json").write_text('[{"idx": 0, "name": "0", "path": "", "type": "x"}]')
    (path / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    batch = AutoTokenizer.from_pretrained(path)(["query: a", "b"], padding=True)
    assert batch.input_ids == [[2, 1, 1, 5, 3], [2, 6, 3, 0, 0]]


@pytest.mark.parametrize("loader", [AutoTokenizer, trietok.BertTokenizer])
@pytest.mark.parametrize(
    ("keyword", "meant"),
    [("use_fats", "use_fast"), ("subfoldr", "subfolder"), ("paddingside", "padding_side")],
)
def test_a_misspelt_option_of_loading_is_named_and_kept(folder, caplog, loader, keyword, meant):
    path = folder({"tokenizer_class": "BertTokenizer"})
    tokenizer = loader.from_pretrained(path, **{keyword: False})
    (message,) = caplog.messages
    assert repr(keyword) in message
    assert f"did you mean {meant!r}" in message
    assert tokenizer.init_kwargs[keyword] is False  # as in transformers


@pytest.mark.parametrize("keyword", ["use_fast", "from_slow", "proxies", "my_note", "torch_dtype"])
def test_options_that_resemble_none_and_keys_of_files_are_not_warned_of(folder, caplog, keyword):
    path = folder({"tokenizer_class": "BertTokenizer", "revisions": 3})
    AutoTokenizer.from_pretrained(path, **{keyword: 0})
    assert not [message for message in caplog.messages if keyword in message or "rev" in message]
