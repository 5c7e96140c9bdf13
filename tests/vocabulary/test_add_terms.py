"""Terms made tokens: what is added, known, there twice, refused; and what each way does to
texts.
"""

from __future__ import annotations

import pyarrow
import pytest

import trietok
from tests.vocabulary.parts import reloaded
from trietok import BertTokenizerFast, InputError, InputTypeError, VocabularyError, add_terms
from trietok.workbench.adapting.add_terms import effects_of_terms, remove_terms


class Frame:
    """A table as pandas has it: a loop gives the names of its columns."""

    columns = ("id", "term")

    def __iter__(self):
        return iter(self.columns)


TAKES_TERMS = {
    "add_terms": add_terms,
    "remove_terms": remove_terms,
    "add_wordpieces": lambda tokenizer, terms: tokenizer.add_wordpieces(terms),
    "remove_tokens": lambda tokenizer, terms: tokenizer.remove_tokens(terms),
    "suggest_tokens": trietok.suggest_tokens,
    "count_words": lambda tokenizer, texts: trietok.count_words(texts),
    "compare": lambda tokenizer, texts: trietok.compare(tokenizer, tokenizer, texts),
    "lock": trietok.lock,
}


@pytest.mark.parametrize("function", TAKES_TERMS)
def test_a_table_is_an_error_that_names_its_columns(function):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    before = tokenizer.fingerprint()
    columns = {"id": [1], "term": ["covid"]}
    for table in (Frame(), columns, pyarrow.table(columns)):
        with pytest.raises(InputTypeError):
            TAKES_TERMS[function](tokenizer, table)
    assert tokenizer.fingerprint() == before


@pytest.mark.parametrize("function", [name for name in TAKES_TERMS if name != "remove_tokens"])
def test_a_column_of_arrow_is_a_list(function):
    column = pyarrow.table({"term": ["covid", "zika", "covid"]})["term"]
    results = []
    for terms in (column, column.to_pylist()):
        tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
        if function == "remove_terms":
            add_terms(tokenizer, ["covid", "zika"])
            terms = terms[:2]
        results.append((str(TAKES_TERMS[function](tokenizer, terms)), tokenizer.fingerprint()))
    assert results[0] == results[1]


# ids from 5
WORDS = (
    "the",
    "co",
    "##v",
    "##id",
    "##s",
    "a",
    "b",
    "[unused0]",
    "[unused1]",
    "ol",
    "##ogy",
)


@pytest.fixture(params=["slow", "fast"])
def tokenizer(request, vocab_file):
    kind = BertTokenizerFast if request.param == "fast" else trietok.BertTokenizer
    return kind(vocab_file(*WORDS))


def reasons(done) -> dict[int, str]:
    return {each.number: each.reason for each in done.refused}


def test_entries(tokenizer):
    done = add_terms(
        tokenizer,
        ["Covid", "the", "covid", "a b", "##ology", "co-op", "##", " ", "x" * 101, "çovid", "The"],
        "wordpiece",
    )
    assert done.added == {"covid": 16, "##ology": 17}
    assert done.known == ["the"]
    assert done.duplicates == ["covid", "çovid", "The"]  # the tokenizer takes the accent off
    assert list(reasons(done)) == [4, 6, 7, 8, 9]
    assert tokenizer.tokenize("Covid covids") == ["covid", "covid", "##s"]


@pytest.mark.parametrize("way", ["added", "single-word"])
def test_added_tokens(tokenizer, way):
    done = add_terms(tokenizer, ["a covid", "Covid", "the", "covid", "co-op"], way)
    assert done.known == ["the"]
    assert done.refused == []
    assert tokenizer.tokenize("a covid, covids co-op")[:2] == ["a covid", "[UNK]"]
    assert tokenizer.tokenize("covids") == (
        ["covid", "[UNK]"] if way == "added" else ["co", "##v", "##id", "##s"]
    )
    assert sorted(done.added.values()) == list(range(16, 16 + len(done.added)))
    if not tokenizer.is_fast:
        assert (list(done.added), done.duplicates) == (["a covid", "covid", "co-op"], ["covid"])


