"""Added tokens: their fields, the split of a text at them, and what adding does to ids."""

from __future__ import annotations

import copy
import logging
import pickle
import random

import pytest
import transformers

from tests.strategies import FIELDS
from trietok import AddedToken, BertTokenizer, BertTokenizerFast, InputError, InputTypeError

KINDS = (BertTokenizer, BertTokenizerFast)


def test_an_added_token_has_the_fields_and_defaults_of_transformers():
    for keywords in ({}, {"special": True}, {"special": True, "normalized": True}):
        token = AddedToken("a", **keywords)
        state = token.__getstate__()
        assert state == transformers.AddedToken("a", **keywords).__getstate__()
        assert repr(token) == repr(transformers.AddedToken("a", **keywords))
        assert str(token) == "a"


def test_added_tokens_are_equal_by_all_fields_and_cannot_be_changed():
    token = AddedToken("a")
    assert token == AddedToken("a") != "a"
    assert hash(token) == hash(AddedToken("a"))
    for flag in FIELDS[1:]:
        assert token != token.replace(**{flag: not getattr(token, flag)})
    other = AddedToken("a", lstrip=True)
    assert pickle.loads(pickle.dumps(other)) == copy.deepcopy(other) == other
    with pytest.raises(AttributeError):
        token.lstrip = True
    assert token == AddedToken("a")


@pytest.mark.parametrize(
    ("bad", "error"), [(5, InputTypeError), (b"a", InputTypeError), ("", InputError)]
)
def test_content_that_is_no_string_or_empty_is_refused(bad, error):
    with pytest.raises(error):
        AddedToken(bad)


# Added tokens, a text, and the parts of it that are one of them: in the fast profile with the
# whitespace that they take.
SPLITS = [
    ([AddedToken("<a>")], "x <a> y", ["<a>"]),
    ([AddedToken("<a>", lstrip=True)], "x \t<a> y", [" \t<a>"]),
    ([AddedToken("<a>", rstrip=True)], "x <a> \u3000y", ["<a> \u3000"]),
    ([AddedToken("<a>", lstrip=True, rstrip=True)], " <a> <a> ", [" <a> ", "<a> "]),
    ([AddedToken("ing", single_word=True)], "ing sing ing_ (ing)", ["ing", "ing"]),
    ([AddedToken("a b", single_word=True), AddedToken("b")], "a b", ["a b"]),
    ([AddedToken("a b", single_word=True), AddedToken("b")], "a bx", []),
    ([AddedToken("a", single_word=True, normalized=False)], "a\u0301 a", ["a"]),
    ([AddedToken("a", single_word=True)], "éa aé", []),
    ([AddedToken("abc"), AddedToken("b")], "ab cd", ["b"]),
    ([AddedToken("<a>")], "", []),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("tokens", "text", "parts"), SPLITS)
def test_a_text_is_split_leftmost_longest_at_whole_words(
    vocab_file, kind, tokens, text, parts, kernel
):
    tokenizer = kind(vocab_file("x", "y"))
    tokenizer.add_tokens(tokens)
    found = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False)
    columns = zip(found.input_ids, found.offset_mapping, strict=True)
    ids = set(tokenizer.convert_tokens_to_ids([token.content for token in tokens]))
    spans = [text[start:end] for token_id, (start, end) in columns if token_id in ids]
    assert spans == (
        parts if kind is BertTokenizerFast else [part.strip(" \t\u3000") for part in parts]
    )
    assert tokenizer.tokenize(text) == found.tokens()


def test_whitespace_that_a_token_takes_is_found_again_by_a_token_of_whitespace(small, kernel):
    tokenizer = small("a")
    tokenizer.add_tokens([AddedToken("<a>", rstrip=True), AddedToken("\n")])
    assert tokenizer.tokenize("<a>\n\na") == ["<a>", "\n", "a"]


def test_a_rejected_match_that_is_a_piece_by_itself_is_no_token(small, kernel):
    tokenizer = small("q", "##z", "##q")
    tokenizer.add_tokens(["x1", AddedToken("qzq", single_word=True)])
    for text in ("x1qzq", "x1qzq ", "x1qzq q"):
        tokens = tokenizer.tokenize(text)
        assert tokens[:4] == ["x1", "q", "##z", "##q"]
        ids = tokenizer.convert_tokens_to_ids(tokens)
        assert tokenizer.encode(text, add_special_tokens=False) == ids


def test_a_new_id_follows_the_highest(small):
    tokenizer = small("a", "a", "b")  # 8 lines, 7 different tokens
    assert (len(tokenizer), tokenizer.vocab_size, tokenizer.max_id) == (7, 7, 7)
    assert tokenizer.add_tokens(["x", "b", "y", "x"]) == 2
    assert tokenizer.convert_tokens_to_ids(["x", "b", "y"]) == [8, 7, 9]
    assert (len(tokenizer), tokenizer.max_id) == (9, 9)


