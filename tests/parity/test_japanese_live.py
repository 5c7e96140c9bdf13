"""`BertJapaneseTokenizer` against transformers 4.57.6, with MeCab where it is installed.

The extra `ja` brings MeCab. Of a directory of texts, `TRIETOK_CORPORA`, the file ja.txt is read, a
text a line.
"""

from __future__ import annotations

import copy
import doctest
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import assert_share, examples, needs
from tests.parity.comparing import directory_named

pytestmark = pytest.mark.clients

VOCAB = Path(__file__).parent.parent / "data" / "japanese" / "vocab.txt"
MECAB = {"word_tokenizer_type": "mecab"}
IPADIC = {**MECAB, "mecab_kwargs": {"mecab_dic": "ipadic"}}
RAW = {**MECAB, "mecab_kwargs": {"normalize_text": False}}
CHARACTERS = {"subword_tokenizer_type": "character"}
OPTIONS: dict[str, dict[str, Any]] = {
    "basic": {},
    "basic characters": CHARACTERS,
    "basic lower": {"do_lower_case": True, "never_split": ["ＡＢＣ", "C++"]},
    "one word": {"do_word_tokenize": False},
    "one word, characters": {"do_word_tokenize": False, "do_lower_case": True, **CHARACTERS},
    "unidic-lite": MECAB,
    "ipadic": IPADIC,
    "ipadic characters": {**IPADIC, **CHARACTERS},
    "ipadic lower": {**IPADIC, "do_lower_case": True, "never_split": ["TEL"]},
    "raw": RAW,
    "raw characters": {**RAW, **CHARACTERS},
    "words alone": {**MECAB, "do_subword_tokenize": False},
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
WORDS = "東京 猫 である データ [MASK] [SEP] 新語 TEL C++ 行う コンピュータ".split()
ODD_TEXTS = st.lists(
    st.one_of(st.sampled_from(ODD), st.sampled_from(WORDS), st.characters(codec="utf-8")),
    max_size=14,
).map("".join)


@pytest.fixture(scope="module", params=OPTIONS)
def both(request):
    options = OPTIONS[request.param]
    if "word_tokenizer_type" in options:
        for package in ("fugashi", "unidic_lite", "ipadic"):
            needs(package)
    return tuple(
        library.BertJapaneseTokenizer(str(VOCAB), **copy.deepcopy(options))
        for library in (transformers, trietok)
    )


@pytest.fixture(scope="module")
def with_tokens(both):
    pair = []
    for tokenizer, library in zip(both, (transformers, trietok), strict=True):
        tokenizer = copy.deepcopy(tokenizer)
        flags = {"lstrip": True, "rstrip": True, "normalized": False}
        tokenizer.add_tokens(["新語", library.AddedToken("ガ", **flags)])
        tokenizer.add_special_tokens({"additional_special_tokens": ["[X]", "猫"]})
        pair.append(tokenizer)
    return tuple(pair)


def assert_same(both, text):
    """Equal tokens, ids and decoded texts; spans of `text` that go forwards, one a token."""
    theirs, ours = both
    tokens = theirs.tokenize(text)
    assert ours.tokenize(text) == tokens
    want, got = theirs(text), ours(text)
    assert dict(got) == dict(want)
    for options in ({}, {"skip_special_tokens": True}):
        assert ours.decode(got.input_ids, **options) == theirs.decode(want.input_ids, **options)
    result = ours(text, return_offsets_mapping=True, add_special_tokens=False)
    spans = result.offset_mapping
    assert len(spans) == len(tokens)
    for side in (0, 1):
        assert [span[side] for span in spans] == sorted(span[side] for span in spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)


def test_odd_texts_have_the_tokens_ids_and_spans_of_transformers(both, with_tokens):
    counts: Counter[str] = Counter()

    @examples(60)
    @given(st.sampled_from(TEXTS) | ODD_TEXTS)
    def compare(text):
        for pair in (both, with_tokens):
            assert_same(pair, text)
        counts["in several tokens"] += len(both[1].tokenize(text)) > 1
        counts["drawn"] += 1

    for text in TEXTS:
        assert_same(both, text)
        assert_same(with_tokens, text)
    compare()
    assert_share(counts["in several tokens"], counts["drawn"], 0.1)


def test_batches_and_pairs_are_those_of_transformers(with_tokens):
    theirs, ours = with_tokens
    options = {"padding": True, "truncation": True, "max_length": 12}
    assert dict(ours(TEXTS, **options)) == dict(theirs(TEXTS, **options))
    assert dict(ours(TEXTS, TEXTS[::-1], **options)) == dict(theirs(TEXTS, TEXTS[::-1], **options))
    words = [["吾輩", "は", "ﾃﾞｰﾀ"], ["新語", "TEL"]]
    want = theirs(words, is_split_into_words=True)
    assert dict(ours(words, is_split_into_words=True)) == dict(want)
    want = theirs("[SEP]猫", split_special_tokens=True)
    assert ours("[SEP]猫", split_special_tokens=True).input_ids == want.input_ids
    assert ours.get_vocab() == theirs.get_vocab()
    for name in ("vocab_size", "do_lower_case"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_directories_of_both_load_in_both(with_tokens, tmp_path):
    theirs, ours = with_tokens
    wanted = theirs(TEXTS).input_ids
    for tokenizer, folder in ((ours, tmp_path / "ours"), (theirs, tmp_path / "theirs")):
        tokenizer.save_pretrained(folder)
        for library in (transformers, trietok):
            assert library.AutoTokenizer.from_pretrained(folder)(TEXTS).input_ids == wanted
    again = trietok.AutoTokenizer.from_pretrained(tmp_path / "ours")
    assert type(again) is trietok.BertJapaneseTokenizer
    assert again.fingerprint() == ours.fingerprint()
    assert pickle.loads(pickle.dumps(ours))(TEXTS).input_ids == wanted


def test_threads_get_the_ids_of_one_thread(both):
    _, ours = both
    wanted = [ours.encode(text) for text in TEXTS]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ours.encode, TEXTS * 20)) == wanted * 20


def test_half_of_a_surrogate_pair_is_refused_where_transformers_fails(both):
    theirs, ours = both
    try:
        wanted = theirs("あ\ud800い").input_ids
    except UnicodeEncodeError:
        with pytest.raises(trietok.InputError, match="character 1"):
            ours("あ\ud800い")
    else:
        assert ours("あ\ud800い").input_ids == wanted


def test_a_corpus_has_the_ids_of_transformers(both):
    theirs, ours = both
    corpus = directory_named("TRIETOK_CORPORA") / "ja.txt"
    lines = corpus.read_text(encoding="utf-8").splitlines()
    assert len(lines) > 1000
    assert [line for line in lines if ours(line).input_ids != theirs(line).input_ids] == []
    for line in lines[:: len(lines) // 300]:
        assert_same(both, line)


def test_the_page_shows_what_the_analyzers_give(tmp_path, monkeypatch):
    """The section on Japanese, whose examples doctest skips where no analyzer is installed."""
    needs("fugashi")
    needs("ipadic")
    page = Path(__file__).resolve().parents[2] / "docs" / "profiles.md"
    monkeypatch.chdir(tmp_path)  # where its examples save
    text = page.read_text(encoding="utf-8").replace("  # doctest: +SKIP", "")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0
