"""`BertJapaneseTokenizer` with a small analyzer in place of MeCab."""

from __future__ import annotations

import copy
import json
import os
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


def test_words_and_subwords(make):
    assert make(**MECAB).tokenize("東京は猫データ") == ["東京", "は", "猫", "データ"]
    # the basic tokenizer cuts at punctuation only
    assert make().tokenize("東京は、猫") == ["[UNK]", "[UNK]", "猫"]
    assert make(**MECAB, subword_tokenizer_type="character").tokenize("東京は") == [
        "東",
        "[UNK]",
        "は",
    ]
    assert make(**MECAB, do_subword_tokenize=False).tokenize("東京都は") == ["東京都", "は"]
    assert make(do_word_tokenize=False).tokenize("東京 は") == ["東京", "は"]


def test_spans_are_those_of_the_text_as_it_is_written(make):
    mecab = make(**MECAB)
    assert located(mecab, "ﾃﾞｰﾀ は") == [("データ", "ﾃﾞｰﾀ"), ("は", "は")]
    assert located(mecab, "カ\u3099は") == [("ガ", "カ\u3099"), ("は", "は")]
    # One character of three words: each of them stands for it.
    assert located(mecab, "㈱猫") == [("(", "㈱"), ("株", "㈱"), (")", "㈱"), ("猫", "猫")]
    assert located(mecab, "㍻") == [("平成", "㍻")]
    assert located(mecab, "ＡＢ") == [("[UNK]", "ＡＢ")]
    assert located(make(**MECAB, do_lower_case=True), "ＡＢ ℡") == [
        ("a", "Ａ"),
        ("##b", "Ｂ"),
        ("tel", "℡"),
    ]
    characters = make(**MECAB, subword_tokenizer_type="character")
    assert located(characters, "ﾃﾞｰﾀ東") == [("デ", "ﾃﾞ"), ("ー", "ｰ"), ("[UNK]", "ﾀ"), ("東", "東")]


def test_details_of_an_encoding(make):
    result = make(**MECAB)("ﾃﾞーﾀは東京", "猫")
    assert result.tokens() == ["[CLS]", "データ", "は", "東京", "[SEP]", "猫", "[SEP]"]
    assert result.word_ids() == [None, 0, 1, 2, None, 0, None]
    assert (
        result.char_to_token(1),
        result.char_to_token(6),
        result.char_to_token(0, sequence_index=1),
    ) == (1, 3, 5)
    assert result.token_to_chars(3) == (5, 7)


def test_added_tokens_are_cut_out_first(make):
    tokenizer = make(**MECAB)
    tokenizer.add_tokens(["京は"])
    assert located(tokenizer, "東京は[MASK]猫") == [
        ("東", "東"),
        ("京は", "京は"),
        ("[MASK]", "[MASK]"),
        ("猫", "猫"),
    ]


def test_lower_casing_spares_never_split(make):
    options = {**MECAB, "do_lower_case": True, "do_subword_tokenize": False}
    assert make(**options).tokenize("℡") == ["tel"]
    assert make(**options, never_split=["TEL"]).tokenize("℡") == ["TEL"]


def test_a_text_that_an_analyzer_cannot_read(make):
    with pytest.raises(trietok.InputError):
        make(**MECAB)("猫\ud800")
    assert make(**MECAB).tokenize("猫\0は") == ["猫"]  # as MeCab itself


