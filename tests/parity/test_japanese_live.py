"""`BertJapaneseTokenizer` against transformers 4.57.6, with MeCab where it is installed.

The extra `ja` brings MeCab. Of a directory of texts, `TRIETOK_CORPORA`, the file ja.txt is read, a
text a line.
"""

from __future__ import annotations

import copy
import doctest
import os
import pickle
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.bert_japanese import tokenization_bert_japanese as theirs_module

import trietok
from tests.conftest import examples, needs

pytestmark = pytest.mark.clients

VOCAB = Path(__file__).parent.parent / "data" / "japanese" / "vocab.txt"
MECAB = {"word_tokenizer_type": "mecab"}
NEEDS = {
    "mecab": ("fugashi", "unidic_lite", "ipadic"),
    "basic": (),
}
OPTIONS = {
    "basic": {},
    "basic-characters": {"subword_tokenizer_type": "character"},
    "basic-lower": {"do_lower_case": True, "never_split": ["ＡＢＣ", "C++"]},
    "one-word": {"do_word_tokenize": False},
    "one-word-characters": {
        "do_word_tokenize": False,
        "subword_tokenizer_type": "character",
        "do_lower_case": True,
    },
    "unidic-lite": MECAB,
    "ipadic": {**MECAB, "mecab_kwargs": {"mecab_dic": "ipadic"}},
    "ipadic-characters": {
        **MECAB,
        "mecab_kwargs": {"mecab_dic": "ipadic"},
        "subword_tokenizer_type": "character",
    },
    "ipadic-lower": {
        **MECAB,
        "mecab_kwargs": {"mecab_dic": "ipadic"},
        "do_lower_case": True,
        "never_split": ["TEL"],
    },
    "raw": {**MECAB, "mecab_kwargs": {"normalize_text": False}},
    "raw-characters": {
        **MECAB,
        "mecab_kwargs": {"normalize_text": False},
        "subword_tokenizer_type": "character",
    },
    "words-alone": {**MECAB, "do_subword_tokenize": False},
}
TEXTS = [
    "吾輩は猫である。名前はまだ無い。",
    "ﾃﾞｰﾀｾﾝﾀｰのｻｰﾊﾞを㈱日本ＡＢＣが１２㌔先へ移した①。",
    "か\u3099き\u3099と\u309a゛゜ｶﾞﾊﾟ",
    "TEL ℡ Ｔｅｌ İstanbul ΟΔΟΣ Straße ﬁn",
    "😀😀👩‍👩‍👧は笑う　全角\tと\n改行",
    "これは[MASK]です[SEP]終り",
    "東京特許許可局" * 30,
    "a\u0301\u0327\u3099 ９９％ C++ don't",
    "   ",
    "",
    "\u3000",
    "㍻㋿№ ﷺ ½ ⅷ ﾞﾟ ㌀",
    "𠮷野家で𩸽を食べる",
]
ODD = [
    *"ｶﾞﾊﾟ゙ﾞ①㈱㌔㍻℡ﷺ½İΣςßﬁＡｂ１ー〜～　 \t\n\0\u200b\ufeff\ufffd゛か\u3099は\u309a😀👩\u200d𠮷[MASK]C"
]
odd_texts = st.lists(
    st.one_of(
        st.sampled_from(ODD),
        st.sampled_from(
            "東京 猫 である データ [MASK] [SEP] 新語 TEL C++ 行う コンピュータ".split()
        ),
        st.characters(codec="utf-8"),
    ),
    max_size=14,
).map("".join)


@pytest.fixture(scope="module", params=OPTIONS)
def both(request):
    options = OPTIONS[request.param]
    for package in NEEDS[options.get("word_tokenizer_type", "basic")]:
        needs(package)
    return (
        theirs_module.BertJapaneseTokenizer(str(VOCAB), **copy.deepcopy(options)),
        trietok.BertJapaneseTokenizer(str(VOCAB), **copy.deepcopy(options)),
    )


@pytest.fixture(scope="module")
def with_tokens(both):
    pair = []
    for tokenizer, added in zip(both, (transformers.AddedToken, trietok.AddedToken), strict=True):
        tokenizer = copy.deepcopy(tokenizer)
        tokenizer.add_tokens(["新語", added("ガ", lstrip=True, rstrip=True, normalized=False)])
        tokenizer.add_special_tokens({"additional_special_tokens": ["[X]", "猫"]})
        pair.append(tokenizer)
    return tuple(pair)


def the_same(both, text):
    theirs, ours = both
    tokens = theirs.tokenize(text)
    assert ours.tokenize(text) == tokens
    ids = theirs(text)
    got = ours(text)
    assert dict(got) == dict(ids)
    for options in ({}, {"skip_special_tokens": True}):
        assert ours.decode(got.input_ids, **options) == theirs.decode(ids.input_ids, **options)


