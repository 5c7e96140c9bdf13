"""Directories go back and forth between trietok, transformers 4 and tokenizers: what one saves, the
others load, with the same ids, tokens, offsets, special tokens and settings.

transformers 5, in a Python of its own, is compared by test_transformers5.py.
"""

from __future__ import annotations

import copy
import json
import pickle
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests import strategies
from tests.conftest import SPECIAL, examples
from tests.parity.conftest import trie_is_wrong
from tests.parity.directories import (
    FAMILY,
    MAKERS,
    SENTENCES,
    assert_alike_or_documented,
    class_of,
    differing_files,
    is_numbered_in_order,
    loaded,
    made_by,
    recipes,
    said_by,
    saved,
    vocabulary_file,
)
from tests.strategies import BOOL, OPTIONAL_BOOL, some_of

TEXTS = st.lists(
    st.one_of(strategies.texts(strategies.NEAR_CONTENTS, max_size=8), st.sampled_from(SENTENCES)),
    min_size=2,
    max_size=4,
)
FAST = st.sampled_from(["BertTokenizerFast", "BertTokenizerFast", "MPNetTokenizerFast"])


def loader(name: str, folder: Path, **arguments: Any) -> Callable[[Any], Any]:
    """Loads the folder with the class of a library."""
    return lambda library: class_of(library, name).from_pretrained(folder, **arguments)


def automatic(folder: Path, use_fast: bool) -> Callable[[Any], Any]:
    return lambda library: library.AutoTokenizer.from_pretrained(folder, use_fast=use_fast)


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    """Change the value of a JSON file."""
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def encoded(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    return [tokenizer.encode(text) for text in texts]


# ---- what is saved -------------------------------------------------------------------------------


@pytest.mark.parametrize("maker", MAKERS)
def test_saved_directories_load_alike_in_both_libraries(maker):
    counts: Counter[str] = Counter()
    by_trietok = maker.startswith("trietok")

    @examples(60)
    @given(recipes(own=by_trietok), TEXTS)
    def compare(recipe, texts):
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root, "saved")
            tokenizer = made_by(maker, recipe, Path(root), counts)
            counts["drawn"] += 1
            if not saved(tokenizer, folder):
                return
            counts["saved"] += 1
            if not is_numbered_in_order(tokenizer):  # see the table of directories below
                counts["with holes"] += 1
                theirs = class_of(transformers, recipe.kind).from_pretrained(folder)
                kept = [text for text in texts if not trie_is_wrong(theirs, text)]
                slow = class_of(trietok, recipe.kind).from_pretrained(folder)
                assert encoded(theirs, kept) == encoded(slow, kept)
                return
            for suffix in ("", "Fast"):
                both = loaded(loader(recipe.kind + suffix, folder), texts, counts)
                if not assert_alike_or_documented(both):
                    continue
                assert differing_files(Path(root, f"again{suffix}"), *both[2:]) is None
                chosen = loaded(automatic(folder, use_fast=both.ours.is_fast), texts[:1], counts)
                assert chosen.outcome == "alike", chosen.detail
                assert type(chosen.ours) is type(both.ours)
                if by_trietok and type(both.ours) is type(tokenizer):
                    assert both.ours.fingerprint() == tokenizer.fingerprint()
                    assert both.ours.record() == tokenizer.record()
                    assert encoded(both.ours, texts) == encoded(tokenizer, texts)
                if both.ours.is_fast and (folder / "tokenizer.json").exists():
                    assert_rust_gives_the_same(folder / "tokenizer.json", both.ours, texts, counts)

    compare()
    assert counts["saved"] > 0.6 * counts["drawn"], counts
    assert counts["alike"] > 2 * counts["saved"] - 4 * counts["with holes"], counts
    assert counts["texts"] > counts["alike"] > 2 * counts["texts left out"], counts
    for kind in ("add", "roles", "set", "set additional", "sanitize"):
        assert counts[kind] or counts["drawn"] < 60, counts


def assert_rust_gives_the_same(
    path: Path, tokenizer: Any, texts: list[str], counts: Counter[str]
) -> None:
    """The tokenizer.json alone gives a tokenizer of `tokenizers` with the same ids and offsets."""
    rust = tokenizers.Tokenizer.from_file(str(path))
    rust.encode_special_tokens = tokenizer.split_special_tokens
    for text in filter(strategies.is_valid, texts):
        want = rust.encode(text)
        got = tokenizer(text, return_offsets_mapping=True)
        assert (got.input_ids, got.offset_mapping) == (want.ids, want.offsets), text
        counts["texts of tokenizers"] += 1