@pytest.mark.parametrize("way", ["added", "single-word", "unused"])
def test_a_term_of_which_normalization_leaves_nothing(tokenizer, way):
    terms, size = ["\u0301", "\u200d", "x\u0301"], len(tokenizer)
    if way == "unused" and tokenizer.profile == "slow":
        terms.pop()  # there are two slots
    done = add_terms(tokenizer, terms, way)
    if tokenizer.profile == "slow":  # it looks for added tokens in the text as it is written
        assert (list(done.added), done.refused) == (terms, [])
        return
    assert list(reasons(done)) == [1, 2]
    assert list(done.added) == terms[2:]
    assert len(tokenizer) == size + (way != "unused")


def test_special_terms_are_looked_for_as_they_are_written(tokenizer):
    assert add_terms(tokenizer, ["\u0301", "\u200d"], "added", special=True).refused == []
    assert tokenizer.tokenize("a\u200db") == ["a", "\u200d", "b"]


def test_special_ones_are_not_lower_cased(tokenizer):
    done = add_terms(tokenizer, ["[SUBJ]"], "added", special=True)
    assert done.added == {"[SUBJ]": 16}
    assert tokenizer.decode([16, 5], skip_special_tokens=True) == "the"
    with pytest.raises(InputError):
        add_terms(tokenizer, ["x"], "wordpiece", special=True)


def test_unused_slots_in_order(tokenizer):
    size = len(tokenizer)
    assert tokenizer.unused_slots() == ["[unused0]", "[unused1]"]
    assert add_terms(tokenizer, ["the", "long covid"], "unused").added == {"long covid": 12}
    assert tokenizer.unused_slots() == ["[unused1]"]
    assert (tokenizer.tokenize("a long covid"), len(tokenizer)) == (["a", "long covid"], size)
    assert reloaded(tokenizer).unused_slots() == ["[unused1]"]
    before = tokenizer.fingerprint()
    with pytest.raises(InputError):
        add_terms(tokenizer, ["x", "y"], "unused")
    assert tokenizer.fingerprint() == before


def test_an_error_leaves_the_tokenizer_as_it_was(tokenizer):
    before = tokenizer.fingerprint()
    for terms, options, error in (
        (["x", 7], {}, InputTypeError),
        ("covid", {}, InputTypeError),
        (["x"], {"way": "anyhow"}, InputError),
    ):
        with pytest.raises(error):
            add_terms(tokenizer, terms, **options)
    tokenizer.max_embedding_rows = 16
    for way in ("wordpiece", "added", "single-word"):
        with pytest.raises(VocabularyError):
            add_terms(tokenizer, ["covid"], way)
    assert tokenizer.fingerprint() == before
    with pytest.raises(InputTypeError):
        add_terms(object(), ["x"])


def test_what_each_way_does(tokenizer):
    before = tokenizer.fingerprint()
    mixed, entries, alone, added = effects_of_terms(
        tokenizer, ["covid", "a b"], iter(["Covid", "the covids", "a b, a", "the"])
    )
    assert entries[:7] == ("wordpiece", 1, 1, 4, 2, 13, 9)
    assert [each[:4] for each in entries.other_words] == [
        ("covids", 1, ["co", "##v", "##id", "##s"], ["covid", "##s"])
    ]
    assert mixed[:7] == ("auto", 2, 0, 4, 3, 13, 8)
    assert mixed.other_words == entries.other_words
    assert added[:7] == ("added", 2, 0, 4, 3, 13, 8)
    assert added.other_words[0].after == ["covid", "[UNK]"]
    assert alone[:7] == ("single-word", 2, 0, 4, 2, 13, 10)
    assert alone.other_words == []
    assert tokenizer.fingerprint() == before


@pytest.mark.parametrize("way", ["wordpiece", "added", "single-word", "unused"])
def test_spaces_and_line_ends_around_a_term_are_no_part_of_it(way):
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    done = add_terms(tokenizer, ["covid\r", "  zoology\t", "[MASK]", "[unused7]"], way)
    assert list(done.added) == ["covid", "zoology"]
    assert done.known == ["[MASK]"]
    assert list(reasons(done)) == [4]  # which no text gives
    assert tokenizer.tokenize("has covid now") == ["has", "covid", "now"]


