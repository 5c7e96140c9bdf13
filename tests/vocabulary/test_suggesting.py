"""Suggestions: which words, in which order, what adding them saves and what it leaves as it is."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import SPECIAL
from tests.reference import suggesting as reference
from trietok import (
    AddedToken,
    BertTokenizer,
    InputError,
    InputTypeError,
    add_terms,
)

LETTERS = ["c", "o", "v", "i", "d", "s", "##c", "##o", "##v", "##i", "##d", "##s"]
PIECES = ["co", "##vid", "##vidien", "##ien"]


def suggest(tokenizer, texts, **options):
    return trietok.suggest_tokens(tokenizer, texts, **{"min_frequency": 1, **options})


def words(suggestions) -> list[str]:
    return [each.word for each in suggestions.suggestions]


def number_of_tokens(tokenizer, texts) -> int:
    return sum(len(tokenizer.tokenize(text)) for text in texts)


def unknown_in(tokenizer, texts) -> int:
    return sum(tokenizer.tokenize(text).count("[UNK]") for text in texts)


# ---- which words, in which order -----------------------------------------------------------------


def test_ranked_by_the_tokens_saved(small):
    tokenizer = small(*LETTERS, *PIECES)
    found = suggest(tokenizer, ["Covid covid sos", "vis covid sos"])
    assert [each[:5] for each in found.suggestions] == [
        ("sos", 2, ["s", "##o", "##s"], 4, False),
        ("covid", 3, ["co", "##vid"], 3, False),
        ("vis", 1, ["v", "##i", "##s"], 2, False),
    ]


def test_an_unknown_word_counts_as_its_weight(small):
    tokenizer = small(*LETTERS)
    texts = ["ä€ ä€ sos sos"]
    _, unknown = found = suggest(tokenizer, texts, unknown_weight=2.5).suggestions
    assert [each.word for each in found] == ["sos", "a€"]
    assert words(suggest(tokenizer, texts, unknown_weight=2.5, most=1)) == ["a€"]
    assert words(suggest(tokenizer, texts, unknown_weight=1, most=1)) == ["sos"]
    assert (unknown.is_unknown, unknown.tokens_saved, unknown.score) == (True, 0, 5.0)
    assert words(suggest(tokenizer, texts, unknown_weight=1)) == ["sos", "a€"]
    assert words(suggest(tokenizer, texts, unknown_weight=0)) == ["sos"]


def test_words_are_those_of_the_basic_tokenizer(small):
    texts = ["CÖD-cod 東 co\u00add"]
    assert words(suggest(small(*LETTERS), texts)) == ["cod", "-", "東"]
    cased = small(*LETTERS, do_lower_case=False)
    assert set(words(suggest(cased, texts))) == {"CÖD", "cod", "-", "東"}
    whitespace_only = small(*LETTERS, do_basic_tokenize=False)
    assert set(words(suggest(whitespace_only, ["c,d c"]))) == {"c,d"}


def test_a_word_too_long_stays_unknown(small):
    tokenizer = small(*LETTERS)
    texts = ["c" * 101 + " " + "c" * 100]
    assert words(suggest(tokenizer, texts)) == ["c" * 100]


def test_words_inside_added_tokens_do_not_count(small):
    tokenizer = small(*LETTERS)
    tokenizer.add_tokens(["covid-19"])
    found = suggest(tokenizer, ["Covid-19 covid"])
    assert [each[:2] for each in found.suggestions] == [("covid", 1)]
    assert (found.tokens_before, found.tokens_after) == (6, 2)


def test_a_word_never_split_without_an_id(small):
    tokenizer = small(*LETTERS, never_split=["C.D"], do_lower_case=False)
    texts = ["C.D c"]
    found = suggest(tokenizer, texts)
    assert (words(found), found.unknown_before, found.unknown_after) == (["C.D"], 1, 0)
    add_terms(tokenizer, found)
    assert tokenizer.unk_token_id not in tokenizer.encode(texts[0])


# ---- what it does to other words -----------------------------------------------------------------


def test_longer_words_that_begin_with_a_suggestion_are_named(small):
    tokenizer = small(*LETTERS, *PIECES)
    found = suggest(tokenizer, ["covid covid covidien covids"], most=1)
    assert words(found) == ["covid"]
    assert found.changed == [
        ("covidien", 1, ["co", "##vidien"], ["covid", "##ien"]),
        ("covids", 1, ["co", "##vid", "##s"], ["covid", "##s"]),
    ]
    assert found.left_out == []


def test_a_word_that_makes_another_longer_is_left_out(small):
    tokenizer = small(*[each for each in LETTERS if each != "##ien"], "co", "##vid", "##vidien")
    found = suggest(tokenizer, ["covid covid covid covidien"], most=1)
    assert found.left_out == [("covid", 3, "'covidien' would become [UNK]")]
    assert words(found) == ["covidien"]


# ---- what it comes to ----------------------------------------------------------------------------


@pytest.mark.parametrize("adding", ["wordpiece", "single-word"])
def test_the_estimate_is_what_adding_saves(english, adding):
    docs = Path(__file__).parents[2] / "docs"
    pages = [
        (docs / name).read_text("utf-8") for name in ("hf_compatibility.md", "command_line.md")
    ]
    texts = "\n".join(pages).split("\n")
    tokenizer = BertTokenizer.from_pretrained("trietok-en")
    found = suggest(tokenizer, texts, way=adding, most=120)
    assert found.tokens_before == number_of_tokens(english, texts)
    assert found.unknown_before == unknown_in(english, texts)
    assert [step.suggestions for step in found.milestones] == [50, 100, 120]
    for step in found.milestones:
        grown = BertTokenizer.from_pretrained("trietok-en")
        add_terms(grown, words(found)[: step.suggestions], adding)
        assert (step.tokens, step.unknown) == (
            number_of_tokens(grown, texts),
            unknown_in(grown, texts),
        )
    assert (
        found.mean_after
        == found.tokens_after / len(texts)
        == found.milestones[-1].tokens / len(texts)
    )
    assert found.tokens_after < found.tokens_before


def test_coverage(small):
    tokenizer = small(*LETTERS)
    found = suggest(tokenizer, ["sos sos di €"], most=2, unknown_weight=0)
    # five tokens of six extra and unknown ones
    assert [step.coverage for step in found.milestones] == [5 / 6]
    assert suggest(tokenizer, ["sos sos di €"]).milestones[-1].coverage == 1.0


def test_added_tokens_stand_alone(small):
    """As an added token a word is matched as it is written, where no word character touches it."""
    tokenizer = small(*LETTERS, *PIECES)
    texts = ["covid-covid covids cövid covid_covid COVID"]
    (covid,) = suggest(tokenizer, texts, way="single-word", most=1).suggestions
    assert covid[:2] == ("covid", 3)
    assert {each.word: each.frequency for each in suggest(tokenizer, texts).suggestions}[
        "covid"
    ] == 6


def test_the_order_of_the_texts_makes_no_difference(english):
    texts = [
        "zoology of whales",
        "whales and zoology",
        "unwhaling zoologists unwhaling",
        "€ 100€",
    ] * 2
    found = suggest(english, texts)
    shuffled = random.Random(1).sample(texts, len(texts))
    assert suggest(english, iter(shuffled)) == found


ALPHABET = "abcé€東, "
entries = st.lists(st.text("abc", min_size=1, max_size=3), max_size=8)


@given(
    begin=entries,
    inside=entries,
    texts=st.lists(st.text(ALPHABET, max_size=25), min_size=1, max_size=4),
    most=st.integers(1, 8),
    min_frequency=st.integers(1, 2),
    leave_others=st.booleans(),
)
def test_as_the_reference_says(begin, inside, texts, most, min_frequency, leave_others):
    vocab = list(dict.fromkeys([*SPECIAL, *begin, *("##" + piece for piece in inside)]))
    options = {"min_frequency": min_frequency, "leave_others": leave_others}
    if not any(text.strip(" ") for text in texts):
        return
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "vocab.txt")
        path.write_text("\n".join(vocab) + "\n", encoding="utf-8")
        tokenizer = BertTokenizer(path)
    found = suggest(tokenizer, texts, most=most, **options)
    expected, changed = reference.suggest(vocab, texts, most=most, **options)
    assert [each[:3] for each in found.suggestions] == expected
    assert {change.text: change.after for change in found.changed} == changed
    assert found.tokens_before == reference.number_of_tokens(vocab, texts)
    assert found.unknown == reference.unknown_words(vocab, texts)
    add_terms(tokenizer, found)
    assert found.tokens_after == reference.number_of_tokens([*vocab, *words(found)], texts)
    assert found.tokens_after == number_of_tokens(tokenizer, texts)
    assert found.unknown_after == unknown_in(tokenizer, texts)


@given(
    begin=entries,
    inside=entries,
    there=st.lists(st.sampled_from(["ab", "a b", "b,", "€", "c a", " b"]), max_size=2),
    texts=st.lists(st.text("abB_€東,é ", min_size=1, max_size=25), min_size=1, max_size=4),
    most=st.integers(1, 8),
)
def test_added_tokens_save_what_was_said(begin, inside, there, texts, most):
    vocab = list(dict.fromkeys([*SPECIAL, *begin, *("##" + piece for piece in inside)]))
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "vocab.txt")
        path.write_text("\n".join(vocab) + "\n", encoding="utf-8")
        tokenizer = BertTokenizer(path)
    tokenizer.add_tokens([AddedToken(content, single_word=content == "€") for content in there])
    if not number_of_tokens(tokenizer, texts):
        return
    found = suggest(tokenizer, texts, way="single-word", most=most)
    assert found.tokens_before == number_of_tokens(tokenizer, texts)
    add_terms(tokenizer, found)
    assert found.tokens_after == number_of_tokens(tokenizer, texts)
    assert found.unknown_after == unknown_in(tokenizer, texts)


# ---- memory --------------------------------------------------------------------------------------


def test_the_rarest_words_are_forgotten_and_still_count(small):
    tokenizer = small(*LETTERS)
    texts = ["sos sos sos", "di cs vs", "di sos"]
    found = suggest(tokenizer, texts, max_words=2)
    assert [each[:2] for each in found.suggestions] == [("sos", 4), ("di", 1)]
    assert (found.words, found.forgotten, found.lost_at_most) == (8, 3, 1)
    assert (found.tokens_before, found.tokens_after) == (
        number_of_tokens(tokenizer, texts),
        20 - 8 - 1,
    )


# ---- adding them ---------------------------------------------------------------------------------


@pytest.mark.parametrize("adding", ["wordpiece", "single-word"])
def test_added_saved_and_loaded(small, tmp_path, adding):
    tokenizer = small(*LETTERS, *PIECES)
    texts = ["Covid covid covidien sos"]
    size = len(tokenizer)
    found = suggest(tokenizer, texts, way=adding, most=2)
    assert words(found) == ["covid", "sos"]
    then = {"wordpiece": "covid ##ien", "single-word": "co ##vidien"}
    way = {"wordpiece": "auto", "single-word": "single-word"}[adding]
    assert add_terms(copy.deepcopy(tokenizer), words(found), adding).added == {
        "covid": size,
        "sos": size + 1,
    }
    done = add_terms(tokenizer, found)
    assert (done.way, done.added) == (way, {"covid": size, "sos": size + 1})
    assert tokenizer.tokenize("covidien") == then[adding].split()
    assert [tokenizer.encode(word, add_special_tokens=False) for word in words(found)] == [
        [size],
        [size + 1],
    ]
    tokenizer.save_pretrained(tmp_path / "out")
    assert BertTokenizer.from_pretrained(tmp_path / "out").encode(texts[0]) == tokenizer.encode(
        texts[0]
    )


class OwnWords(BertTokenizer):
    def _tokenize(self, text, split_special_tokens=False, **kwargs):
        return list(text)


def test_for_a_fast_tokenizer_the_way_out_is_named(vocab_file):
    path = vocab_file(*LETTERS)
    fast = trietok.BertTokenizerFast(path)
    with pytest.raises(InputTypeError):
        suggest(fast, ["covid"])
    suggestions = suggest(BertTokenizer(path), ["covid"])
    assert fast.add_wordpieces(words(suggestions)) == 1
    assert fast.tokenize("Covid") == ["covid"]


def test_what_is_refused(small, vocab_file):
    tokenizer = small(*LETTERS)
    for texts in ([], ["", " "], ["\u200b"]):
        with pytest.raises(InputError):
            suggest(tokenizer, texts)
    for tokenizer_given, texts in (
        (tokenizer, "sos"),
        (tokenizer, [7]),
        ("trietok-en", ["sos"]),
        (OwnWords(vocab_file(*LETTERS)), ["sos"]),
    ):
        with pytest.raises(InputTypeError):
            suggest(tokenizer_given, texts)
    for option in ({"most": 0}, {"min_frequency": 1.5}, {"max_words": True}, {"way": "anyhow"}):
        with pytest.raises(InputError, match=f"{next(iter(option))} is"):
            suggest(tokenizer, ["sos"], **option)
    tokenizer.wordpiece_tokenizer.continuing_subword_prefix = ""
    with pytest.raises(InputError):
        suggest(tokenizer, ["sos"])


def test_nothing_to_suggest(small):
    found = suggest(small(*LETTERS), ["c o", "d"])
    assert (found.suggestions, found.milestones, found.tokens_after) == ([], [], 3)
    assert "nothing to suggest" in str(found)


def test_readable_and_as_json(small):
    found = suggest(small(*LETTERS, *PIECES), ["covid covids € covid"], most=2, unknown_weight=2.5)
    lines = [line.split() for line in str(found).split("\n")]
    assert ["covid", "2", "2", "co", "##vid"] in lines
    assert ["€", "1"] in lines
    values = json.loads(json.dumps(found.to_dict()))
    assert values["suggestions"][0]["pieces"] == ["co", "##vid"]
    assert values["changed"][0]["text"] == "covids"
    assert (values["mean_before"], values["mean_after"]) == (8.0, 5.0)


# ---- unknown words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "phrases"), [("wordpiece", 0), ("single-word", 0), ("single-word", 2)]
)
def test_unknown_words_are_listed_with_their_frequency(english, way, phrases):
    texts = ["Snow ☃ in Paris, ☃!", "the ☕ of [UNK] Łódź", "ᚠ and ☕☕ and ☃", "Paris [UNK] ☕"]
    found = suggest(english, texts, min_frequency=3, way=way, phrases=phrases)
    assert [*found.unknown.items()] == [("☃", 3), ("☕", 2), ("łodz", 1), ("ᚠ", 1), ("☕☕", 1)]
    assert "☕" not in words(found)  # it is rarer than `min_frequency`
    assert found.unknown_before == 8 + 2  # and the unknown token itself, which is no word
