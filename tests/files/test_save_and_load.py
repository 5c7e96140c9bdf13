"""Save and load: each class, each kind of directory, each change of a tokenizer. What loads again is
equal in ids, offsets, tokens, roles and settings, or the save was refused.
"""

from __future__ import annotations

import json
import logging
import pathlib
import random
from typing import Any

import pytest

import trietok
from tests.conftest import SPECIAL, assert_share, often
from trietok import (
    AddedToken,
    AutoTokenizer,
    BasicTokenizer,
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    FileFormatError,
    InputError,
    NotSupportedError,
    TrietokError,
    VocabularyError,
    WordpieceTokenizer,
)

CLASSES = pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
ENTRIES = [*SPECIAL, *"[unused1] un ##able @@able a ##b able é e 中 ##文 文 x C c .".split()]
TEXTS = ["unable UNABLE Éa é 中文 a.b C++ qqq [SEP] x", "abbbbbbbb c", "[unused1] <n> N y <7>", ""]
ROLES = ["unk_token", "cls_token", "sep_token", "pad_token", "mask_token", "bos_token", "eos_token"]
SETTINGS = ["model_max_length", "padding_side", "truncation_side", "model_input_names"]


def vocab(folder: pathlib.Path, kind: type = BertTokenizer, **options: Any) -> Any:
    """A tokenizer of a directory that holds a vocab.txt alone."""
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(ENTRIES) + "\n", encoding="utf-8")
    return kind.from_pretrained(folder, **options)


def encoded(tokenizer: Any) -> Any:
    """Ids and offsets of some texts, and of pairs if the tokenizer has the roles for them."""
    rows = [
        (found.input_ids, found.offset_mapping)
        for found in (
            tokenizer(text, add_special_tokens=False, return_offsets_mapping=True) for text in TEXTS
        )
    ]
    if None in (tokenizer.cls_token, tokenizer.sep_token, tokenizer.pad_token):
        return rows
    return rows, tokenizer(TEXTS, TEXTS, padding=True, truncation=True, max_length=12).data


def facts(tokenizer: Any) -> dict[str, Any]:
    """All that saving and loading has to keep."""
    return {
        "ids": tokenizer.get_vocab(),
        "added tokens": tokenizer.added_tokens_decoder,
        "roles": {role: getattr(tokenizer, role) for role in ROLES},
        "additional roles": tokenizer.additional_special_tokens,
        "settings": {name: getattr(tokenizer, name) for name in SETTINGS},
        "texts": encoded(tokenizer),
    }


class Letters(WordpieceTokenizer):
    def tokenize(self, text):
        return list(text.replace(" ", ""))

    def pieces_of(self, word):
        return list(word)


class Whole(BasicTokenizer):
    def tokenize(self, text, never_split=None):
        return text.split()


def stage(name, attribute, value):
    return lambda tokenizer: setattr(getattr(tokenizer, name), attribute, value)


def itself(attribute, value):
    return lambda tokenizer: setattr(tokenizer, attribute, value)


def matcher(**options):
    def change(tokenizer):
        tokenizer.wordpiece_tokenizer = WordpieceTokenizer(tokenizer.vocab, "[UNK]", **options)

    return change


def fewer_entries(tokenizer):
    tokenizer.wordpiece_tokenizer = WordpieceTokenizer({"[UNK]": 1, "a": 9, "un": 6}, "[UNK]")


def own_matcher(tokenizer):
    tokenizer.wordpiece_tokenizer = Letters(tokenizer.vocab, "[UNK]")


def own_words(tokenizer):
    tokenizer.basic_tokenizer = Whole()


def other_words(tokenizer):
    kind = type(tokenizer.basic_tokenizer)
    tokenizer.basic_tokenizer = kind(
        do_lower_case=False, tokenize_chinese_chars=False, strip_accents=True
    )


def method(name, *arguments):
    return lambda tokenizer: getattr(tokenizer, name)(*arguments)


