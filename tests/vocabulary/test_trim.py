"""Trimming: the texts keep their tokens, whatever the vocabulary; and what is kept beside what they
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
from tests.conftest import SPECIAL, examples
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
from trietok.tokenizer.fast_relatives import FAST_CLASSES
from trietok.tokenizer.relatives import CLASSES

PROFILES = (BertTokenizer, BertTokenizerFast)


def entries(tokenizer) -> list[str]:
    """The vocabulary by id, without the five special tokens that are always there."""
    return [token for token in tokenizer.vocabulary.tokens if token not in SPECIAL]


def written(path: Path, lines) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
    return path


def check_texts(before, after, ids, texts) -> None:
    """The texts have the same tokens, and their ids are those that the map says."""
    for text in texts:
        old, new = before(text).input_ids, after(text).input_ids
        assert [ids[i] for i in old] == new
        assert before.tokenize(text) == after.tokenize(text)
        pair = before(text, text).input_ids, after(text, text).input_ids
        assert [ids[i] for i in pair[0]] == pair[1]


# ---- exact on the texts --------------------------------------------------------------------------

PIECES = st.text("ab", min_size=1, max_size=3)
VOCABULARIES = st.lists(
    st.one_of(
        PIECES,
        PIECES.map("##".__add__),
        st.sampled_from(["", "[unused0]", "é", "A", "aB", "東", "-", "##"]),
    ),
    max_size=14,
)
WORDS = st.text("abAé-東 ", max_size=8)
TEXTS = st.lists(
    st.lists(
        st.one_of(
            WORDS, st.sampled_from(["[MASK]", "ab", "a b", "<x>", "ba!", "[UNK]", "\n", "x"])
        ),
        max_size=5,
    ).map(" ".join),
    min_size=1,
    max_size=6,
)
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


@examples(40)
@given(
    st.sampled_from(PROFILES),
    VOCABULARIES,
    TEXTS,
    ADDED,
    OPTIONS,
    st.sampled_from([1, 2, 100]),
    st.data(),
)
def test_texts_keep_their_tokens(kind, vocabulary, texts, added, options, longest, data):
    """Duplicate lines, holes, added tokens inside and behind the vocabulary, words too long:
    nothing moves a text.
    """
    with tempfile.TemporaryDirectory() as folder:
        tokenizer = kind(written(Path(folder, "vocab.txt"), [*SPECIAL, *vocabulary]), **options)
    tokenizer.wordpiece_tokenizer.max_input_chars_per_word = longest
    tokenizer.add_tokens(added)
    removable = [token for token in tokenizer.added_tokens_encoder if token not in SPECIAL]
    if removable and data.draw(st.booleans()):
        tokenizer.remove_tokens(removable[:1])
    try:
        trimmed = trietok.trim(tokenizer, texts)
    except InputError:
        assert not any(map(tokenizer.tokenize, texts))
        return
    check_texts(tokenizer, trimmed.tokenizer, trimmed.ids, texts)
    assert trimmed.certificate.texts.differing == 0
    assert (
        sorted(trimmed.ids.values())
        == list(range(len(trimmed.ids)))
        == list(range(trimmed.tokenizer.max_id + 1))
    )
    assert sorted(trimmed.ids) == list(trimmed.ids)
    assert trimmed.plan.new_rows_of() == trimmed.ids
    if longest == 100:
        again = reloaded(trimmed.tokenizer)
        assert again.fingerprint() == trimmed.tokenizer.fingerprint()
        check_texts(tokenizer, again, trimmed.ids, texts)


def test_the_trap(small):
    """With ab, abc is unknown; without it, a and ##bc would cover the word."""
    tokenizer = small("a", "ab", "##bc", "##x", "d")
    trimmed = trietok.trim(tokenizer, ["abc", "a d", "axbc dbc"])
    assert entries(trimmed.tokenizer) == ["a", "ab", "##bc", "##x", "d"]
    assert trimmed.tokenizer.tokenize("abc") == ["[UNK]"]
    trimmed = trietok.trim(tokenizer, ["abc"])
    assert entries(trimmed.tokenizer) == ["ab"]


def test_long_words_need_nothing(small):
    tokenizer = small("a", "##a", "b")
    assert entries(trietok.trim(tokenizer, ["a" * 101, "b"]).tokenizer) == ["b"]
    assert entries(trietok.trim(tokenizer, ["a" * 100, "b"]).tokenizer) == ["a", "##a", "b"]


