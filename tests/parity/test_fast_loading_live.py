"""Roles and added tokens of the fast profile beside transformers: given, saved, edited in the
files, loaded again.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import tokenizers
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples
from tests.parity.conftest import FIELDS
from trietok.tokenizer.relatives import CLASSES

VOCABULARY = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] a hello world the < > [ ] mask ent ##ent new york x e E <s>"
    " </s> <pad> <mask> World <ent> Hello"
).split()
TEXTS = [
    "Hello World <ENT> <ent> the [MASK] [mask] x",
    "x<E>x <e> [CLS] new york New York NEW YORK",
    " <mask> <S> <s> nope , world World WORLD 世界 É",
]
CONTENTS = ["<E>", "<e>", "<ENT>", "New York", "World", "[MASK]", "[CLS]", "hello", "<s>"]
ROLES = ["eos_token", "mask_token", "cls_token", "additional_special_tokens"]
FLAGS = ["lstrip", "rstrip", "single_word", "normalized", "special"]

tokens = st.tuples(
    st.sampled_from(CONTENTS),
    st.none()
    | st.dictionaries(
        st.sampled_from(["lstrip", "rstrip", "single_word", "normalized"]), st.booleans()
    ),
)
# Of a cls_token that is not in the vocabulary transformers makes templates with ids of other
# tokens.
roles = st.dictionaries(st.sampled_from(ROLES), tokens, max_size=2).filter(
    lambda given: given.get("cls_token", ("[CLS]",))[0] in VOCABULARY
)


def token_of(kind: Any, given: tuple[str, dict[str, bool] | None]) -> Any:
    content, flags = given
    return content if flags is None else kind.AddedToken(content, **flags)


def roles_of(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    made = {role: token_of(kind, token) for role, token in given.items()}
    return {
        role: [token] if role.startswith("additional") else token for role, token in made.items()
    }


def state_of(tokenizer: Any) -> dict[str, Any]:
    added = {
        i: {name: str(getattr(token, name)) for name in FIELDS}
        for i, token in sorted(tokenizer.added_tokens_decoder.items())
    }
    state = {
        "added": added,
        "roles": tokenizer.special_tokens_map,
        "ids": tokenizer.all_special_ids,
        "len": len(tokenizer),
        "unknown": tokenizer.convert_tokens_to_ids("nope"),
        "clean_up": tokenizer.clean_up_tokenization_spaces,
    }
    for text in TEXTS:
        ids = tokenizer(text).input_ids
        state[text] = (
            ids,
            tokenizer.convert_ids_to_tokens(ids),
            tokenizer.decode(ids, skip_special_tokens=True),
        )
    return state


def outcome(call: Any) -> Any:
    try:
        return call()
    except Exception as error:
        return type(error)


def vocab_file(directory: str, *more: str) -> str:
    path = Path(directory, "vocab.txt")
    path.write_text("".join(f"{token}\n" for token in [*VOCABULARY, *more]), encoding="utf-8")
    return str(path)


KINDS = st.sampled_from(["BertTokenizerFast", "MPNetTokenizerFast"])


@examples(30)
@given(
    KINDS,
    st.booleans(),
    roles,
    st.lists(st.tuples(st.booleans(), tokens), max_size=3),
    roles,
)
def test_making_and_adding(name, lower, made_with, added, given_later):
    def states(kind: Any) -> Any:
        with tempfile.TemporaryDirectory() as directory:
            make = getattr(kind, name)
            tokenizer = make(
                vocab_file(directory), do_lower_case=lower, **roles_of(kind, made_with)
            )
            counts = [
                tokenizer.add_tokens([token_of(kind, t)], special_tokens=special)
                for special, t in added
            ]
            counts += [tokenizer.add_special_tokens(roles_of(kind, given_later)) for _ in range(2)]
            return counts, state_of(tokenizer)

    assert states(trietok) == states(transformers)


def edit(path: Path, change: Any) -> None:
    whole = json.loads(path.read_text(encoding="utf-8"))
    change(whole)
    path.write_text(json.dumps(whole), encoding="utf-8")


def flip(entries: Any, flipped: list[tuple[str, str]]) -> None:
    for entry in entries:
        for content, flag in flipped:
            if entry["content"] == content:
                entry[flag] = not entry[flag]


flips = st.lists(
    st.tuples(st.sampled_from(CONTENTS), st.sampled_from(FLAGS)), max_size=2, unique=True
)
SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "do_lower_case": st.booleans(),
        "do_basic_tokenize": st.booleans(),
        "tokenize_chinese_chars": st.booleans(),
        "tokenizer_file": st.none(),
        "additional_special_tokens": st.lists(st.sampled_from(CONTENTS), max_size=2, unique=True),
        "eos_token": st.sampled_from(CONTENTS),
    },
)


@examples(60)
@given(
    KINDS,
    st.lists(tokens, max_size=3, unique_by=lambda token: token[0].lower()),
    st.tuples(flips, flips),
    SETTINGS,
    st.booleans(),
    st.sampled_from([None, "tokenizer.json", "vocab.txt"]),
    roles,
    st.sampled_from([{}, {}, {"from_slow": True}, {"tokenizer_file": None}]),
)
def test_loading_what_was_edited(name, added, flipped, settings, has_decoder, only, given, options):
    with tempfile.TemporaryDirectory() as directory:
        theirs = getattr(transformers, name)(vocab_file(directory))
        theirs.add_tokens([token_of(transformers, token) for token in added])
        theirs.save_pretrained(directory)
        config, file = (
            Path(directory, name) for name in ("tokenizer_config.json", "tokenizer.json")
        )
        edit(config, lambda whole: flip(whole["added_tokens_decoder"].values(), flipped[0]))
        edit(config, lambda whole: whole.update(settings))
        if not has_decoder and only != "vocab.txt":
            edit(config, lambda whole: whole.pop("added_tokens_decoder"))
        edit(file, lambda whole: flip(whole["added_tokens"], flipped[1]))
        for other in ("tokenizer.json", "vocab.txt"):
            if only not in (None, other):
                Path(directory, other).unlink()

        def state(kind: Any) -> Any:
            return state_of(
                getattr(kind, name).from_pretrained(directory, **roles_of(kind, given), **options)
            )

        want, got = outcome(lambda: state(transformers)), outcome(lambda: state(trietok))
        if want is ImportError:  # there is no vocab.txt, and transformers tries another format then
            assert got is trietok.FileError
        else:
            assert got == want


@pytest.mark.parametrize("use_fast", [True, False])
@pytest.mark.parametrize("slow", [True, False])
def test_a_saved_directory_is_found_by_use_fast(slow, use_fast, tmp_path):
    kind = trietok.BertTokenizer if slow else trietok.BertTokenizerFast
    kind(vocab_file(str(tmp_path))).save_pretrained(tmp_path, tokenizer_json=True)
    for library in (transformers, trietok):
        assert (
            library.AutoTokenizer.from_pretrained(tmp_path, use_fast=use_fast).is_fast == use_fast
        )


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_slow_tokenizer_says_it_all_in_a_tokenizer_json(kind, lower, tmp_path):
    slow = kind(vocab_file(str(tmp_path), "<cls>", "<sep>", "<unk>"), do_lower_case=lower)
    slow.add_tokens(["New York", "[new]", trietok.AddedToken("x", lstrip=True)])
    slow.save_pretrained(tmp_path, tokenizer_json=True)
    rust = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in ("hello [new] new york", "World x hello <mask>[MASK] É", "", "nope, the x"):
        for pair in (None, "a ent"):
            want = rust.encode(text, pair)
            got = slow.encode_plus(text, pair, return_token_type_ids=True)
            assert (got.input_ids, got.token_type_ids) == (want.ids, want.type_ids)


@pytest.mark.parametrize("settings", [{}, {"do_basic_tokenize": False, "never_split": ["x"]}, None])
@pytest.mark.parametrize("only", [None, "tokenizer.json", "vocab.txt"])
def test_the_same_settings_are_saved(settings, only, tmp_path):
    transformers.BertTokenizerFast(vocab_file(str(tmp_path))).save_pretrained(tmp_path)
    edit(
        tmp_path / "tokenizer_config.json",
        lambda whole: whole.clear() if settings is None else whole.update(settings),
    )
    for other in ("tokenizer.json", "vocab.txt"):
        if only not in (None, other):
            (tmp_path / other).unlink()
    saved = []
    for library in (transformers, trietok):
        library.BertTokenizerFast.from_pretrained(tmp_path).save_pretrained(
            tmp_path / library.__name__
        )
        names = ("tokenizer_config.json", "tokenizer.json")
        saved.append(
            [json.loads((tmp_path / library.__name__ / name).read_text()) for name in names]
        )
    assert saved[1] == saved[0]


@pytest.mark.parametrize("library", [transformers, trietok])
def test_both_libraries_load_the_tokens_of_a_slow_save_into_a_models_directory(library, tmp_path):
    transformers.BertTokenizerFast(vocab_file(str(tmp_path))).save_pretrained(tmp_path)
    slow = trietok.BertTokenizer.from_pretrained(tmp_path)
    before = (tmp_path / "tokenizer.json").read_bytes()
    slow.save_pretrained(tmp_path)
    assert (tmp_path / "tokenizer.json").read_bytes() == before  # as transformers has written it
    slow.add_tokens(["covid-19", trietok.AddedToken("<m>", lstrip=True)])
    slow.save_pretrained(tmp_path)
    rust = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for use_fast in (True, False):
        loaded = library.AutoTokenizer.from_pretrained(tmp_path, use_fast=use_fast)
        assert loaded.get_vocab() == slow.get_vocab() == rust.get_vocab()
        for text in ("hello covid-19 <m>", "World"):
            assert loaded.encode(text) == slow.encode(text) == rust.encode(text).ids
