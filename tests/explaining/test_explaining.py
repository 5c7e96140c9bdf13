"""What an explanation says of small cases, each on a vocabulary of a few entries."""

from __future__ import annotations

import html
import json
import pickle
import re

import pytest

import trietok
from trietok import AddedToken, BertTokenizer, BertTokenizerFast

ENTRIES = "un unab ##aff ##a ##able hello naive e n 東 ##x a b . cafe i".split()


@pytest.fixture
def slow(small):
    return small(*ENTRIES)


@pytest.fixture
def fast(vocab_file):
    return BertTokenizerFast(vocab_file(*ENTRIES))


def changes(tokenizer, text: str, stage: str) -> list[tuple[str, int, int, str, str]]:
    found = [each for each in tokenizer.explain(text).texts[0].stages if each.name == stage]
    return [(each.kind, each.start, each.end, each.before, each.after) for each in found[0].changes]


# ---- characters ----------------------------------------------------------------------------------


def test_deleted_characters_have_place_name_and_reason(slow, fast):
    for tokenizer in (slow, fast):
        (change,) = tokenizer.explain("e\u200d").texts[0].changes
        assert change.to_dict() == {
            "stage": "clean",
            "kind": "deleted",
            "start": 1,
            "end": 2,
            "before": "\u200d",
            "after": "",
            "why": "control character (format), deleted",
            "names": ["U+200D ZERO WIDTH JOINER"],
        }


def test_surrogates_and_nuls_are_shown(slow):
    explained = slow.explain("a\0\ud800\udfffb")
    names = [change.to_dict()["names"] for change in explained.texts[0].changes]
    assert names == [["U+0000 NULL"], ["U+D800 <surrogate-D800>"], ["U+DFFF <surrogate-DFFF>"]]
    for view in (str(explained), explained.to_html(), explained.to_json()):
        assert b"D800" in view.upper().encode("utf-8")


def test_changes_have_their_stage_kind_and_place(slow):
    text = "É\t東 e\u0301 İ"
    assert changes(slow, text, "lower-case-around-tokens") == [
        ("changed", 0, 1, "É", "é"),
        ("changed", 7, 8, "İ", "i\u0307"),
    ]
    assert changes(slow, text, "clean") == [("changed", 1, 2, "\t", " ")]
    assert changes(slow, text, "chinese") == [("inserted", 2, 3, "東", " 東 ")]
    assert changes(slow, text, "compose") == [("changed", 4, 6, "e\u0301", "é")]
    assert changes(slow, text, "accents") == [
        ("changed", 0, 1, "é", "e"),
        ("changed", 4, 6, "é", "e"),
        ("deleted", 7, 8, "\u0307", ""),
    ]


def test_each_stage_is_given_what_the_one_before_gave(slow):
    stages = slow.explain("Hello 東京.").texts[0].stages
    assert [stage.name for stage in stages] == [
        "lower-case-around-tokens",
        "added-tokens",
        "clean",
        "chinese",
        "compose",
        "whitespace",
        "lower-case",
        "accents",
        "punctuation",
        "wordpiece",
    ]
    assert [stage.given for stage in stages[1:]] == [stage.gave for stage in stages[:-1]]
    assert stages[0].given == "Hello 東京."
    assert [stages[at].gave for at in (0, 3, 5, 8, 9)] == [
        "hello 東京.",
        "hello  東  京 .",
        "hello 東 京 .",
        "hello 東 京 .",
        "hello 東 [UNK] .",
    ]


def test_stages_that_are_off_are_not_explained(small):
    tokenizer = small("a", do_lower_case=False, tokenize_chinese_chars=False)
    names = [stage.name for stage in tokenizer.explain("a").texts[0].stages]
    assert not {"lower-case", "lower-case-around-tokens", "accents", "chinese"} & set(names)
    bare = small("a", do_basic_tokenize=False).explain("a a").texts[0].stages
    assert [stage.name for stage in bare] == ["added-tokens", "whitespace", "wordpiece"]


# ---- tokens --------------------------------------------------------------------------------------


def test_pieces_have_the_entries_that_fit_and_where_the_match_ended(slow):
    tokens = slow.explain("unaffable").texts[0].tokens
    # "una" begins "unab", and no entry is "unaf..."
    assert [token.match for token in tokens] == [
        ("unaffable", ("un",), 3, "f"),
        ("##affable", ("##a", "##aff"), 5, "a"),
        ("##able", ("##a", "##able"), 6, ""),
    ]
    assert "“##aff” is the longest vocabulary entry" in tokens[1].story[0]