def test_explaining(make):
    explanation = make(**MECAB, do_lower_case=True).explain("猫 ＡＢは㈱")
    assert [stage.name for stage in explanation.texts[0].stages] == [
        "lower-case-around-tokens",
        "added-tokens",
        "compatibility",
        "words",
        "lower-case",
        "wordpiece",
    ]
    tokens = explanation.texts[0].tokens
    assert [(token.token, token.source) for token in tokens][:3] == [
        ("猫", "猫"),
        ("a", "Ａ"),
        ("##b", "Ｂ"),
    ]
    assert tokens[1].cut.stage == "words"
    assert "the analyzer begins the word" in tokens[1].cut.why
    (change,) = explanation.texts[0].stages[2].changes[-1:]
    assert (change.before, change.after, change.why) == (
        "㈱",
        "(株)",
        "written as its plain equivalent (NFKC)",
    )
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
        {**MECAB, "sudachi_kwargs": None, "jumanpp_kwargs": None},
        {**MECAB, "do_subword_tokenize": False},
    ],
)
def test_saving_loading_and_pickling(make, tmp_path, options):
    tokenizer = make(**options)
    tokenizer.add_tokens(["新語"])
    texts = ["東京は猫ﾃﾞｰﾀ", "新語 ＡＢ"]
    ids = tokenizer(texts).input_ids
    assert sorted(os.path.basename(path) for path in tokenizer.save_pretrained(tmp_path)) == [
        "added_tokens.json",
        "special_tokens_map.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]
    for again in (
        trietok.AutoTokenizer.from_pretrained(tmp_path),
        pickle.loads(pickle.dumps(tokenizer)),
        copy.deepcopy(tokenizer),
    ):
        assert type(again) is trietok.BertJapaneseTokenizer
        assert again(texts).input_ids == ids
        assert again.fingerprint() == tokenizer.fingerprint()
    assert make(**options).fingerprint() != tokenizer.fingerprint()


def test_the_class_of_a_model_type(make, tmp_path):
    make().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    del config["tokenizer_class"]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "config.json").write_text(
        '{"model_type": "bert", "tokenizer_class": "BertJapaneseTokenizer"}'
    )
    assert type(trietok.AutoTokenizer.from_pretrained(tmp_path)) is trietok.BertJapaneseTokenizer
    loaded = trietok.AutoTokenizer.from_pretrained(tmp_path, tokenizer_type="bert-japanese")
    assert type(loaded) is trietok.BertJapaneseTokenizer


def test_another_class_is_not_loaded_in_silence(make, tmp_path, caplog):
    make(**MECAB).save_pretrained(tmp_path)
    with pytest.raises(trietok.FileFormatError):
        trietok.BertTokenizer.from_pretrained(tmp_path)
    trietok.BertTokenizer.from_pretrained("trietok-en").save_pretrained(tmp_path / "english")
    trietok.BertJapaneseTokenizer.from_pretrained(tmp_path / "english")
    assert "saved as a BertTokenizer and is loaded as a BertJapaneseTokenizer" in caplog.text


def test_there_is_no_tokenizer_json(make, tmp_path):
    with pytest.raises(trietok.NotSupportedError):
        make(**MECAB).save_pretrained(tmp_path / "saved", tokenizer_json=True)
    assert not (tmp_path / "saved").exists() or not os.listdir(tmp_path / "saved")


def test_paths_that_a_file_names_are_not_opened(make, tmp_path, analyzers):
    options = {"mecab_dic": None, "mecab_option": "-d /elsewhere"}
    tokenizer = make(**MECAB, mecab_kwargs=options)
    assert tokenizer.word_tokenizer.mecab.options == "-d /elsewhere"
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(trietok.FileFormatError):
        trietok.BertJapaneseTokenizer.from_pretrained(tmp_path)
    again = trietok.BertJapaneseTokenizer.from_pretrained(tmp_path, mecab_kwargs=options)
    assert again.word_tokenizer.mecab.options == "-d /elsewhere"


@pytest.mark.parametrize("kind", ["sudachi", "jumanpp"])
def test_words_of_other_analyzers_are_for_transformers(make, tmp_path, kind):
    make().save_pretrained(tmp_path)
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "word_tokenizer_type": kind}))
    with pytest.raises(trietok.NotSupportedError):
        make(word_tokenizer_type=kind)
    for loader in (trietok.AutoTokenizer, trietok.BertJapaneseTokenizer):
        with pytest.raises(trietok.NotSupportedError):
            loader.from_pretrained(tmp_path)
    assert not trietok.check(tmp_path).ok


@pytest.mark.parametrize("options", [None, {}, {"sudachi_split_mode": "C"}])
def test_options_of_other_analyzers_are_kept(make, tmp_path, options):
    """Most published directories name them; as in transformers, MeCab does not use them."""
    make(sudachi_kwargs=options, jumanpp_kwargs=options).save_pretrained(tmp_path)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert config["sudachi_kwargs"] == config["jumanpp_kwargs"] == options
    again = trietok.AutoTokenizer.from_pretrained(tmp_path)
    assert again.sudachi_kwargs == again.jumanpp_kwargs == options


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
def test_what_is_missing_or_unknown(make, options, error):
    with pytest.raises(error):
        make(**options)


