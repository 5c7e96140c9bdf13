"""Trimming: the texts keep their tokens, whatever the vocabulary; and what is kept besides what they
need.
"""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import SPECIAL, assert_share, examples
from tests.vocabulary.directories import KINDS, OTHER_TOKENS
from tests.vocabulary.parts import reloaded
from trietok import (
    AddedToken,
    BertTokenizer,
    BertTokenizerFast,
    InputError,
    InputTypeError,
    UnknownTokenError,
    VocabularyError,
    plan_rows,
)


def entries(tokenizer) -> list[str]:
    """The vocabulary by id, without the five special tokens that are always there."""
    return [token for token in tokenizer.vocabulary.tokens if token not in SPECIAL]


def written(path: Path, lines) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return path


def check_texts(before, after, ids, texts) -> None:
    """The texts have the same tokens, and their ids are those that the map says."""
    for text in texts:
        assert [ids[i] for i in before(text).input_ids] == after(text).input_ids
        assert before.tokenize(text) == after.tokenize(text)
        pair = before(text, text).input_ids, after(text, text).input_ids
        assert [ids[i] for i in pair[0]] == pair[1]


# ---- exact on the texts --------------------------------------------------------------------------

PIECES = st.text("ab", min_size=1, max_size=3)
OTHERS = st.sampled_from(["", "[unused0]", "é", "A", "aB", "東", "-", "##"])
VOCABULARIES = st.lists(st.one_of(PIECES, PIECES.map("##".__add__), OTHERS), max_size=14)
SIGNS = st.sampled_from(["[MASK]", "ab", "a b", "<x>", "ba!", "[UNK]", "\n", "x"])
WORDS = st.lists(st.one_of(st.text("abAé-東 ", max_size=8), SIGNS), max_size=5)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=6)
ADDED = st.lists(
    st.builds(
        AddedToken,
        st.sampled_from(["ab", "<x>", "a b", "ba", "Ab", "x", "b-", "[unused0]", "é"]),
        single_word=st.booleans(),
        lstrip=st.booleans(),
        rstrip=st.booleans(),
        special=st.booleans(),
    ),
    max_size=3,
    # one that is added twice, with other flags, no copy keeps
    unique_by=lambda token: token.content.lower(),
)
OPTIONS = st.fixed_dictionaries(
    {"do_lower_case": st.booleans()},
    optional={
        "do_basic_tokenize": st.just(False),
        "never_split": st.lists(st.sampled_from(["ab", "ba", "x", "a-b"]), max_size=2),
    },
)


def test_texts_keep_their_tokens_whatever_the_vocabulary():
    """Duplicate lines, holes, added tokens inside and behind the vocabulary, words too long."""
    was_trimmed: list[bool] = []

    @examples(60)
    @given(
        kind=st.sampled_from([BertTokenizer, BertTokenizerFast]),
        vocabulary=VOCABULARIES,
        texts=TEXTS,
        added=ADDED,
        options=OPTIONS,
        longest=st.sampled_from([1, 2, 100]),
        removes=st.booleans(),
    )
    def check(kind, vocabulary, texts, added, options, longest, removes):
        with tempfile.TemporaryDirectory() as folder:
            tokenizer = kind(written(Path(folder, "vocab.txt"), [*SPECIAL, *vocabulary]), **options)
        tokenizer.wordpiece_tokenizer.max_input_chars_per_word = longest
        tokenizer.add_tokens(added)
        removable = [token for token in tokenizer.added_tokens_encoder if token not in SPECIAL]
        if removes:
            tokenizer.remove_tokens(removable[:1])
        try:
            trimmed = trietok.trim(tokenizer, texts)
        except InputError:
            assert not any(map(tokenizer.tokenize, texts))
            was_trimmed.append(False)
            return
        was_trimmed.append(True)
        check_texts(tokenizer, trimmed.tokenizer, trimmed.ids, texts)
        assert trimmed.certificate.texts.differing == 0
        assert list(trimmed.ids) == sorted(trimmed.ids)
        assert sorted(trimmed.ids.values()) == list(range(trimmed.tokenizer.max_id + 1))
        assert trimmed.plan.new_rows_of() == trimmed.ids
        if longest == 100:
            again = reloaded(trimmed.tokenizer)
            assert again.fingerprint() == trimmed.tokenizer.fingerprint()
            check_texts(tokenizer, again, trimmed.ids, texts)

    check()
    assert_share(sum(was_trimmed), len(was_trimmed), 0.4)