def test_an_unknown_word_says_why_it_is_unknown(slow, small):
    (token,) = slow.explain("unaq").texts[0].tokens
    assert token.kind == "unknown"
    assert token.unknown == ("no-piece", ("un", "##a"), "##q", 3, 4, 2, "q")
    assert "U+0071" in token.story[0]
    (token,) = slow.explain("  É\u200d\u200dQ").texts[0].tokens
    assert (token.unknown.start, token.unknown.char) == (5, "q")
    (token,) = slow.explain("x" * 101).texts[0].tokens
    assert token.unknown.reason == "too-long"
    kept = small("ph", ".", never_split=["Ph.D."], do_lower_case=False)
    (token,) = kept.explain("Ph.D.").texts[0].tokens
    assert token.unknown.reason == "not-an-entry"


def test_added_tokens_tell_flags_whitespace_and_neighbours(slow, fast):
    for tokenizer in (slow, fast):
        tokenizer.add_tokens([AddedToken("<m>", lstrip=True, rstrip=True), "lo"])
        tokens = tokenizer.explain("a  <m> \t lob").texts[0].tokens
        marked = next(token for token in tokens if token.token == "<m>")
        assert marked.added.flags == ("lstrip", "rstrip", "normalized")
        assert (marked.added.ate_left, len(marked.added.ate_right)) == ("  ", 3)
        cut = next(token for token in tokens if token.token == "lo")
        assert cut.added.touches == ("", "b")
        assert "With single_word it would not be." in cut.story[1]


def test_an_explanation_names_a_match_that_single_word_rejected(slow, fast):
    for tokenizer in (slow, fast):
        tokenizer.add_tokens([AddedToken("aff", single_word=True)])
        text = tokenizer.explain("unaffable aff").texts[0]
        (rejected,) = [each for stage in text.stages for each in stage.rejected]
        assert rejected == ("aff", 2, 5, ("n", "a"))
        assert [token.token for token in text.tokens if token.rejected] == ["##aff"]
        assert [each.content for stage in text.stages for each in stage.found] == ["aff"]
        assert text.tokens[-1].kind == "added"


def test_cuts_say_which_stage_made_them(slow):
    slow.add_tokens(["lo"])
    tokens = slow.explain("a 東b.eloi\ta").texts[0].tokens
    cuts = [(token.source, token.cut.stage) for token in tokens if token.cut is not None]
    assert cuts == [
        ("a", ""),
        ("東", "chinese"),
        ("b", "chinese"),
        (".", "punctuation"),
        ("e", "punctuation"),
        ("lo", "added-tokens"),
        ("i", "added-tokens"),
        ("a", "whitespace"),
    ]
    assert tokens[-1].cut.why == "split at U+0009 CHARACTER TABULATION"


# ---- calls ---------------------------------------------------------------------------------------


def test_truncated_tokens_are_marked(slow, fast):
    for tokenizer in (slow, fast):
        explained = tokenizer.explain("a b e i", "n n", truncation="only_first", max_length=7)
        assert [token.token for token in explained.truncated] == ["e", "i"]
        assert [token.is_truncated for token in explained.texts[0].tokens] == [
            False,
            False,
            True,
            True,
        ]
        assert explained.truncation == ("only_first", 7, 0, "right", (2, 0))
        assert (
            explained.input_ids
            == tokenizer("a b e i", "n n", truncation="only_first", max_length=7).input_ids
        )
        assert {token.type_id for token in explained.texts[1].tokens} == {1}


def test_overflow_makes_a_row_for_each_window(fast):
    options = {"truncation": True, "max_length": 4, "stride": 1, "return_overflowing_tokens": True}
    explained = fast.explain("a b e", **options)
    assert [[token.token for token in row] for row in explained.rows] == [
        ["[CLS]", "a", "b", "[SEP]"],
        ["[CLS]", "b", "e", "[SEP]"],
    ]
    assert explained.input_ids == fast("a b e", **options).input_ids
    assert "1 more row of what did not fit (4 tokens, each repeating 1)" in str(explained)


def test_padding_is_counted(slow):
    explained = slow.explain("a", padding="max_length", max_length=8, truncation=True)
    assert [token.kind for token in explained.tokens][3:] == ["padding"] * 5
    assert "[PAD] × 5" in str(explained)
    assert "[PAD] × 5" in explained.to_html()


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((3,), {}, trietok.InputError),
        ((None,), {}, trietok.InputError),
        (("a",), {"unknown_option": 1}, trietok.OptionError),
        (("a",), {"padding": "sideways"}, trietok.InputError),
        (("a",), {"return_tensors": "parchment"}, trietok.InputError),
    ],
)
def test_a_refused_call_is_refused_with_its_own_error(slow, fast, arguments, options, error):
    for tokenizer in (slow, fast):
        with pytest.raises(error) as called:
            tokenizer(*arguments, **options)
        with pytest.raises(error) as explained:
            tokenizer.explain(*arguments, **options)
        assert type(explained.value) is type(called.value)
        assert str(explained.value) == str(called.value)


