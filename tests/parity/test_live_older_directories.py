"""trietok and transformers side by side: directories as transformers before 4.34 wrote them,
without an `added_tokens_decoder`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.conftest import examples

from .conftest import different

VOCABULARY = "[PAD] [UNK] [CLS] [SEP] [MASK] < e > a hello b <e> x ##x ##a ##e".split()
CONTENTS = ["<e>", "<E>", "<F>", "<x>", "hello", "[MASK]", "new york"]
TEXTS = [
    "a <e> b <E> x",
    "hello  <E>  world",
    "a <e>b<x> [MASK] [mask] <X>  x",
    "[CLS] <e>  <E><E> <x>",
    "<F> <f>  <F>a  New York new york b HELLO hello",
]

# single_word means something else in the slow profile by design.
FLAGS = st.fixed_dictionaries(
    {"normalized": st.booleans()}, optional={name: st.booleans() for name in ("lstrip", "rstrip")}
)
OBJECTS = st.builds(
    lambda content, flags: {"content": content, "single_word": False, **flags},
    st.sampled_from(CONTENTS),
    FLAGS,
)
TOKENS = st.one_of(st.sampled_from(CONTENTS), OBJECTS)
ROLES = st.fixed_dictionaries(
    {},
    optional={
        "eos_token": TOKENS,
        "bos_token": TOKENS,
        "mask_token": st.one_of(st.just("[MASK]"), OBJECTS),
        "additional_special_tokens": st.lists(TOKENS, max_size=3),
        "image_token": TOKENS,  # which no class has
    },
)


def tokenizer_json(added_tokens: list[dict[str, Any]], lower: bool) -> dict[str, Any]:
    """A tokenizer.json of the vocabulary, with roles and these tokens added."""
    off = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    roles = [
        {"id": i, "content": role, **off, "special": True} for i, role in enumerate(VOCABULARY[:5])
    ]
    around = [{"SpecialToken": {"id": role, "type_id": 0}} for role in ("[CLS]", "[SEP]")]
    around.insert(1, {"Sequence": {"id": "A", "type_id": 0}})
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [*roles, *({**off, **token} for token in added_tokens)],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": lower,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": around,
            "pair": [
                *around,
                {"Sequence": {"id": "B", "type_id": 1}},
                {"SpecialToken": {"id": "[SEP]", "type_id": 1}},
            ],
            "special_tokens": {
                role: {"id": role, "ids": [VOCABULARY.index(role)], "tokens": [role]}
                for role in ("[CLS]", "[SEP]")
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(VOCABULARY)},
        },
    }


def with_types(value: Any) -> Any:
    """Objects of flags as tokenizer_config.json has them: marked by `__type`."""
    if isinstance(value, list):
        return [with_types(item) for item in value]
    return {**value, "__type": "AddedToken"} if isinstance(value, dict) else value


@st.composite
def directories(draw: st.DrawFn) -> dict[str, Any]:
    """The JSON files of a directory: a config with roles, a map with the same or others, added
    tokens.
    """
    files: dict[str, Any] = {}
    roles = draw(ROLES)
    if draw(st.booleans()):
        config = {role: with_types(value) for role, value in roles.items()}
        files["tokenizer_config.json"] = {"do_lower_case": draw(st.booleans()), **config}
    if draw(st.booleans()):
        files["special_tokens_map.json"] = roles if draw(st.booleans()) else draw(ROLES)
    added = [content for content in draw(st.permutations(CONTENTS)) if content not in VOCABULARY]
    ids = {
        content: len(VOCABULARY) + i
        for i, content in enumerate(added[: draw(st.integers(1, len(added)))])
    }
    if draw(st.booleans()):
        files["added_tokens.json"] = ids
    # no token is neither special nor normalized: such match as they are written, by design
    if draw(st.booleans()):
        flags = st.one_of(
            st.just({"normalized": True}), FLAGS.map(lambda flags: {**flags, "special": True})
        )
        files["tokenizer.json"] = [
            {"id": token_id, "content": content, **draw(flags)} for content, token_id in ids.items()
        ]
    return files


def mixes_up_roles(files: dict[str, Any]) -> bool:
    """Whether transformers gives the last additional special token's other role to the last token
    of added_tokens.json.
    """
    of_map = files.get("special_tokens_map.json", {})
    last = of_map.get("additional_special_tokens", [])[-1:]
    roles = {**files.get("tokenizer_config.json", {}), **of_map}
    others = {
        content_of(roles[role])
        for role in ("eos_token", "bos_token", "mask_token")
        if role in roles
    }
    return "added_tokens.json" in files and not others.isdisjoint(map(content_of, last))


def content_of(token: Any) -> str:
    return token["content"] if isinstance(token, dict) else token


def said_by(tokenizer: Any) -> dict[str, Any]:
    """What a tokenizer of either profile says about its special and added tokens."""
    names = (
        "added_tokens_decoder special_tokens_map all_special_tokens all_special_ids"
        " additional_special_tokens_ids"
    )
    return {
        "len": len(tokenizer),
        "added_vocab": dict(sorted(tokenizer.get_added_vocab().items())),
        "extended": list(map(str, tokenizer.all_special_tokens_extended)),
        **{name: getattr(tokenizer, name) for name in names.split()},
    }


def loaded(library: Any, class_name: str, directory: str) -> Any:
    return getattr(library, class_name).from_pretrained(directory)


@pytest.mark.parametrize("class_name", ["BertTokenizer", "BertTokenizerFast"])
@examples(40)
@given(directories().filter(lambda files: not mixes_up_roles(files)))
def test_older_directories_load_as_in_transformers(class_name: str, files: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
        for name, value in files.items():
            if name == "tokenizer.json":
                value = tokenizer_json(
                    value, lower=files.get("tokenizer_config.json", {}).get("do_lower_case", True)
                )
            Path(directory, name).write_text(json.dumps(value), encoding="utf-8")
        theirs = loaded(transformers, class_name, directory)
        ours = loaded(trietok, class_name, directory)
    assert different(said_by(theirs), said_by(ours)) is None
    for text in TEXTS:
        want, got = theirs(text).input_ids, ours(text).input_ids
        assert got == want, text
        assert ours.decode(got, skip_special_tokens=True) == theirs.decode(
            want, skip_special_tokens=True
        ), text
