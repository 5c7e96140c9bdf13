"""Directories go back and forth between trietok and transformers: what one saves, the other loads,
with the same ids.

transformers 4 is compared live: its Python tokenizer on every text, its Rust tokenizer where the
two agree by design. transformers 5 lives in another environment; TRIETOK_TRANSFORMERS5_PYTHON names
that environment's Python.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import random
import shutil
import subprocess
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
import transformers

import trietok
from trietok import AddedToken, BertTokenizer
from trietok.text.characters import is_control

from .conftest import built_in_directory
from .transformers5 import answers, half_pairs

HERE = pathlib.Path(__file__).parent
ODD_BUT_VALID = HERE.parent / "data" / "odd_but_valid"

# ---- texts ---------------------------------------------------------------------------------------

GOLDEN = [
    json.loads(line)["text"]
    for line in (HERE / "golden" / "trietok-en.jsonl").open(encoding="ascii")
]
TOKENS = [
    "covid-19",
    "COVID-19",
    "long covid",
    *"Mrna mrna <q> </Q> <s> <l> <r> <b> café CAFÉ".split(),
]
TOKENS += ["<m>", "zoology", "[cls]", "Ph.D.", "[unused1]", "[unused3]"]


def texts_with_tokens() -> list[str]:
    """Texts of the tokens that the tokenizers below get, with and without spaces around."""
    rng = random.Random(5)
    pieces = [*TOKENS, *(" " * 6), "  ", "the", "People", "and", "states!", ".", ",", "Hello"]
    return ["".join(rng.choices(pieces, k=rng.randrange(2, 9))) for _ in range(80)]


# A fifth of the golden file's mixtures, which has all of their kinds, is quick enough for every
# run.
TEXTS = [*GOLDEN[:21], *GOLDEN[21::5], *texts_with_tokens()]


@functools.cache
def vocabulary() -> list[str]:
    """The built-in vocabulary with every character of the texts as a piece, and some words with a
    capital: where a vocabulary has [UNK] for all of them, tokenizers agree too easily.
    """
    path = built_in_directory("trietok-en") / "vocab.txt"
    words = path.read_text(encoding="utf-8").splitlines()
    forms = [
        unicodedata.normalize(form, text)
        for text in TEXTS
        for form in ("NFC", "NFD")
        if not half_pairs(text)
    ]
    characters = sorted(
        {c for text in forms for c in text + text.lower() if not (c.isspace() or is_control(c))}
    )
    capitals = [word.capitalize() for word in words[300:1300] if word.isalpha()]
    return list(dict.fromkeys([*words, *characters, *("##" + c for c in characters), *capitals]))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Directories with nothing but a vocab.txt: "plain", and "duplicates" with lines that stand
    twice, and a blank.
    """
    root = tmp_path_factory.mktemp("sources")
    for name, extra in (("plain", []), ("duplicates", ["the", "people", "", "the"])):
        (root / name).mkdir()
        text = "".join(token + "\n" for token in [*vocabulary(), *extra])
        (root / name / "vocab.txt").write_text(text, encoding="utf-8", newline="\n")
    return root


# ---- tokenizers ----------------------------------------------------------------------------------

# Each takes a class, of trietok or transformers, that library's AddedToken and the sources; both
# make the same of it.
SHARED: dict[str, Callable[[Any, Any, pathlib.Path], Any]] = {}
# What only trietok can do to a vocabulary.
OWN: dict[str, Callable[[pathlib.Path], Any]] = {}


def shared(function: Callable) -> Callable:
    SHARED[function.__name__] = function
    return function


def own(function: Callable) -> Callable:
    OWN[function.__name__] = function
    return function


@shared
def plain(cls, token, sources):
    return cls.from_pretrained(sources / "plain")


@shared
def added(cls, token, sources):
    tokenizer = cls.from_pretrained(sources / "plain")
    tokenizer.add_tokens(["covid-19", "long covid", "Mrna"])
    return tokenizer


@shared
def special(cls, token, sources):
    tokenizer = cls.from_pretrained(sources / "plain")
    tokenizer.add_special_tokens({"additional_special_tokens": ["<q>", "</Q>"], "bos_token": "<s>"})
    return tokenizer