# Of `tokenizers`, and the arguments of transformers and trietok that say the same.
KEYWORDS = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "handle_chinese_chars": "tokenize_chinese_chars",
}


def test_a_bare_tokenizer_of_tokenizers_loads_alike():
    counts: Counter[str] = Counter()

    @examples(60)
    @given(
        some_of(lowercase=BOOL, strip_accents=OPTIONAL_BOOL, handle_chinese_chars=BOOL),
        st.lists(strategies.flagged_terms(), max_size=4),
        TEXTS,
        st.booleans(),
    )
    def compare(options, terms, texts, has_vocabulary):
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root)
            vocabulary = vocabulary_file("cased", folder)
            rust = tokenizers.BertWordPieceTokenizer(str(vocabulary), **options)
            for term in terms:
                rust.add_tokens([tokenizers.AddedToken(**term)])
            rust.save(str(folder / "tokenizer.json"))
            if not has_vocabulary:
                vocabulary.unlink()
            arguments = {KEYWORDS[name]: value for name, value in options.items()}
            both = loaded(loader("BertTokenizerFast", folder, **arguments), texts, counts)
            assert both.outcome == "alike", both.detail
            assert_rust_gives_the_same(folder / "tokenizer.json", both.ours, texts, counts)

    compare()
    assert counts["texts of tokenizers"] > counts["alike"], counts


def test_a_slow_save_with_a_tokenizer_json_loads_as_slow_and_as_fast():
    """Of a tokenizer that a tokenizer.json can hold: see tests/files/test_slow_json.py."""
    counts: Counter[str] = Counter()
    texts = ["hello <new> the people", "World x hello [MASK] \u00e9", "", "zzz, the x"]

    @examples(60)
    @given(st.sampled_from(FAMILY), st.booleans(), st.lists(st.sampled_from(["<new>", "x", "the"])))
    def compare(kind, lower, added):
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root, "saved")
            path = vocabulary_file("every role", Path(root))
            slow = getattr(trietok, kind)(path, do_lower_case=lower)
            slow.add_tokens([trietok.AddedToken(token, lstrip=True) for token in added])
            slow.save_pretrained(folder, tokenizer_json=True)
            rust = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            for suffix in ("", "Fast"):
                both = loaded(loader(kind + suffix, folder), texts, counts)
                assert both.outcome == "alike", both.detail
                assert encoded(both.ours, texts) == encoded(slow, texts)
            for pair in (None, "a the"):
                want = [rust.encode(text, pair) for text in texts]
                got = [slow(text, pair, return_token_type_ids=True) for text in texts]
                assert [each.ids for each in want] == [each.input_ids for each in got]
                assert [each.type_ids for each in want] == [each.token_type_ids for each in got]

    compare()
    assert counts["alike"] > 20


# ---- what is edited ------------------------------------------------------------------------------

ROLE_KEYS = ["eos_token", "mask_token", "additional_special_tokens"]
EDITED = ["<a>", "<B>", "New York", "HELLO", "[MASK]", "[CLS]", "hello", "<s>"]
FLIPS = st.lists(
    st.tuples(st.sampled_from(EDITED), st.sampled_from(strategies.FLAGS)), max_size=2, unique=True
)


def roles() -> st.SearchStrategy[dict[str, Any]]:
    term = st.one_of(st.sampled_from(EDITED), strategies.flagged_terms(EDITED))
    return st.dictionaries(st.sampled_from(ROLE_KEYS), term, max_size=2).map(
        lambda roles: {
            role: [token] if role.startswith("additional") else token
            for role, token in roles.items()
        }
    )


@st.composite
def edits(draw: st.DrawFn) -> dict[str, Any]:
    """What is changed in the files of a fast tokenizer, and the arguments that it is loaded with."""
    cls, sep = ["[CLS]", 2], ["[SEP]", 3]
    trimmed = {"trim_offsets": draw(st.booleans()), "add_prefix_space": draw(st.booleans())}
    roberta = {"type": "RobertaProcessing", "cls": cls, "sep": sep, **trimmed}
    parts = some_of(
        post_processor=(roberta, {"type": "BertProcessing", "cls": cls, "sep": sep}),
        decoder=({"type": "WordPiece", "prefix": "##", "cleanup": False}, None),
    )
    settings = some_of(
        do_lower_case=BOOL,
        do_basic_tokenize=BOOL,
        tokenize_chinese_chars=BOOL,
        tokenizer_file=(None,),
        additional_special_tokens=(["<a>"], ["HELLO", "hello"]),
        eos_token=EDITED,
        never_split=(["x"],),
    )
    return {
        "parts": draw(parts),
        "flags": (draw(FLIPS), draw(FLIPS)),
        "settings": draw(settings | st.none()),
        "has decoder": draw(st.booleans()),
        "without": draw(st.sampled_from([None, None, "tokenizer.json", "vocab.txt"])),
        "roles": draw(roles()),
        "arguments": draw(
            st.one_of(
                some_of(do_lower_case=BOOL, strip_accents=BOOL, tokenize_chinese_chars=BOOL),
                some_of(from_slow=(True,), tokenizer_file=(None,)),
            )
        ),
    }


