"""trietok and transformers side by side: tokens added, given roles, saved and loaded."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples

from .conftest import (
    assert_same,
    different,
    directory_of,
    outcome,
    state_of,
    texts,
    tokenizers,
    trie_is_wrong,
)

# In the vocabulary or not, capitals, whitespace inside and around, marks, beginnings of each other,
# pieces.
CONTENTS = [
    *(
        *"<a> <B> <a><B> [CLS] [PAD] [X] [x] hello HELLO ab abc ##b ##abc".split(),
        "new york",
    ),
    *(
        "New York",
        "covid-19",
        "COVID-19",
        "é",
        "É",
        "e\u0301",
        *"İ ΟΔΟΣ ß 世 世界 😀".split(),
        "👩‍👩‍👧",
        "!",
        "'",
        "a.b",
    ),
    *(
        " ",
        "  ",
        "\n",
        "\t",
        " x",
        "x ",
        "\u00a0",
        "\u3000y",
        "zz",
        "z",
        "Zz",
        "\\",
        "(.*)",
        "|",
        "a|b",
    ),
]
# Added without being special and with normalized=False: no capitals, and no part of anything else.
PROTECTED = ["<<q>>", "qq qq", "{q}"]
ROLES = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"]
ADDITIONAL = "additional_special_tokens"
KNOWN = ["[CLS]", "[PAD]", "[MASK]", "[SEP]", "[UNK]", "hello", "ab", "!"]


@st.composite
def tokens(draw: st.DrawFn, contents: list[str] = CONTENTS) -> str | dict[str, Any]:
    """A string, or the fields of an AddedToken, from which each library makes its own."""
    content = draw(st.sampled_from(contents))
    if draw(st.booleans()):
        return content
    given_fields: dict[str, Any] = {"content": content, "special": draw(st.booleans())}
    given_fields |= draw(
        st.fixed_dictionaries({}, optional={"lstrip": st.booleans(), "rstrip": st.booleans()})
    )
    if given_fields["special"]:
        given_fields |= draw(st.fixed_dictionaries({}, optional={"normalized": st.booleans()}))
    elif draw(st.integers(0, 5)) == 0:
        given_fields |= {"content": draw(st.sampled_from(PROTECTED)), "normalized": False}
    return given_fields


def several(token: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """A list of tokens, the same content perhaps twice."""
    return st.lists(token, max_size=4)


def made(library: Any, value: Any) -> Any:
    """A drawn value with the AddedTokens of that library in it."""
    if isinstance(value, dict):
        if "content" in value:
            return library.AddedToken(**value)
        return {key: made(library, item) for key, item in value.items()}
    return [made(library, item) for item in value] if isinstance(value, list) else value


Operation = tuple[str, Any]


@st.composite
def operations(draw: st.DrawFn, contents: list[str] = CONTENTS) -> Operation:
    """One change to a tokenizer: what to do, and its arguments."""
    token = tokens(contents)
    kind = draw(
        st.sampled_from(
            ["add", "add", "add", "roles", "roles", "set", "set id", "set additional", "sanitize"]
        )
    )
    if kind == "add":
        return kind, (draw(st.one_of(token, several(token))), draw(st.booleans()))
    if kind == "roles":
        roles: dict[str, Any] = draw(st.dictionaries(st.sampled_from(ROLES), token, max_size=2))
        if draw(st.booleans()):
            roles[ADDITIONAL] = draw(several(token))
        if not draw(st.integers(0, 30)):
            roles = {"no such token": "[X]"}
        return kind, (roles, draw(st.booleans()))
    if kind == "set":
        return kind, (draw(st.sampled_from(ROLES)), draw(st.one_of(st.sampled_from(KNOWN), token)))
    if kind == "set id":
        return kind, (draw(st.sampled_from(ROLES)) + "_id", draw(st.integers(0, 60)))
    if kind == "set additional":
        return kind, draw(
            st.one_of(several(token), st.lists(st.integers(0, 60), min_size=1, max_size=3))
        )
    return kind, None


def apply(library: Any, tokenizer: Any, operation: Operation) -> Any:
    kind, argument = operation
    if kind == "add":
        return tokenizer.add_tokens(made(library, argument[0]), special_tokens=argument[1])
    if kind == "roles":
        roles, replace = argument
        return tokenizer.add_special_tokens(
            made(library, roles), replace_additional_special_tokens=replace
        )
    if kind in ("set", "set id"):
        return setattr(tokenizer, argument[0], made(library, argument[1]))
    if kind == "set additional":
        name = ADDITIONAL + ("_ids" if argument and isinstance(argument[0], int) else "")
        return setattr(tokenizer, name, made(library, argument))
    return tokenizer.sanitize_special_tokens()


def changed_tokenizers(
    vocabulary: str, changes: list[Operation], **options: Any
) -> tuple[Any, Any] | None:
    """Both tokenizers after the same changes; None where both refused one, whose effect so far may
    differ.
    """
    theirs, ours = tokenizers(vocabulary, **options)
    assert different(state_of(theirs), state_of(ours)) is None
    return (theirs, ours) if make_changes(theirs, ours, changes) else None


def make_changes(theirs: Any, ours: Any, changes: list[Operation]) -> bool:
    """Make the same changes to both and compare after each. False where both refused one."""
    for change in changes:
        returned = assert_same(
            lambda change=change: apply(transformers, theirs, change),
            lambda change=change: apply(trietok, ours, change),
        )
        if not returned:
            return False
        difference = different(state_of(theirs), state_of(ours))
        assert difference is None, f"after {change}: {difference}"
    return True


VOCABULARY = st.sampled_from(["uncased", "uncased", "cased", "without roles"])
CHANGES = st.lists(operations(), max_size=5)
TEXTS = st.lists(
    texts([*CONTENTS, *PROTECTED, "<A>", "<b>", "NEW YORK", "[x]", "ZZ"], max_size=8),
    min_size=1,
    max_size=4,
)


def assert_same_ids(theirs: Any, ours: Any, text: str) -> None:
    if trie_is_wrong(theirs, text):
        return
    assert_same(lambda: theirs.tokenize(text), lambda: ours.tokenize(text))
    assert_same(
        lambda: theirs.tokenize(text, split_special_tokens=True),
        lambda: ours.tokenize(text, split_special_tokens=True),
    )
    assert_same(lambda: theirs(text), lambda: ours(text))


@examples(100)
@given(VOCABULARY, CHANGES, TEXTS, st.data())
def test_added_tokens_do_the_same(
    vocabulary: str, changes: list[Operation], some_texts: list[str], data: st.DataObject
) -> None:
    both = changed_tokenizers(vocabulary, changes)
    if both is None:
        return
    theirs, ours = both
    for text in some_texts:
        assert_same_ids(theirs, ours, text)
    highest = max(theirs.get_vocab().values())
    ids = data.draw(
        st.lists(st.integers(max(0, highest - 12), highest) | st.integers(0, highest), max_size=8)
    )
    for skip in (False, True):
        for spaces in (False, True):
            options = {"skip_special_tokens": skip, "spaces_between_special_tokens": spaces}
            assert_same(
                lambda options=options: theirs.decode(ids, **options),
                lambda options=options: ours.decode(ids, **options),
            )
    assert_same(
        lambda: theirs.get_special_tokens_mask(ids, already_has_special_tokens=True),
        lambda: ours.get_special_tokens_mask(ids, already_has_special_tokens=True),
    )


@st.composite
def role_keywords(draw: st.DrawFn) -> dict[str, Any]:
    """Roles as the constructor takes them."""
    roles: dict[str, Any] = draw(
        st.dictionaries(
            st.sampled_from([r for r in ROLES if r != "unk_token"]), tokens(), max_size=3
        )
    )
    if draw(st.booleans()):
        roles[ADDITIONAL] = draw(several(tokens()))
    if draw(st.booleans()):
        roles["extra_special_tokens"] = draw(
            st.dictionaries(st.sampled_from(["image_token", "video_token"]), tokens(), max_size=2)
        )
    return roles


@examples(70)
@given(VOCABULARY, role_keywords(), TEXTS, st.lists(operations(), max_size=1))
def test_the_constructors_roles_do_the_same(
    vocabulary: str, roles: dict[str, Any], some_texts: list[str], changes: list[Operation]
) -> None:
    path = str(directory_of(vocabulary) / "vocab.txt")
    lower = vocabulary != "cased"
    theirs, their_error = outcome(
        lambda: transformers.BertTokenizer(path, lower, **made(transformers, roles))
    )
    ours, our_error = outcome(lambda: trietok.BertTokenizer(path, lower, **made(trietok, roles)))
    assert their_error is None, their_error
    assert our_error is None, our_error
    difference = different(state_of(theirs), state_of(ours))
    assert difference is None, difference
    for role in roles.get("extra_special_tokens", {}):
        assert getattr(theirs, role) == getattr(ours, role)
        assert getattr(theirs, role + "_id") == getattr(ours, role + "_id")
    if not make_changes(theirs, ours, changes):
        return
    for text in some_texts:
        assert_same_ids(theirs, ours, text)


# ---- saving and loading --------------------------------------------------------------------------

SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "model_max_length": st.sampled_from([8, 512]),
        "padding_side": st.sampled_from(["right", "left"]),
        "truncation_side": st.sampled_from(["right", "left"]),
        "strip_accents": st.sampled_from([None, True, False]),
        "tokenize_chinese_chars": st.booleans(),
        "never_split": st.sampled_from([None, [], ["Ph.D.", "HELLO"]]),
        "clean_up_tokenization_spaces": st.booleans(),
        "split_special_tokens": st.booleans(),
        "additional_special_tokens": several(st.sampled_from(["<a>", "[X]", "hello"])),
        "extra_special_tokens": st.fixed_dictionaries(
            {}, optional={"image_token": st.sampled_from(["<img>", "ab"])}
        ),
        "a_keyword_of_my_own": st.sampled_from([3, [1, "x"], {"k": None}]),
    },
)
KEPT = [
    "model_max_length",
    "padding_side",
    "truncation_side",
    "clean_up_tokenization_spaces",
    "split_special_tokens",
]


def settings_of(tokenizer: Any) -> dict[str, Any]:
    """What a tokenizer does not say in `state_of`."""
    basic = tokenizer.basic_tokenizer
    return {
        **{name: getattr(tokenizer, name) for name in KEPT},
        "do_lower_case": basic.do_lower_case,
        "never_split": sorted(basic.never_split),
        "strip_accents": basic.strip_accents,
        "tokenize_chinese_chars": basic.tokenize_chinese_chars,
        "extra_special_tokens": dict(tokenizer.extra_special_tokens),
    }


def saved_files(directory: str) -> dict[str, str]:
    return {
        path.name: path.read_text(encoding="utf-8") for path in sorted(Path(directory).iterdir())
    }


def saved_or_refused(
    tokenizer: Any, directory: str, prefix: str | None = None
) -> tuple[str, ...] | None:
    """The paths; None where trietok refuses what it would load with other ids, which is so only for
    certain roles.
    """
    try:
        return tokenizer.save_pretrained(directory, filename_prefix=prefix)
    except (trietok.VocabularyError, trietok.NotSupportedError):
        roles = tokenizer.special_tokens_map.values()
        tokens = {
            token for value in roles for token in (value if isinstance(value, list) else [value])
        }
        unknown = tokenizer.wordpiece_tokenizer.unk_token
        assert tokenizer.unk_token != unknown or not tokens <= tokenizer.added_tokens_encoder.keys()
        assert not list(Path(directory).iterdir())
        return None


@examples(30)
@given(VOCABULARY, SETTINGS, CHANGES, TEXTS, st.sampled_from([None, None, "my"]))
def test_saved_tokenizers_load_on_both_sides(
    vocabulary: str,
    settings: dict[str, Any],
    changes: list[Operation],
    some_texts: list[str],
    prefix: str | None,
) -> None:
    both = changed_tokenizers(vocabulary, changes, **settings)
    if both is None:
        return
    theirs, ours = both
    with tempfile.TemporaryDirectory() as by_them, tempfile.TemporaryDirectory() as by_us:
        our_paths = saved_or_refused(ours, by_us, prefix)
        if our_paths is None:
            return
        their_paths = theirs.save_pretrained(by_them, filename_prefix=prefix)
        assert set(saved_files(by_them)) == set(saved_files(by_us)), (their_paths, our_paths)
        if prefix is not None:
            return
        load_theirs: Callable[[str], Any] = transformers.BertTokenizer.from_pretrained
        load_ours: Callable[[str], Any] = trietok.BertTokenizer.from_pretrained
        loaded = {}
        want, their_error = outcome(lambda: load_theirs(by_them))
        for name, load, directory in [
            ("theirs by us", load_ours, by_them),
            ("ours by them", load_theirs, by_us),
            ("ours by us", load_ours, by_us),
        ]:
            loaded[name], error = outcome(lambda load=load, directory=directory: load(directory))
            assert (error is None) == (their_error is None), (
                f"{name}: transformers {their_error!r}, here {error!r}"
            )
        if their_error is not None:
            return
        for name, tokenizer in loaded.items():
            difference = different(state_of(want), state_of(tokenizer)) or different(
                settings_of(want), settings_of(tokenizer)
            )
            assert difference is None, f"{name}: {difference}"
            for text in some_texts:
                assert_same_ids(want, tokenizer, text)


def contents(value: Any) -> Any:
    """The tokens of special_tokens_map.json without their flags."""
    if isinstance(value, dict):
        return (
            value["content"]
            if "content" in value
            else {key: contents(item) for key, item in value.items()}
        )
    return [contents(item) for item in value] if isinstance(value, list) else value


@examples(30)
@given(VOCABULARY, SETTINGS, CHANGES)
def test_the_saved_files_hold_the_same(
    vocabulary: str, settings: dict[str, Any], changes: list[Operation]
) -> None:
    both = changed_tokenizers(vocabulary, changes, **settings)
    if both is None:
        return
    with tempfile.TemporaryDirectory() as by_them, tempfile.TemporaryDirectory() as by_us:
        if saved_or_refused(both[1], by_us) is None:
            return
        both[0].save_pretrained(by_them)
        want, got = saved_files(by_them), saved_files(by_us)
    for name in want:
        if name == "special_tokens_map.json":
            # A token with the flags of a plain special one is a string in trietok's file, whatever
            # it was given as.
            assert contents(json.loads(got[name])) == contents(json.loads(want[name]))
        elif name.endswith(".json"):
            ours = json.loads(got[name])
            ours.pop("trietok", None)  # what transformers has no place for
            assert ours == json.loads(want[name]), name
        else:
            assert got[name] == want[name], name


# ---- cases that the search found -----------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        [("set additional", ["<a>", "<a>"])],
        [("set additional", [6, 6])],
        [("roles", ({ADDITIONAL: ["<a>", "<a>"]}, True))],
        [("roles", ({ADDITIONAL: ["<a>", "<a>"]}, False))],
        [("add", ([{"content": "hello", "rstrip": True}, "hello"], False))],
        [("add", ([{"content": "[X]", "rstrip": True}, "[X]"], True))],
        [("add", (["[X]", {"content": "[X]", "rstrip": True}], True))],
    ],
)
def test_a_token_given_twice_at_once_does_the_same(changes: list[Operation]) -> None:
    assert changed_tokenizers("uncased", changes)


def test_an_unknown_token_that_is_no_token_is_not_saved(tmp_path: Path) -> None:
    _, ours = tokenizers("uncased")
    ours.unk_token = "<unknown>"
    with pytest.raises(
        trietok.VocabularyError, match="'<unknown>' is neither in the vocabulary nor an added token"
    ):
        ours.save_pretrained(tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


_TERMS = [
    "hello",
    "abc",
    "zebra",
    "##q",
    "new york",
    "c++",
    "covid",
    "sars-2",
    "É",
    "été",
    "x y z",
    "世界",
    "Ab Q",
]


@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
@examples(30)
@given(
    steps=several(
        st.tuples(
            several(st.sampled_from(_TERMS)), st.sampled_from(["auto", "auto", "single-word"])
        )
    )
)
def test_terms_added_step_by_step_have_the_same_ids(
    kind: str, steps: list[tuple[list[str], str]]
) -> None:
    """Each step is saved and loaded, as commands do; no id moves, and no entry is given where a
    token was before.
    """
    pieces = "a b ##b ##c z ##e new york c + co ##v - 1 x y 世".split()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "vocab.txt").write_text(
            "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces])
        )
        ours: Any = getattr(trietok, kind)(f"{directory}/vocab.txt")
        ids: dict[str, int] = {}
        for number, (terms, way) in enumerate(steps):
            trietok.add_terms(ours, terms, way)
            ours.save_pretrained(f"{directory}/{number}")
            ours = getattr(trietok, kind).from_pretrained(f"{directory}/{number}")
            theirs = getattr(transformers, kind).from_pretrained(f"{directory}/{number}")
            assert theirs.get_vocab() == ours.get_vocab()
            assert {token: ours.get_vocab()[token] for token in ids} == ids
            ids = ours.get_vocab()
            # A single word stands between spaces for transformers' slow class.
            touching = ["".join(_TERMS), "covids covid-19 abcq! ZEBRA-x y Z's hellos!"]
            spaced = [*_TERMS, " ".join(_TERMS), "covid abcq ZEBRA x y Z hello", "new  york"]
            for text in spaced if kind == "BertTokenizer" else [*spaced, *touching]:
                assert theirs.encode(text) == ours.encode(text), text
            if kind == "BertTokenizerFast":
                rust = transformers.PreTrainedTokenizerFast(
                    tokenizer_file=f"{directory}/{number}/tokenizer.json"
                )
                assert rust.encode(" ".join(_TERMS)) == ours.encode(" ".join(_TERMS))
