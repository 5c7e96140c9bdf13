"""Exporting: each class to each file, what its readers do otherwise, and what no file can say."""

from __future__ import annotations

import pytest

import trietok
from tests.locking.engines import write_package
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    FileError,
    InputError,
    InputTypeError,
    NotSupportedError,
    SplinterTokenizer,
)
from trietok.tokenizer.fast_relatives import FAST_CLASSES
from trietok.tokenizer.relatives import CLASSES

WORDS = (
    "hello",
    "world",
    "hel",
    "##lo",
    "東",
    "a",
    "##b",
    "<s>",
    "</s>",
    "<pad>",
    "<mask>",
    "<cls>",
    "<sep>",
    "[unk]",
    "<unk>",
)
TEXTS = ["hello world", "a\u0378b", "Hello 東 [MASK]", ""]


def test_a_slow_tokenizer_as_tokenizer_json(small, tmp_path):
    tokenizer = small(*WORDS)
    path = tmp_path / "out.json"
    exported = trietok.export(tokenizer, "tokenizer.json", path, texts=iter(TEXTS))
    assert str(exported).split("\n") == [
        f"written to {path}; BertTokenizerFast gives other ids for 1 of 4 texts",
        "text 2, 0-3: 'a\\u0378b'",
        "    the tokenizer: a ##b",
        "    the reader:    [UNK]",
        "  cleaned: the tokenizer deletes U+0378 <reserved-0378>, the reader does not",
    ]
    assert not exported.same_ids
    assert (
        trietok.export(tokenizer, "tokenizer.json", path, texts=TEXTS[:1]).summary
        == f"written to {path}; BertTokenizerFast gives the same ids for 1 text"
    )
    read = BertTokenizerFast(tokenizer_file=path)
    assert [read.encode(text) for text in TEXTS] == [
        BertTokenizerFast(tmp_path / "vocab.txt").encode(t) for t in TEXTS
    ]