def locates(tokenizer, text):
    """The spans of `text` are of its ids, go forwards, and leave out only what gives no token."""
    result = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    spans = result.offset_mapping
    assert len(spans) == len(result.input_ids)
    assert tokenizer.text_encoder.locate(text).tokens == tokenizer.tokenize(text)
    assert [start for start, _ in spans] == sorted(start for start, _ in spans)
    assert [end for _, end in spans] == sorted(end for _, end in spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)


def stands_for(token, source):
    """Whether the characters of a span are the token's, or more where one became several."""
    source = unicodedata.normalize("NFKC", source).lower()
    word = unicodedata.normalize("NFKC", token.removeprefix("##")).lower()
    return word == source or (word in source and len(source) > 1)


@pytest.mark.parametrize("text", TEXTS)
def test_ids_tokens_and_decoding(both, text):
    the_same(both, text)
    locates(both[1], text)


@examples(60)
@given(text=odd_texts)
def test_odd_texts(both, with_tokens, text):
    the_same(both, text)
    the_same(with_tokens, text)
    locates(both[1], text)
    locates(with_tokens[1], text)


def test_batches_and_pairs(with_tokens):
    theirs, ours = with_tokens
    options = {"padding": True, "truncation": True, "max_length": 12}
    assert dict(ours(TEXTS, **options)) == dict(theirs(TEXTS, **options))
    assert dict(ours(TEXTS, TEXTS[::-1], **options)) == dict(theirs(TEXTS, TEXTS[::-1], **options))
    words = [["吾輩", "は", "ﾃﾞｰﾀ"], ["新語", "TEL"]]
    assert dict(ours(words, is_split_into_words=True)) == dict(
        theirs(words, is_split_into_words=True)
    )
    assert ours.get_vocab() == theirs.get_vocab()
    assert (len(ours), ours.vocab_size, ours.do_lower_case) == (
        len(theirs),
        theirs.vocab_size,
        theirs.do_lower_case,
    )
    assert (
        ours("[SEP]猫", split_special_tokens=True).input_ids
        == theirs("[SEP]猫", split_special_tokens=True).input_ids
    )


def test_saving_both_ways(with_tokens, tmp_path):
    theirs, ours = with_tokens
    ours.save_pretrained(tmp_path / "ours")
    theirs.save_pretrained(tmp_path / "theirs")
    wanted = theirs(TEXTS).input_ids
    for folder in ("ours", "theirs"):
        assert trietok.AutoTokenizer.from_pretrained(tmp_path / folder)(TEXTS).input_ids == wanted
        assert (
            transformers.AutoTokenizer.from_pretrained(tmp_path / folder)(TEXTS).input_ids == wanted
        )
    again = trietok.AutoTokenizer.from_pretrained(tmp_path / "ours")
    assert type(again) is trietok.BertJapaneseTokenizer
    assert again.fingerprint() == ours.fingerprint()
    assert pickle.loads(pickle.dumps(ours))(TEXTS).input_ids == wanted


def test_threads(both):
    _, ours = both
    wanted = [ours.encode(text) for text in TEXTS]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ours.encode, TEXTS * 20)) == wanted * 20


def test_half_of_a_surrogate_pair(both):
    theirs, ours = both
    try:
        wanted = theirs("あ\ud800い").input_ids
    except UnicodeEncodeError:
        with pytest.raises(trietok.InputError, match="character 1"):
            ours("あ\ud800い")
    else:
        assert ours("あ\ud800い").input_ids == wanted


@pytest.mark.skipif("TRIETOK_CORPORA" not in os.environ, reason="needs TRIETOK_CORPORA")
def test_a_corpus(both):
    theirs, ours = both
    lines = Path(os.environ["TRIETOK_CORPORA"], "ja.txt").read_text("utf-8").splitlines()
    wrong = [line for line in lines if ours(line).input_ids != theirs(line).input_ids]
    assert not wrong
    print(
        f"{len(lines)} lines, {sum(map(len, ours(lines).input_ids))} ids, {len(wrong)} mismatches"
    )
    for line in lines[:: max(1, len(lines) // 300)]:
        locates(ours, line)
        if ours.word_tokenizer_type == "mecab":
            located = ours.text_encoder.locate(line)
            for token, (start, end) in zip(located.tokens, located.spans, strict=True):
                assert token == "[UNK]" or stands_for(token, line[start:end]), (
                    token,
                    line[start:end],
                )


def test_the_page():
    """The section on Japanese, whose examples doctest skips where no analyzer is installed."""
    needs("fugashi")
    needs("ipadic")
    page = Path(__file__).parent.parent.parent / "docs" / "profiles.md"
    examples_of_page = page.read_text(encoding="utf-8").replace("  # doctest: +SKIP", "")
    test = doctest.DocTestParser().get_doctest(examples_of_page, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0
