"""`trietok.tokenizer_json` beside tokenizers: a file is read, and written with the same bytes."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests import strategies
from tests.conftest import assert_share, examples
from tests.parity.comparing import directory_named
from tests.parity.directories import FAMILY, class_of, vocabulary_file
from tests.strategies import BOOL, OPTIONAL_BOOL, some_of
from trietok.tokenizer_json import read_tokenizer_json, write_tokenizer_json


def assert_read_and_written_alike(path: Path) -> Any:
    """Read the file and write it: the bytes are those that the Rust library writes."""
    value = read_tokenizer_json(path)
    write_tokenizer_json(path.with_name("written.json"), value)
    rust = tokenizers.Tokenizer.from_file(str(path))
    written = path.with_name("written.json").read_text(encoding="utf-8")
    assert written == rust.to_str(pretty=True), path
    assert read_tokenizer_json(path.with_name("written.json")) == value
    return value


@st.composite
def changed_parts(draw: st.DrawFn) -> dict[str, Any]:
    """Parts of a tokenizer.json of the vocabulary "every role", each as it is or another."""
    cls, sep = ["[CLS]", 2], ["[SEP]", 3]
    flags = st.dictionaries(st.sampled_from(["trim_offsets", "add_prefix_space"]), st.booleans())
    roberta = {"type": "RobertaProcessing", "sep": sep, "cls": cls, "trim_offsets": True}
    bert = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    switches = some_of(
        clean_text=BOOL,
        handle_chinese_chars=BOOL,
        strip_accents=OPTIONAL_BOOL,
        lowercase=BOOL,
    )
    cut = {"direction": "Left", "max_length": 64, "strategy": "OnlyFirst", "stride": 2}
    fill = {"direction": "Left", "pad_to_multiple_of": 8, "pad_id": 1, "pad_type_id": 3}
    fill |= {"pad_token": "[UNK]"}
    parts = {
        "normalizer": st.none()
        | switches.map(lambda some: {**bert, "strip_accents": None, "lowercase": True, **some}),
        "post_processor": st.none()
        | st.just({"type": "BertProcessing", "sep": sep, "cls": cls})
        | flags.map(lambda some: {**roberta, "add_prefix_space": False, **some}),
        "decoder": st.none()
        | st.sampled_from(["##", "@@", ""]).map(
            lambda prefix: {"type": "WordPiece", "prefix": prefix, "cleanup": prefix == "##"}
        ),
        "truncation": st.sampled_from([None, cut, {**cut, "strategy": "LongestFirst"}]),
        "padding": st.sampled_from(
            [None, {"strategy": "BatchLongest", **fill}, {"strategy": {"Fixed": 64}, **fill}]
        ),
    }
    return draw(st.fixed_dictionaries({}, optional=parts))


@examples(60)
@given(st.sampled_from(FAMILY), st.lists(strategies.flagged_terms(), max_size=4), changed_parts())
def test_any_file_of_the_family_is_written_byte_for_byte_as_rust_writes_it(kind, terms, parts):
    with tempfile.TemporaryDirectory() as root:
        vocabulary = vocabulary_file("every role", Path(root))
        theirs = class_of(transformers, f"{kind}Fast")(str(vocabulary))
        theirs.add_tokens(strategies.made(transformers, terms))
        theirs.save_pretrained(root)
        path = Path(root, "tokenizer.json")
        file = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**file, **parts}), encoding="utf-8")
        value = assert_read_and_written_alike(path)
        rust = theirs.backend_tokenizer
        assert dict(value.vocabulary) == rust.get_vocab(with_added_tokens=False)
        added = {token_id: str(token) for token_id, token in theirs.added_tokens_decoder.items()}
        assert {token_id: str(token) for token_id, token in value.added_tokens.items()} == added


def test_a_file_is_refused_exactly_where_rust_gives_other_ids():
    counts: Counter[str] = Counter()
    ids = st.integers(0, 9)
    off = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##"}

    @examples(120)
    @given(
        st.dictionaries(st.sampled_from("abcd"), ids),
        st.dictionaries(st.sampled_from(["a", "b", "<x>", "<y>"]), ids, max_size=2),
        st.booleans(),
    )
    def compare(vocabulary, added, in_order):
        vocabulary = {token: i for i, token in {i: t for t, i in vocabulary.items()}.items() if i}
        vocabulary["[UNK]"] = 0
        if in_order:
            vocabulary = {token: number for number, token in enumerate(vocabulary)}
            added = {token: len(vocabulary) + i for i, token in enumerate(sorted(added))}
        tokens = sorted((token_id, token) for token, token_id in added.items())
        file = {
            **dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder")),
            "version": "1.0",
            "added_tokens": [
                {"id": token_id, "content": token, **off} for token_id, token in tokens
            ],
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {**model, "max_input_chars_per_word": 100, "vocab": vocabulary},
        }
        wanted = {**vocabulary, **added}
        rust = tokenizers.Tokenizer.from_str(json.dumps(file))
        agrees = rust.get_vocab() == wanted and wanted == {**added, **vocabulary}
        agrees = agrees and len(set(wanted.values())) == len(wanted)
        with tempfile.TemporaryDirectory() as root:
            path = Path(root, "tokenizer.json")
            path.write_text(json.dumps(file), encoding="utf-8")
            try:
                assert_read_and_written_alike(path)
            except trietok.VocabularyError:
                counts["refused"] += 1
                assert not agrees, file
            else:
                counts["written"] += 1
                assert agrees, file

    compare()
    for kind in ("refused", "written"):
        assert_share(counts[kind], counts.total(), 0.2)


def test_a_file_that_fails_at_the_first_unknown_word_is_refused(tmp_path):
    path = vocabulary_file("uncased", tmp_path)
    # The unknown token of Funnel, <unk>, becomes an added token.
    theirs = transformers.FunnelTokenizerFast(vocab_file=str(path))
    theirs.save_pretrained(tmp_path)
    with pytest.raises(trietok.VocabularyError, match="<unk>"):
        read_tokenizer_json(tmp_path / "tokenizer.json")
    with pytest.raises(Exception, match="Missing"):
        theirs.encode("zzz")


@pytest.mark.parity
def test_published_files_are_written_as_rust_writes_them(tmp_path):
    paths = sorted(directory_named("TRIETOK_MODELS").glob("*/tokenizer.json"))
    assert paths
    for path in paths:
        copy = tmp_path / "tokenizer.json"
        copy.write_bytes(path.read_bytes())
        assert_read_and_written_alike(copy)