# What a user sets, by what becomes of it on saving a slow and a fast tokenizer: "kept", "refused"
# (nothing is written) or "warned" (code, which no file holds).
KEPT = {
    "do_lower_case": stage("basic_tokenizer", "do_lower_case", False),
    "strip_accents": stage("basic_tokenizer", "strip_accents", False),
    "tokenize_chinese_chars": stage("basic_tokenizer", "tokenize_chinese_chars", False),
    "never_split": stage("basic_tokenizer", "never_split", {"C++"}),
    "basic_tokenizer": other_words,
    "the same wordpiece_tokenizer": matcher(),
    "no cls_token": itself("cls_token", None),
    "no pad_token": itself("pad_token", None),
    "sep_token": itself("sep_token", "[MASK]"),
    "added sep_token": method("add_special_tokens", {"sep_token": "x"}),
    "split_special_tokens": itself("split_special_tokens", True),
    "model_max_length": itself("model_max_length", 3),
    "truncation_side": itself("truncation_side", "left"),
    "padding_side": itself("padding_side", "left"),
    "model_input_names": itself("model_input_names", ["input_ids"]),
    "added_tokens": method("add_tokens", [AddedToken("<n>", lstrip=True), "N"]),
    "strip_accents of the tokenizer": itself("strip_accents", False),
    "tokenize_chinese_chars of the tokenizer": itself("tokenize_chinese_chars", False),
    "never_split of the tokenizer": itself("never_split", ["C++"]),
    "assign_unused": method("assign_unused", "[unused1]", "<n>"),
}
KEPT_BY_FAST_ONES = {
    "do_split_on_punc": stage("basic_tokenizer", "do_split_on_punc", False),
    "continuing_subword_prefix": stage("wordpiece_tokenizer", "continuing_subword_prefix", "@@"),
    "max_input_chars_per_word": stage("wordpiece_tokenizer", "max_input_chars_per_word", 4),
    "unk_token of the matcher": stage("wordpiece_tokenizer", "unk_token", "x"),
    "wordpiece_tokenizer": matcher(continuing_subword_prefix="@@"),
    "unk_token": itself("unk_token", "[MASK]"),
    "do_basic_tokenize": itself("do_basic_tokenize", False),
}
REFUSED = {
    "entries": fewer_entries,
    "no unk_token": itself("unk_token", None),
    "sep_token of the vocabulary": itself("sep_token", "x"),
    "pad_token of no vocabulary": itself("pad_token", "<pad>"),
    "additional_special_tokens": itself("additional_special_tokens", ["un"]),
}
WARNED = {
    "own basic_tokenizer": own_words,
    "own wordpiece_tokenizer": own_matcher,
    "method": itself("_convert_token_to_id", lambda token: 7),
}
CHANGES = {
    name: (change, slow, fast)
    for changes, slow, fast in (
        (KEPT, "kept", "kept"),
        (KEPT_BY_FAST_ONES, "refused", "kept"),
        (REFUSED, "refused", "refused"),
        (WARNED, "warned", "warned"),
    )
    for name, change in changes.items()
}


@CLASSES
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_saved_or_the_save_is_refused(tmp_path, name, kind, caplog):
    change, slow, fast = CHANGES[name]
    is_fast = kind is BertTokenizerFast
    tokenizer, expected = vocab(tmp_path / "model", kind), fast if is_fast else slow
    change(tokenizer)
    out = tmp_path / "out"
    if expected == "refused":
        with pytest.raises(TrietokError):
            tokenizer.save_pretrained(out)
        assert not out.exists()
        return
    with caplog.at_level(logging.WARNING, "trietok"):
        tokenizer.save_pretrained(out)
    warned = "code of yours" in caplog.text
    assert warned == (expected == "warned")
    if not warned:
        for loaded in (
            kind.from_pretrained(out),
            AutoTokenizer.from_pretrained(out, use_fast=is_fast),
        ):
            assert facts(loaded) == facts(tokenizer)
        loaded.save_pretrained(tmp_path / "again")
        assert contents(tmp_path / "again") == contents(out)


TOKENS = [None, *SPECIAL, "x", "a", "<new>", "[unused1]", "##b"]


def changed_at_random(tokenizer, draw):
    """Some changes of any kind that holds no code; what was done, in words."""
    done = []
    for _ in range(draw.randrange(1, 4)):
        what = draw.randrange(5)
        if what == 0:
            role, token = draw.choice(ROLES), draw.choice(TOKENS)
            setattr(tokenizer, role, token)
            done.append((role, token))
        elif what == 1:
            role, token = draw.choice(ROLES), draw.choice(TOKENS[1:])
            tokenizer.add_special_tokens({role: token})
            done.append(("add", role, token))
        elif what == 2:
            flags = {
                flag: draw.random() < 0.3
                for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")
            }
            token = AddedToken(draw.choice(["<n>", "N", "É", "x", "ab"]), **flags)
            tokenizer.add_tokens([token])
            done.append(("add", token))
        elif what == 3:
            token = draw.choice([*SPECIAL, "x", "<new>"])
            tokenizer.additional_special_tokens = [token]
            done.append(("additional", token))
        else:
            name = draw.choice(
                [name for name, (_, *becomes) in CHANGES.items() if "warned" not in becomes]
            )
            CHANGES[name][0](tokenizer)
            done.append(name)
    return done