@shared
def flags(cls, token, sources):  # without single_word, whose meaning is one of trietok's departures
    tokenizer = cls.from_pretrained(sources / "plain")
    left, right = token("<l>", lstrip=True), token("<r>", rstrip=True, normalized=False)
    tokenizer.add_tokens(
        [left, right, token("<b>", lstrip=True, rstrip=True, special=True), token("café")]
    )
    return tokenizer


@shared
def cased(cls, token, sources):
    tokenizer = cls.from_pretrained(sources / "plain", do_lower_case=False)
    tokenizer.add_tokens(["COVID-19", "<l>"])
    return tokenizer


@shared
def accents_kept(cls, token, sources):
    return cls.from_pretrained(sources / "plain", strip_accents=False)


@shared
def cased_accents_stripped(cls, token, sources):
    return cls.from_pretrained(sources / "plain", do_lower_case=False, strip_accents=True)


@shared
def chinese_characters_in_words(cls, token, sources):
    return cls.from_pretrained(sources / "plain", tokenize_chinese_chars=False)


@shared
def other_roles(cls, token, sources):
    tokenizer = cls.from_pretrained(sources / "plain", cls_token="<q>", sep_token="the")
    tokenizer.add_special_tokens({"pad_token": "people", "mask_token": token("<m>", lstrip=True)})
    return tokenizer


@shared
def duplicate_lines(cls, token, sources):
    return cls.from_pretrained(sources / "duplicates")


@shared
def never_split(cls, token, sources):
    return cls.from_pretrained(sources / "plain", never_split=["<q>", "[cls]", "Ph.D."])


@shared
def no_basic_tokenization(cls, token, sources):
    return cls.from_pretrained(sources / "plain", do_basic_tokenize=False)


@own
def holes(sources):
    tokenizer = plain(BertTokenizer, AddedToken, sources)
    tokenizer.add_tokens(["covid-19", "long covid", "<l>", "<r>"])
    tokenizer.remove_tokens(["long covid", "<r>"])
    tokenizer.add_tokens(["<q>"])
    return tokenizer


@own
def assigned_slots(sources):
    tokenizer = plain(BertTokenizer, AddedToken, sources)
    tokenizer.assign_unused("[unused1]", "<q>")
    tokenizer.assign_unused("[unused3]", "covid-19", special=False)
    return tokenizer


@own
def pieces_behind_added_tokens(sources):
    tokenizer = plain(BertTokenizer, AddedToken, sources)
    tokenizer.add_tokens(["covid-19", "<l>"])
    tokenizer.add_wordpieces(["zo", "##ology"])
    tokenizer.add_tokens(["<q>"])
    return tokenizer


@own
# transformers itself gives such tokens ids that are taken
def tokens_behind_duplicate_lines(
    sources,
):
    tokenizer = duplicate_lines(BertTokenizer, AddedToken, sources)
    tokenizer.add_tokens(["covid-19", "<l>"])
    return tokenizer


# In these an added token's id is not the number of tokens before it. transformers' Rust tokenizers,
# of version 4 and 5, do not read the ids of added tokens: they number them again, so these tokens
# (no others) get other ids there.
NUMBERED_AGAIN = ("holes", "tokens_behind_duplicate_lines")


# transformers saves each line of vocab.txt once, so the ids behind the second of two blank or like
# lines move.
MOVED_BY_TRANSFORMERS = ("duplicate_lines", "tokens_behind_duplicate_lines")


def ours(name: str, sources: pathlib.Path) -> Any:
    return OWN[name](sources) if name in OWN else SHARED[name](BertTokenizer, AddedToken, sources)


def ids(tokenizer: Any, texts: list[str] = TEXTS) -> list[list[int]]:
    return [tokenizer.encode(text) for text in texts]


def differences(want: list, got: list) -> list[tuple]:
    return [(text, a, b) for text, a, b in zip(TEXTS, want, got, strict=True) if a != b]


