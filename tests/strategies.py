"""What tests draw at random: texts, added tokens, options, changes; and the vocabularies that
these are drawn for.

Everything here is a strategy of Hypothesis, which shrinks what fails and prints how to repeat it.
Only `random_text` draws from a `random.Random`: for programs that run without Hypothesis for as
long as they are given, under sanitizers for example.

Values that belong to a library, such as an AddedToken, are drawn as plain dictionaries. `made`
makes them of transformers or of trietok, and `apply` makes one change to a tokenizer of either.
"""

from __future__ import annotations

import functools
import random
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

# ---- vocabularies --------------------------------------------------------------------------------

ROLE_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
UNUSED = ["[unused0]", "[unused1]", "[unused2]"]
UNCASED = [
    *ROLE_TOKENS,
    *"abcdefghi!?.,'[]()$^`-/0123",
    *"##a ##b ##c ##d ##e ##1 ##2 ab abc ##bc ##abc abcd ##cd".split(),
    *"hello hel ##lo wor ##ld world un ##aff ##able the people cls ##s ph".split(),
    *"don n t m s ve re x ##x ##xx é ##é ß ss σ ς ##σ ##ς".split(),
    "i̇",
    *"##i ı 世 界 豈 更 あ ##い 한 ##국 ㅎ 😀 ##😀 … 。 € no ##no".split(),
]
CASED = [
    *("[CLS]", "[MASK]", "[SEP]", "[UNK]", "[PAD]"),  # the id of a token that is put around is 0
    *UNCASED[len(ROLE_TOKENS) :],
    *"A B AB ##B Abc Hello World É ##É Σ İ ẞ CLS E ##E Ph D".split(),
]
# Like some files on disk: a token twice, an empty line, lines that no word can be matched with.
ODD = [
    *("ab", "[UNK]", "[CLS]", "", "##", "####a", "[SEP]", "ab", "##b", "a", " ", "a b", "##a"),
    *("[PAD]", "x", "x", "##x", "[MASK]", "\u00a0", "c\u2028d", "c", "##\u0301", "e", "##c"),
    *("abc", "!", "\ufeff", "hello"),
]
VOCABULARIES = {
    "uncased": UNCASED,
    "cased": CASED,
    "odd": ODD,
    "without roles": ["[UNK]", *UNCASED[5:]],
    "unused": [*UNCASED, *UNUSED],
}


@functools.cache
def directory_of(vocabulary: str) -> Path:
    """The directory of a built-in vocabulary, or one with the vocab.txt of `VOCABULARIES`."""
    if vocabulary not in VOCABULARIES:
        return Path(__file__).parents[1] / "vocab" / vocabulary
    directory = Path(_temporary_root().name, vocabulary.replace(" ", "-"))
    directory.mkdir()
    text = "".join(token + "\n" for token in VOCABULARIES[vocabulary])
    (directory / "vocab.txt").write_text(text, encoding="utf-8", newline="\n")
    return directory


@functools.cache
def _temporary_root() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="trietok-vocabularies-")


# ---- texts ---------------------------------------------------------------------------------------