@CLASSES
def test_whatever_saves_at_random_loads_with_equal_ids_and_roles(tmp_path, kind, caplog):
    start, rounds, saved = random.randrange(2**32), often(100), 0
    for seed in range(start, start + rounds):
        tokenizer, done = vocab(tmp_path / "model", kind), []
        try:
            done = changed_at_random(tokenizer, random.Random(seed))
        except TrietokError:  # the change itself is refused
            continue
        out = tmp_path / f"out{seed}"
        caplog.clear()
        try:
            tokenizer.save_pretrained(out)
        except (VocabularyError, NotSupportedError):
            assert not out.exists(), (seed, done)
            continue
        if "as it was before it was added again" in caplog.text:
            continue  # saving has said that a flag is lost
        loaded, saved = kind.from_pretrained(out), saved + 1
        assert encoded(loaded) == encoded(tokenizer), (seed, done)
        roles = [getattr(loaded, role) for role in ROLES]
        assert roles == [getattr(tokenizer, role) for role in ROLES], (seed, done)
    assert_share(saved, rounds, 0.2, start)


# ---- kinds of directories ------------------------------------------------------------------------


def older(folder: pathlib.Path) -> None:
    """As transformers wrote it before 4.34: no `added_tokens_decoder`."""
    changed(BertTokenizer.from_pretrained(folder)).save_pretrained(folder)
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    del config["added_tokens_decoder"]
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")


def changed(tokenizer: Any) -> Any:
    tokenizer.add_tokens(["y", AddedToken("<n>", lstrip=True, single_word=True, normalized=False)])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<7>"], "bos_token": "a"})
    return tokenizer


def slow_save(folder: pathlib.Path, **options: Any) -> None:
    slow = BertTokenizer.from_pretrained(folder, model_max_length=9, padding_side="left")
    changed(slow).save_pretrained(folder, **options)


def fast_save(folder: pathlib.Path, **options: Any) -> None:
    fast = BertTokenizerFast.from_pretrained(folder, do_lower_case=False, truncation_side="left")
    changed(fast).save_pretrained(folder, **options)


def json_alone(folder: pathlib.Path) -> None:
    fast_save(folder)
    for name in ("vocab.txt", "special_tokens_map.json", "tokenizer_config.json"):
        (folder / name).unlink()


DIRECTORIES = {
    "vocab.txt alone": lambda folder: None,
    "slow save": slow_save,
    "slow save with tokenizer.json": lambda folder: slow_save(folder, tokenizer_json=True),
    "fast save": fast_save,
    "fast save without tokenizer.json": lambda folder: fast_save(folder, legacy_format=True),
    "tokenizer.json alone": json_alone,
    "older directory": older,
}


def written(folder: pathlib.Path, name: str, entries: list[str] = ENTRIES) -> pathlib.Path:
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(entries) + "\n", encoding="utf-8")
    DIRECTORIES[name](folder)
    return folder


def contents(folder: pathlib.Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("name", DIRECTORIES)
@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast, AutoTokenizer])
def test_each_kind_of_directory_saves_and_loads_with_everything_equal(tmp_path, name, kind):
    model = written(tmp_path / "model", name)
    tokenizer = kind.from_pretrained(model)
    can_say = not (kind is BertTokenizer and name == "tokenizer.json alone")  # "a" is a role
    for number, options in enumerate([{}, {"tokenizer_json": True}][: 1 + can_say]):
        saved = tmp_path / str(number)
        paths = tokenizer.save_pretrained(saved, **options)
        assert sorted(paths) == sorted(str(path) for path in saved.iterdir())
        again = type(tokenizer).from_pretrained(saved)
        assert facts(again) == facts(tokenizer)
        assert again.fingerprint() == tokenizer.fingerprint()
        again.save_pretrained(tmp_path / f"{number}-again", **options)
        assert contents(tmp_path / f"{number}-again") == contents(saved)


