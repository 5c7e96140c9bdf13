"""Google's original, and where it differs from transformers' tokenizer."""

from __future__ import annotations

import pytest

from trietok import InputTypeError, UnknownTokenError, google_bert


@pytest.fixture
def full(vocab_file):
    def make(*tokens, **options):
        return google_bert.FullTokenizer(vocab_file(*tokens), **options)

    return make


def test_words_of_the_paper_are_cut_into_its_pieces(full):
    tokenizer = full("un", "##aff", "##able", "##want", "##ed", "runn", "##ing", ",")
    assert tokenizer.tokenize("UNwant\u00e9d,running") == [
        "un",
        "##want",
        "##ed",
        ",",
        "runn",
        "##ing",
    ]
    assert tokenizer.tokenize("unaffable") == ["un", "##aff", "##able"]
    assert tokenizer.convert_tokens_to_ids(["un", "##aff", "##able"]) == [5, 6, 7]
    assert tokenizer.convert_ids_to_tokens([5, 6, 7]) == ["un", "##aff", "##able"]


def test_bytes_are_utf8_and_bad_ones_ignored(full):
    assert google_bert.convert_to_unicode("caf\u00e9") == "caf\u00e9"
    assert google_bert.convert_to_unicode(b"caf\xc3\xa9\xff\xc3") == "caf\u00e9"
    assert full("cafe").tokenize(b"Caf\xc3\xa9\xff") == ["cafe"]
    with pytest.raises(InputTypeError):
        google_bert.convert_to_unicode(5)


def test_vocabulary_lines_are_stripped_on_both_sides(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes(b"[UNK]\r\n a\t\n\nb \r\n")
    assert google_bert.load_vocab(path) == {"[UNK]": 0, "a": 1, "": 2, "b": 3}


def test_a_word_of_200_characters_is_not_unknown(full, small):
    assert full("a", "##a").tokenize("a" * 200) == ["a"] + ["##a"] * 199
    assert full("a", "##a").tokenize("a" * 201) == ["[UNK]"]
    assert small("a", "##a").tokenize("a" * 101) == ["[UNK]"]


def test_private_use_stays_and_nothing_is_composed(full, small):
    # private use stays
    assert full("a", "b", "\ue000").tokenize("\ue000 a\u200b") == ["\ue000", "a"]
    assert small("a", "b", "\ue000").tokenize("\ue000 a\u200b") == ["a"]
    cased = full("\u00e9", "e\u0301", do_lower_case=False)
    assert cased.tokenize("e\u0301") == ["e\u0301"]
    assert small("\u00e9", "e\u0301", do_lower_case=False).tokenize("e\u0301") == ["\u00e9"]


def test_special_tokens_in_a_text_are_text(full):
    assert full("[", "]", "cls").tokenize("[CLS]") == ["[", "cls", "]"]


def test_a_token_outside_the_vocabulary_is_an_error(full):
    tokenizer = full("a")
    with pytest.raises(KeyError):
        tokenizer.convert_tokens_to_ids(["a", "b"])
    with pytest.raises(UnknownTokenError) as caught:
        tokenizer.convert_ids_to_tokens([99])
    assert caught.value.item == 99
    assert google_bert.convert_tokens_to_ids(tokenizer.vocab, ["a"]) == [5]
    assert google_bert.convert_ids_to_tokens(tokenizer.inv_vocab, [5]) == ["a"]


# The pieces of bert-base-multilingual-uncased that the sentence below meets.
PIECES = (
    "keras one ##iros open ended neu ##ro electronic intelligent robot operating system google"
    " francois cho ##llet - ( ) [ ] 3 （ ） ， 。"
).split()
SENTENCE = (
    "Keras是ONEIROS（Open-ended Neuro-Electronic Intelligent Robot Operating System，"
    "开放式神经电子智能机器人操作系统）"
    "项目研究工作的部分产物[3]，主要作者和维护者是Google工程师François Chollet。\r\n"
)


def test_a_mixed_sentence_is_cut_as_by_bert(full, small):
    chinese = sorted({char for char in SENTENCE if "\u4e00" <= char <= "\u9fff"})
    tokens = full(*PIECES, *chinese).tokenize(SENTENCE)
    assert " ".join(tokens).startswith(
        "keras 是 one ##iros （ open - ended neu ##ro - electronic intelligent"
    )
    assert " ".join(tokens).endswith("google 工 程 师 francois cho ##llet 。")
    assert small(*PIECES, *chinese).tokenize(SENTENCE) == tokens
