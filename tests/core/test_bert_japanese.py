"""`BertJapaneseTokenizer` with a small analyzer in place of MeCab."""

from __future__ import annotations

import copy
import json
import pickle
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.core import fake_analyzers

ENTRIES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] 猫 東京 東 ##京 は データ デ ##ー ##タ ー ガ 株 ( ) 平成 1 tel"
    " a ##b b".split()
)
MECAB = {"word_tokenizer_type": "mecab"}


@pytest.fixture(scope="module", autouse=True)
def analyzers(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        found = fake_analyzers.modules(tmp_path_factory.mktemp("dictionary"))
        for name, module in found.items():
            patch.setitem(sys.modules, name, module)
        yield found


@pytest.fixture(scope="module")
def vocab(tmp_path_factory):
    path = tmp_path_factory.mktemp("japanese") / "vocab.txt"
    path.write_text("\n".join(ENTRIES) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def make(vocab):
    return lambda **options: trietok.BertJapaneseTokenizer(vocab, **options)


def located(tokenizer, text, **options):
    """The tokens of a text, each with the characters it stands for."""
    result = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False, **options)
    tokens = tokenizer.tokenize(text, **options)
    assert result.input_ids == tokenizer.convert_tokens_to_ids(tokens)
    return [
        (token, text[start:end])
        for token, (start, end) in zip(tokens, result.offset_mapping, strict=True)
    ]


@pytest.mark.parametrize(
    ("options", "text", "tokens"),
    [
        (MECAB, "東京は猫データ", "東京 は 猫 データ"),
        ({}, "東京は、猫", "[UNK] [UNK] 猫"),  # the basic tokenizer cuts at punctuation only
        ({**MECAB, "subword_tokenizer_type": "character"}, "東京は", "東 [UNK] は"),
        ({**MECAB, "do_subword_tokenize": False}, "東京都は", "東京都 は"),
        ({"do_word_tokenize": False}, "東京 は", "東京 は"),
        ({**MECAB, "do_lower_case": True, "do_subword_tokenize": False}, "℡", "tel"),
        ({**MECAB, "do_lower_case": True, "never_split": ["TEL"]}, "℡", "[UNK]"),
        (MECAB, "猫\0は", "猫"),  # a text ends there for MeCab
    ],
)
def test_tokens_are_those_of_the_example(make, options, text, tokens):
    assert make(**options).tokenize(text) == tokens.split()


def test_spans_are_those_of_the_text_as_it_is_written(make):
    mecab = make(**MECAB)
    assert located(mecab, "ﾃﾞｰﾀ は") == [("データ", "ﾃﾞｰﾀ"), ("は", "は")]
    assert located(mecab, "カ\u3099は") == [("ガ", "カ\u3099"), ("は", "は")]
    # One character of three words: each of them stands for it.
    assert located(mecab, "㈱猫") == [("(", "㈱"), ("株", "㈱"), (")", "㈱"), ("猫", "猫")]
    assert located(mecab, "㍻ ＡＢ") == [("平成", "㍻"), ("[UNK]", "ＡＢ")]
    lower = make(**MECAB, do_lower_case=True)
    assert located(lower, "ＡＢ ℡") == [("a", "Ａ"), ("##b", "Ｂ"), ("tel", "℡")]
    characters = make(**MECAB, subword_tokenizer_type="character")
    assert located(characters, "ﾃﾞｰﾀ東") == [("デ", "ﾃﾞ"), ("ー", "ｰ"), ("[UNK]", "ﾀ"), ("東", "東")]
    mecab.add_tokens(["京は"])  # added tokens are cut out first
    assert located(mecab, "東京は[MASK]猫") == [
        (part, part) for part in "東 京は [MASK] 猫".split()
    ]


def test_an_encoding_answers_for_characters_and_words(make):
    result = make(**MECAB)("ﾃﾞーﾀは東京", "猫")
    assert result.tokens() == ["[CLS]", "データ", "は", "東京", "[SEP]", "猫", "[SEP]"]
    assert result.word_ids() == [None, 0, 1, 2, None, 0, None]
    assert [result.char_to_token(i) for i in (1, 6)] == [1, 3]
    assert result.char_to_token(0, sequence_index=1) == 5
    assert result.token_to_chars(3) == (5, 7)


def test_a_text_that_an_analyzer_cannot_read_is_an_input_error(make):
    with pytest.raises(trietok.InputError):
        make(**MECAB)("猫\ud800")


def test_an_explanation_names_the_stages_and_what_they_change(make):
    (text,) = make(**MECAB, do_lower_case=True).explain("猫 ＡＢは㈱").texts
    assert [stage.name for stage in text.stages] == [
        "lower-case-around-tokens",
        "added-tokens",
        "compatibility",
        "words",
        "lower-case",
        "wordpiece",
    ]
    found = [(token.token, token.source) for token in text.tokens][:3]
    assert found == [("猫", "猫"), ("a", "Ａ"), ("##b", "Ｂ")]
    assert text.tokens[1].cut.stage == "words"
    change = text.stages[2].changes[-1]
    assert (change.before, change.after) == ("㈱", "(株)")
    with pytest.raises(trietok.NotSupportedError):
        make(**MECAB, subword_tokenizer_type="character").explain("猫")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"never_split": ["猫は"], "do_lower_case": True},
        {
            **MECAB,
            "mecab_kwargs": {"mecab_dic": "ipadic", "normalize_text": False},
            "subword_tokenizer_type": "character",
        },
        # Most published directories name these, which MeCab does not use.
        {**MECAB, "sudachi_kwargs": {"sudachi_split_mode": "C"}, "jumanpp_kwargs": None},
        {**MECAB, "do_subword_tokenize": False},
    ],
)
def test_what_is_saved_copied_or_pickled_is_the_same_tokenizer(make, tmp_path, options):
    tokenizer = make(**options)
    tokenizer.add_tokens(["新語"])
    texts = ["東京は猫ﾃﾞｰﾀ", "新語 ＡＢ"]
    ids = tokenizer(texts).input_ids
    tokenizer.save_pretrained(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "added_tokens.json",
        "special_tokens_map.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]
    for again in (
        trietok.AutoTokenizer.from_pretrained(tmp_path),
        trietok.AutoTokenizer.from_pretrained(tmp_path, tokenizer_type="bert-japanese"),
        pickle.loads(pickle.dumps(tokenizer)),
        copy.deepcopy(tokenizer),
    ):
        assert type(again) is trietok.BertJapaneseTokenizer
        assert again(texts).input_ids == ids
        assert again.fingerprint() == tokenizer.fingerprint()
        assert again.sudachi_kwargs == options.get("sudachi_kwargs")
    assert make(**options).fingerprint() != tokenizer.fingerprint()


def test_another_class_is_not_loaded_in_silence(make, tmp_path, caplog):
    make(**MECAB).save_pretrained(tmp_path)
    with pytest.raises(trietok.FileFormatError):
        trietok.BertTokenizer.from_pretrained(tmp_path)
    trietok.BertTokenizer.from_pretrained("trietok-en").save_pretrained(tmp_path / "english")
    trietok.BertJapaneseTokenizer.from_pretrained(tmp_path / "english")
    assert "saved as a BertTokenizer and is loaded as a BertJapaneseTokenizer" in caplog.text
    with pytest.raises(trietok.NotSupportedError):
        make(**MECAB).save_pretrained(tmp_path / "json", tokenizer_json=True)
    assert not (tmp_path / "json").exists()


def test_paths_that_a_file_names_are_not_opened(make, tmp_path):
    options = {"mecab_dic": None, "mecab_option": "-d /elsewhere"}
    make(**MECAB, mecab_kwargs=options).save_pretrained(tmp_path)
    with pytest.raises(trietok.FileFormatError):
        trietok.BertJapaneseTokenizer.from_pretrained(tmp_path)
    again = trietok.BertJapaneseTokenizer.from_pretrained(tmp_path, mecab_kwargs=options)
    assert again.word_tokenizer.mecab.options == "-d /elsewhere"


@pytest.mark.parametrize("kind", ["sudachi", "jumanpp"])
def test_words_of_other_analyzers_are_left_to_transformers(make, tmp_path, kind):
    make().save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "word_tokenizer_type": kind}))
    with pytest.raises(trietok.NotSupportedError):
        make(word_tokenizer_type=kind)
    with pytest.raises(trietok.NotSupportedError):
        trietok.AutoTokenizer.from_pretrained(tmp_path)
    assert not trietok.check(tmp_path).ok


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"subword_tokenizer_type": "sentencepiece"}, trietok.NotSupportedError),
        ({**MECAB, "mecab_kwargs": "ipadic"}, trietok.InputTypeError),
        ({**MECAB, "mecab_kwargs": {"mecab_option": "-d /nope"}}, trietok.InputError),
        ({"word_tokenizer_type": "kytea"}, trietok.InputError),
        ({"subword_tokenizer_type": "bytes"}, trietok.InputError),
        ({**MECAB, "mecab_kwargs": {"mecab_dic": "neologd"}}, trietok.InputError),
        ({**MECAB, "mecab_kwargs": {"mecab_dict": "ipadic"}}, trietok.InputError),
        ({**MECAB, "mecab_kwargs": {"mecab_dic": "unidic"}}, trietok.MissingDependencyError),
    ],
)
def test_what_is_missing_or_unknown_is_an_error(make, options, error):
    with pytest.raises(error):
        make(**options)