@pytest.mark.parametrize("name", KINDS)
def test_every_class_is_trimmed_saved_and_loaded(name, tmp_path):
    kind = KINDS[name]
    lines = ["x", *SPECIAL, *OTHER_TOKENS, ".", "a", "##b", "c", "##d"]
    tokenizer = kind(written(tmp_path / "vocab.txt", lines), do_lower_case=False)
    tokenizer.add_tokens(["C-3"])
    trimmed = trietok.trim(tokenizer, ["ab C-3", "e"])
    assert {"a", "##b"} <= trimmed.tokenizer.vocab.keys()
    assert not {"x", "c", "##d"} & trimmed.tokenizer.vocab.keys()
    again = reloaded(trimmed.tokenizer)
    assert type(again) is type(trimmed.tokenizer) is kind
    assert again.fingerprint() == trimmed.tokenizer.fingerprint()
    for text in ("ab", "C-3 ab e C-3"):
        old, *new = (
            each(text, text, text)["input_ids"][0]
            if "Reader" in name
            else each.encode_plus(text, text)["input_ids"]
            for each in (tokenizer, trimmed.tokenizer, again)
        )
        assert new == [[trimmed.ids[token_id] for token_id in old]] * 2


def test_a_piece_that_makes_a_word_unknown_is_kept(small):
    """With ab, abc is unknown; without it, a and ##bc would cover the word."""
    tokenizer = small("a", "ab", "##bc", "##x", "d")
    trimmed = trietok.trim(tokenizer, ["abc", "a d", "axbc dbc"])
    assert entries(trimmed.tokenizer) == ["a", "ab", "##bc", "##x", "d"]
    assert trimmed.tokenizer.tokenize("abc") == ["[UNK]"]
    assert entries(trietok.trim(tokenizer, ["abc"]).tokenizer) == ["ab"]
    tokenizer = small("a", "##a", "b")
    assert entries(trietok.trim(tokenizer, ["a" * 101, "b"]).tokenizer) == ["b"]
    assert entries(trietok.trim(tokenizer, ["a" * 100, "b"]).tokenizer) == ["a", "##a", "b"]


# ---- what is kept besides that -------------------------------------------------------------------


def test_tokens_are_kept_by_name_by_prefix_as_slots_and_as_characters(small):
    words = ("[unused0]", "a", "ab", "##b", "abc", "q", "##q", "東", "[unused1]", "zz", "[unused2]")
    tokenizer = small(*words, "##zz")
    tokenizer.add_tokens(["<x>"])
    before = tokenizer.fingerprint(), tokenizer("ab <x>").input_ids
    for options, left in (
        ({}, ["ab"]),
        ({"keep": ["zz", "<x>", "[MASK]"]}, ["ab", "zz"]),
        ({"keep_prefixes": ["##", "abc"]}, ["ab", "##b", "abc", "##q", "##zz"]),
        ({"unused": 2}, ["[unused0]", "ab", "[unused1]"]),
        ({"unused": "all"}, ["[unused0]", "ab", "[unused1]", "[unused2]"]),
        ({"characters": True}, ["a", "ab", "##b", "q", "##q", "東"]),
    ):
        assert entries(trietok.trim(tokenizer, ["ab"], **options).tokenizer) == left
    assert (tokenizer.fingerprint(), tokenizer("ab <x>").input_ids) == before


def test_assigned_slots_stay_and_are_given_back(small):
    tokenizer = small("a", "[unused0]", "[unused1]", "b")
    tokenizer.assign_unused("[unused0]", "[SUBJ]")
    trimmed = trietok.trim(tokenizer, ["b [SUBJ]"])
    assert entries(trimmed.tokenizer) == ["[SUBJ]", "b"]
    again = reloaded(trimmed.tokenizer)
    assert again.remove_tokens(["[SUBJ]"])
    assert entries(again) == ["[unused0]", "b"]