@pytest.mark.parametrize("kind", [*CLASSES, *FAST_CLASSES], ids=lambda kind: kind.__name__)
def test_all_relatives(kind, tmp_path):
    special = [
        *SPECIAL,
        "<unk>",
        "<s>",
        "</s>",
        "<pad>",
        "<mask>",
        "<cls>",
        "<sep>",
        "[QUESTION]",
        ".",
    ]
    tokenizer = kind(
        written(tmp_path / "vocab.txt", ["x", *special, "a", "##b", "c", "##d"]),
        do_lower_case=False,
    )
    tokenizer.add_tokens(["C-3"])
    trimmed = trietok.trim(tokenizer, ["ab C-3", "e"])
    assert {"a", "##b"} <= trimmed.tokenizer.vocab.keys()
    assert not {"x", "c", "##d"} & trimmed.tokenizer.vocab.keys()
    assert type(trimmed.tokenizer) is kind
    again = reloaded(trimmed.tokenizer)
    assert again.fingerprint() == trimmed.tokenizer.fingerprint()
    texts = ["ab", "C-3 ab e C-3"]
    old = [
        (
            tokenizer.encode_plus(text, text)
            if "Reader" not in kind.__name__
            else tokenizer(text, text, text)
        )
        for text in texts
    ]
    for after in (trimmed.tokenizer, again):
        new = [
            (
                after.encode_plus(text, text)
                if "Reader" not in kind.__name__
                else after(text, text, text)
            )
            for text in texts
        ]
        for one, other in zip(old, new, strict=True):
            flat = [one["input_ids"], other["input_ids"]]
            flat = [row[0] if row and isinstance(row[0], list) else row for row in flat]
            assert [trimmed.ids[i] for i in flat[0]] == flat[1]


def test_the_order_of_added_tokens_and_the_normalizer_of_the_fast_profile_stay(tmp_path):
    """A cased fast tokenizer looks for Ab as it is written, also once ids have moved."""
    for compact in (False, True):
        tokenizer = BertTokenizerFast(
            written(tmp_path / "vocab.txt", [*SPECIAL, "x", "a"]), do_lower_case=False
        )
        tokenizer.add_tokens(["Zz", AddedToken("Ab"), "AbC"])
        if compact:
            tokenizer.remove_tokens("Zz", compact=True)
            assert tokenizer.tokenize("AbC Ab") == ["AbC", "Ab"]
        trimmed = trietok.trim(tokenizer, ["a Ab AbC"])
        assert trimmed.tokenizer.tokenize("AbC Ab a x") == ["AbC", "Ab", "a", "[UNK]"]


# ---- what is kept beside that --------------------------------------------------------------------


def test_kept_by_name_by_prefix_slots_and_characters(small):
    tokenizer = small(
        "[unused0]",
        "a",
        "ab",
        "##b",
        "abc",
        "q",
        "##q",
        "東",
        "[unused1]",
        "zz",
        "[unused2]",
        "##zz",
    )
    tokenizer.add_tokens(["<x>"])

    def left(**options) -> list[str]:
        return entries(trietok.trim(tokenizer, ["ab"], **options).tokenizer)

    assert left() == ["ab"]
    assert left(keep=["zz", "<x>", "[MASK]"]) == ["ab", "zz"]
    assert left(keep_prefixes=["##", "abc"]) == ["ab", "##b", "abc", "##q", "##zz"]
    assert left(unused=2) == ["[unused0]", "ab", "[unused1]"]
    assert left(unused="all") == ["[unused0]", "ab", "[unused1]", "[unused2]"]
    assert left(characters=True) == ["a", "ab", "##b", "q", "##q", "東"]


def test_assigned_slots_stay(small):
    tokenizer = small("a", "[unused0]", "[unused1]", "b")
    tokenizer.assign_unused("[unused0]", "[SUBJ]")
    trimmed = trietok.trim(tokenizer, ["b [SUBJ]"])
    assert entries(trimmed.tokenizer) == ["[SUBJ]", "b"]
    again = reloaded(trimmed.tokenizer)
    assert again.remove_tokens(["[SUBJ]"])
    assert entries(again) == ["[unused0]", "b"]


def test_a_token_on_two_lines_keeps_the_one_that_encodes(tmp_path):
    tokenizer = BertTokenizer(written(tmp_path / "vocab.txt", [*SPECIAL, "ab", "x", "ab"]))
    trimmed = trietok.trim(tokenizer, ["ab"])
    assert trimmed.ids == {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 7: 5}
    assert trimmed.plan.sources.tolist() == [0, 1, 2, 3, 4, 7]


def test_the_plan_is_that_of_the_two_tokenizers(small):
    tokenizer = small("a", "b", "##c")
    tokenizer.add_tokens(["<x>"])
    trimmed = trietok.trim(tokenizer, ["b bc"])
    assert trimmed.plan == plan_rows(tokenizer, trimmed.tokenizer)
    assert str(trimmed.plan) == "8 of 9 rows kept (3 moved), 1 lost, 0 new"


