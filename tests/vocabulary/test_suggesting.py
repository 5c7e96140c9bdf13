"""Suggestions: which words, in which order, what adding them saves and what it leaves as it is."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import trietok
from tests.conftest import SPECIAL, assert_share, examples
from trietok import AddedToken, BertTokenizer, InputError, InputTypeError, add_terms, google_bert

LETTERS = ["c", "o", "v", "i", "d", "s", "##c", "##o", "##v", "##i", "##d", "##s"]
PIECES = ["co", "##vid", "##vidien", "##ien"]


def suggest(tokenizer, texts, **options):
    return trietok.suggest_tokens(tokenizer, texts, **{"min_frequency": 1, **options})


def words(suggestions) -> list[str]:
    return [each.word for each in suggestions.suggestions]


def number_of_tokens(tokenizer, texts) -> int:
    return sum(len(tokenizer.tokenize(text)) for text in texts)


def unknown_in(tokenizer, texts) -> int:
    return sum(tokenizer.encode(text).count(tokenizer.unk_token_id) for text in texts)


def check_added(tokenizer, texts, found) -> None:
    """Adding what is suggested gives the tokens that were said."""
    assert number_of_tokens(tokenizer, texts) == found.tokens_before
    assert unknown_in(tokenizer, texts) == found.unknown_before
    grown = copy.deepcopy(tokenizer)
    add_terms(grown, found)
    assert number_of_tokens(grown, texts) == found.tokens_after
    assert unknown_in(grown, texts) == found.unknown_after


# ---- which words, in which order -----------------------------------------------------------------


def test_words_are_those_that_the_tokenizer_splits_texts_into(small):
    texts = ["CÖD-cod 東 co\u00add", "c" * 101 + " " + "c" * 100]
    assert words(suggest(small(*LETTERS), texts)) == ["c" * 100, "cod", "-", "東"]
    cased = small(*LETTERS, do_lower_case=False)
    assert set(words(suggest(cased, texts[:1]))) == {"CÖD", "cod", "-", "東"}
    whitespace_only = small(*LETTERS, do_basic_tokenize=False)
    assert set(words(suggest(whitespace_only, ["c,d c"]))) == {"c,d"}
    never_split = small(*LETTERS, never_split=["C.D"], do_lower_case=False)
    found = suggest(never_split, ["C.D c"])
    assert (words(found), found.unknown_before, found.unknown_after) == (["C.D"], 1, 0)
    check_added(never_split, ["C.D c"], found)


def test_a_word_that_would_make_another_longer_is_left_out_with_the_reason(small):
    tokenizer = small(*LETTERS, "co", "##vid", "##vidien")
    found = suggest(tokenizer, ["covid covid covid covidien"], most=1)
    assert found.left_out == [("covid", 3, "'covidien' would become [UNK]")]
    assert words(found) == ["covidien"]


def test_added_tokens_and_word_characters_around_a_word_keep_it_from_counting(small):
    tokenizer = small(*LETTERS)
    tokenizer.add_tokens(["covid-19"])
    found = suggest(tokenizer, ["Covid-19 covid"])
    assert [each[:2] for each in found.suggestions] == [("covid", 1)]
    texts = ["covid-covid covids cövid covid_covid COVID"]
    (covid,) = suggest(small(*LETTERS), texts, way="single-word", most=1).suggestions
    assert covid[:2] == ("covid", 3)


def test_the_order_of_the_texts_makes_no_difference(english):
    texts = ["zoology of whales", "whales and zoology", "unwhaling zoologists", "€ 100€"] * 2
    shuffled = random.Random(1).sample(texts, len(texts))
    assert suggest(english, iter(shuffled)) == suggest(english, texts)


@pytest.mark.parametrize(
    ("way", "phrases"), [("wordpiece", 0), ("single-word", 0), ("single-word", 2)]
)
def test_unknown_words_are_listed_with_their_frequency(english, way, phrases):
    texts = ["Snow ☃ in Paris, ☃!", "the ☕ of [UNK] Łódź", "ᚠ and ☕☕ and ☃", "Paris [UNK] ☕"]
    found = suggest(english, texts, min_frequency=3, way=way, phrases=phrases)
    assert [*found.unknown.items()] == [("☃", 3), ("☕", 2), ("łodz", 1), ("ᚠ", 1), ("☕☕", 1)]
    assert "☕" not in words(found)  # it is rarer than `min_frequency`
    assert found.unknown_before == 8 + 2  # and the unknown token itself, which is no word


# ---- what it comes to ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["wordpiece", "single-word"])
def test_each_milestone_is_what_adding_so_many_saves(english, way):
    page = Path(__file__).parents[2] / "docs" / "command_line.md"
    texts = page.read_text("utf-8").split("\n")
    found = suggest(english, texts, way=way, most=120)
    assert found.tokens_before == number_of_tokens(english, texts)
    assert found.unknown_before == unknown_in(english, texts)
    assert [step.suggestions for step in found.milestones] == [50, 100, 120]
    for step in found.milestones:
        grown = BertTokenizer.from_pretrained("trietok-en")
        add_terms(grown, words(found)[: step.suggestions], way)
        tokens = number_of_tokens(grown, texts)
        assert (step.tokens, step.unknown) == (tokens, unknown_in(grown, texts))
    assert found.mean_after == found.tokens_after / len(texts) == tokens / len(texts)
    assert found.tokens_after < found.tokens_before


def test_the_rarest_words_are_forgotten_and_still_count(small):
    tokenizer = small(*LETTERS)
    found = suggest(tokenizer, ["sos sos di €"], most=2, unknown_weight=0)
    assert [step.coverage for step in found.milestones] == [5 / 6]  # extra and unknown tokens
    texts = ["sos sos sos", "di cs vs", "di sos"]
    found = suggest(tokenizer, texts, max_words=2)
    assert [each[:2] for each in found.suggestions] == [("sos", 4), ("di", 1)]
    assert (found.words, found.forgotten, found.lost_at_most) == (8, 3, 1)
    assert found.tokens_before == number_of_tokens(tokenizer, texts)
    assert found.tokens_after == 20 - 8 - 1


def test_suggestions_are_readable_and_json(small):
    found = suggest(small(*LETTERS, *PIECES), ["covid covids € covid"], most=2, unknown_weight=2.5)
    lines = [line.split() for line in str(found).split("\n")]
    assert ["covid", "2", "2", "co", "##vid"] in lines
    assert ["€", "1"] in lines
    nothing = suggest(small(*LETTERS), ["c o", "d"])
    assert (nothing.suggestions, nothing.milestones, nothing.tokens_after) == ([], [], 3)
    assert "nothing to suggest" in str(nothing)
    values = json.loads(json.dumps(found.to_dict()))
    assert values["suggestions"][0]["pieces"] == ["co", "##vid"]
    assert values["changed"][0]["text"] == "covids"
    assert (values["mean_before"], values["mean_after"]) == (8.0, 5.0)


# ---- compared with tokenizing everything again for every word tried ------------------------------


def cut(vocab: Collection[str], word: str) -> list[str]:
    ids = {token: number for number, token in enumerate(vocab)}
    return google_bert.WordpieceTokenizer(ids, max_input_chars_per_word=100).tokenize(word)


def is_worse(before: list[str], after: list[str]) -> bool:
    if before == ["[UNK]"]:
        return False
    return after == ["[UNK]"] or len(after) > len(before)


def suggested(
    vocab: Collection[str],
    frequencies: Counter[str],
    *,
    most: int,
    min_frequency: int,
    leave_others: bool,
    unknown_weight: float,
) -> list[str]:
    """The words that save most: one that makes others worse, weighed by how often they occur, is
    left out; unknown ones save no token, and come last.
    """
    at_first = {word: cut(vocab, word) for word in frequencies}

    def rank(word: str) -> tuple[float, int, str]:
        worth = unknown_weight if at_first[word] == ["[UNK]"] else len(at_first[word]) - 1
        return -worth * frequencies[word], -frequencies[word], word

    ranked = sorted(
        (
            word
            for word, count in frequencies.items()
            if (len(at_first[word]) > 1 or (at_first[word] == ["[UNK]"] and unknown_weight))
            and count >= min_frequency
            and len(word) <= 100
        ),
        key=rank,
    )
    unknown = [word for word in ranked if at_first[word] == ["[UNK]"]]
    enough = most - len({*unknown} & {*ranked[:most]})
    picked: list[str] = []
    for word in [*(word for word in ranked if word not in unknown), *unknown]:
        if len(picked) < (most if word in unknown else enough):
            now, then = {*vocab, *picked}, {*vocab, *picked, word}
            others = [other for other in frequencies if other not in (*picked, word)]
            touched = [other for other in others if cut(now, other) != cut(then, other)]
            worse = [other for other in touched if is_worse(at_first[other], cut(then, other))]
            harm = sum(frequencies[other] for other in worse)
            if 100 * harm <= frequencies[word] and not (leave_others and touched):
                picked.append(word)
    return picked


entries = st.lists(st.text("abc", min_size=1, max_size=3), max_size=8)


def written(tokens: Sequence[str], folder: str) -> BertTokenizer:
    path = Path(folder, "vocab.txt")
    path.write_text("\n".join(tokens) + "\n", encoding="utf-8")
    return BertTokenizer(path)


@examples(100)
@given(
    begin=entries,
    inside=entries,
    texts=st.lists(st.text("abcé€東, ", max_size=25), min_size=1, max_size=4),
    most=st.integers(1, 8),
    min_frequency=st.integers(1, 2),
    leave_others=st.booleans(),
    weight=st.sampled_from([2, 2.5, 1, 0]),
)
def test_suggested_words_equal_those_of_trying_each_word(
    begin, inside, texts, most, min_frequency, leave_others, weight
):
    assume(any(text.strip(" ") for text in texts))
    vocab = list(dict.fromkeys([*SPECIAL, *begin, *("##" + piece for piece in inside)]))
    options = {"most": most, "min_frequency": min_frequency, "leave_others": leave_others}
    options["unknown_weight"] = weight
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = written(vocab, folder)
    found = suggest(tokenizer, texts, **options)
    split = google_bert.BasicTokenizer(do_lower_case=True).tokenize
    frequencies = Counter(word for text in texts for word in split(text))
    assert words(found) == suggested(vocab, frequencies, **options)
    grown = [*vocab, *words(found)]
    for word, frequency, pieces, *_ in found.suggestions:
        assert (frequency, pieces) == (frequencies[word], cut(vocab, word))
    assert {each.text: each.after for each in found.changed} == {
        word: cut(grown, word)
        for word in frequencies.keys() - words(found)
        if cut(grown, word) != cut(vocab, word)
    }
    assert found.unknown == {
        word: count for word, count in frequencies.items() if cut(vocab, word) == ["[UNK]"]
    }
    check_added(tokenizer, texts, found)


# Some of these words stand together more often than chance has it.
SPANS = st.sampled_from(["ab ba", "ab ba", "abc (ab", "b-a c", "a", "ab", "c", "AB", "é", "€", "x"])
SPACES = st.sampled_from([" ", " ", " ", "  ", "\t", ", ", "東"])
SPANNED = st.lists(st.tuples(SPANS, SPACES), max_size=8)


def test_added_tokens_and_phrases_save_what_was_said():
    has_phrase: list[bool] = []

    @examples(100)
    @given(
        begin=entries,
        inside=entries,
        known=st.lists(st.sampled_from(["ab", "a b", "b,", "€", "ba ab", "b-a"]), max_size=2),
        texts=st.lists(SPANNED.map(lambda spans: "".join(sum(spans, ()))), min_size=1, max_size=8),
        most=st.integers(1, 8),
        phrases=st.sampled_from([0, 2, 4]),
    )
    def check(begin, inside, known, texts, most, phrases):
        vocab = list(dict.fromkeys([*SPECIAL, *begin, *("##" + piece for piece in inside)]))
        with tempfile.TemporaryDirectory() as folder:
            tokenizer = written(vocab, folder)
        tokenizer.add_tokens([AddedToken(token, single_word=token == "€") for token in known])
        assume(number_of_tokens(tokenizer, texts))
        found = suggest(tokenizer, texts, way="single-word", most=most, phrases=phrases)
        has_phrase.append(any(" " in word for word in words(found)))
        check_added(tokenizer, texts, found)

    check()
    assert_share(sum(has_phrase), len(has_phrase), 0.05)


# ---- phrases -------------------------------------------------------------------------------------

SHORT = ["a", "b", "c", "##a", "##b", "##c", ",", "the", "of", "is", "in"]
PHRASES = {"way": "single-word", "phrases": 4, "min_frequency": 2}


def test_words_that_often_stand_together_are_a_phrase(small):
    tokenizer = small(*SHORT)
    texts = ["The abc cab of a bac.", "An abc cab, (abc cab) in the abc cab!", "in bac is the a"]
    texts += ["of the", "the is", "is of", "in the", "the, of", "in is"] * 4
    found = suggest(tokenizer, texts, **PHRASES)
    assert words(found) == ["abc cab", "bac"]
    first = found.suggestions[0]
    assert (first.frequency, first.tokens_saved) == (4, 20)
    assert first.pieces == ["a", "##b", "##c", "c", "##a", "##b"]
    check_added(tokenizer, texts, found)
    assert words(suggest(tokenizer, texts, **{**PHRASES, "phrases": 0})) == ["abc", "cab", "bac"]
    assert suggest(tokenizer, iter(texts), **PHRASES) == found
    few = suggest(tokenizer, texts, max_words=3, **PHRASES)
    assert few.tokens_before == number_of_tokens(tokenizer, texts)


def test_a_phrase_goes_over_no_punctuation_spaces_or_lines_and_stands_in_no_other(small):
    texts = ["abc, cab"] * 3 + ["abc  cab"] * 3 + ["abc\ncab", "abc-cab", "abc\tcab"] * 3
    assert words(suggest(small(*SHORT), texts, **PHRASES)) == ["abc", "cab"]
    texts = ["abc cab bac"] * 5 + ["the", "of", "is", "in"] * 5
    found = suggest(small(*SHORT), texts, **PHRASES)
    assert words(found) == ["abc cab bac"]
    reason = "what it would save, the suggestions before it save"
    assert {each.reason for each in found.left_out} == {reason}


# ---- errors --------------------------------------------------------------------------------------


class OwnWords(BertTokenizer):
    def _tokenize(self, text, split_special_tokens=False, **kwargs):
        return list(text)


def test_mistakes_are_refused_with_the_name_of_the_option(small, vocab_file):
    tokenizer = small(*LETTERS)
    for texts in ([], ["", " "], ["\u200b"]):
        with pytest.raises(InputError):
            suggest(tokenizer, texts)
    fast = trietok.BertTokenizerFast(vocab_file(*LETTERS))
    own = OwnWords(vocab_file(*LETTERS))
    for given_tokenizer, texts in (
        (tokenizer, "sos"),
        (tokenizer, [7]),
        ("trietok-en", ["sos"]),
        (own, ["sos"]),
        (fast, ["sos"]),
    ):
        with pytest.raises(InputTypeError):
            suggest(given_tokenizer, texts)
    for option in (
        {"most": 0},
        {"min_frequency": 1.5},
        {"max_words": True},
        {"way": "anyhow"},
        *({"phrases": value, "way": "single-word"} for value in (1, 5, True)),
    ):
        with pytest.raises(InputError, match=f"{next(iter(option))} is"):
            suggest(tokenizer, ["sos"], **option)
    with pytest.raises(InputError, match="a phrase cannot be an entry"):
        suggest(tokenizer, ["sos"], phrases=2, way="wordpiece")
    tokenizer.wordpiece_tokenizer.continuing_subword_prefix = ""
    with pytest.raises(InputError):
        suggest(tokenizer, ["sos"])