def test_mecab_that_is_not_installed_names_the_package(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "fugashi", None)
    with pytest.raises(trietok.MissingDependencyError, match="pip install fugashi") as caught:
        make(**MECAB)
    assert caught.value.extra == "ja"


def test_only_the_stages_that_the_options_choose_are_there(make):
    tokenizer = make(**MECAB)
    with pytest.raises(trietok.NotSupportedError):
        tokenizer.basic_tokenizer  # noqa: B018
    with pytest.raises(trietok.NotSupportedError):
        make(subword_tokenizer_type="character").wordpiece_tokenizer  # noqa: B018
    assert make().basic_tokenizer.tokenize("猫、は") == ["猫", "、", "は"]
    assert make().wordpiece_tokenizer.tokenize("東京") == ["東京"]


def test_changes_count_from_the_next_call_on(make):
    tokenizer = make(**MECAB)
    assert tokenizer.tokenize("ﾃﾞｰﾀ東京都") == ["データ", "[UNK]"]
    tokenizer.word_tokenizer.normalize_text = False
    assert "データ" not in tokenizer.tokenize("ﾃﾞｰﾀ東京都")
    assert tokenizer.add_wordpieces(["##都"]) == 1
    assert tokenizer.tokenize("東京都") == ["東京", "##都"]
    tokenizer.do_subword_tokenize = False
    assert tokenizer.tokenize("東京都") == ["東京都"]
    with pytest.raises(trietok.InputError):
        make(**MECAB).add_wordpieces(["ﾃﾞ"])