def agree_by_design(name: str, tokenizer: Any, text: str) -> bool:
    """Whether transformers' Rust tokenizers and its Python tokenizer, and so trietok, are meant to
    give the same ids.

    They do for text in any script, but for what is left out here:

    - Halves of surrogate pairs: no Rust string can hold them.
    - Where accents are kept, text that is not in NFC, or comes to be so when characters are deleted
      from it: Python's tokenizer brings it into NFC, Rust's leaves it as it is.
    - Where case is kept, text with characters that are deleted: what is left may spell a special
      token, which Python's tokenizer then leaves whole.
    - never_split and do_basic_tokenize, which Rust's tokenizers do not have.
    - A special token that has lost its role: Python's tokenizer lower-cases it, Rust's still cuts
      it out.
    - A special token in other letters' case: Python's tokenizer lower-cases the text before it
      cuts, Rust's cuts first.
    - A token with a capital that no Python tokenizer added, which would have lower-cased it:
      Python's then finds it as it is written alone, Rust's in any letters' case.
    - Tokens that are numbered again.
    """
    if half_pairs(text) or name == "no_basic_tokenization":
        return False
    if name == "never_split":
        return not {"<q>", "[cls]", "Ph.D."} & set(tokenizer.tokenize(text))
    if name == "other_roles" and ("[PAD]" in text or "[MASK]" in text):
        return False
    if tokenizer.do_lower_case:
        if any(
            text.count(token) != text.lower().count(token)
            for token in tokenizer.all_special_tokens
            if token.islower()
        ):
            return False
        normalized = [
            token.content for token in tokenizer.added_tokens_decoder.values() if token.normalized
        ]
        if any(token.lower() in text.lower() for token in normalized if token != token.lower()):
            return False
    if name in NUMBERED_AGAIN:
        behind = {
            i
            for token, i in tokenizer.added_tokens_encoder.items()
            if token not in tokenizer.all_special_tokens
        }
        return not behind & set(tokenizer.encode(text))
    if name in ("cased", "cased_accents_stripped", "accents_kept"):
        deleted = any(character in "\0\ufffd" or is_control(character) for character in text)
        return not deleted and unicodedata.is_normalized("NFC", text)
    return True


def assert_agree_by_design(name: str, tokenizer: Any, rust_ids: list[list[int] | None]) -> None:
    """The ids of Rust's tokenizer are trietok's where they are meant to be, and there are many such
    texts.
    """
    kept = [
        (text, got)
        for text, got in zip(TEXTS, rust_ids, strict=True)
        if agree_by_design(name, tokenizer, text)
    ]
    assert [
        (text, tokenizer.encode(text), got) for text, got in kept if tokenizer.encode(text) != got
    ] == []
    assert len(kept) > len(TEXTS) / 2 or name == "no_basic_tokenization"


def rust_ids(tokenizer: Any) -> list[list[int] | None]:
    return [None if half_pairs(text) else tokenizer.encode(text) for text in TEXTS]


# ---- transformers 4 ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SHARED, *OWN])
def test_what_trietok_saves_transformers_loads(name, sources, tmp_path):
    tokenizer = ours(name, sources)
    tokenizer.save_pretrained(tmp_path)
    theirs = transformers.BertTokenizer.from_pretrained(tmp_path)
    assert differences(ids(tokenizer), ids(theirs)) == []
    # A line for an id without a token is filled; transformers takes that for a token.
    assert {
        token: i for token, i in theirs.get_vocab().items() if not token.startswith("[unused-id-")
    } == tokenizer.get_vocab()
    fast = transformers.AutoTokenizer.from_pretrained(tmp_path, use_fast=True)
    assert type(fast) is transformers.BertTokenizerFast
    assert_agree_by_design(name, tokenizer, rust_ids(fast))


@pytest.mark.parametrize("name", NUMBERED_AGAIN)
def test_tokens_that_rust_numbers_again_are_still_cut_out(name, sources, tmp_path):
    tokenizer = ours(name, sources)
    tokenizer.save_pretrained(tmp_path)
    fast = transformers.BertTokenizerFast.from_pretrained(tmp_path)
    assert [
        t for t in TEXTS if not half_pairs(t) and fast.tokenize(t) != tokenizer.tokenize(t)
    ] == []
    # when this fails, nothing has to be left out
    assert fast.get_added_vocab() != tokenizer.get_added_vocab()


