"""Terms made tokens: what is added, known, there twice, refused; and what each way does to texts."""

from __future__ import annotations

import json

import pyarrow
import pytest

import trietok
from tests.cli.commands import out
from tests.vocabulary.parts import reloaded
from trietok import (
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    VocabularyError,
    add_terms,
)

# ids from 5
WORDS = (
    *("the", "co", "##v", "##id", "##s", "a", "b", "[unused0]", "[unused1]"),
    *("ol", "##ogy"),
)
NEXT = 5 + len(WORDS)
WAYS = ("auto", "wordpiece", "added", "single-word", "unused")


@pytest.fixture(params=[BertTokenizer, BertTokenizerFast], ids=["slow", "fast"])
def tokenizer(request, vocab_file):
    return request.param(vocab_file(*WORDS))


def refused_numbers(done: trietok.AddedTerms) -> list[int]:
    return [each.number for each in done.refused]


# ---- each way ------------------------------------------------------------------------------------


def test_entries_of_the_vocabulary(tokenizer):
    terms = ["Covid", "the", "covid", "a b", "##ology", "co-op", "##", " ", "x" * 101, "çovid"]
    done = add_terms(tokenizer, [*terms, "The"], "wordpiece")
    assert done.added == {"covid": NEXT, "##ology": NEXT + 1}
    assert done.known == ["the"]
    assert done.duplicates == ["covid", "çovid", "The"]  # the tokenizer takes the accent off
    assert refused_numbers(done) == [4, 6, 7, 8, 9]
    assert tokenizer.tokenize("Covid covids") == ["covid", "covid", "##s"]


@pytest.mark.parametrize("way", ["added", "single-word"])
def test_added_tokens_match_inside_words_or_whole_words_alone(tokenizer, way):
    done = add_terms(tokenizer, ["a covid", "Covid", "the", "covid", "co-op"], way)
    assert (done.known, done.refused) == (["the"], [])
    assert tokenizer.tokenize("a covid, covids co-op")[:2] == ["a covid", "[UNK]"]
    inside = ["covid", "[UNK]"] if way == "added" else ["co", "##v", "##id", "##s"]
    assert tokenizer.tokenize("covids") == inside
    assert sorted(done.added.values()) == list(range(NEXT, NEXT + len(done.added)))
    if not tokenizer.is_fast:
        assert (list(done.added), done.duplicates) == (["a covid", "covid", "co-op"], ["covid"])


def test_unused_slots_are_taken_in_order_and_all_or_none(tokenizer):
    size = len(tokenizer)
    assert tokenizer.unused_slots() == ["[unused0]", "[unused1]"]
    assert add_terms(tokenizer, ["the", "long covid"], "unused").added == {"long covid": 12}
    assert (tokenizer.tokenize("a long covid"), len(tokenizer)) == (["a", "long covid"], size)
    assert reloaded(tokenizer).unused_slots() == tokenizer.unused_slots() == ["[unused1]"]
    before = tokenizer.fingerprint()
    with pytest.raises(InputError):
        add_terms(tokenizer, ["x", "y"], "unused")
    assert tokenizer.fingerprint() == before
    add_terms(tokenizer, ["[X]"], "unused", special=True)
    assert tokenizer.tokenize("a[X]b") == ["a", "[X]", "b"]  # found inside words, unlike terms
    assert "long covid" not in tokenizer.tokenize("a long covids")


def test_special_terms_are_taken_as_they_are_written(tokenizer):
    done = add_terms(tokenizer, ["[SUBJ]", "\u0301", "\u200d"], "added", special=True)
    assert (list(done.added), done.refused) == (["[SUBJ]", "\u0301", "\u200d"], [])
    assert tokenizer.decode([NEXT, 5], skip_special_tokens=True) == "the"
    assert tokenizer.tokenize("a\u200db") == ["a", "\u200d", "b"]
    with pytest.raises(InputError):
        add_terms(tokenizer, ["x"], "wordpiece", special=True)


