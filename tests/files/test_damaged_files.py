"""What loading a directory with something wrong answers, for each class that loads directories.

`data/directories.json` has a line for each folder of `data/invalid`, `data/invalid_tokenizer_json`,
`data/other_families`, `data/doubtful` and `data/odd_but_valid`:

    all         what loading gives: "loads", "loads with a warning", or the error it `raises`, with
                the error's attributes; `path` is the file's name, empty for the directory
    a class     the same for that class alone
    says        parts of the error's message
    warns       a pattern that matches exactly one warning, of the classes in `warns_in` or of all
"""

from __future__ import annotations

import gzip
import json
import pathlib
import re
import shutil
from typing import Any

import pytest

import trietok
from tests.files.saving import FILES
from tests.vocabulary.faults import FAULTS
from trietok import (
    AddedToken,
    AutoTokenizer,
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    FileFormatError,
)
from trietok.tokenizer_json import read_tokenizer_json

DATA = pathlib.Path(__file__).parents[1] / "data"
TABLE = json.loads((DATA / "directories.json").read_text(encoding="utf-8"))
LOADERS = (BertTokenizer, BertTokenizerFast, AutoTokenizer)
# The classes whose message is compared: those that read the damaged file.
SAYING = {
    "invalid": ["BertTokenizer"],
    "other_families": ["BertTokenizer", "BertTokenizerFast", "AutoTokenizer"],
}
LONGEST_MESSAGE = 800  # characters beside the path: it does not repeat the file


def of_kinds(*kinds: str) -> Any:
    names = [name for name in TABLE if name.partition("/")[0] in kinds]
    return pytest.mark.parametrize("name", names)


def test_the_table_has_a_line_for_every_directory():
    kinds = {name.partition("/")[0] for name in TABLE}
    folders = [path for kind in kinds for path in (DATA / kind).iterdir() if path.is_dir()]
    assert sorted(f"{path.parent.name}/{path.name}" for path in folders) == sorted(TABLE)


def assert_raises_as_listed(error: trietok.TrietokError, want: dict, folder: pathlib.Path) -> str:
    """Compare an error with a line of the table; the message without the folder's name."""
    path = getattr(error, "path", None)
    attributes = {
        "raises": type(error).__name__,
        "path": None if path is None else pathlib.Path(path).relative_to(folder).as_posix(),
        **{name: getattr(error, name, None) for name in ("line_number", "token")},
    }
    attributes["path"] = "" if attributes["path"] == "." else attributes["path"]
    names = ("raises", "path", "line_number", "token")
    assert attributes == {name: want.get(name) for name in names}
    message = str(error).replace(str(folder), "")
    assert len(message) <= LONGEST_MESSAGE
    return message


@of_kinds("invalid", "invalid_tokenizer_json", "other_families", "odd_but_valid")
def test_each_directory_loads_or_is_refused_as_the_table_says(tmp_path, name, caplog):
    for kind in LOADERS:
        folder = shutil.copytree(DATA / name, tmp_path / kind.__name__)  # one is warned of once
        caplog.clear()
        want = TABLE[name].get(kind.__name__, TABLE[name]["all"])
        if isinstance(want, str):
            kind.from_pretrained(folder)
            assert bool(caplog.records) == (want == "loads with a warning"), (kind, caplog.text)
        else:
            with pytest.raises(trietok.TrietokError) as caught:
                kind.from_pretrained(folder)
            message = assert_raises_as_listed(caught.value, want, folder)
            assert_says_as_listed(message, want, name, kind.__name__)


def assert_says_as_listed(message: str, want: dict, name: str, kind: str) -> None:
    row, family = TABLE[name], name.partition("/")[0]
    if kind in SAYING.get(family, ()):
        said = want.get("says", row["says"])
        assert [part for part in said if part not in message] == [], (kind, message)
    if family == "other_families" and message.strip() and "vocab.txt" not in row["says"]:
        assert "transformers' AutoTokenizer loads it" in message


@of_kinds("invalid_tokenizer_json")
def test_reading_an_invalid_tokenizer_json_says_what_is_wrong(name):
    path = DATA / name / "tokenizer.json"
    with pytest.raises(trietok.TrietokError) as caught:
        read_tokenizer_json(path)
    message = str(caught.value).replace(str(path.parent), "")
    assert [part for part in TABLE[name]["says"] if part not in message] == [], message
    assert len(message) <= LONGEST_MESSAGE