def test_mecab_that_is_not_installed(make, monkeypatch):
    monkeypatch.setitem(sys.modules, "fugashi", None)
    with pytest.raises(trietok.MissingDependencyError, match="pip install fugashi") as caught:
        make(**MECAB)
    assert caught.value.extra == "ja"


def test_what_needs_the_stages_of_bert_says_so(make):
    tokenizer = make(**MECAB)
    with pytest.raises(trietok.NotSupportedError):
        tokenizer.basic_tokenizer  # noqa: B018
    with pytest.raises(trietok.NotSupportedError):
        make(subword_tokenizer_type="character").wordpiece_tokenizer  # noqa: B018
    assert not hasattr(tokenizer, "basic_tokenizer")
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


def test_a_users_own_word_tokenizer(make):
    class Halves:
        def tokenize(self, text, never_split=None):
            return [text[: len(text) // 2], text[len(text) // 2 :]]

    tokenizer = make()
    tokenizer.word_tokenizer = Halves()
    assert tokenizer.tokenize("東京は猫") == ["東京", "[UNK]"]
    with pytest.raises(trietok.NotSupportedError):
        tokenizer("東京は猫", return_offsets_mapping=True)


def test_threads_take_turns_at_the_analyzer(make, analyzers):
    tokenizer = make(**MECAB)
    made = analyzers["fugashi"].GenericTagger.made
    texts = ["東京は猫データ" * n for n in range(1, 60)]
    wanted = [tokenizer.encode(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(tokenizer.encode, texts * 5)) == wanted * 5
    assert analyzers["fugashi"].GenericTagger.made == made


ODD = st.one_of(
    st.sampled_from(
        [
            *"ｶﾞﾊﾟ゙ﾞ①㈱㌔㍻℡ﷺ½İΣςßﬁＡｂー　 \t\n\u200b゛か\u3099は\u309a\u0301\u0327😀𠮷",
            "[MASK]",
            "東京",
            "猫",
            "新語",
        ]
    ),
    st.characters(codec="utf-8", exclude_characters="\0"),
)


@examples(150)
@given(text=st.lists(ODD, max_size=12).map("".join), do_lower_case=st.booleans())
def test_the_spans_of_words(make, text, do_lower_case):
    """Each span normalizes to its word, or to more if a character became several; together they are
    the whole text.
    """
    tokenizer = make(**MECAB, do_subword_tokenize=False, do_lower_case=do_lower_case)
    tokenizer.add_tokens(["新語"])
    pairs = located(tokenizer, text)
    spans = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False).offset_mapping
    assert spans == sorted(spans)
    assert [end for _, end in spans] == sorted(end for _, end in spans)

    def normal(part):
        part = unicodedata.normalize("NFKC", part.lower() if do_lower_case else part)
        # a final one depends on what follows
        return part.lower().replace("ς", "σ") if do_lower_case else part

    for token, source in pairs:
        assert normal(token) in normal(source)
    covered = {place for start, end in spans for place in range(start, end)}
    left_out = "".join(char for place, char in enumerate(text) if place not in covered)
    assert not left_out.strip()


@examples(100)
@given(text=st.lists(ODD, max_size=12).map("".join))
@pytest.mark.parametrize(
    "options",
    [
        {"subword_tokenizer_type": "character"},
        {**MECAB, "subword_tokenizer_type": "character", "do_lower_case": True},
        MECAB,
        {"do_word_tokenize": False, "do_lower_case": True},
    ],
)
def test_spans_are_of_the_tokens(make, options, text):
    tokenizer = make(**options)
    result = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    assert result.tokens() == tokenizer.tokenize(text)
    assert result.input_ids == tokenizer.encode(text, add_special_tokens=False)
    spans = result.offset_mapping
    assert spans == sorted(spans)
    assert all(0 <= start < end <= len(text) for start, end in spans)