TERMS = [
    "Covid",
    "Crohn's disease",
    "TNF-\u03b1",
    "##ology",
    "co/v",
    "Ménière's disease",
    "x" * 101,
    "C++",
    "糖尿病",
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


def test_terms_become_what_texts_can_reach(tokenizer):
    before = tokenizer.get_vocab()
    done = add_terms(tokenizer, TERMS)
    assert done.refused == []
    assert done.entries == ["covid", "##ology"] == list(done.added)[:1] + list(done.added)[3:4]
    assert sorted(done.added.values()) == list(range(16, 16 + len(TERMS)))
    for each in (tokenizer, reloaded(tokenizer)):
        vocabulary = each.get_vocab()
        assert {token: vocabulary[token] for token in before} == before
        assert {token: vocabulary[token] for token in done.added} == done.added
        ids = {token.lower(): token_id for token, token_id in done.added.items()}
        for term, sentences in SENTENCES.items():
            for sentence in sentences:
                assert each.encode(sentence).count(ids[term]) == 1, (
                    term,
                    sentence,
                    each.tokenize(sentence),
                )
        assert each.tokenize("crohn's diseases")[0] == "[UNK]"
    assert str(done) == "9 terms added: 2 entries of the vocabulary, 7 added tokens (whole words)"
    assert set(add_terms(tokenizer, TERMS).known) == set(TERMS)


def test_a_word_that_an_added_token_would_split_becomes_one_too(tokenizer):
    tokenizer.add_tokens(["ovi"])
    assert tokenizer.tokenize("the covid")[1] != "covid"
    done = add_terms(tokenizer, ["covid"])
    assert (list(done.added), done.entries) == (["covid"], [])
    assert tokenizer.tokenize("the covid") == ["the", "covid"]


def test_one_token_for_all_the_ways_a_term_is_written(tokenizer):
    done = add_terms(tokenizer, ["A b", "a b", "The", "A B", "co op"], "single-word")
    assert (len(done.added), done.duplicates, done.known) == (2, ["a b", "A B"], ["The"])
    assert add_terms(tokenizer, ["CO OP"]).known == ["CO OP"]


def test_a_mix_is_added_as_a_whole_or_not_at_all(tokenizer):
    before = tokenizer.fingerprint()
    tokenizer.max_embedding_rows = 17
    with pytest.raises(VocabularyError):
        add_terms(tokenizer, ["covid", "a b"])
    assert tokenizer.fingerprint() == before


def test_slots_hold_whole_words_unless_they_are_special(tokenizer):
    add_terms(tokenizer, ["ov"], "unused")
    add_terms(tokenizer, ["[X]"], "unused", special=True)
    assert tokenizer.tokenize("cov ov") == ["co", "##v", "ov"]
    assert tokenizer.tokenize("a[X]b") == ["a", "[X]", "b"]


def test_subwords_of_characters_take_added_tokens_only(vocab_file):
    file = vocab_file("z", "o")
    tokenizer = trietok.BertJapaneseTokenizer(file, subword_tokenizer_type="character")
    done = add_terms(tokenizer, ["zoology", "the people"])
    assert (list(done.added), done.entries) == (["zoology", "the people"], [])


def test_a_term_is_no_other_word(tokenizer):
    for effect in effects_of_terms(tokenizer, ["Covid"], ["covid Covid"]):
        assert effect.other_words == [], effect.way


def test_entries_after_a_term_of_several_words(tokenizer):
    first = add_terms(tokenizer, ["covid", "New York", "c++"])
    assert list(first.added.values()) == [16, 17, 18]
    ids = tokenizer.get_vocab()
    there = reloaded(tokenizer)
    second = add_terms(there, ["zoology", "##xq", "C-reactive protein"])
    assert (list(second.added.values()), second.instead, second.in_the_way) == (
        [19, 20, 21],
        [],
        "",
    )
    assert there.vocabulary.holes == []
    again = reloaded(there)
    assert again.fingerprint() == there.fingerprint()
    assert {token: again.get_vocab()[token] for token in ids} == ids
    for text, tokens in (
        ("New York", 1),
        ("new  york", 2),
        ("New Yorker", 2),
        ("abxq zoology c++", 3),
    ):
        assert (len(again.tokenize(text)), again.encode(text)) == (tokens, there.encode(text)), text


@pytest.mark.parametrize("word", ["zoology", "##xq"])
def test_an_added_token_that_a_text_could_give_as_an_entry_is_in_the_way(tokenizer, word):
    add_terms(tokenizer, ["covids"], "single-word")
    size = len(tokenizer)
    for way in ("auto", "wordpiece"):
        done = add_terms(tokenizer, ["the", word, "a zoo"][: 3 if way == "auto" else 2], way)
        assert done.known == ["the"]
        if way == "wordpiece" or word == "##xq":
            (reason,) = reasons(done).values()
            assert "'covids'" in reason
        if way == "auto":
            is_word = word == "zoology"
            assert (done.instead, done.in_the_way) == (([word], "covids") if is_word else ([], ""))
            assert (done.entries, len(done.added)) == ([], 1 + is_word)
            tokenizer.remove_tokens(list(done.added), compact=True)
            assert len(tokenizer) == size
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
    there = reloaded(tokenizer)
    assert (there.get_vocab(), there.fingerprint()) == (
        tokenizer.get_vocab(),
        tokenizer.fingerprint(),
    )
    again = add_terms(there, ["New York", "whale"])
    assert (again.added, again.known) == ({"whale": size, york: size + 1}, [])
    assert reloaded(there).tokenize("New York whale zoology") == [york.lower(), "whale", "zoology"]
    tokenizer.assign_unused("[unused-id-16]", "[NEW]")
    assert reloaded(tokenizer).tokenize("a [NEW]") == ["a", "[NEW]"]


@pytest.mark.parametrize("change", [add_terms, remove_terms])
def test_what_is_no_term_is_told_with_its_number(tokenizer, change):
    with pytest.raises(InputTypeError, match="number 2"):
        change(tokenizer, ["the", None])


def test_the_token_of_unknown_words_has_a_role_whatever_the_tokenizer_names_so(tokenizer):
    tokenizer.unk_token = "the"
    for token in (tokenizer.wordpiece_tokenizer.unk_token, "the"):
        with pytest.raises(trietok.SpecialTokenError):
            remove_terms(tokenizer, [token])


@pytest.mark.parametrize("way", ["auto", "wordpiece", "single-word", "added"])
def test_entries_that_no_text_gives_are_not_known(small, way):
    tokenizer = small("...", "##ing", "it's", "☃")
    before = tokenizer.get_vocab()
    done = add_terms(tokenizer, ["it's", "##ing", "☃", "..."], way)
    assert done.added == {}
    assert done.known == ["##ing", "☃"]
    assert [(each.number, each.term) for each in done.refused] == [(1, "it's"), (4, "...")]
    tokenizer.add_tokens(["it's"])  # as the reason says
    assert tokenizer.get_vocab() == before
    assert tokenizer.tokenize("it's") == ["it's"]
    assert add_terms(tokenizer, ["it's"], way).known == ["it's"]


@pytest.mark.parametrize("way", ["auto", "added"])
def test_an_entry_with_capitals_of_an_uncased_model_is_no_obstacle(small, way):
    tokenizer = small("Zoology", "<S>", "zoo")
    done = add_terms(tokenizer, ["Zoology", "<S>"], way)
    assert list(done.added) == ["zoology", "<s>"]
    assert done.refused == []
    assert tokenizer.tokenize("Zoology <S>") == ["zoology", "<s>"]


def test_special_tokens_that_no_text_gives(small):
    tokenizer = small("...", "☃")
    done = add_terms(tokenizer, ["...", "☃", "[MASK]"], special=True)
    assert done.known == ["☃", "[MASK]"]
    assert list(reasons(done)) == [1]