@pytest.mark.parametrize("name", SHARED)
def test_what_transformers_saves_trietok_loads(name, sources, tmp_path):
    SHARED[name](transformers.BertTokenizer, transformers.AddedToken, sources).save_pretrained(
        tmp_path
    )
    # Loaded again, because saving moves the ids that follow a duplicate line.
    theirs = transformers.BertTokenizer.from_pretrained(tmp_path)
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    assert differences(ids(theirs), ids(tokenizer)) == []
    assert tokenizer.get_vocab() == theirs.get_vocab()
    assert tokenizer.special_tokens_map == theirs.special_tokens_map


@pytest.mark.parametrize(
    "name", [name for name in SHARED if name not in ("never_split", "no_basic_tokenization")]
)
def test_what_rust_saves_trietok_loads(name, sources, tmp_path):
    theirs = SHARED[name](transformers.BertTokenizerFast, transformers.AddedToken, sources)
    theirs.save_pretrained(tmp_path)
    tokenizer = BertTokenizer.from_pretrained(tmp_path)
    # it moves the ids of vocab.txt too, but not those of tokenizer.json
    if name != "duplicate_lines":
        assert_agree_by_design(name, tokenizer, rust_ids(theirs))
    assert (
        differences(ids(transformers.BertTokenizer.from_pretrained(tmp_path)), ids(tokenizer)) == []
    )


SAVED_AGAIN = ["flags", "cased", "other_roles", "never_split", "duplicate_lines", *OWN]


@pytest.mark.parametrize("name", SAVED_AGAIN)
def test_what_transformers_saves_again_trietok_loads(name, sources, tmp_path):
    tokenizer = ours(name, sources)
    tokenizer.save_pretrained(tmp_path / "ours")
    transformers.BertTokenizer.from_pretrained(tmp_path / "ours").save_pretrained(
        tmp_path / "theirs"
    )
    again = BertTokenizer.from_pretrained(tmp_path / "theirs")
    theirs = transformers.BertTokenizer.from_pretrained(tmp_path / "theirs")
    assert differences(ids(theirs), ids(again)) == []
    if name not in MOVED_BY_TRANSFORMERS:
        assert differences(ids(tokenizer), ids(again)) == []
        assert (again.max_id, again.record()) == (tokenizer.max_id, tokenizer.record())


# transformers 4 fails on these: ids as strings, a null or a list where it calls a method, a path it
# follows.
ONLY_TRIETOK = {
    "added-tokens-whose-ids-are-strings",
    "config-init-inputs-null",
    "config-of-nulls",
    "paths-outside-in-the-config",
    "paths-outside-in-the-special-tokens-map",
    "special-tokens-map-of-other-keys",
    "transformers-5",
    "transformers-5-objects",
    "transformers-5-python",
}


@pytest.mark.parametrize(
    "folder", [pytest.param(p, id=p.name) for p in sorted(ODD_BUT_VALID.iterdir()) if p.is_dir()]
)
def test_what_is_odd_but_valid_has_the_ids_of_transformers(folder):
    want = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["ids"]
    try:
        theirs = transformers.BertTokenizer.from_pretrained(folder)
    except Exception:
        assert folder.name in ONLY_TRIETOK
    else:
        assert {text: theirs.encode(text) for text in want} == want


# ---- transformers 5 ------------------------------------------------------------------------------

PYTHON5 = os.environ.get("TRIETOK_TRANSFORMERS5_PYTHON")
needs_5 = pytest.mark.skipif(not PYTHON5, reason="needs TRIETOK_TRANSFORMERS5_PYTHON")


LOWER = [text for text in TEXTS if text == text.lower()]  # see `python_5_agrees`