def test_the_callers_token_stays_as_it_is_and_is_lower_cased_inside(small):
    tokenizer = small("a")
    token = AddedToken("ABC")
    tokenizer.add_tokens([token])
    assert token == AddedToken("ABC")
    assert tokenizer.tokenize("Abc") == ["abc"]
    assert tokenizer.added_tokens_encoder["abc"] == 6


def test_special_of_a_token_can_be_set_unless_it_is_a_tokenizers(small):
    tokenizer, token = small("a"), AddedToken("<x>")
    token.special = True
    assert token == AddedToken("<x>", special=True)
    assert not token.normalized
    tokenizer.add_tokens([token])
    token.special = False
    kept = tokenizer.added_tokens_decoder[6]
    assert kept.special
    with pytest.raises(AttributeError, match="add it again"):
        kept.special = False


def test_adding_again_changes_flags_and_keeps_the_id(small):
    tokenizer = small("a")
    assert tokenizer.add_tokens([AddedToken("<x>")]) == 1
    for again in (AddedToken("<x>", lstrip=True), "<x>"):
        assert tokenizer.add_tokens([again]) == 0
        assert tokenizer.added_tokens_decoder[6] == AddedToken("<x>", lstrip=True)


def test_a_token_that_matches_as_written_keeps_its_capitals(small):
    tokenizer = small("a")
    tokenizer.add_tokens([AddedToken("ABC", normalized=False)])
    assert tokenizer.tokenize("a ABC abc") == ["a", "ABC", "[UNK]"]


@pytest.mark.parametrize("many", [0, 1_500])
@pytest.mark.parametrize("bad", [None, 5, b"a", "", "\ud800", "a" * 100_001])
def test_a_mistake_in_a_list_adds_nothing(small, bad, many):
    tokenizer = small("a")
    before = dict(tokenizer.get_vocab())
    with pytest.raises((InputError, InputTypeError)):
        tokenizer.add_tokens(["x", *(f"zq{number}" for number in range(many)), bad])
    assert tokenizer.get_vocab() == before
    assert tokenizer.tokenize("x zq7") == ["[UNK]", "[UNK]"]


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_many_tokens_at_once_become_what_a_few_at_a_time_become(kind, special):
    seed = random.randrange(10**9)
    rng = random.Random(seed)
    strings = ["".join(rng.choices("abcXYZ09-é世İΣ", k=rng.randint(2, 6))) for _ in range(1_550)]
    given = ["people", "The", *strings, "The", "people", "[SEP]"]
    for tokens in (given[:-1], given):  # with a known one, they go one after the other
        at_once, in_steps = (kind.from_pretrained("trietok-en") for _ in range(2))
        number = at_once.add_tokens(tokens, special_tokens=special)
        parts = [tokens[start : start + 300] for start in range(0, len(tokens), 300)]
        steps = [in_steps.add_tokens(part, special_tokens=special) for part in parts]
        assert number == sum(steps), seed
        decoders = [list(each.added_tokens_decoder.items()) for each in (at_once, in_steps)]
        assert decoders[0] == decoders[1], seed
        assert at_once.special_tokens_map == in_steps.special_tokens_map, seed
        for text in (" ".join(strings[:50]), "x".join(rng.sample(tokens, 50))):
            assert at_once.encode(text) == in_steps.encode(text), (seed, text)


# ---- which tokens are known already --------------------------------------------------------------


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_known_tokens_are_those_that_get_no_new_id(vocab_file, kind, special):
    tokenizer = kind(vocab_file("a", "b", "##c"))
    tokenizer.add_tokens(["<x>", AddedToken("<Y>", normalized=False)])
    terms = ["a", "A", "n", "N", AddedToken("B", special=True), "B", "n", "<X>", "<Y>", "[CLS]"]
    size, known = len(tokenizer), tokenizer.known_tokens(terms, special_tokens=special)
    tokenizer.add_tokens(terms, special_tokens=special)
    assert len(terms) - len(known) == len(tokenizer) - size
    assert tokenizer.known_tokens(terms, special_tokens=special) == list(map(str, terms))


def test_known_tokens_takes_what_add_tokens_takes(small):
    tokenizer = small("a")
    assert tokenizer.known_tokens("a") == tokenizer.known_tokens(AddedToken("a")) == ["a"]
    assert tokenizer.known_tokens(["a", "b", "A"]) == ["a", "A"]
    for wrong, error in ((["a", 5], InputTypeError), (None, InputTypeError), ([""], InputError)):
        with pytest.raises(error):
            tokenizer.known_tokens(wrong)


def test_the_log_names_known_tokens_at_level_info_only(small, caplog):
    tokenizer = small(*(f"w{number}" for number in range(12)))
    with caplog.at_level(logging.WARNING, "trietok"):
        assert tokenizer.add_tokens(["w0", "other"]) == 1
    assert caplog.messages == []
    with caplog.at_level(logging.INFO, "trietok"):
        assert tokenizer.add_tokens(["new", *(f"w{number}" for number in range(12))]) == 1
    (message,) = caplog.messages
    assert "12 of 13" in message
    assert "'w0', 'w1'" in message