WHITESPACE = [
    *(" ", "  ", "\r\n"),
    *"\t\n\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000",
]
# Marks and letters that compose, decompose or change places, and what stops them.
MARKS = [
    *"aeE \u0301\u0323\u0307\u0327\u0345\u0316\u302e\u200b!가\u11a8\u1100\u1161",
    *("İ", "ǖ", "각", "世", "Σ", "\U0001d165"),
]
NASTY = [
    *"\0\x01\x7f\x9f\xad\u0301\u0300\u0323\u0345\u200b\u200d\u2060\ufeff\ufffd\ufffe",
    *"\ud800\udfff\udc80\U000e0001\U0010ffff\u0378\ufe0f",
    *"É é ẞ ß Σ ΑΣ ΟΔΟΣ σς İ ı ŉ ﬁ Ǆ Å Ω K".split(),
    *"\u212b\u2126\u212a",
    *("e\u0301", "I\u0307", "\u1100\u1161", "\u09c7\u09be"),
    *"\uf900\uf901\U0002f800\u4e00\u3400\U00020000",
    *("世界", "あい", "アイ", "한국", "\u1112\u1161\u11ab"),
    *("😀", "👩‍👩‍👧", "👍🏽", "🇪🇺"),
    *"€¿。、…“—·^`~$_",
    *("॒", "ः", "ﷺ", "\u0e33"),
]
ROLE_TEXTS = [
    *ROLE_TOKENS,
    *("[CLS", "CLS]", "[CL\0S]", "[C\u0301LS]", "[cls]", "[ CLS ]", "[UNK][SEP]", "[[CLS]]"),
    "[MA\u200bSK]",
]
# Around the most characters of a word, which are 100, and the longest words of the kernel.
LONG = [
    *("a" * 99, "a" * 100, "a" * 101, "ab" * 50, "ab" * 60, "é" * 100, "e\u0301" * 60),
    *("x" * 300, "a\0" * 70 + "b", "b" * 15, "b" * 16, "b" * 255, "b" * 256),
]
ENGLISH = [
    *("do n't", "I 'm", "it 's", "the people", "##abc", "#"),
    *"Ph.D. c++ unaffable world's Hello HELLO 3.14159 2024-01-01 http://a.b/c?d=e".split(),
]
SENTENCES = [
    *("A dog. ", "Is it? ", "(No!) ", "你好。", "「好！」", "\n", "it's 3.14 "),
    *("world " * 5, "abc-" * 4),
]
WORDS = [token for token in CASED if token not in ROLE_TOKENS] + ENGLISH


def texts(extra: Sequence[str] = (), max_size: int = 12) -> st.SearchStrategy[str]:
    """Texts of vocabulary entries, whitespace and characters that go wrong easily, with or without
    spaces between.

    Args:
        extra: parts that are drawn about as often as all others, for example added tokens.
        max_size: number of parts.
    """
    words = st.sampled_from(WORDS)
    part = st.one_of(
        words,
        words,
        *map(st.sampled_from, (WHITESPACE, NASTY, ROLE_TEXTS, LONG)),
        st.characters(codec=None, exclude_categories=()),
    )
    if extra:
        part = st.one_of(part, *[st.sampled_from(list(extra))] * 3)
    return st.builds(
        lambda parts, glue: glue.join(parts),
        st.lists(part, max_size=max_size),
        st.sampled_from(["", " "]),
    )


def marked_texts() -> st.SearchStrategy[str]:
    """Texts of letters and marks that compose and change places."""
    return st.lists(st.sampled_from(MARKS), max_size=10).map("".join)


def long_texts(extra: Sequence[str] = ()) -> st.SearchStrategy[str]:
    """Texts of sentences in English and Chinese, with what `texts` and `marked_texts` draw."""
    part = st.one_of(texts(extra), marked_texts(), st.sampled_from(SENTENCES))
    return st.lists(part, max_size=8).map("".join)


def short_texts() -> st.SearchStrategy[str]:
    """Texts of a few known words: for tests of what happens to ids, whatever they are."""
    words = ["a", "ab", "abc", "hello", "world", "unaffable", "zzz", "世界", *ROLE_TOKENS[2:4]]
    return st.lists(st.sampled_from([*words, "!", ""]), max_size=7).map(" ".join)