def test_a_word_tokenizer_of_ones_own_has_tokens_and_no_offsets(make):
    class Halves:
        def tokenize(self, text, never_split=None):
            return [text[: len(text) // 2], text[len(text) // 2 :]]

    tokenizer = make()
    tokenizer.word_tokenizer = Halves()
    assert tokenizer.tokenize("東京は猫") == ["東京", "[UNK]"]
    with pytest.raises(trietok.NotSupportedError):
        tokenizer("東京は猫", return_offsets_mapping=True)


def test_threads_take_turns_at_the_analyzer(make, analyzers):
    """The analyzer of this test fails if two threads use it at once."""
    tokenizer = make(**MECAB)
    made = analyzers["fugashi"].GenericTagger.made
    texts = ["東京は猫データ" * n for n in range(1, 60)]
    wanted = [tokenizer.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenizer.encode, texts * 5)) == wanted * 5
    assert analyzers["fugashi"].GenericTagger.made == made


PARTS = st.one_of(
    st.sampled_from(
        [
            *"ｶﾞﾊﾟ゙ﾞ①㈱㌔㍻℡ﷺ½İΣςßﬁＡｂー　 \t\n\u200b゛か\u3099は\u309a\u0301\u0327😀𠮷",
            *("[MASK]", "東京", "猫", "新語"),
        ]
    ),
    st.characters(codec="utf-8", exclude_characters="\0"),
)


@examples(300)
@given(
    st.lists(PARTS, max_size=12).map("".join),
    st.booleans(),
    st.sampled_from(
        [
            {**MECAB, "do_subword_tokenize": False},
            {**MECAB, "subword_tokenizer_type": "character"},
            {"subword_tokenizer_type": "character"},
            {"do_word_tokenize": False},
            MECAB,
        ]
    ),
)
def test_spans_are_in_order_and_those_of_words_normalize_to_them(make, text, lower, options):
    tokenizer = make(**options, do_lower_case=lower)
    tokenizer.add_tokens(["新語"])
    asked = {"add_special_tokens": False}
    result = tokenizer(text, return_offsets_mapping=True, **asked)
    assert result.tokens() == tokenizer.tokenize(text)
    assert result.input_ids == tokenizer.encode(text, **asked)
    spans = result.offset_mapping
    assert spans == sorted(spans)
    assert [end for _, end in spans] == sorted(end for _, end in spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    if options.get("do_subword_tokenize", True):
        return
    for token, (start, end) in zip(result.tokens(), spans, strict=True):
        assert normal(token, lower) in normal(text[start:end], lower)
    covered = {place for start, end in spans for place in range(start, end)}
    assert not "".join(char for i, char in enumerate(text) if i not in covered).strip()


def normal(part, lower):
    part = unicodedata.normalize("NFKC", part.lower() if lower else part)
    return part.lower().replace("ς", "σ") if lower else part  # a final one depends on what follows
