"""tokenizer.json against tokenizers and transformers: the same bytes, and the same ids from what is
written.
"""

from __future__ import annotations

import json
import pathlib

import pytest
import tokenizers
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.files.test_tokenizer_json import FLAGS, values
from trietok import AddedToken
from trietok.files.formats import WORDPIECE_FAMILY
from trietok.files.tokenizer_json import read_tokenizer_json
from trietok.files.tokenizer_json_content import TokenizerJson
from trietok.files.tokenizer_json_writer import (
    tokenizer_json_object,
    tokenizer_json_text,
    write_tokenizer_json,
)

from .conftest import UNCASED, directory_named

# ---- what the family's converters write ----------------------------------------------------------

OTHER_ROLES = ["<unk>", "<s>", "</s>", "<pad>", "<mask>", "<sep>", "<cls>"]
VOCABULARIES = {
    "with every role": [*UNCASED, *OTHER_ROLES, "[QUESTION]"],
    "with BERT's roles": [*UNCASED, "<unk>"],
    "without a full stop": [*(token for token in UNCASED if token != "."), "<unk>"],
}
TEXTS = ["hello, the people", "Unaffable [MASK] <mask> abc!", "hello. <new> <x> \u00e9\u4e16 zzz"]
PAIRS = [("hello", "the people."), ("abc <x>", "[MASK] world")]


def fast_tokenizer(kind: str, vocabulary: str, directory: pathlib.Path, **options):
    path = directory / "vocab.txt"
    path.write_text("".join(token + "\n" for token in VOCABULARIES[vocabulary]), encoding="utf-8")
    return getattr(transformers, f"{kind}TokenizerFast")(vocab_file=str(path), **options)


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("kind", WORDPIECE_FAMILY)
def test_a_familys_file_is_read_and_written_back_byte_for_byte(kind, vocabulary, tmp_path):
    theirs = fast_tokenizer(kind, vocabulary, tmp_path, do_lower_case=False)
    theirs.add_tokens(["<x>", transformers.AddedToken("<new>", lstrip=True, single_word=True)])
    theirs.save_pretrained(tmp_path)
    value = read_tokenizer_json(tmp_path / "tokenizer.json")
    written = (tmp_path / "tokenizer.json").read_bytes()
    write_tokenizer_json(tmp_path / "again.json", value)
    assert (tmp_path / "again.json").read_bytes() == written
    assert value.vocabulary == {**theirs.backend_tokenizer.get_vocab(with_added_tokens=False)}
    assert {i: str(token) for i, token in value.added_tokens.items()} == {
        i: str(token) for i, token in theirs.added_tokens_decoder.items()
    }