def test_only_a_text_or_a_pair_is_explained(slow):
    for given in ((["a", "b"],), ("a", ["b"])):  # which a call takes for tokens
        with pytest.raises(trietok.InputTypeError):
            slow.explain(*given)


class Letters(trietok.WordpieceTokenizer):
    def tokenize(self, text):
        return list(text)

    def pieces_of(self, word):
        return list(word)


@pytest.mark.parametrize("kind", [BertTokenizer, BertTokenizerFast])
def test_a_matcher_of_the_users_own_is_said_to_be_one(vocab_file, kind):
    tokenizer = kind(vocab_file("a", "b", "ab", "##b"))
    plain = tokenizer.explain("ab")
    tokenizer.wordpiece_tokenizer = Letters(tokenizer.vocab, "[UNK]")
    explained = tokenizer.explain("ab")
    assert [token.token for token in explained.tokens] == ["[CLS]", "a", "b", "[SEP]"]
    for token in explained.tokens[1:3]:
        assert "a wordpiece_tokenizer of your own" in token.story[0]
        assert token.match is token.unknown is None
    assert "a wordpiece_tokenizer of your own" in explained.against(plain).parts[0].why


def test_methods_of_the_users_own_cannot_be_explained(vocab_file):
    class Reversed(BertTokenizer):
        def _tokenize(self, text, **kwargs):
            return super()._tokenize(text, **kwargs)[::-1]

    with pytest.raises(trietok.NotSupportedError):
        Reversed(vocab_file("a", "b")).explain("a b")


@pytest.mark.parametrize(
    "name", ["SplinterTokenizer", "FunnelTokenizer", "MPNetTokenizer", "DPRReaderTokenizer"]
)
def test_other_models_are_explained_with_the_ids_of_their_calls(name):
    for suffix in ("", "Fast"):
        tokenizer = getattr(trietok, name + suffix).from_pretrained("trietok-en", unk_token="[UNK]")
        call = tokenizer.encode_plus("A text", "a naïve pair", return_token_type_ids=True)
        explained = tokenizer.explain("A text", "a naïve pair")
        assert explained.input_ids == call.input_ids
        assert [token.type_id for token in explained.tokens] == call.token_type_ids


def test_an_explanation_never_changes_and_can_be_pickled(slow):
    explained = slow.explain("unaffable naïve")
    before = explained.to_dict()
    slow.add_tokens(["naïve"])
    assert explained.to_dict() == before == pickle.loads(pickle.dumps(explained)).to_dict()
    with pytest.raises(AttributeError):
        explained.name = "other"


# ---- views ---------------------------------------------------------------------------------------


def test_html_is_one_escaped_fragment_without_scripts(slow):
    slow.add_tokens(["<i>x</i>"])
    html = slow.explain('<script>alert("1")</script> <i>x</i> \u202e&amp;').to_html()
    assert "<script" not in html
    assert "<i>x" not in html
    assert "\u202e" not in html
    assert "http" not in html
    assert "prefers-color-scheme:dark" in html
    assert html.count("<div") == html.count("</div>")
    assert html.count("<span") == html.count("</span>")


def test_html_names_every_token_its_search_and_its_reasons(slow):
    slow.add_tokens(["<i>x</i>"])
    explained = slow.explain("unaffable unaq <i>x</i>", "hello")
    plain = re.sub(r"<[^>]+>", "", explained.to_html().partition("</style>")[2])
    assert "no entry: ##affable, ##affabl, ##affab, ##affa; found: ##aff" in plain
    listed = explained.to_html(reasons=True)  # for paper
    for token in explained.tokens:
        assert html.escape(token.token) in explained.to_html()
        assert html.escape(" ".join(token.story)) in listed
    assert '<details class="tt-d"' not in listed  # they are in the table, and nowhere else


def test_counts_are_those_of_the_call(slow, fast):
    for tokenizer in (slow, fast):
        text = "hello, unaffable ☃ [UNK] hello"
        # the third one is written
        counts = {
            "characters": len(text),
            "words": 6,
            "tokens": 10,
            "unknown": 2,
        }
        assert tokenizer.explain(text).counts == counts
        assert tokenizer.explain("", "hello").counts["characters"] == 5