def test_the_library_itself_gives_what_is_foretold(small, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = small(*WORDS)
    tokenizer.add_tokens(["Hello W", "b東"])
    path = tmp_path / "tokenizer.json"
    exported = trietok.export(
        tokenizer, "tokenizer.json", path, texts=[*TEXTS, "b東"], engines=["tokenizers"]
    )
    assert exported.checked == {f"tokenizers {tokenizers.__version__}": 0}
    rust = tokenizers.Tokenizer.from_file(str(path))
    assert [rust.encode(each.text).ids for each in exported.examples] == [
        each.readers_ids for each in exported.examples
    ]


@pytest.mark.parametrize("kind", [*CLASSES, *FAST_CLASSES], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("to", ["tokenizer.json", "vocab.txt"])
def test_every_class_can_be_exported(vocab_file, tmp_path, kind, to):
    tokenizer = kind(vocab_file(*WORDS))
    exported = trietok.export(tokenizer, to, tmp_path / "out", texts=TEXTS)
    slow = kind.__name__.removesuffix("Fast")
    assert exported.reader == ("BertTokenizerFast" if to == "tokenizer.json" else slow)
    assert exported.differing == (tokenizer.is_fast != (to == "tokenizer.json"))


def test_a_fast_tokenizer_as_vocab_txt(vocab_file, tmp_path):
    tokenizer = BertTokenizerFast(vocab_file(*WORDS), do_lower_case=False, cls_token="<s>")
    exported = trietok.export(
        tokenizer, "vocab.txt", tmp_path / "out.txt", texts=["Hello", "hello"]
    )
    assert exported.options == {"do_lower_case": False, "cls_token": "<s>"}
    assert "the file does not say: do_lower_case=False, cls_token='<s>'" in str(exported)
    assert (tmp_path / "out.txt").read_bytes() == (tmp_path / "vocab.txt").read_bytes()
    reader = BertTokenizer(tmp_path / "out.txt", **exported.options)
    assert reader.encode("Hello hello") == tokenizer.encode("Hello hello")


@pytest.mark.parametrize(
    ("to", "message"),
    [
        (
            "vocab.txt",
            (
                r"a vocab.txt alone cannot say .*: 2 added tokens \('<x>', '<y>'\), which would be"
                r" found no more"
            ),
        ),
        (
            "tokenizer.json",
            (
                r"a tokenizer.json cannot say what this BertTokenizer is: never_split \('hello'\)\."
                r" Change"
            ),
        ),
    ],
)
def test_what_a_file_cannot_say(small, tmp_path, to, message):
    tokenizer = small(*WORDS, never_split=["hello"] if to == "tokenizer.json" else None)
    tokenizer.add_tokens(["<x>", "<y>"])
    with pytest.raises(NotSupportedError, match=message):
        trietok.export(tokenizer, to, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_more_that_a_vocab_txt_cannot_say(vocab_file, tmp_path):
    tokenizer = BertTokenizerFast(vocab_file(*WORDS))
    tokenizer.save_pretrained(tmp_path / "fast")
    path = tmp_path / "fast" / "tokenizer.json"
    text = path.read_text(encoding="utf-8")
    for old, new, message in (
        (
            '"continuing_subword_prefix": "##"',
            '"continuing_subword_prefix": "@@"',
            "it continues words with '@@'",
        ),
        (
            '"max_input_chars_per_word": 100',
            '"max_input_chars_per_word": 7',
            "its longest words have 7 characters",
        ),
        ('"clean_text": true', '"clean_text": false', "its texts are not cleaned"),
        ('"id": "[SEP]",', '"id": "[CLS]",', "its template puts other special tokens around texts"),
    ):
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(NotSupportedError, match=message):
            trietok.export(
                BertTokenizerFast.from_pretrained(tmp_path / "fast"), "vocab.txt", tmp_path / "out"
            )


def test_mistakes(small, tmp_path):
    tokenizer = small(*WORDS)
    with pytest.raises(
        InputError, match=r"exported to tokenizer.json or vocab.txt, not to 'vocab.json'"
    ):
        trietok.export(tokenizer, "vocab.json", tmp_path / "out")
    with pytest.raises(InputTypeError, match="takes a list of texts, not one"):
        trietok.export(tokenizer, "vocab.txt", tmp_path / "out", texts="hello")
    with pytest.raises(InputError, match="there is no engine 'rust'"):
        trietok.export(tokenizer, "vocab.txt", tmp_path / "out", engines=["rust"])
    with pytest.raises(
        InputTypeError, match=r"engines are a list of names, not one: \['tokenizers'\]"
    ):
        trietok.export(tokenizer, "tokenizer.json", tmp_path / "out", engines="tokenizers")
    with pytest.raises(InputTypeError, match="text 2 is a NoneType, not a str: None"):
        trietok.export(tokenizer, "vocab.txt", tmp_path / "out", texts=["a", None])
    with pytest.raises(InputTypeError, match="export takes a list of texts, not 5"):
        trietok.export(tokenizer, "vocab.txt", tmp_path / "out", texts=5)
    for texts, what in (([], "there is no text"), (["", ""], "every text is empty")):
        with pytest.raises(InputError, match=f"{what}, so nothing would be tried"):
            trietok.export(tokenizer, "vocab.txt", tmp_path / "out", texts=texts)
    assert not (tmp_path / "out").exists()
    with pytest.raises(FileError, match=r"cannot write .*out: No such file"):
        trietok.export(tokenizer, "vocab.txt", tmp_path / "no" / "out", texts=TEXTS)
    with pytest.raises(
        NotSupportedError, match=r"has no vocab.txt; BertTokenizer and its family have one"
    ):
        trietok.export(object(), "vocab.txt", tmp_path / "out")


@pytest.mark.parametrize(
    ("to", "engine"),
    [
        ("tokenizer.json", "transformers-slow"),
        ("tokenizer.json", "flash-tokenizer"),
        ("vocab.txt", "tokenizers"),
        ("vocab.txt", "transformers-fast"),
    ],
)
def test_an_engine_that_cannot_read_the_file_as_its_readers_do_is_refused(
    small, tmp_path, to, engine
):
    with pytest.raises(
        InputError,
        match=f"^{engine} cannot read a {to} as its readers do; those are transformers, ",
    ):
        trietok.export(small(*WORDS), to, tmp_path / "out", engines=[engine])
    assert not (tmp_path / "out").exists()


TRANSFORMERS = """
    import os, trietok
    __version__ = "9.9"

    class Reader:
        @classmethod
        def from_pretrained(cls, directory):
            there = set(os.listdir(directory))
            if cls.__name__ == "BertTokenizerFast" and there != {"tokenizer.json", "tokenizer_config.json"}:
                raise ValueError(str(there))
            return cls.kind.from_pretrained(directory)

    class BertTokenizer(Reader):
        kind = trietok.BertTokenizer

    class BertTokenizerFast(Reader):
        kind = trietok.BertTokenizerFast
"""


@pytest.mark.parametrize("engine", ["transformers", "profile"])
@pytest.mark.parametrize("to", ["tokenizer.json", "vocab.txt"])
def test_an_engine_reads_only_the_file_with_the_class_of_its_readers(
    vocab_file, tmp_path, monkeypatch, to, engine
):
    (tmp_path / "packages").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    write_package(tmp_path / "packages", "transformers", TRANSFORMERS)
    is_json = to == "tokenizer.json"
    tokenizer = (BertTokenizer if is_json else BertTokenizerFast)(
        vocab_file(*WORDS), do_lower_case=False
    )
    engine = engine if engine == "transformers" else f"transformers-{'fast' if is_json else 'slow'}"
    exported = trietok.export(
        tokenizer, to, tmp_path / "out", texts=["a\u0378b", "Hello"], engines=[engine]
    )
    assert (exported.differing, exported.checked) == (1, {f"{engine} 9.9": 0})


@pytest.mark.engines
@pytest.mark.parametrize("to", ["tokenizer.json", "vocab.txt"])
def test_transformers_itself_gives_what_is_foretold(vocab_file, tmp_path, to):
    transformers = pytest.importorskip("transformers")
    kind, profile = (
        (BertTokenizer, "fast") if to == "tokenizer.json" else (BertTokenizerFast, "slow")
    )
    if profile == "slow" and int(transformers.__version__.partition(".")[0]) >= 5:
        pytest.skip("transformers 5 has no slow tokenizers")
    tokenizer = kind(vocab_file(*WORDS), do_lower_case=False, mask_token="<mask>")
    names = ["transformers", f"transformers-{profile}"]
    exported = trietok.export(
        tokenizer, to, tmp_path / "out", texts=["a\u0378b", "Hello <mask>"], engines=names
    )
    assert exported.differing == 1
    assert list(exported.checked.values()) == [0, 0]


def test_tokens_that_only_the_class_adds_are_not_foretold_of_the_file(vocab_file, tmp_path):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = SplinterTokenizer(vocab_file(*WORDS, "[QUESTION]"))
    path = tmp_path / "tokenizer.json"
    exported = trietok.export(tokenizer, "tokenizer.json", path, texts=["hello [QUESTION]"])
    assert exported.same_ids
    rust = tokenizers.Tokenizer.from_file(str(path))
    assert rust.encode("hello [QUESTION]").ids == tokenizer.encode("hello [QUESTION]")