@of_kinds("invalid", "invalid_tokenizer_json", "other_families")
def test_a_check_finds_an_error_in_what_does_not_load(name):
    assert trietok.check(DATA / name).errors


@pytest.mark.parametrize("kind", LOADERS, ids=lambda kind: kind.__name__)
@of_kinds("doubtful")
def test_a_directory_that_probably_has_other_ids_loads_with_one_warning(
    tmp_path, name, kind, caplog
):
    row, folder = TABLE[name], tmp_path / "model"
    shutil.copytree(DATA / name, folder)
    found = trietok.check(folder)
    assert not caplog.records  # a check says it in its report
    for _ in range(2):
        kind.from_pretrained(folder)
    said = [record.getMessage() for record in caplog.records]
    warnings = [line for line in said if re.search(row["warns"], line)]
    assert len(warnings) == (kind.__name__ in row.get("warns_in", [kind.__name__]))
    assert all(str(folder) in line for line in warnings)
    assert found.errors or "warning" in {finding.severity for finding in found.findings}


@of_kinds("odd_but_valid")
def test_a_directory_that_is_odd_but_valid_keeps_its_ids_when_saved(tmp_path, name):
    want = json.loads((DATA / name / "expected.json").read_text(encoding="utf-8"))
    is_older = "added_tokens" in want  # as transformers before 4.34 wrote it: flags come from roles
    for kind in (BertTokenizer, BertTokenizerFast)[: 1 + is_older]:
        tokenizer = kind.from_pretrained(DATA / name)
        saved = tmp_path / kind.__name__
        tokenizer.save_pretrained(saved)
        for each in (tokenizer, kind.from_pretrained(saved)):
            assert {text: each.encode(text) for text in want["ids"]} == want["ids"]
            assert each.get_vocab() == tokenizer.get_vocab()
            assert each.special_tokens_map == tokenizer.special_tokens_map
        if is_older:
            added = {
                int(token_id): AddedToken(**token)
                for token_id, token in want["added_tokens"].items()
            }
            assert tokenizer.added_tokens_decoder == added
            assert tokenizer.additional_special_tokens == want["additional_special_tokens"]
        config = json.loads((saved / "tokenizer_config.json").read_text(encoding="utf-8"))
        assert {key: config.get(key) for key in want.get("kept", {})} == want.get("kept", {})


# ---- a file that is another thing ----------------------------------------------------------------