@pytest.mark.parametrize("options", [{}, {"tokenizer_json": True}, {"tokenizer_json": False}])
@pytest.mark.parametrize("name", DIRECTORIES)
@CLASSES
def test_after_a_save_into_a_directory_every_class_loads_what_was_saved(
    tmp_path, name, kind, options
):
    """Whatever tokenizer was there: no file of it is left that would win."""
    directory = written(tmp_path / "there", name, [*SPECIAL, "other", "words", "##s"])
    (directory / "model.safetensors").write_bytes(b"weights")
    tokenizer = vocab(tmp_path / "model", kind)
    tokenizer.add_tokens(["<new>", "y"])
    tokenizer.save_pretrained(directory, **options)
    for each in (BertTokenizer, BertTokenizerFast, AutoTokenizer):
        loaded = each.from_pretrained(directory)
        assert loaded.get_vocab() == tokenizer.get_vocab()
        assert loaded.special_tokens_map == tokenizer.special_tokens_map
        text = "unable <new> a.b y"
        assert loaded(text).input_ids == tokenizer(text).input_ids
    assert facts(kind.from_pretrained(directory)) == facts(tokenizer)
    assert (directory / "model.safetensors").read_bytes() == b"weights"


def test_a_trained_encoding_leaves_no_file_of_the_tokenizer_before(tmp_path):
    model = written(tmp_path / "model", "slow save with tokenizer.json")
    trietok.train_bpe(["low lower lowest"], vocab_size=12, unk_token="<unk>").save(model)
    assert "<n>" not in trietok.Bpe.from_directory(model).vocab
    with pytest.raises(FileError):
        BertTokenizer.from_pretrained(model)
    slow = written(tmp_path / "other", "slow save with tokenizer.json")
    recipe = trietok.train_chinese_bpe(["处处闻啼鸟", "处处风雨声", "夜来风雨声"])
    trietok.training.save_chinese_bpe(recipe, slow)
    assert "<n>" not in AutoTokenizer.from_pretrained(slow).get_vocab()


# ---- what a save writes --------------------------------------------------------------------------