def is_valid(text: str) -> bool:
    """Whether a string of Rust can hold the text."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


CHARACTERS = [
    chr(code)
    for code in (*range(0xD800), *range(0xE000, 0x33480), *range(0xE0000, 0xE0200), 0x10FFFF)
]
SCRIPTS = (
    "abcdefgh THE ing.,!?[]()'-#_ 0123456789 ",
    "αβγδεάέὰ ́̈̀Σςσ",
    "কেি\u09be\u09d7যোৌ\u0bbe\u0b94ெகெ\u0bd7ం",
    "世界中文字、。豈丽",
    "aeE=<!\u0301\u0316\u0323\u0302\u0338\u200b\0\ufffdᄀ\u1161\u11a8가ê",
)


@functools.cache
def _pools() -> tuple[Sequence[str], ...]:
    """What texts are made of: parts, and characters by what they do to each other."""
    marks = [char for char in CHARACTERS if unicodedata.category(char)[0] == "M"]
    changing = [
        char
        for char in CHARACTERS
        if any(unicodedata.normalize(form, char) != char for form in ("NFC", "NFD"))
        or char.lower() != char
    ]
    words = (WORDS, WHITESPACE, NASTY, ROLE_TEXTS, LONG, MARKS, SENTENCES)
    return (*words, *SCRIPTS, *SCRIPTS, marks, changing, CHARACTERS)


def random_text(rng: random.Random, tokens: Sequence[str]) -> str:
    """A text of the same parts and of characters of a few kinds, without Hypothesis: for programs
    that run for as long as they are given. `tokens` are added tokens, which it has as they are, cut
    off, in other case and with marks in them.
    """
    pools = rng.choices(_pools(), k=rng.randrange(1, 4))
    parts: list[str] = []
    for _ in range(rng.randrange(1, 24)):
        if rng.random() < 0.8:
            parts.append(rng.choice(rng.choice(pools)))
            continue
        token = rng.choice(tokens)
        place = rng.randrange(len(token) + 1)
        mark = rng.choice("\u200b\0\u0308\u0301\u0323\ufffd\xad")
        forms = (
            *(" ", token, token, token.swapcase(), token[:place]),
            token[:place] + mark + token[place:],
            unicodedata.normalize("NFD", token) + mark,
        )
        parts.append(rng.choice(forms))
    return "".join(parts)


# ---- added tokens --------------------------------------------------------------------------------

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
FIELDS = ("content", *FLAGS)
# In the vocabulary or not, capitals, whitespace inside and around, marks, beginnings of each other,
# pieces.
CONTENTS = [
    *"<a> <B> <a><B> [CLS] [PAD] [X] [x] hello HELLO ab abc ##b ##abc".split(),
    *("new york", "New York", "covid-19", "COVID-19", "é", "É", "e\u0301"),
    *"İ ΟΔΟΣ ß 世 世界 😀 👩‍👩‍👧 ! ' a.b zz z Zz \\ (.*) | a|b".split(),
    *(" ", "  ", "\n", "\t", " x", "x ", "\u00a0", "\u3000y"),
]
# Added without being special and with normalized=False: no capitals, and no part of anything else.
PROTECTED = ["<<q>>", "qq qq", "{q}"]
# What texts need besides the contents, to have tokens in other case.
NEAR_CONTENTS = [*CONTENTS, *PROTECTED, "<A>", "<b>", "NEW YORK", "[x]", "ZZ"]


@st.composite
def terms(draw: st.DrawFn, contents: Sequence[str] = CONTENTS) -> str | dict[str, Any]:
    """An added token as both slow tokenizers take it alike: a string, or the fields of an
    AddedToken, of which `made` makes one.
    """
    content = draw(st.sampled_from(contents))
    if draw(st.booleans()):
        return content
    fields: dict[str, Any] = {"content": content, "special": draw(st.booleans())}
    fields |= draw(some_of(lstrip=(False, True), rstrip=(False, True)))
    if fields["special"]:
        fields |= draw(some_of(normalized=(False, True)))
    elif draw(st.integers(0, 5)) == 0:
        fields |= {"content": draw(st.sampled_from(PROTECTED)), "normalized": False}
    return fields


def flagged_terms(contents: Sequence[str] = CONTENTS) -> st.SearchStrategy[dict[str, Any]]:
    """The fields of an AddedToken with any flags."""
    return st.fixed_dictionaries(
        {"content": st.sampled_from(contents), **dict.fromkeys(FLAGS, st.booleans())}
    )


def several(term: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """A list of at most four, the same content perhaps twice."""
    return st.lists(term, max_size=4)


def made(library: Any, value: Any) -> Any:
    """A drawn value in which the fields of tokens, such as `{"content": "<a>", "lstrip": True}`,
    are AddedTokens of that library.
    """
    if isinstance(value, dict):
        if "content" in value:
            return library.AddedToken(**value)
        return {key: made(library, item) for key, item in value.items()}
    return [made(library, item) for item in value] if isinstance(value, list) else value


# ---- options -------------------------------------------------------------------------------------

BOOL = (False, True)
OPTIONAL_BOOL = (None, False, True)
NEVER_SPLIT = [
    *WORDS,
    *"Ph.D. c++ HELLO É e\u0301 ΟΔΟΣ [cls] [X] İ a!b".split(),
    "a" * 101,
]


def some_of(**values: Sequence[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Keywords, each given with one of its values or left out."""
    return st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(each) for name, each in values.items()}
    )