def test_tokens_can_be_added_afterwards(small):
    tokenizer = small("a", "b", "##c")
    tokenizer.add_tokens(["<gone>", "<x>"])
    tokenizer.remove_tokens(["<gone>"])
    trimmed = trietok.trim(tokenizer, ["b bc"])
    assert str(trimmed.plan) == "8 of 10 rows kept (3 moved), 2 lost, 0 new"
    assert trimmed.plan == plan_rows(tokenizer, trimmed.tokenizer)
    assert trimmed.tokenizer.max_id == 7
    assert trimmed.tokenizer.add_tokens(["<y>"]) == 1
    assert trimmed.tokenizer.convert_tokens_to_ids("<y>") == 8


# ---- the certificate -----------------------------------------------------------------------------


def test_rare_entries_go_and_the_certificate_says_what_that_costs(small):
    tokenizer = small("a", "##b", "##c", "ab", "abc")
    trimmed = trietok.trim(tokenizer, iter(["ab ab", "abc a", "ab"]), min_frequency=2)
    assert entries(trimmed.tokenizer) == ["ab"]
    assert trimmed.certificate.texts == (3, 5, 1, 2, 0, 2, {"abc": 1, "a": 1})
    assert "1 text differs in 2 tokens" in str(trimmed.certificate)


def test_the_certificate_says_what_held_back_texts_lose(small):
    tokenizer = small("a", "##b", "##c", "ab", "abc")
    held_back = iter(["ab", "abc a", "x abc", ""])
    certificate = trietok.trim(tokenizer, ["ab", "a"], check_texts=held_back).certificate
    assert certificate.texts == (2, 2, 0, 0, 0, 0, {})
    assert certificate.held_back == (4, 5, 2, 2, 1, 3, {"abc": 2})  # x was unknown before
    assert str(certificate).split("\n")[:2] == [
        "10 tokens become 7 (70.0%)",
        "2 texts, 2 tokens: 0 texts differ",
    ]
    assert certificate.to_dict()["held_back"]["differing"] == 2
    assert certificate.to_dict()["held_back"]["unknown_words"] == {"abc": 2}
    texts = ["ab", "a\nb \ud800", ""]
    one, other = (trietok.trim(tokenizer, given) for given in (texts, iter(texts)))
    assert (one.certificate, one.ids) == (other.certificate, other.ids)


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (UnknownTokenError, {"keep": ["a", "nope", "neither"]}),
        (InputTypeError, {"keep": "a"}),
        (InputError, {"keep_prefixes": ["x"]}),
        (InputError, {"keep_prefixes": [""]}),
        *((InputError, {"unused": value}) for value in (1, "some", True)),
        (InputError, {"min_frequency": 0}),
        (InputTypeError, {"check_texts": "a"}),
        *((InputError, {"texts": texts}) for texts in ([], ["", " "], iter(()))),
        *((InputTypeError, {"texts": texts}) for texts in ("a", [b"a"], [None], 7)),
        (InputTypeError, {"tokenizer": object()}),
    ],
)
def test_mistakes_are_refused(small, error, arguments):
    with pytest.raises(error):
        trietok.trim(**{"tokenizer": small("a", "##b"), "texts": ["a"], **arguments})


def test_stages_of_ones_own_are_refused(small):
    class Own(BertTokenizer):
        def _tokenize(self, text, **options):
            return list(text)

    tokenizer = small("a", "##b")
    own = copy.deepcopy(tokenizer)
    own.__class__ = Own
    with pytest.raises(InputTypeError):
        trietok.trim(own, ["a"])
    tokenizer.wordpiece_tokenizer.vocab = {"a": 0}
    with pytest.raises(InputTypeError):
        trietok.trim(tokenizer, ["a"])


def test_keep_only_refuses_what_would_be_missed(small):
    tokenizer = small("a", "##b")
    tokenizer.add_tokens(["<x>"])
    before = tokenizer.fingerprint()
    for ids, error in (
        ([0, 1, 2, 3, 4], VocabularyError),
        ([0, 2, 3, 4, 7], VocabularyError),
        ([0, 99], trietok.TokenIdError),
    ):
        with pytest.raises(error):
            tokenizer.keep_only(ids)
        assert tokenizer.fingerprint() == before