TERMS = [
    *("Covid", "Crohn's disease", "TNF-\u03b1", "##ology", "co/v", "Ménière's disease"),
    *("x" * 101, "C++", "糖尿病"),
]
SENTENCES = {
    "covid": ["Covid, the covi", "(COVID)", "covids"],
    "crohn's disease": ["the Crohn's disease.", "CROHN'S DISEASE, a", "(crohn's disease)"],
    "tnf-\u03b1": ["a TNF-\u03b1; the", "TNF-\u0391/TNF"],
    "co/v": ["the Co/V."],
    "ménière's disease": ["a Ménière's disease, b"],
    "x" * 101: ["a " + "X" * 101],
    "c++": ["the C++, a"],
    "糖尿病": ["a 糖尿病", "患糖尿病的"],
}


def test_terms_become_entries_or_added_tokens_that_texts_reach(tokenizer):
    before = tokenizer.get_vocab()
    done = add_terms(tokenizer, TERMS)
    assert (done.refused, done.entries) == ([], ["covid", "##ology"])
    assert sorted(done.added.values()) == list(range(NEXT, NEXT + len(TERMS)))
    assert str(done) == "9 terms added: 2 entries of the vocabulary, 7 added tokens (whole words)"
    ids = {token.lower(): token_id for token, token_id in done.added.items()}
    for each in (tokenizer, reloaded(tokenizer)):
        assert each.get_vocab() == before | done.added
        for term, sentences in SENTENCES.items():
            for sentence in sentences:
                assert each.encode(sentence).count(ids[term]) == 1, (term, sentence)
        assert each.tokenize("crohn's diseases")[0] == "[UNK]"
    assert set(add_terms(tokenizer, TERMS).known) == set(TERMS)


# ---- terms that are odd --------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["added", "single-word", "unused"])
def test_a_term_of_which_normalization_leaves_nothing_is_refused_by_the_fast_profile(
    tokenizer, way
):
    terms = ["\u0301", "x\u0301"]
    done = add_terms(tokenizer, terms, way)
    if tokenizer.is_fast:
        assert (list(done.added), refused_numbers(done)) == (terms[1:], [1])
    else:  # it looks for added tokens in the text as it is written
        assert (list(done.added), done.refused) == (terms, [])


@pytest.mark.parametrize("way", WAYS)
def test_spaces_and_line_ends_around_a_term_are_no_part_of_it(tokenizer, way):
    done = add_terms(tokenizer, ["covid\r", "  cos\t", "[MASK]", "[unused1]"], way)
    assert list(done.added) == ["covid", "cos"]
    assert done.known == ["[MASK]"]
    assert refused_numbers(done) == [4]  # which no text gives
    assert tokenizer.tokenize("the covid cos") == ["the", "covid", "cos"]


def test_one_token_for_all_the_ways_a_term_is_written(tokenizer):
    done = add_terms(tokenizer, ["A b", "a b", "The", "A B", "co op"], "single-word")
    assert (len(done.added), done.duplicates, done.known) == (2, ["a b", "A B"], ["The"])
    assert add_terms(tokenizer, ["CO OP"]).known == ["CO OP"]


@pytest.mark.parametrize("way", ["auto", "wordpiece", "single-word", "added"])
def test_entries_that_no_text_gives_are_not_known(small, way):
    tokenizer = small("...", "##ing", "it's", "☃")
    before = tokenizer.get_vocab()
    done = add_terms(tokenizer, ["it's", "##ing", "☃", "..."], way)
    assert (done.added, done.known) == ({}, ["##ing", "☃"])
    assert [(each.number, each.term) for each in done.refused] == [(1, "it's"), (4, "...")]
    tokenizer.add_tokens(["it's"])  # as the reason says
    assert tokenizer.get_vocab() == before
    assert tokenizer.tokenize("it's") == ["it's"]
    assert add_terms(tokenizer, ["it's"], way).known == ["it's"]
    done = add_terms(tokenizer, ["...", "☃", "[MASK]"], special=True)
    assert (done.known, refused_numbers(done)) == (["☃", "[MASK]"], [1])