def slow_options() -> st.SearchStrategy[dict[str, Any]]:
    """Options of `BertTokenizer` that decide which tokens a text becomes."""
    return st.fixed_dictionaries(
        {},
        optional={
            "do_lower_case": st.booleans(),
            "do_basic_tokenize": st.booleans(),
            "never_split": st.lists(st.sampled_from(NEVER_SPLIT), max_size=4),
            "tokenize_chinese_chars": st.booleans(),
            "strip_accents": st.sampled_from(OPTIONAL_BOOL),
            "split_special_tokens": st.booleans(),
            "unk_token": st.sampled_from(["[UNK]", "a", "ab"]),
        },
    )


def fast_options() -> st.SearchStrategy[dict[str, Any]]:
    """Options that both `BertTokenizer` and `BertTokenizerFast` take."""
    return some_of(do_lower_case=BOOL, tokenize_chinese_chars=BOOL, strip_accents=OPTIONAL_BOOL)


# What a call may be given, in the order of transformers' signature.
CALL_OPTIONS: dict[str, tuple[Any, ...]] = {
    "add_special_tokens": BOOL,
    "padding": (False, False, True, "longest", "max_length", "max_length", "do_not_pad"),
    "truncation": (
        *(None, False, True, True),
        *("longest_first", "only_first", "only_second", "do_not_truncate"),
    ),
    "max_length": (None, None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 40),
    "stride": (0, 0, 1, 2, 3, 4),
    "is_split_into_words": BOOL,
    "pad_to_multiple_of": (None, 1, 2, 4, 8),
    "padding_side": (None, "left", "right"),
    "return_tensors": (None, None, None, "np"),
    "return_token_type_ids": OPTIONAL_BOOL,
    "return_attention_mask": OPTIONAL_BOOL,
    "return_overflowing_tokens": BOOL,
    "return_special_tokens_mask": BOOL,
    "return_offsets_mapping": (False, False, True),
    "return_length": BOOL,
    "verbose": BOOL,
    "split_special_tokens": OPTIONAL_BOOL,
}
# What it must not be given.
MISTAKEN_OPTIONS: dict[str, tuple[Any, ...]] = {
    "padding": ("no such padding", None, 2, ["longest"]),
    "truncation": ("no such truncation", 2, ["longest_first"]),
    "max_length": (-1, "8", 8.5, [8]),
    "stride": (-1, "1", 1.5, None),
    "pad_to_multiple_of": (0, -2, "2", 2.5),
    "padding_side": ("no such side", 1),
    "return_tensors": ("no such tensor", 5),
    "no_such_option": (True,),
}
DECODE_OPTIONS: dict[str, tuple[Any, ...]] = {
    "skip_special_tokens": BOOL,
    "clean_up_tokenization_spaces": OPTIONAL_BOOL,
    "spaces_between_special_tokens": BOOL,
}
# What a tokenizer may be given when it is made, or by an attribute later.
SETTINGS: dict[str, tuple[Any, ...]] = {
    "model_max_length": (4, 6, 8, 16, int(1e30)),
    "padding_side": ("left", "right"),
    "truncation_side": ("left", "right"),
    "model_input_names": (
        ["input_ids"],
        ["input_ids", "attention_mask"],
        ["input_ids", "token_type_ids"],
    ),
    "clean_up_tokenization_spaces": BOOL,
    "split_special_tokens": BOOL,
}


def call_options() -> st.SearchStrategy[dict[str, Any]]:
    """Keywords of a call, each given or left out."""
    return some_of(**CALL_OPTIONS)


# ---- changes -------------------------------------------------------------------------------------