def test_the_tokenizer_stays_as_it_is(small):
    tokenizer = small("a", "b", "##c")
    tokenizer.add_tokens(["<x>"])
    before = tokenizer.fingerprint(), tokenizer("a bc <x>").input_ids
    trietok.trim(tokenizer, ["a"])
    assert (tokenizer.fingerprint(), tokenizer("a bc <x>").input_ids) == before


def test_tokens_can_be_added_afterwards(small):
    tokenizer = small("a", "b", "##c")
    tokenizer.add_tokens(["<gone>"])
    tokenizer.remove_tokens(["<gone>"])
    trimmed = trietok.trim(tokenizer, ["b"]).tokenizer
    assert trimmed.max_id == 5
    assert trimmed.add_tokens(["<y>"]) == 1
    assert trimmed.convert_tokens_to_ids("<y>") == 6


# ---- the certificate -----------------------------------------------------------------------------


def test_rare_entries_go_and_the_certificate_says_what_that_costs(small):
    tokenizer = small("a", "##b", "##c", "ab", "abc")
    texts = ["ab ab", "abc a", "ab"]
    trimmed = trietok.trim(tokenizer, texts, min_frequency=2)
    assert entries(trimmed.tokenizer) == ["ab"]
    assert trimmed.certificate.texts == (3, 5, 1, 2, 0, 2, {"abc": 1, "a": 1})
    assert "1 text differs in 2 tokens" in str(trimmed.certificate)


def test_texts_held_back(small):
    tokenizer = small("a", "##b", "##c", "ab", "abc")
    certificate = trietok.trim(
        tokenizer, ["ab", "a"], check_texts=iter(["ab", "abc a", "x abc", ""])
    ).certificate
    assert certificate.texts == (2, 2, 0, 0, 0, 0, {})
    assert certificate.held_back == (4, 5, 2, 2, 1, 3, {"abc": 2})  # x was unknown before
    assert str(certificate).split("\n")[:2] == [
        "10 tokens become 7 (70.0%)",
        "2 texts, 2 tokens: 0 texts differ",
    ]
    assert certificate.to_dict()["held_back"]["differing"] == 2
    assert certificate.to_dict()["held_back"]["unknown_words"] == {"abc": 2}


def test_texts_that_come_once_are_read_from_a_file(small):
    tokenizer = small("a", "##b")
    texts = ["ab", "a\nb \ud800", ""]
    one, other = (trietok.trim(tokenizer, given) for given in (texts, (text for text in texts)))
    assert one.certificate == other.certificate
    assert one.ids == other.ids


# ---- errors --------------------------------------------------------------------------------------


def test_bad_arguments(small):
    tokenizer = small("a", "##b")
    for options, error in (
        ({"keep": ["a", "nope", "neither"]}, UnknownTokenError),
        ({"keep": "a"}, InputTypeError),
        ({"keep_prefixes": ["x"]}, InputError),
        ({"keep_prefixes": [""]}, InputError),
        ({"unused": 1}, InputError),
        ({"unused": "some"}, InputError),
        ({"unused": True}, InputError),
        ({"min_frequency": 0}, InputError),
        ({"check_texts": "a"}, InputTypeError),
    ):
        with pytest.raises(error):
            trietok.trim(tokenizer, ["a"], **options)
    for texts in ([], ["", " "], iter(())):
        with pytest.raises(InputError):
            trietok.trim(tokenizer, texts)
    for texts in ("a", [b"a"], [None], 7):
        with pytest.raises(InputTypeError):
            trietok.trim(tokenizer, texts)
    with pytest.raises(InputTypeError):
        trietok.trim(object(), ["a"])


def test_stages_of_ones_own_are_refused(small):
    class Own(BertTokenizer):
        def _tokenize(self, text, **options):
            return list(text)

    tokenizer = small("a", "##b")
    own = copy.deepcopy(tokenizer)
    own.__class__ = Own
    with pytest.raises(InputTypeError):
        trietok.trim(own, ["a"])
    own = copy.deepcopy(tokenizer)
    own.wordpiece_tokenizer.vocab = {"a": 0}
    with pytest.raises(InputTypeError):
        trietok.trim(own, ["a"])


def test_keep_only_refuses_what_would_be_missed(small):
    tokenizer = small("a", "##b")
    tokenizer.add_tokens(["<x>"])
    for ids, error in (
        ([0, 1, 2, 3, 4], VocabularyError),
        ([0, 2, 3, 4, 7], VocabularyError),
        ([0, 99], trietok.TokenIdError),
    ):
        before = tokenizer.fingerprint()
        with pytest.raises(error):
            tokenizer.keep_only(ids)
        assert tokenizer.fingerprint() == before