@pytest.mark.parametrize("way", ["auto", "added"])
def test_an_entry_with_capitals_of_an_uncased_model_is_no_obstacle(small, way):
    tokenizer = small("Zoology", "<S>", "zoo")
    done = add_terms(tokenizer, ["Zoology", "<S>"], way)
    assert (list(done.added), done.refused) == (["zoology", "<s>"], [])
    assert tokenizer.tokenize("Zoology <S>") == ["zoology", "<s>"]


def test_a_tokenizer_of_characters_takes_added_tokens_only(vocab_file):
    file = vocab_file("z", "o")
    tokenizer = trietok.BertJapaneseTokenizer(file, subword_tokenizer_type="character")
    done = add_terms(tokenizer, ["zoology", "the people"])
    assert (list(done.added), done.entries) == (["zoology", "the people"], [])


# ---- terms after others --------------------------------------------------------------------------


def test_entries_after_a_term_of_several_words_keep_all_ids_through_saving(tokenizer):
    assert list(add_terms(tokenizer, ["covid", "New York", "c++"]).added.values()) == [16, 17, 18]
    ids, again = tokenizer.get_vocab(), reloaded(tokenizer)
    second = add_terms(again, ["zoology", "##xq", "C-reactive protein"])
    assert list(second.added.values()) == [19, 20, 21]
    saved = reloaded(again)
    assert saved.fingerprint() == again.fingerprint()
    assert saved.get_vocab() == ids | second.added
    for text, tokens in (("New York", 1), ("New Yorker", 2), ("abxq zoology c++", 3)):
        assert (len(saved.tokenize(text)), saved.encode(text)) == (tokens, again.encode(text)), text


def test_an_added_token_that_would_split_a_word_makes_it_an_added_token_too(tokenizer):
    tokenizer.add_tokens(["ovi"])
    assert tokenizer.tokenize("the covid")[1] != "covid"
    done = add_terms(tokenizer, ["covid"])
    assert (list(done.added), done.entries) == (["covid"], [])
    assert tokenizer.tokenize("the covid") == ["the", "covid"]


@pytest.mark.parametrize("word", ["zoology", "##xq"])
def test_an_added_token_that_a_text_could_give_as_an_entry_is_in_the_way(tokenizer, word):
    add_terms(tokenizer, ["covids"], "single-word")
    (refused,) = add_terms(tokenizer, ["the", word], "wordpiece").refused
    assert "'covids'" in refused.reason
    done = add_terms(tokenizer, ["the", word, "a zoo"])
    is_word = word == "zoology"
    assert (done.instead, done.in_the_way) == (([word], "covids") if is_word else ([], ""))
    assert (done.known, done.entries, len(done.added)) == (["the"], [], 1 + is_word)
    assert len(done.refused) == 1 - is_word
    add_terms(tokenizer, ["zoology"])
    again = reloaded(tokenizer)
    assert again.get_vocab() == tokenizer.get_vocab()
    assert again.tokenize("covidses zoology zoologys")[-2:] == ["zoology", "[UNK]"]


def test_a_term_before_entries_can_be_removed_and_come_back(tokenizer):
    add_terms(tokenizer, ["New York", "c++"])
    add_terms(tokenizer, ["zoology"])
    tokenizer = reloaded(tokenizer)
    size, york = tokenizer.max_id + 1, list(tokenizer.added_tokens_encoder)[-2]
    tokenizer.remove_tokens([york])
    assert tokenizer.tokenize("New York zoology") == ["[UNK]", "[UNK]", "zoology"]
    assert "[unused-id-16]" in tokenizer.unused_slots()
    again = reloaded(tokenizer)
    assert again.fingerprint() == tokenizer.fingerprint()
    done = add_terms(again, ["New York", "whale"])
    assert (done.added, done.known) == ({"whale": size, york: size + 1}, [])
    assert reloaded(again).tokenize("New York whale zoology") == [york.lower(), "whale", "zoology"]
    tokenizer.assign_unused("[unused-id-16]", "[NEW]")
    assert reloaded(tokenizer).tokenize("a [NEW]") == ["a", "[NEW]"]


