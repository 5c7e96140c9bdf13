"""Directories go back and forth between trietok, transformers 4 and tokenizers: what one saves, the
others load, with the same ids, tokens, offsets, special tokens and settings.

transformers 5, in a Python of its own, is compared by test_transformers5.py.
"""

from __future__ import annotations

import copy
import json
import logging
import pickle
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
from tests.conftest import assert_share, examples
from tests.parity.comparing import trie_is_wrong
from tests.parity.directories import (
    FAMILY,
    MAKERS,
    SENTENCES,
    assert_alike_or_documented,
    class_of,
    content_of,
    differing_files,
    is_numbered_in_order,
    loaded,
    made_by,
    recipes,
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
def test_saved_directories_load_alike_in_both_libraries(maker, caplog):
    counts: Counter[str] = Counter()
    by_trietok = maker.startswith("trietok")

    @examples(60)
    @given(recipes(own=by_trietok), TEXTS)
    def compare(recipe, texts):
        with tempfile.TemporaryDirectory() as root:
            folder = Path(root, "saved")
            tokenizer = made_by(maker, recipe, Path(root), counts)
            counts["drawn"] += 1
            caplog.clear()
            with caplog.at_level(logging.WARNING, "trietok"):
                if not saved(tokenizer, folder):
                    return
            counts["saved"] += 1
            loses_flags = "as it was before it was added again" in caplog.text  # saving says so
            if "$" in (tokenizer.cls_token, tokenizer.sep_token):
                return  # which transformers reads as the place of a text (docs/hf_compatibility.md)
            if not is_numbered_in_order(tokenizer):  # see the table of directories below
                counts["out of order"] += 1
                theirs = class_of(transformers, recipe.kind).from_pretrained(folder)
                kept = [text for text in texts if not trie_is_wrong(theirs, text)]
                slow = class_of(trietok, recipe.kind).from_pretrained(folder)
                assert encoded(theirs, kept) == encoded(slow, kept)
                return
            for suffix in ("", "Fast"):
                both = loaded(loader(recipe.kind + suffix, folder), texts, counts)
                counts["suffixes"] += 1
                if not assert_alike_or_documented(both):
                    continue
                counts["alike suffixes"] += 1
                assert differing_files(Path(root, f"again{suffix}"), *both[2:]) is None
                chosen = loaded(automatic(folder, use_fast=both.ours.is_fast), texts[:1], counts)
                assert chosen.outcome == "alike", chosen.detail
                assert type(chosen.ours) is type(both.ours)
                if by_trietok and type(both.ours) is type(tokenizer):
                    assert both.ours.fingerprint() == tokenizer.fingerprint()
                    assert loses_flags or both.ours.record() == tokenizer.record()
                    assert loses_flags or encoded(both.ours, texts) == encoded(tokenizer, texts)
                if by_trietok and both.ours.is_fast and (folder / "tokenizer.json").exists():
                    assert_rust_gives_the_same(folder / "tokenizer.json", both.ours, texts, counts)

    compare()
    assert_share(counts["saved"], counts["drawn"], 0.5)
    assert_share(counts["alike suffixes"], counts["suffixes"], 0.4)
    assert_share(counts["texts"], counts["texts"] + counts["texts left out"], 0.5)
    if maker == "trietok fast":
        assert_share(counts["texts of tokenizers"], counts["texts"], 0.05)
    for kind in ("add", "roles", "set", "set additional", "sanitize"):
        assert_share(counts[kind], counts["drawn"], 0.02, kind)


def assert_rust_gives_the_same(
    path: Path, tokenizer: Any, texts: list[str], counts: Counter[str]
) -> None:
    """The tokenizer.json alone gives a tokenizer of `tokenizers` with the same ids and offsets, where
    the tokens of roles are special in it; the classes make them so.
    """
    added = json.loads(path.read_text(encoding="utf-8"))["added_tokens"]
    if not {each["content"] for each in added if each["special"]} >= {
        *tokenizer.all_special_tokens
    }:
        return
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
    assert_share(counts["texts of tokenizers"], counts["texts"], 0.4)


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
    assert_share(counts["texts"], 4 * counts["alike"], 0.5)


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


@pytest.mark.parametrize("lstrip", [False, True])
@pytest.mark.parametrize("arguments", [{}, {"mask_token": "<a>"}])
def test_a_role_argument_equal_to_the_token_of_tokenizer_json_leaves_the_one_of_the_config(
    tmp_path, arguments, lstrip
):
    """The Rust library ignores a token that it had before; another one replaces the config's."""
    path = vocabulary_file("every role", tmp_path)
    transformers.BertTokenizerFast(str(path)).save_pretrained(tmp_path / "saved")

    def change(config: dict[str, Any]) -> None:
        decoder = config["added_tokens_decoder"].values()
        next(token for token in decoder if token["content"] == "[MASK]")["single_word"] = True

    edit(tmp_path / "saved" / "tokenizer_config.json", change)

    def load(library: Any) -> Any:
        token = library.AddedToken("[MASK]", lstrip=lstrip, normalized=False)
        loads = library.BertTokenizerFast.from_pretrained
        return loads(tmp_path / "saved", additional_special_tokens=[token], **arguments)

    both = loaded(load, ["the [MASK] the[MASK]"], Counter())
    assert both.outcome == "alike", both.detail


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
    assert_share(counts["alike"], counts["drawn"], 0.5)
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


# ---- directories by hand -------------------------------------------------------------------------

ODD_BUT_VALID = Path(__file__).parents[1] / "data" / "odd_but_valid"
ALIKE, DIFFER, NEITHER = "alike", "differ", "neither"
OURS, THEIRS = "only trietok", "only transformers"
# What comes of loading the slow and the fast class, if not "alike".
ODD = {
    # The Rust library numbers added tokens by the entries of vocab.txt, whatever ids they have.
    "added-token-of-the-highest-id": (ALIKE, DIFFER),
    "added-tokens-with-ids-far-apart": (ALIKE, DIFFER),
    "vocab-duplicate-lines-and-an-added-token": (ALIKE, DIFFER),
    "added-token-on-a-blank-line": (DIFFER, DIFFER),  # difference 32
    "config-model-max-length-float": (DIFFER, DIFFER),  # difference 22
    "older-everything": (DIFFER, DIFFER),  # difference 22
    "unknown-token-among-the-added-ones": (ALIKE, THEIRS),  # difference 56
    # transformers 4 fails on ids as strings, nulls, lists of tokens, paths that it follows.
    "added-tokens-whose-ids-are-strings": (OURS, OURS),
    "config-init-inputs-null": (OURS, OURS),
    "config-of-nulls": (OURS, OURS),
    "paths-outside-in-the-config": (OURS, OURS),  # difference 27
    "paths-outside-in-the-special-tokens-map": (OURS, OURS),
    "special-tokens-map-of-other-keys": (OURS, OURS),
    "transformers-5": (OURS, NEITHER),
    "transformers-5-objects": (OURS, OURS),
    "transformers-5-python": (OURS, OURS),
    # Their tokenizer.json is cut short.
    "config-class-of-transformers-5-without-a-name": (ALIKE, NEITHER),
    "transformers-4.57-fast": (ALIKE, NEITHER),
}


@pytest.mark.parametrize(
    "folder", [pytest.param(path, id=path.name) for path in sorted(ODD_BUT_VALID.glob("*/"))]
)
def test_an_odd_but_valid_directory_loads_alike_or_as_documented(folder):
    want = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["ids"]
    slow, fast = (
        loaded(loader(name, folder), list(want), Counter())
        for name in ("BertTokenizer", "BertTokenizerFast")
    )
    assert (slow.outcome, fast.outcome) == ODD.get(folder.name, (ALIKE, ALIKE)), (slow, fast)
    for tokenizer in filter(None, (slow.theirs, slow.ours)):
        assert {text: tokenizer.encode(text) for text in want} == want


def fast_directory(folder: Path) -> trietok.BertTokenizerFast:
    """A directory that transformers' fast class has saved; trietok's tokenizer of it."""
    folder.mkdir(exist_ok=True)
    path = vocabulary_file("cased", folder)
    transformers.BertTokenizerFast(str(path), do_lower_case=False).save_pretrained(folder)
    return trietok.BertTokenizerFast.from_pretrained(folder)


def a_lone_vocabulary(folder: Path) -> None:
    vocabulary_file("cased", folder)


def a_lone_tokenizer_json(folder: Path) -> None:
    fast_directory(folder)
    for name in ("vocab.txt", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink()


def duplicate_lines(folder: Path) -> None:
    vocabulary_file("odd", folder)


def no_unknown_token(folder: Path) -> None:
    (folder / "vocab.txt").write_text("[PAD]\n[CLS]\n[SEP]\n[MASK]\nhello\n", encoding="utf-8")


def a_slow_save_over_a_fast_directory(folder: Path) -> None:
    fast_directory(folder)
    before = (folder / "tokenizer.json").read_bytes()
    slow = trietok.BertTokenizer.from_pretrained(folder)
    slow.save_pretrained(folder)
    assert (folder / "tokenizer.json").read_bytes() == before  # as transformers has written it
    slow.add_tokens(["covid-19", trietok.AddedToken("<m>", lstrip=True)])
    slow.save_pretrained(folder)
    rust = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert rust.get_vocab() == slow.get_vocab()
    assert rust.encode("Hello covid-19 <m>").ids == slow.encode("Hello covid-19 <m>")


def ids_without_a_token(folder: Path) -> None:
    tokenizer = trietok.BertTokenizer(vocabulary_file("cased", folder))
    tokenizer.add_tokens(["covid-19", "long covid", "<m>"])
    tokenizer.remove_tokens(["long covid"])
    tokenizer.save_pretrained(folder)


def other_ids_in_the_config(folder: Path) -> None:
    fast_directory(folder).save_pretrained(folder)

    def move(config: dict[str, Any]) -> None:
        config["added_tokens_decoder"]["9"] = config["added_tokens_decoder"].pop("4")

    edit(folder / "tokenizer_config.json", move)


BY_HAND = {
    a_lone_vocabulary: (ALIKE, ALIKE),
    a_lone_tokenizer_json: (OURS, ALIKE),
    duplicate_lines: (ALIKE, ALIKE),
    no_unknown_token: (THEIRS, THEIRS),  # difference 10
    a_slow_save_over_a_fast_directory: (ALIKE, ALIKE),  # difference 23
    ids_without_a_token: (ALIKE, DIFFER),  # as among the odd ones
    other_ids_in_the_config: (THEIRS, THEIRS),  # difference 55
}


@pytest.mark.parametrize("write", BY_HAND, ids=lambda write: write.__name__)
def test_a_directory_by_hand_loads_alike_or_as_documented(write, tmp_path):
    write(tmp_path)
    texts = ["Hello covid-19 <m>", "ab long covid <m> x", "[MASK] the world's \u00e9 zz"]
    outcomes = []
    for use_fast in (False, True):
        name = "BertTokenizerFast" if use_fast else "BertTokenizer"
        both = loaded(loader(name, tmp_path), texts, Counter())
        outcomes.append(both.outcome)
        print(both.detail)
        if both.outcome == ALIKE and (tmp_path / "tokenizer_config.json").exists():
            chosen = loaded(automatic(tmp_path, use_fast), texts, Counter())
            assert (chosen.outcome, type(chosen.ours)) == (ALIKE, type(both.ours))
    assert tuple(outcomes) == BY_HAND[write]


VERSIONS = "3.9 4 4.0.0 4.9 4.10.0 4.57.5 4.57.6 4.57.7 4.58 5.0".split()
VERSIONED = [f"tokenizer.{version}.json" for version in VERSIONS]


def test_both_libraries_read_the_same_of_several_versioned_files(tmp_path):
    """Each file of `fast_tokenizer_files` in tokenizer_config.json has other ids."""
    counts: Counter[str] = Counter()
    fast_directory(tmp_path)
    whole = json.loads((tmp_path / "tokenizer.json").read_text(encoding="utf-8"))
    tokens = list(whole["model"]["vocab"])
    for number, name in enumerate(["tokenizer.json", *VERSIONED]):
        moved = tokens[:5] + tokens[5 + number :] + tokens[5 : 5 + number]
        whole["model"]["vocab"] = {token: token_id for token_id, token in enumerate(moved)}
        (tmp_path / name).write_text(json.dumps(whole), encoding="utf-8")

    @examples(60)
    @given(st.lists(st.sampled_from(["tokenizer.json", "x", *VERSIONED]), max_size=4))
    def compare(listed):
        edit(
            tmp_path / "tokenizer_config.json",
            lambda config: config.update(fast_tokenizer_files=listed),
        )
        both = loaded(loader("BertTokenizerFast", tmp_path), ["hello ab"], counts)
        assert both.outcome == "alike", both.detail
        named = both.ours.get_vocab()["a"] != 5
        counts["named"] += named
        codes = {finding.code for finding in trietok.check(tmp_path).findings}
        assert ("tokenizer-json-version" in codes) == named
        with tempfile.TemporaryDirectory() as root:  # what is saved names no other file
            both.ours.save_pretrained(root)
            again = trietok.BertTokenizerFast.from_pretrained(root)
            assert again.get_vocab() == both.ours.get_vocab()

    compare()
    assert_share(counts["named"], counts["alike"], 0.2)
    assert_share(counts["alike"] - counts["named"], counts["alike"], 0.2)


@pytest.mark.parametrize(
    "listed",
    [
        "tokenizer.4.0.0.json",
        ["../tokenizer.4.0.0.json"],
        [4],
        ["tokenizer.x.json"],
        ["tokenizer.4.0rc1.json"],
    ],
)
def test_a_versioned_file_that_is_no_name_of_a_version_is_refused(tmp_path, listed):
    vocabulary_file("uncased", tmp_path)
    config = {"fast_tokenizer_files": listed}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(trietok.FileFormatError, match="fast_tokenizer_files"):
        trietok.BertTokenizerFast.from_pretrained(tmp_path)
    assert "does-not-load" in {finding.code for finding in trietok.check(tmp_path).findings}


# ---- files of features ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "templates",
    [
        "two\r\nlines\n",
        {"default": "{{ messages }}", "tool_use": "x"},
        {"rag": "r", "tool_use": "x"},
        [{"name": "default", "template": "d"}, {"name": "b", "template": "\u00e9"}],
    ],
)
@pytest.mark.parametrize("prefix", [None, "my"])
@pytest.mark.parametrize("has_files", [True, False])
def test_chat_templates_are_saved_in_transformers_files_and_loaded(
    tmp_path, has_files, prefix, templates
):
    path = vocabulary_file("uncased", tmp_path)
    for suffix in ("", "Fast"):
        files, paths = [], []
        for library in (transformers, trietok):
            kind = class_of(library, f"BertTokenizer{suffix}")
            tokenizer = kind(str(path), chat_template=templates)
            folder = tmp_path / suffix / library.__name__
            written = tokenizer.save_pretrained(
                folder, save_jinja_files=has_files, filename_prefix=prefix
            )
            paths.append({name for name in map(Path, written) if name.exists()})
            files.append(
                {
                    name.relative_to(folder).as_posix(): content_of(name)
                    for name in folder.rglob("*")
                    if name.is_file()
                }
            )
            assert {folder / name for name in files[-1]} == paths[-1]
            if prefix is None:
                both = loaded(loader(f"BertTokenizer{suffix}", folder), [], Counter())
                assert both.outcome == "alike", both.detail
                assert both.ours.chat_template == both.theirs.chat_template
                assert bool(both.ours.chat_template)
        assert files[0] == files[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("padding_side", "left"),
        ("truncation_side", "left"),
        ("split_special_tokens", True),
        ("model_input_names", ["input_ids", "attention_mask"]),
    ],
)
@pytest.mark.parametrize("kind", ["BertTokenizer", "BertTokenizerFast"])
def test_attributes_that_were_set_are_saved_here_alone(tmp_path, kind, name, value):
    path = vocabulary_file("uncased", tmp_path)
    kept = []
    for library in (trietok, transformers):
        tokenizer = getattr(library, kind)(str(path))
        assert getattr(tokenizer, name) != value
        setattr(tokenizer, name, value)
        tokenizer.save_pretrained(tmp_path / library.__name__)
        again = getattr(library, kind).from_pretrained(tmp_path / library.__name__)
        kept.append(getattr(again, name) == value)
    assert kept == [True, False]
    here = getattr(transformers, kind).from_pretrained(tmp_path / "trietok")
    assert getattr(here, name) == value


@pytest.mark.parametrize("has_flags", [False, True])
def test_an_id_beyond_the_next_free_one_is_kept_here_alone(tmp_path, has_flags):
    path = vocabulary_file("uncased", tmp_path)
    size = len(path.read_text(encoding="utf-8").splitlines())
    path.rename(tmp_path / "vocab.txt")
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<far>": size + 7}))
    if has_flags:
        decoder = {size + 7: {"content": "<far>", "special": False}}
        config = {"tokenizer_class": "BertTokenizer", "added_tokens_decoder": decoder}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    ids = {
        (library.__name__, suffix): getattr(library, f"BertTokenizer{suffix}")
        .from_pretrained(str(tmp_path))
        .convert_tokens_to_ids("<far>")
        for library in (trietok, transformers)
        for suffix in ("", "Fast")
    }
    assert ids.pop(("transformers", "Fast")) == size
    assert set(ids.values()) == {size + 7}
    (finding,) = (each for each in trietok.check(tmp_path).warnings if each.code == "id-hole")
    assert "'<far>'" in finding.message