def test_what_is_saved_is_loaded(small, tmp_path):
    """No id moves, also where a token stands on two lines; saving again writes the same bytes."""
    tokenizer = small("a", "a", "b", do_lower_case=False, model_max_length=9)
    tokenizer.add_tokens(["x", AddedToken("<y>", lstrip=True, single_word=True, normalized=False)])
    saved = tokenizer.save_pretrained(tmp_path / "saved")
    assert sorted(path.rsplit("/", 1)[1] for path in saved) == [
        "added_tokens.json",
        "special_tokens_map.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]
    again = BertTokenizer.from_pretrained(tmp_path / "saved")
    assert again.vocabulary == tokenizer.vocabulary
    assert again.convert_tokens_to_ids(["a", "b", "x", "<y>"]) == [6, 7, 8, 9]
    again.save_pretrained(tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "saved")


def test_a_prefix_goes_before_every_name_and_is_no_path(small, tmp_path):
    tokenizer = small("a")
    paths = tokenizer.save_pretrained(tmp_path / "saved", filename_prefix="my")
    names = [path.rsplit("/", 1)[1] for path in paths]
    assert names == ["my-tokenizer_config.json", "my-special_tokens_map.json", "my-vocab.txt"]
    with pytest.raises(InputError):
        tokenizer.save_pretrained(tmp_path / "saved", filename_prefix="../q")
    assert sorted(contents(tmp_path / "saved")) == sorted(names)


def test_nothing_is_written_where_it_cannot_be(small, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError):
        small("a").save_pretrained(tmp_path / "file")
    with pytest.raises(NotSupportedError):
        small("a").save_pretrained(tmp_path / "new", push_to_hub=True)
    assert not (tmp_path / "new").exists()
    with pytest.raises(InputError):
        small("a").save_pretrained(tmp_path / "new", legacy_format=False)


@CLASSES
def test_a_role_of_the_empty_token_is_refused(tmp_path, kind, vocab_file):
    tokenizer = kind(vocab_file("", "a"))
    tokenizer.cls_token = ""
    with pytest.raises(VocabularyError, match="cls_token is '', which no file can hold"):
        tokenizer.save_pretrained(tmp_path / "saved")
    assert not (tmp_path / "saved").exists()


@CLASSES
def test_an_id_that_no_file_may_have_is_refused(tmp_path, kind):
    folder, out = tmp_path / "model", tmp_path / "out"
    vocab(folder)
    (folder / "added_tokens.json").write_text('{"<n>": 10000000}')
    tokenizer = kind.from_pretrained(folder)
    tokenizer.add_tokens("<m>")
    with pytest.raises(VocabularyError, match="'<m>' has the id 10,000,001"):
        tokenizer.save_pretrained(out)
    tokenizer.remove_tokens(["<m>"])  # whose id is not given again
    with pytest.raises(VocabularyError, match="a removed token had the id 10,000,001"):
        tokenizer.save_pretrained(out)
    assert not out.exists()
    tokenizer.remove_tokens([], compact=True)
    tokenizer.save_pretrained(out)
    assert kind.from_pretrained(out).get_vocab() == tokenizer.get_vocab()


def test_a_token_that_the_file_cannot_keep_is_refused(small, tmp_path):
    tokenizer = small("a")
    tokenizer.vocabulary.tokens.append("b\nc")
    with pytest.raises(VocabularyError) as caught:
        tokenizer.save_vocabulary(str(tmp_path))
    assert caught.value.token == "b\nc"


def test_added_tokens_can_be_merged_into_the_vocabulary_file(small, tmp_path):
    tokenizer = small("a", "a")
    tokenizer.add_tokens(["<x>", "<y>", "<z>"])
    tokenizer.remove_tokens(["<y>"])
    (path,) = tokenizer.save_vocabulary(tmp_path, filename_prefix="all", include_added=True)
    assert path == str(tmp_path / "all-vocab.txt")
    assert (tmp_path / "all-vocab.txt").read_text().splitlines() == [
        *SPECIAL,
        "a",
        "a",
        "<x>",
        "[unused-id-8]",
        "<z>",
    ]
    merged = BertTokenizer.from_pretrained(path)
    assert merged.convert_tokens_to_ids(["a", "<x>", "<z>"]) == [6, 7, 9]
    (path,) = tokenizer.save_vocabulary(str(tmp_path / "other.txt"), filename_prefix="my")
    assert path == str(tmp_path / "my-other.txt")
    tokenizer.add_tokens(["b\nc"])
    with pytest.raises(VocabularyError):
        tokenizer.save_vocabulary(tmp_path, include_added=True)


# ---- what a file may say -------------------------------------------------------------------------


@pytest.fixture
def directory(tmp_path):
    """A function that writes a directory of these files, JSON where it is no text, and returns
    it.
    """

    def write(**files):
        path = tmp_path / "model"
        path.mkdir(exist_ok=True)
        files.setdefault("vocab.txt", "\n".join([*SPECIAL, "a", "b"]) + "\n")
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (path / name.replace("_json", ".json").replace("_txt", ".txt")).write_text(
                text, encoding="utf-8"
            )
        return path

    return write


def test_the_callers_options_come_before_the_files(directory):
    path = directory(
        tokenizer_config_json={"do_lower_case": False, "cls_token": "a", "something": 1}
    )
    tokenizer = BertTokenizer.from_pretrained(path)
    assert (tokenizer.do_lower_case, tokenizer.cls_token, tokenizer.init_kwargs["something"]) == (
        False,
        "a",
        1,
    )
    tokenizer = BertTokenizer.from_pretrained(path, do_lower_case=True, cls_token="b")
    assert (tokenizer.do_lower_case, tokenizer.cls_token) == (True, "b")


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_length_that_is_written_as_a_float_is_an_int(kind, directory, tmp_path):
    tokenizer = kind.from_pretrained(directory(tokenizer_config_json={"model_max_length": 4.0}))
    assert tokenizer("a b a b", truncation=True).input_ids == [2, 5, 6, 3]
    assert tokenizer("a", padding="max_length").input_ids == [2, 5, 3, 0]
    assert repr(tokenizer.model_max_length) == "4"
    tokenizer.save_pretrained(tmp_path / "saved")
    assert (
        json.loads((tmp_path / "saved" / "tokenizer_config.json").read_bytes())["model_max_length"]
        == 4
    )


def test_a_directory_of_another_class_loads_if_the_caller_says_so(directory):
    unknown = directory(tokenizer_config_json={"tokenizer_class": "RobertaTokenizer"})
    with pytest.raises(FileFormatError):
        BertTokenizer.from_pretrained(unknown)
    assert BertTokenizer.from_pretrained(unknown, tokenizer_class=None).encode("a") == [2, 5, 3]


@pytest.mark.parametrize("file", ["tokenizer_config_json", "special_tokens_map_json"])
def test_no_file_says_where_the_vocabulary_is(directory, tmp_path, file):
    outside = tmp_path / "outside.txt"
    outside.write_text("[UNK]\nwrong\n")
    said = {"vocab_file": str(outside), "tokenizer_file": str(outside), "cls_token": "[CLS]"}
    tokenizer = BertTokenizer.from_pretrained(directory(**{file: said}))
    assert tokenizer.tokenize("a b wrong") == ["a", "b", "[UNK]"]