def test_a_file_that_fails_at_the_first_unknown_word_is_refused(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_text("".join(token + "\n" for token in UNCASED), encoding="utf-8")
    # its unknown token becomes an added one
    theirs = transformers.FunnelTokenizerFast(vocab_file=str(path))
    theirs.save_pretrained(tmp_path)
    with pytest.raises(trietok.VocabularyError, match="<unk>"):
        read_tokenizer_json(tmp_path / "tokenizer.json")
    with pytest.raises(Exception, match="Missing"):
        theirs.encode("zzz")


@pytest.mark.parametrize("kind", WORDPIECE_FAMILY)
def test_a_familys_template_is_that_of_its_calls(kind, tmp_path):
    theirs = fast_tokenizer(kind, "with every role", tmp_path)
    theirs.save_pretrained(tmp_path)
    value = read_tokenizer_json(tmp_path / "tokenizer.json")
    assert_template(value, theirs.backend_tokenizer)


def assert_template(value: TokenizerJson, rust) -> None:
    """One token a text: so what Rust gives is the template, a text's place being its one
    token's.
    """
    for pair in (False, True):
        encoding = rust.encode("hello", "people") if pair else rust.encode("hello")
        own_ids = [
            rust.encode(text, add_special_tokens=False).ids[0] for text in ("hello", "people")
        ]
        pieces = value.pieces(pair)
        ids = [
            piece.token_id if piece.sequence is None else own_ids[piece.sequence]
            for piece in pieces
        ]
        assert encoding.ids == ids
        assert encoding.type_ids == [piece.type_id for piece in pieces]
        assert encoding.special_tokens_mask == [int(piece.sequence is None) for piece in pieces]
        special = [piece.token for piece in pieces if piece.sequence is None]
        assert [
            t for t, mask in zip(encoding.tokens, encoding.special_tokens_mask, strict=True) if mask
        ] == special


@pytest.mark.parametrize("kind", ["Bert", "MPNet", "Funnel", "Splinter"])
def test_what_is_written_gives_the_same_ids_offsets_and_texts(kind, tmp_path):
    theirs = fast_tokenizer(kind, "with every role", tmp_path)
    theirs.add_tokens(["<x>", transformers.AddedToken("<new>", lstrip=True)])
    theirs.save_pretrained(tmp_path)
    path = tmp_path / "written.json"
    write_tokenizer_json(path, read_tokenizer_json(tmp_path / "tokenizer.json"))
    rust = tokenizers.Tokenizer.from_file(str(path))
    classes = (type(theirs), transformers.PreTrainedTokenizerFast)
    loaded = [cls(tokenizer_file=str(path)) for cls in classes]
    for text in [*TEXTS, *PAIRS]:
        parts = (text,) if isinstance(text, str) else text
        want = theirs(*parts, return_offsets_mapping=True)
        encoding = rust.encode(*parts)
        assert (encoding.ids, encoding.offsets) == (want["input_ids"], want["offset_mapping"])
        assert rust.decode(encoding.ids) == theirs.decode(
            want["input_ids"], skip_special_tokens=True
        )
        for tokenizer in loaded:
            got = tokenizer(*parts, return_offsets_mapping=True)
            assert {key: got[key] for key in want} == dict(want)


# ---- any value -----------------------------------------------------------------------------------


@examples(40)
@given(values())
def test_rust_loads_what_is_written_and_saves_the_same_bytes(value):
    rust = tokenizers.Tokenizer.from_str(tokenizer_json_text(value, pretty=False))
    assert rust.to_str(pretty=True) == tokenizer_json_text(value)
    assert rust.to_str(pretty=False) == tokenizer_json_text(value, pretty=False)
    assert rust.get_vocab() == {
        **value.vocabulary,
        **{str(token): i for i, token in value.added_tokens.items()},
    }


IDS = st.integers(0, 9)


@examples(90)
@given(
    st.dictionaries(st.sampled_from(["a", "b", "c", "d"]), IDS),
    st.dictionaries(st.sampled_from(["a", "b", "<x>", "<y>", "<z>"]), IDS),
    FLAGS,
)
def test_writing_is_refused_exactly_where_rust_has_other_ids(vocabulary, added, flags):
    vocabulary = {
        token: i
        for i, token in {i: token for token, i in {**vocabulary, "[UNK]": 0}.items()}.items()
    }
    tokens = {
        i: AddedToken(token, **flags)
        for i, token in sorted((i, token) for token, i in added.items())
    }
    value = TokenizerJson(vocabulary, added_tokens=tokens)
    wanted = {**vocabulary, **{str(token): i for i, token in tokens.items()}}
    rust = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json_object(value)))
    agrees = rust.get_vocab() == wanted and all(
        wanted[token] == i for token, i in vocabulary.items()
    )
    try:
        tokenizer_json_text(value)
    except trietok.VocabularyError:
        assert not agrees or len(set(wanted.values())) < len(wanted)
    else:
        assert agrees
        assert {token: rust.token_to_id(token) for token in wanted} == wanted
        assert {i: rust.id_to_token(i) for i in wanted.values()} == {
            i: token for token, i in wanted.items()
        }


# ---- published models ----------------------------------------------------------------------------


@pytest.mark.parity
def test_published_files_are_written_as_rust_writes_them():
    paths = sorted(directory_named("TRIETOK_MODELS").glob("*/tokenizer.json"))
    assert paths
    for path in paths:
        value = read_tokenizer_json(path)
        rust = tokenizers.Tokenizer.from_file(str(path))
        text = path.read_text(encoding="utf-8")
        assert tokenizer_json_text(value) == rust.to_str(pretty=True), path
        assert tokenizer_json_text(value, pretty=False) == rust.to_str(pretty=False), path
        if rust.to_str(pretty=True) == text:  # as files of later versions are
            assert tokenizer_json_text(value) == text, path