def make_edits(folder: Path, edits: dict[str, Any]) -> None:
    def flip(entries: Any, flips: list[tuple[str, str]]) -> None:
        for entry in entries:
            for content, flag in flips:
                if entry["content"] == content:
                    entry[flag] = not entry[flag]

    def change_config(config: dict[str, Any]) -> None:
        flip(config["added_tokens_decoder"].values(), edits["flags"][0])
        config.clear() if edits["settings"] is None else config.update(edits["settings"])
        if not edits["has decoder"] and edits["without"] != "tokenizer.json":
            config.pop("added_tokens_decoder", None)

    def change_file(file: dict[str, Any]) -> None:
        flip(file["added_tokens"], edits["flags"][1])
        file.update(edits["parts"])

    edit(folder / "tokenizer_config.json", change_config)
    edit(folder / "tokenizer.json", change_file)
    if edits["without"]:
        (folder / edits["without"]).unlink()


def test_an_edited_directory_of_a_fast_tokenizer_loads_alike():
    counts: Counter[str] = Counter()
    added = st.lists(
        strategies.flagged_terms(EDITED), max_size=3, unique_by=lambda term: term["content"].lower()
    )

    @examples(120)
    @given(FAST, st.booleans(), added, edits(), st.lists(strategies.texts(EDITED), min_size=2))
    def compare(name, lower, added, edits, texts):
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root, "saved")
            path = vocabulary_file("every role", Path(root))
            theirs = class_of(transformers, name)(str(path), do_lower_case=lower)
            theirs.add_tokens(strategies.made(transformers, added))
            theirs.save_pretrained(folder)
            make_edits(folder, edits)

            def load(library: Any) -> Any:
                roles = strategies.made(library, edits["roles"])
                arguments = {**edits["arguments"], **roles}
                return class_of(library, name).from_pretrained(folder, **arguments)

            both = loaded(load, texts, counts)
            counts["drawn"] += 1
            assert both.outcome in ("alike", "neither"), both.detail
            if both.outcome == "alike":
                difference = differing_files(Path(root), both.theirs, both.ours)
                assert difference is None, difference

    compare()
    assert counts["alike"] > 0.7 * counts["drawn"], counts
    assert counts["texts"] > counts["alike"], counts


@examples(30)
@given(
    FAST,
    some_of(
        direction=("Right", "Left"), max_length=(8, 128), stride=(0, 2), strategy=("OnlyFirst",)
    ),
    some_of(direction=("Right", "Left"), pad_to_multiple_of=(None, 8), pad_type_id=(0, 1)),
    st.booleans(),
)
def test_a_file_keeps_its_truncation_and_its_padding(name, truncation, padding, adds):
    cut = {"direction": "Right", "max_length": 9, "strategy": "LongestFirst", "stride": 0}
    fill = {"strategy": {"Fixed": 12}, "direction": "Right", "pad_to_multiple_of": None}
    fill |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    parts = {
        "truncation": {**cut, **truncation} if truncation else None,
        "padding": {**fill, **padding} if padding else None,
    }
    with tempfile.TemporaryDirectory() as root:
        model = Path(root, "model")
        path = vocabulary_file("every role", Path(root))
        class_of(transformers, name)(str(path)).save_pretrained(model)
        edit(model / "tokenizer.json", lambda file: file.update(parts))
        files = {}
        for library in (transformers, trietok):
            tokenizer = library.AutoTokenizer.from_pretrained(model)
            if adds:
                tokenizer.add_tokens(["<new>"])
            if library is trietok:  # in transformers a call sets both anew
                tokenizer(["hello", "the hello"], padding=True, truncation=True, max_length=5)
                tokenizer = pickle.loads(pickle.dumps(copy.deepcopy(tokenizer)))
            tokenizer.save_pretrained(Path(root, library.__name__))
            files[library] = Path(root, library.__name__, "tokenizer.json").read_text()
    assert files[trietok] == files[transformers]
    assert {part: json.loads(files[trietok])[part] for part in parts} == parts