CONTENTS = {  # what it is → its bytes, and a part of the message
    "a git-lfs pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:07eced\nsize 231508\n",
        "git lfs pull",
    ),
    "a pointer of another store": (b"# xet version 0\nfilesize = 231508\n", "download the file"),
    "a page": (b"<!DOCTYPE html>\n<html>\n<head>", "a web page"),
    "a page of nginx": (b"<html>\r\n<head><title>404 Not Found</title></head>\r\n", "a web page"),
    "an answer of a store": (
        b'<?xml version="1.0"?>\n<Error><Code>AccessDenied</Code></Error>',
        "a web page",
    ),
    "gzip": (gzip.compress(b"[PAD]\n[UNK]\n"), "a compressed file; unpack it"),
    "zip": (b"PK\x03\x04\x14\0\0\0", "a compressed file"),
    "an error as JSON": (b'{"error": "Repository not found"}', "the answer of a server"),
    "an error in words": (b"Entry not found", "the answer of a server"),
    "the number of an error": (b"404: Not Found", "the answer of a server"),
    "a link as text": (
        b"../../blobs/07eced375cec144d27c900241f3e339478dec958",
        "the target of a link",
    ),
    "UTF-16": ("[PAD]\n[UNK]\n".encode("utf-16"), "text in UTF-16; convert it"),
    "UTF-16, big end first": (b"\xfe\xff" + "東\n".encode("utf-16-be"), "text in UTF-16"),
    "SentencePiece": (b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02\n", "a SentencePiece model"),
}
LINES = (FAULTS / "base" / "vocab.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def model(tmp_path) -> pathlib.Path:
    """A sound directory with vocab.txt, tokenizer.json, configs and a map."""
    shutil.copytree(FAULTS / "base", tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("what", CONTENTS)
@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_another_thing_is_named_with_what_to_do(model, name, what):
    content, message = CONTENTS[what]
    if name != "tokenizer.json":
        (model / "tokenizer.json").unlink()
    config = json.loads((model / "tokenizer_config.json").read_text(encoding="utf-8"))
    del config["added_tokens_decoder"]  # else the older files are not read
    (model / "tokenizer_config.json").write_text(json.dumps(config))
    (model / name).write_bytes(content)
    for kind in (AutoTokenizer, BertTokenizerFast):
        with pytest.raises(FileFormatError, match=re.escape(message)) as caught:
            kind.from_pretrained(model)
        assert caught.value.path == str(model / name)


def test_a_list_of_tokens_as_json_is_no_vocabulary(model):
    (model / "tokenizer.json").unlink()
    for text in (json.dumps(dict(zip(LINES, range(161), strict=True))), json.dumps(LINES)):
        (model / "vocab.txt").write_text(text)
        for path in (model, model / "vocab.txt"):
            with pytest.raises(FileFormatError):
                AutoTokenizer.from_pretrained(path)


@pytest.mark.parametrize(
    "first", ["{", "<html>", "404", "not found\nforbidden", "version https", "PK", "./a"]
)
def test_tokens_that_look_like_another_kind_of_file_are_tokens(model, first):
    (model / "tokenizer.json").unlink()
    (model / "config.json").unlink()
    (model / "vocab.txt").write_text("\n".join([first, *LINES, "}"]) + "\n")
    (model / "tokenizer_config.json").unlink()
    assert BertTokenizer.from_pretrained(model).tokenize("the") == ["the"]
    (model / "added_tokens.json").write_text('{"error": 900, "message": 901}')
    assert BertTokenizer.from_pretrained(model).encode("error message")[1:-1] == [900, 901]


@pytest.mark.parametrize("name", FILES[1:])
def test_one_of_the_files_is_refused_in_place_of_their_directory(model, name):
    for file in ("special_tokens_map.json", "added_tokens.json"):
        (model / file).write_text("{}")
    if name == "tokenizer.json":  # which has all
        assert BertTokenizerFast.from_pretrained(model / name).tokenize("the") == ["the"]
        return
    for kind in LOADERS:
        with pytest.raises(FileError, match=re.escape(f"give its directory, {model}")):
            kind.from_pretrained(model / name)
    assert not trietok.check(model / name).ok


@pytest.mark.parametrize("name", FILES)
def test_a_link_that_leads_nowhere_is_refused(model, name):
    (model / name).unlink(missing_ok=True)
    (model / name).symlink_to("../blobs/0123")
    for kind in LOADERS:
        with pytest.raises(FileError):
            kind.from_pretrained(model)


@pytest.mark.parametrize(
    "other", ["Vocab.txt", "VOCAB.TXT", "vocab.txt.txt", "vocab (1).txt", "vocab.txt.gz"]
)
def test_a_vocabulary_by_another_name_is_named_in_the_error(model, other):
    (model / "tokenizer.json").unlink()
    (model / "vocab.txt").rename(model / other)
    with pytest.raises(FileError, match=re.escape(other)):
        BertTokenizer.from_pretrained(model)


def test_a_tokenizer_in_a_folder_below_loads_by_its_subfolder(model):
    below = model.parent / "whole" / "0_Transformer"
    shutil.copytree(model, below)
    with pytest.raises(FileError):
        BertTokenizer.from_pretrained(below.parent)
    assert BertTokenizer.from_pretrained(below.parent, subfolder="0_Transformer").encode("the")


# ---- what is in order ----------------------------------------------------------------------------


@pytest.mark.parametrize("gone", [None, "tokenizer.json", "vocab.txt", "config.json"])
def test_a_healthy_directory_loads_in_silence(model, gone, caplog):
    if gone:
        (model / gone).unlink()
    for copy in ("vocab.txt.bak", "tokenizer.json.orig", "my-vocab.txt", "README.md"):
        (model / copy).write_text("x")
    AutoTokenizer.from_pretrained(model)
    assert not caplog.records


@pytest.mark.parametrize("name", ["trietok-en", "trietok-multi", "trietok-zh"])
def test_the_built_in_vocabularies_load_in_silence(name, caplog):
    AutoTokenizer.from_pretrained(name)
    BertTokenizer.from_pretrained(name)
    assert not caplog.records


def test_a_setting_that_the_caller_chose_is_not_warned_of(caplog):
    folder = DATA / "doubtful" / "a-cased-vocabulary-without-its-config"
    BertTokenizer.from_pretrained(folder, do_lower_case=True)
    assert not caplog.records