def test_long_texts_show_the_first_tokens(slow):
    explained = slow.explain("a " * 5000, verbose=False)
    assert len(explained.tokens) == 5002
    for view in (str(explained), explained.to_html()):
        assert "first 2,000 of 5,002 tokens" in view.replace("The first", "first")
    assert len(explained.to_html()) < 1_000_000


def test_to_json_of_an_explanation_holds_its_ids_and_tokens(slow):
    explained = slow.explain("unaffable ☃", "a")
    values = json.loads(explained.to_json())
    assert values["input_ids"] == explained.input_ids
    tokens = [token["token"] for token in values["texts"][0]["tokens"]]
    assert tokens == [token.token for token in explained.texts[0].tokens]


# ---- side by side --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a\u0378", "the left deletes U+0378"),
        ("a\ud800", "the left deletes U+D800"),
    ],
)
def test_slow_against_fast_names_the_stage(slow, fast, text, why):
    contrast = slow.explain(text).against(fast.explain(text))
    assert [why in part.why for part in contrast.parts if part.differs] == [True]
    assert why in contrast.to_text(200)
    assert not contrast.same_ids


def test_two_vocabularies_name_the_entry(slow, vocab_file):
    other = BertTokenizer(vocab_file("un", "##affable", "hello", name="other.txt"))
    contrast = slow.explain("hello unaffable").against(other.explain("hello unaffable"))
    (part,) = [part for part in contrast.parts if part.differs]
    assert part.source == "affable"
    assert "“##aff”, “##able”, the right “##affable”" in part.why
    assert contrast.to_dict()["parts"][0]["differs"] is False


def test_one_added_token_makes_the_difference(slow, small):
    other = small(*ENTRIES)
    other.add_tokens(["llo"])
    contrast = slow.explain("hello a").against(other.explain("hello a"))
    assert "the right finds the added token llo" in contrast.parts[0].why


def test_other_texts_are_not_compared(slow):
    with pytest.raises(trietok.InputError):
        slow.explain("a").against(slow.explain("b"))
    contrast = slow.explain("hello unaq a").against(slow.explain("hello unaq a"))
    assert contrast.summary == "the ids are the same"


def test_a_pair_has_the_name_that_a_call_gives_it():
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-en")
    assert (
        tokenizer.explain("a", text_pair="b").input_ids
        == tokenizer("a", text_pair="b")["input_ids"]
    )
    with pytest.raises(trietok.InputError):
        tokenizer.explain("a", "b", text_pair="b")


# ---- other pipelines of a tokenizer.json ---------------------------------------------------------


def piped(vocab_file, normalizers, pre_tokenizers):
    """The fast tokenizer of a tokenizer.json with these parts."""
    path = vocab_file("may", "2", "4", "th", ",", "cafe", "a")
    BertTokenizerFast(path).save_pretrained(path.parent / "piped")
    file = path.parent / "piped" / "tokenizer.json"
    saved = json.loads(file.read_text(encoding="utf-8"))
    saved["normalizer"] = {"type": "Sequence", "normalizers": normalizers}
    saved["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": pre_tokenizers}
    file.write_text(json.dumps(saved), encoding="utf-8")
    return BertTokenizerFast(tokenizer_file=file)


DIGITS = [{"type": "WhitespaceSplit"}, {"type": "Digits", "individual_digits": True}]


def test_a_pre_tokenizer_says_where_it_cuts(vocab_file):
    marks = {"type": "Split", "pattern": {"String": "-"}, "behavior": "Removed", "invert": False}
    tokenizer = piped(
        vocab_file, [], [*DIGITS, marks, {"type": "Punctuation", "behavior": "Isolated"}]
    )
    explanation = tokenizer.explain(" a 24th, a-a")
    assert explanation.texts[0].stages[-2].gave == "a 2 4 th , a a"
    assert [(each.token, each.cut.stage, each.cut.why) for each in explanation.texts[0].tokens] == [
        ("a", "whitespace", "split at U+0020 SPACE"),
        ("2", "whitespace", "split at U+0020 SPACE"),
        ("4", "words", "the pre-tokenizer of tokenizer.json cuts between “2” and “4”"),
        ("th", "words", "the pre-tokenizer of tokenizer.json cuts between “4” and “t”"),
        (",", "words", "the pre-tokenizer of tokenizer.json cuts between “h” and “,”"),
        ("a", "whitespace", "split at U+0020 SPACE"),
        ("a", "words", "the pre-tokenizer of tokenizer.json takes “-” out"),
    ]