ROLES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"]
ADDITIONAL = "additional_special_tokens"
KNOWN = ["[CLS]", "[PAD]", "[MASK]", "[SEP]", "[UNK]", "hello", "ab", "!"]

Change = tuple[str, Any]  # what is done, and what with


@st.composite
def changes(draw: st.DrawFn, contents: Sequence[str] = CONTENTS) -> Change:
    """One change that tokenizers of both libraries have."""
    term = terms(contents)
    kinds = ("add", "add", "add", "roles", "roles", "set", "set id", "set additional", "sanitize")
    kind = draw(st.sampled_from(kinds))
    if kind == "add":
        return kind, (draw(st.one_of(term, several(term))), draw(st.booleans()))
    if kind == "roles":
        roles: dict[str, Any] = draw(st.dictionaries(st.sampled_from(ROLES), term, max_size=2))
        if draw(st.booleans()):
            roles[ADDITIONAL] = draw(several(term))
        if not draw(st.integers(0, 30)):
            roles = {"no such token": "[X]"}
        return kind, (roles, draw(st.booleans()))
    if kind == "set":
        return kind, (draw(st.sampled_from(ROLES)), draw(st.one_of(st.sampled_from(KNOWN), term)))
    if kind == "set id":
        return kind, (draw(st.sampled_from(ROLES)) + "_id", draw(st.integers(0, 60)))
    if kind == "set additional":
        ids = st.lists(st.integers(0, 60), min_size=1, max_size=3)
        return kind, draw(st.one_of(several(term), ids))
    return kind, None


@st.composite
def own_changes(draw: st.DrawFn, contents: Sequence[str] = CONTENTS) -> Change:
    """One change that only trietok's tokenizers have: of the vocabulary "unused"."""
    content = st.sampled_from(contents)
    kind = draw(st.sampled_from(["remove", "assign", "pieces", "keep", "setting"]))
    if kind == "remove":
        return kind, (draw(st.lists(content, min_size=1, max_size=2)), draw(st.booleans()))
    if kind == "assign":
        return kind, (draw(st.sampled_from(UNUSED)), draw(st.one_of(content, terms(contents))))
    if kind == "pieces":
        pieces = st.sampled_from(["ü", "zz", "##zz", "##b", "t", "##ello", "worl"])
        return kind, draw(st.lists(pieces, max_size=3))
    if kind == "keep":  # the ids that are left out, of which some are those of roles
        return kind, draw(st.sets(st.integers(0, 130), max_size=3))
    name = draw(st.sampled_from([name for name in SETTINGS if name != "model_input_names"]))
    return kind, (name, draw(st.sampled_from(SETTINGS[name])))


def histories(
    contents: Sequence[str] = CONTENTS, own: bool = False, max_size: int = 5
) -> st.SearchStrategy[list[Change]]:
    """Some changes, one after the other; with `own` also those that only trietok has."""
    change = st.one_of(changes(contents), own_changes(contents)) if own else changes(contents)
    return st.lists(change, max_size=max_size)


def apply(library: Any, tokenizer: Any, change: Change) -> Any:
    """Make a change of a tokenizer of that library; what the method returns."""
    kind, argument = change
    match kind:
        case "add":
            return tokenizer.add_tokens(made(library, argument[0]), special_tokens=argument[1])
        case "roles":
            roles, replace = argument
            return tokenizer.add_special_tokens(
                made(library, roles), replace_additional_special_tokens=replace
            )
        case "set" | "set id" | "setting":
            return setattr(tokenizer, argument[0], made(library, argument[1]))
        case "set additional":
            name = ADDITIONAL + ("_ids" if argument and isinstance(argument[0], int) else "")
            return setattr(tokenizer, name, made(library, argument))
        case "sanitize":
            return tokenizer.sanitize_special_tokens()
        case "remove":
            return tokenizer.remove_tokens(argument[0], compact=argument[1])
        case "assign":
            return tokenizer.assign_unused(argument[0], made(library, argument[1]))
        case "pieces":
            return tokenizer.add_wordpieces(argument)
        case "keep":
            return tokenizer.keep_only(i for i in range(tokenizer.max_id + 1) if i not in argument)
    raise AssertionError(kind)