# ---- directories of transformers before 4.34 -----------------------------------------------------

OLDER = ["<a>", "<B>", "[X]", "hello", "[MASK]", "new york"]
OLDER_FLAGS = st.fixed_dictionaries(
    {"normalized": st.booleans()}, optional={"lstrip": st.booleans(), "rstrip": st.booleans()}
)
OLDER_OBJECTS = st.builds(
    lambda content, flags: {"content": content, "single_word": False, **flags},
    st.sampled_from(OLDER),
    OLDER_FLAGS,
)
OLDER_ROLES = st.fixed_dictionaries(
    {},
    optional={
        "eos_token": st.sampled_from(OLDER) | OLDER_OBJECTS,
        "bos_token": st.sampled_from(OLDER) | OLDER_OBJECTS,
        "mask_token": st.just("[MASK]") | OLDER_OBJECTS,
        "additional_special_tokens": st.lists(st.sampled_from(OLDER) | OLDER_OBJECTS, max_size=3),
        "image_token": st.sampled_from(OLDER),  # which no class has
    },
)


def with_types(value: Any) -> Any:
    """Objects of flags as tokenizer_config.json had them: marked by `__type`."""
    if isinstance(value, list):
        return [with_types(item) for item in value]
    return {**value, "__type": "AddedToken"} if isinstance(value, dict) else value


@st.composite
def older_files(draw: st.DrawFn) -> dict[str, Any]:
    """JSON files of a directory without `added_tokens_decoder`; of tokenizer.json only the added
    tokens.
    """
    files: dict[str, Any] = {}
    roles = draw(OLDER_ROLES)
    if draw(st.booleans()):
        config = {role: with_types(value) for role, value in roles.items()}
        files["tokenizer_config.json"] = {"do_lower_case": draw(st.booleans()), **config}
    if draw(st.booleans()):
        files["special_tokens_map.json"] = roles if draw(st.booleans()) else draw(OLDER_ROLES)
    vocabulary = strategies.VOCABULARIES["uncased"]
    added = [content for content in draw(st.permutations(OLDER)) if content not in vocabulary]
    added = added[: draw(st.integers(1, len(added)))]
    ids = {content: len(vocabulary) + number for number, content in enumerate(added)}
    if draw(st.booleans()):
        files["added_tokens.json"] = ids
    if draw(st.booleans()):
        # Each is special or normalized: others match as they are written (difference 4).
        off = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False)
        flags = OLDER_FLAGS.map(lambda flags: {**off, **flags, "special": True})
        flags |= st.just({**off, "normalized": True})
        files["tokenizer.json"] = [
            {"id": token_id, "content": content, **draw(flags)} for content, token_id in ids.items()
        ]
    return files


def confuses_roles(files: dict[str, Any]) -> bool:
    """Whether the last additional special token has another role, too (difference 6)."""
    of_map = files.get("special_tokens_map.json", {})
    roles = {**files.get("tokenizer_config.json", {}), **of_map}
    others = [roles[role] for role in ("eos_token", "bos_token", "mask_token") if role in roles]
    last = of_map.get("additional_special_tokens", [])[-1:]
    names = [
        [each if isinstance(each, str) else each["content"] for each in tokens]
        for tokens in (others, last)
    ]
    return "added_tokens.json" in files and not set(names[0]).isdisjoint(names[1])


@pytest.mark.parametrize("name", ["BertTokenizer", "BertTokenizerFast"])
def test_a_directory_from_before_4_34_loads_alike(name):
    counts: Counter[str] = Counter()

    @examples(60)
    @given(
        older_files().filter(lambda files: not confuses_roles(files)),
        st.lists(strategies.texts([*OLDER, "<A>", "<b>", "[x]", "New York"]), min_size=2),
    )
    def compare(files, texts):
        with tempfile.TemporaryDirectory() as root:
            path = vocabulary_file("uncased", Path(root))
            for file, value in files.items():
                if file == "tokenizer.json":
                    lower = files.get("tokenizer_config.json", {}).get("do_lower_case", True)
                    fast = transformers.BertTokenizerFast(str(path), do_lower_case=lower)
                    whole = json.loads(fast.backend_tokenizer.to_str())
                    value = {**whole, "added_tokens": [*whole["added_tokens"], *value]}
                (Path(root) / file).write_text(json.dumps(value), encoding="utf-8")
            both = loaded(loader(name, Path(root)), texts, counts)
            assert both.outcome == "alike", both.detail

    compare()
    assert counts["texts"] > counts["alike"], counts
