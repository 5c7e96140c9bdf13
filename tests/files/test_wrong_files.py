"""Directories with a fault: what loading says of each, and that it says nothing of a healthy
one.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from itertools import product

import pytest

from tests.vocabulary.faults import FAULTS
from trietok import (
    AutoTokenizer,
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    FileFormatError,
    VocabularyError,
    check,
)

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:07eced\nsize 231508\n"
CONTENTS = {  # what it is → its bytes, and a part of the message
    "a git-lfs pointer": (POINTER, "a git-lfs pointer.*git lfs pull"),
    "a pointer of another store": (
        b"# xet version 0\nfilesize = 231508\n",
        "a pointer.*download the file again",
    ),
    "a page": (b"<!DOCTYPE html>\n<html>\n<head>", "a web page.*download the file again"),
    "a page of nginx": (b"<html>\r\n<head><title>404 Not Found</title></head>\r\n", "a web page"),
    "an answer of a store": (
        b'<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>',
        "a web page",
    ),
    "gzip": (gzip.compress(b"[PAD]\n[UNK]\n"), "a compressed file; unpack it"),
    "zip": (b"PK\x03\x04\x14\0\0\0", "a compressed file"),
    "an error": (b'{"error": "Repository not found"}', "the answer of a server"),
    "an error with its number": (
        b'{"message": "Not Found", "status": "404"}',
        "the answer of a server",
    ),
    "an error in words": (b"Entry not found", "the answer of a server"),
    "the number of an error": (b"404: Not Found", "the answer of a server"),
    "a link as text": (
        b"../../blobs/07eced375cec144d27c900241f3e339478dec958",
        "the target of a link",
    ),
    "UTF-16": (
        "[PAD]\n[UNK]\n".encode("utf-16"),
        "text in UTF-16; convert it, for example: iconv -f utf-16 -t utf-8 OLD > NEW",
    ),
    "UTF-16, big end first": (b"\xfe\xff" + "東\n".encode("utf-16-be"), "text in UTF-16; convert"),
    "SentencePiece": (b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n", "a SentencePiece model"),
}
FILES = (
    "vocab.txt",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "tokenizer.json",
)


def model(folder, *gone: str, **files: object):
    """A healthy directory, without some files and with others; a keyword is a name with _ for the
    dot.
    """
    shutil.copytree(FAULTS / "base", folder)
    for name in gone:
        (folder / name).unlink()
    for key, content in files.items():
        name = ".".join(key.rsplit("_", 1))
        text = content if isinstance(content, (str, bytes)) else json.dumps(content)
        (folder / name).write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def value(name: str) -> dict:
    return json.loads((FAULTS / "base" / name).read_text(encoding="utf-8"))


LINES = (FAULTS / "base" / "vocab.txt").read_text(encoding="utf-8").splitlines()
TEXT = "the unable zoology"


@pytest.mark.parametrize("what", CONTENTS)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_another_thing_is_named_with_what_to_do(tmp_path, name, what):
    content, message = CONTENTS[what]
    folder = model(
        tmp_path / "model",
        *({"tokenizer.json"} - {name} if name != "vocab.txt" else ["tokenizer.json"]),
    )
    if name in ("special_tokens_map.json", "added_tokens.json"):
        config = value("tokenizer_config.json")
        del config["added_tokens_decoder"]
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / name).write_bytes(content)
    for kind in (AutoTokenizer, BertTokenizerFast):
        with pytest.raises(
            FileFormatError, match=rf"{name} is no {name}: it is {message}"
        ) as caught:
            kind.from_pretrained(folder)
        assert "add it as a line" not in str(caught.value)
        assert str(caught.value.path) == str(folder / name)


def test_a_vocabulary_alone_that_is_another_thing_is_named_too(tmp_path):
    folder = tmp_path / "alone"
    folder.mkdir()
    (folder / "vocab.txt").write_bytes("\n".join(LINES).encode("utf-16"))
    for name in (folder, folder / "vocab.txt"):
        for kind in (AutoTokenizer, BertTokenizer):
            with pytest.raises(FileFormatError):
                kind.from_pretrained(name)


@pytest.mark.parametrize("name", [name for name in FILES if name != "vocab.txt"])
def test_one_of_the_files_in_place_of_their_directory(tmp_path, name):
    folder = model(tmp_path / "model", special_tokens_map_json={}, added_tokens_json={})
    told = f"give its directory, {folder}"
    (finding,) = check(folder / name).findings
    assert (finding.code, finding.message.partition("; ")[2]) == ("not-that-file", told)
    if name == "tokenizer.json":  # which has all
        assert BertTokenizerFast.from_pretrained(folder / name).tokenize("the") == ["the"]
        return
    for kind in (AutoTokenizer, BertTokenizerFast, BertTokenizer):
        with pytest.raises(FileError) as caught:
            kind.from_pretrained(folder / name)
        assert told in str(caught.value)


def test_json_in_place_of_a_list_of_tokens(tmp_path):
    for text in (json.dumps(dict(zip(LINES, range(161), strict=True))), json.dumps(LINES)):
        folder = model(tmp_path / str(len(text)), "tokenizer.json", vocab_txt=text)
        with pytest.raises(FileFormatError):
            AutoTokenizer.from_pretrained(folder)


def test_what_only_looks_like_another_thing_is_taken_as_it_is(tmp_path):
    for number, first in enumerate(
        ["{", "<html>", "404", "not found\nforbidden", "version https", "PK", "./a"]
    ):
        folder = model(
            tmp_path / str(number),
            "tokenizer.json",
            vocab_txt="\n".join([*LINES, first, "}"]) + "\n",
        )
        (folder / "config.json").unlink()
        assert AutoTokenizer.from_pretrained(folder)(TEXT)
        (folder / "vocab.txt").write_text("\n".join([first, *LINES, "}"]) + "\n")
        (folder / "tokenizer_config.json").unlink()
        assert BertTokenizer.from_pretrained(folder)(TEXT)
    folder = model(tmp_path / "words", "tokenizer.json", "tokenizer_config.json")
    (folder / "added_tokens.json").write_text('{"error": 161, "message": 162}')
    assert BertTokenizer.from_pretrained(folder).encode(
        "error message", add_special_tokens=False
    ) == [161, 162]


@pytest.mark.parametrize("name", FILES)
def test_a_link_that_leads_nowhere_is_no_file_that_is_not_there(tmp_path, name):
    folder = model(tmp_path / "model")
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to("../blobs/0123")
    for kind in (AutoTokenizer, BertTokenizer):
        with pytest.raises(FileError):
            kind.from_pretrained(folder)


CASED = ["".join(letters) for letters in product("ABCDEFGHIJ", "abcdefghij", "ab")]
LOST = ("tokenizer.json", "tokenizer_config.json")


def shifted(**more: object) -> dict[str, object]:
    return {
        "vocab_txt": "\n".join(["token", *LINES]) + "\n",
        "config_json": {**value("config.json"), **more},
    }


# What loads, and gives probably other ids than the files mean: files taken out, files put in, the
# warning.
DOUBTFUL = {
    "a config by another name": (
        LOST,
        {"Tokenizer_Config_json": value("tokenizer_config.json")},
        "Tokenizer_Config.json is not read",
    ),
    "a config as a browser saves it": (
        LOST,
        {"tokenizer_config (1)_json": value("tokenizer_config.json")},
        r"tokenizer_config \(1\).json is not read",
    ),
    "a config with another ending": (LOST, {"tokenizer_config.json_txt": "{}"}, "config.json.txt is not read"),
    "two vocabularies": ((), {"Vocab_txt": "[UNK]\n"}, "Vocab.txt is not read, since its name is not vocab.txt"),
    "a cased vocabulary without its config": (
        (*LOST, "config.json"),
        {"vocab_txt": "\n".join([*LINES, *CASED]) + "\n"},
        "the vocabulary is cased.*do_lower_case is True",
    ),
    "an uncased vocabulary, cased": (
        ("tokenizer.json", "config.json"),
        {
            "vocab_txt": "\n".join([*LINES, *map(str.lower, CASED)]) + "\n",
            "tokenizer_config_json": {**value("tokenizer_config.json"), "do_lower_case": False},
        },
        "the vocabulary is uncased.*do_lower_case is False",
    ),
    "ids moved by a line": (LOST, shifted(), r"pad_token_id is 0 in .*the pad_token \[PAD\] has the id 1"),
    "a cut vocabulary": (LOST, {"vocab_txt": "\n".join(LINES[:100])}, "161 rows.*100 ids: the vocabulary lacks lines"),
    "a lost line": (LOST, {"vocab_txt": "\n".join(LINES[:90] + LINES[91:])}, "161 rows.*160 ids: the vocabulary lacks"),
    "a model of fewer rows": (LOST, {"config_json": {"vocab_size": 99}}, "the last have no row"),
    "a lost special token": (
        (*LOST, "config.json"),
        {"vocab_txt": "\n".join(line for line in LINES if line != "[CLS]") + "\n"},
        r"the cls_token \[CLS\] is in no file; it is added as id 160",
    ),
    "exchanged roles": (
        ("tokenizer.json", "special_tokens_map.json"),
        {"tokenizer_config_json": {"cls_token": "[SEP]", "sep_token": "[CLS]"}},
        r"the cls_token is \[SEP\], which by its name is the sep_token",
    ),
    "a vocabulary twice": (
        (*LOST, "config.json"),
        {"vocab_txt": "\n".join([*LINES, *LINES]) + "\n"},
        "holds 161 tokens twice",
    ),
    "tokens with counts": (
        (*LOST, "config.json"),
        {"vocab_txt": "\n".join([*LINES[:5], *(f"{line}\t12" for line in LINES[5:])]) + "\n"},
        r"holds '.*\\t12' and many more that are no tokens of WordPiece",
    ),
    "tokens with numbers": (
        (*LOST, "config.json"),
        {"vocab_txt": "\n".join([*LINES[:5], *(f"{line},{n}" for n, line in enumerate(LINES[5:]))]) + "\n"},
        "many more that are no tokens of WordPiece",
    ),
    "tokens of SentencePiece": (
        (*LOST, "config.json"),
        {"vocab_txt": "\n".join([*LINES[:5], *(f"▁{line}" for line in LINES[5:])]) + "\n"},
        "holds '▁.*' and many more that are no tokens of WordPiece",
    ),
    "a vocabulary of another model": (
        (),
        {"vocab_txt": "\n".join([*LINES[:5], *reversed(LINES[5:])]) + "\n"},
        "tokenizer.json and vocab.txt are of different models: 156 tokens have other ids",
    ),
    "a tokenizer.json and no config": (
        ("tokenizer_config.json",),
        {
            "tokenizer_json": {
                **value("tokenizer.json"),
                "normalizer": {**value("tokenizer.json")["normalizer"], "lowercase": False},
            }
        },
        "do_lower_case is False in tokenizer.json, and True counts",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DOUBTFUL)
def test_what_probably_has_other_ids_is_said(tmp_path, what, caplog):
    gone, files, message = DOUBTFUL[what]
    folder = model(tmp_path / "model", *gone, **files)
    caplog.clear()
    for _ in range(2):
        BertTokenizerFast.from_pretrained(folder)
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == len(set(said))
    (only,) = [line for line in said if re.search(message, line)]
    assert str(folder) in only
    assert (
        "warning" in {finding.severity for finding in check(folder).findings}
        or check(folder).errors
    )


def test_a_line_that_holds_the_unknown_token_with_more_is_named(tmp_path):
    for number, shown in enumerate(("{0}\t{1}", "{1} {0}", '"{0}"')):
        lines = [shown.format(line, token_id) for token_id, line in enumerate(LINES)]
        folder = model(tmp_path / str(number), *LOST, vocab_txt="\n".join(lines))
        with pytest.raises(VocabularyError) as caught:
            BertTokenizer.from_pretrained(folder)
        assert repr(lines[1]) in str(caught.value)


@pytest.mark.parametrize("gone", [(), ("tokenizer.json",), ("vocab.txt",), ("config.json",)])
def test_a_healthy_directory_is_loaded_in_silence(tmp_path, gone, caplog):
    folder = model(tmp_path / "model", *gone)
    for copy in ("vocab.txt.bak", "tokenizer.json.orig", "my-vocab.txt", "README.md"):
        (folder / copy).write_text("x")
    AutoTokenizer.from_pretrained(folder)
    assert not caplog.records


@pytest.mark.parametrize("name", ["trietok-en", "trietok-multi", "trietok-zh"])
def test_the_built_in_vocabularies_are_loaded_in_silence(name, caplog):
    AutoTokenizer.from_pretrained(name)
    BertTokenizer.from_pretrained(name)
    assert not caplog.records


def test_what_the_caller_chose_is_not_doubted(tmp_path, caplog):
    folder = model(
        tmp_path / "model", *LOST, "config.json", vocab_txt="\n".join([*LINES, *CASED]) + "\n"
    )
    BertTokenizer.from_pretrained(folder, do_lower_case=True)
    assert not caplog.records


def test_a_check_says_nothing_and_keeps_nothing_from_being_said(tmp_path, caplog):
    folder = model(tmp_path / "model", *LOST, **shifted())
    check(folder)
    assert not caplog.records
    BertTokenizer.from_pretrained(folder)
    assert "pad_token_id" in caplog.text


@pytest.mark.parametrize(
    "other", ["Vocab.txt", "VOCAB.TXT", "vocab.txt.txt", "vocab (1).txt", "vocab.txt.gz"]
)
def test_a_vocabulary_by_another_name_is_named(tmp_path, other):
    folder = model(tmp_path / "model", "tokenizer.json")
    (folder / "vocab.txt").rename(folder / other)
    with pytest.raises(FileError) as caught:
        BertTokenizer.from_pretrained(folder)
    assert f"{other} is not read: rename it to vocab.txt" in str(caught.value)


def test_a_tokenizer_in_a_folder_is_named(tmp_path):
    model(tmp_path / "whole")
    os.mkdir(tmp_path / "model")
    (tmp_path / "whole").rename(tmp_path / "model" / "0_Transformer")
    with pytest.raises(FileError):
        BertTokenizer.from_pretrained(tmp_path / "model")
    assert BertTokenizer.from_pretrained(tmp_path / "model", subfolder="0_Transformer")(TEXT)


# Directories of other families: their files, and how a refusal names them.
JSON = {"added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}
FAMILIES = {
    "roberta": ({"vocab.json": {"a": 0}, "merges.txt": "#version: 0.2"}, "byte-level BPE, as GPT-2, RoBERTa"),
    "modernbert": (
        {
            "tokenizer.json": {**JSON, "pre_tokenizer": {"type": "ByteLevel"}},
            "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        },
        "byte-level BPE, as GPT-2, RoBERTa and ModernBERT have",
    ),
    "qwen": (
        {"tokenizer.json": {**JSON, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]}}},
        "byte-level BPE",
    ),
    "xlm-r": ({"sentencepiece.bpe.model": "x"}, "SentencePiece, as XLM-R, multilingual E5 and T5 have"),
    "e5": ({"tokenizer.json": {**JSON, "model": {"type": "Unigram", "vocab": []}}}, "SentencePiece, as XLM-R"),
    "llama": (
        {"tokenizer.json": {**JSON, "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend"}]}}},
        "SentencePiece",
    ),
    "t5": ({"spiece.model": "x", "config.json": {"model_type": "t5"}}, "SentencePiece, as XLM-R, multilingual E5"),
    "phobert": ({"bpe.codes": "x", "vocab.txt": "<unk>\nthe@@ 12\n"}, "a byte-pair encoding, as CLIP, XLM and PhoBERT"),
    "words": ({"tokenizer.json": {**JSON, "model": {"type": "WordLevel", "vocab": {"a": 0}}}}, "a list of whole words"),
    "by its class": (
        {"tokenizer_config.json": {"tokenizer_class": "XLMRobertaTokenizerFast"}, "vocab.txt": "<unk>\n"},
        "SentencePiece",
    ),
    "by its type": ({"config.json": {"model_type": "modernbert"}}, "byte-level BPE"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAMILIES)
def test_a_refusal_names_the_family_and_what_loads_it(tmp_path, name):
    files, message = FAMILIES[name]
    for file, content in files.items():
        (tmp_path / file).write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
    kinds = (
        [AutoTokenizer]
        if name == "by its type"
        else [AutoTokenizer, BertTokenizer, BertTokenizerFast]
    )
    for kind in kinds:
        with pytest.raises((FileError, FileFormatError)) as caught:
            kind.from_pretrained(tmp_path)
        assert message in str(caught.value)
        assert "transformers' AutoTokenizer loads it" in str(caught.value)