@pytest.fixture(scope="module")
def five(sources, tmp_path_factory):
    """What transformers 5 makes of every tokenizer that trietok saved, and what it saved itself;
    see the script.
    """
    work = tmp_path_factory.mktemp("five")
    for name in [*SHARED, *OWN]:
        ours(name, sources).save_pretrained(work / "ours" / name)
    load = {name: str(work / "ours" / name) for name in [*SHARED, *OWN]}
    job = {"load": load, "source": str(sources / "plain"), "texts": TEXTS, "lower": LOWER}
    (work / "job.json").write_text(json.dumps(job), encoding="utf-8")
    run = subprocess.run(
        [PYTHON5, str(HERE / "transformers5.py"), str(work)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    result = json.loads((work / "result.json").read_text(encoding="utf-8"))
    assert result["version"].startswith("5.")
    return result


def python_5_agrees(tokenizer: Any, text: str) -> bool:
    """Whether version 5's Python tokenizer is meant to give version 4's ids: on a tokenizer that
    lower-cases, where there is nothing to lower-case.

    Version 5 cuts at the added tokens before it lower-cases, so COVID-19 is no covid-19 to it, and
    it lower-cases words instead of characters, so a capital sigma at the end of a word becomes
    another letter.
    """
    return text == text.lower() or not getattr(tokenizer, "do_lower_case", False)


def assert_python_5_agrees(tokenizer: Any, python_ids: list[list[int]]) -> None:
    kept = [
        (text, got)
        for text, got in zip(TEXTS, python_ids, strict=True)
        if python_5_agrees(tokenizer, text)
    ]
    assert [
        (text, tokenizer.encode(text), got) for text, got in kept if tokenizer.encode(text) != got
    ] == []
    assert len(kept) > len(TEXTS) / 4


@needs_5
@pytest.mark.parametrize("name", [*SHARED, *OWN])
def test_what_trietok_saves_transformers_5_loads(name, five, sources):
    tokenizer = ours(name, sources)
    assert_agree_by_design(name, tokenizer, five["loaded"][name]["rust"])
    assert_python_5_agrees(tokenizer, five["loaded"][name]["python"])


@needs_5
@pytest.mark.parametrize("name", [*SHARED, *OWN])
def test_the_python_tokenizer_of_transformers_5_answers_alike(name, five, sources, tmp_path):
    """Calls, decoding, masks and vocabularies of BertTokenizerLegacy, beside the slow profile."""
    assert len(LOWER) > 70
    ours(name, sources).save_pretrained(tmp_path)
    want = five["loaded"][name]["answers"]
    got = json.loads(json.dumps(answers(BertTokenizer.from_pretrained(tmp_path), LOWER)))
    assert got.keys() == want.keys()
    for question, answer in want.items():
        assert got[question] == answer, question


# The names of the script's recipes, and of the tokenizers above that they are like.
SAVED_BY_5 = {
    "plain": "plain",
    "added": "added",
    "special": "special",
    "cased": "cased",
    "accents kept": "accents_kept",
    "Chinese characters in words": "chinese_characters_in_words",
    "other roles": "other_roles",
}


@needs_5
@pytest.mark.parametrize("name", SAVED_BY_5)
def test_what_transformers_5_saves_trietok_loads(name, five, sources, tmp_path):
    saved = five["saved"][f"rust: {name}"]
    # It saves the vocabulary in tokenizer.json alone.
    fast = trietok.BertTokenizerFast.from_pretrained(saved["directory"])
    told = [(text, ids) for text, ids in zip(TEXTS, saved["ids"], strict=True) if ids is not None]
    assert [(text, ids) for text, ids in told if fast.encode(text) != ids] == []
    assert BertTokenizer.from_pretrained(saved["directory"]).vocab == fast.vocab
    shutil.copytree(saved["directory"], tmp_path / "with vocab")
    shutil.copy(sources / "plain" / "vocab.txt", tmp_path / "with vocab")
    assert_agree_by_design(
        SAVED_BY_5[name], BertTokenizer.from_pretrained(tmp_path / "with vocab"), saved["ids"]
    )


@needs_5
@pytest.mark.parametrize("name", SAVED_BY_5)
def test_what_the_python_tokenizer_of_transformers_5_saves_trietok_loads(name, five):
    saved = five["saved"][f"python: {name}"]
    assert_python_5_agrees(BertTokenizer.from_pretrained(saved["directory"]), saved["ids"])