# ---- errors --------------------------------------------------------------------------------------


def test_an_error_leaves_the_tokenizer_as_it_was(tokenizer):
    before = tokenizer.fingerprint()
    for terms, options, error in (
        (["x", 7], {}, InputTypeError),
        ("covid", {}, InputTypeError),
        (["x"], {"way": "anyhow"}, InputError),
    ):
        with pytest.raises(error):
            add_terms(tokenizer, terms, **options)
    with pytest.raises(InputTypeError, match="number 2"):
        add_terms(tokenizer, ["the", None])
    with pytest.raises(InputTypeError):
        add_terms(object(), ["x"])
    tokenizer.max_embedding_rows = NEXT + 1
    for way in ("auto", "wordpiece", "added", "single-word"):
        terms = ["covid", "a b" if way != "wordpiece" else "cos"]
        with pytest.raises(VocabularyError):
            add_terms(tokenizer, terms, way)
    assert tokenizer.fingerprint() == before


class Frame:
    """A table as pandas has it: a loop gives the names of its columns."""

    columns = ("id", "term")

    def __iter__(self):
        return iter(self.columns)


TAKES_TERMS = {
    "add_terms": add_terms,
    "add_wordpieces": lambda tokenizer, terms: tokenizer.add_wordpieces(terms),
    "remove_tokens": lambda tokenizer, terms: tokenizer.remove_tokens(terms),
    "suggest_tokens": trietok.suggest_tokens,
    "count_words": lambda tokenizer, texts: trietok.count_words(texts),
    "compare": lambda tokenizer, texts: trietok.compare(tokenizer, tokenizer, texts),
    "lock": trietok.lock,
}


@pytest.mark.parametrize("function", TAKES_TERMS)
def test_a_table_is_refused_and_a_column_of_arrow_is_a_list(small, function):
    tokenizer = small(*WORDS)
    before = tokenizer.fingerprint()
    columns = {"id": [1], "term": ["covid"]}
    for table in (Frame(), columns, pyarrow.table(columns)):
        with pytest.raises(InputTypeError):
            TAKES_TERMS[function](tokenizer, table)
    assert tokenizer.fingerprint() == before
    column = pyarrow.table({"term": ["covid", "zika", "covid"]})["term"]
    results = []
    for terms in (column, column.to_pylist()):
        tokenizer = small(*WORDS)
        if function == "remove_tokens":
            add_terms(tokenizer, ["covid", "zika"], "added")
        results.append((str(TAKES_TERMS[function](tokenizer, terms)), tokenizer.fingerprint()))
    assert results[0] == results[1]


# ---- what each way does --------------------------------------------------------------------------


def test_the_command_counts_what_each_way_does_to_texts(vocab_file, tmp_path):
    vocab_file(*WORDS)
    (tmp_path / "terms.txt").write_text("covid\na b\n")
    (tmp_path / "texts.txt").write_text("Covid\nthe covids\na b, a\nthe\n")
    given = ("--terms", str(tmp_path / "terms.txt"), "-m", str(tmp_path / "vocab.txt"))
    (line,) = out("add", *given, "--dry-run", "--json", str(tmp_path / "texts.txt"))
    counts = ("added", "refused", "texts", "texts_changed", "tokens_before", "tokens_after")
    effects = json.loads(line)["effects"]
    assert {each["way"]: [each[count] for count in counts] for each in effects} == {
        "auto": [2, 0, 4, 3, 13, 8],
        "wordpiece": [1, 1, 4, 2, 13, 9],
        "single-word": [2, 0, 4, 2, 13, 10],
        "added": [2, 0, 4, 3, 13, 8],
    }
    others = {each["way"]: [word["after"] for word in each["other_words"]] for each in effects}
    covids = ["covid", "##s"]
    assert others == {
        **{"auto": [covids], "wordpiece": [covids], "single-word": []},
        "added": [["covid", "[UNK]"]],
    }
