"""transformers 5 beside trietok: what each loads of the other's directories.

transformers 5 runs in a Python of its own, which TRIETOK_TRANSFORMERS5_PYTHON names. Of the
directories in tests/vocabulary/variants.py its own classes leave something out, which is said there.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import tokenizers

import trietok
from tests.parity import transformers5
from tests.parity.directories import FAMILY, SENTENCES, Recipe, made_by, vocabulary_file
from tests.strategies import is_valid
from tests.vocabulary.variants import VARIANTS, write_variant

PYTHON5 = os.environ.get("TRIETOK_TRANSFORMERS5_PYTHON")
needs_5 = pytest.mark.skipif(not PYTHON5, reason="needs TRIETOK_TRANSFORMERS5_PYTHON")

# ---- directories ---------------------------------------------------------------------------------


def recipe(*history: Any, vocabulary: str = "scripts", **settings: Any) -> Recipe:
    return Recipe("BertTokenizer", vocabulary, settings, list(history))


def add(*tokens: Any) -> tuple[str, Any]:
    return "add", (list(tokens), False)


LEFT, RIGHT = {"content": "<l>", "lstrip": True}, {"content": "<r>", "rstrip": True}
SPECIAL = {"additional_special_tokens": ["<q>", "</q>"], "bos_token": "<s>"}
# What trietok's slow class saves.
SLOW = {
    "plain": recipe(),
    "added": recipe(add("covid-19", "long covid", "mrna")),
    "special": recipe(("roles", (SPECIAL, True))),
    "flags": recipe(add(LEFT, {**RIGHT, "normalized": False}), ("roles", (SPECIAL, True))),
    "cased": recipe(add("COVID-19", "<l>"), do_lower_case=False),
    "accents kept": recipe(strip_accents=False),
    "cased, accents stripped": recipe(do_lower_case=False, strip_accents=True),
    "Chinese characters in words": recipe(tokenize_chinese_chars=False),
    "other roles": recipe(cls_token="hello", sep_token="the"),
    "never split": recipe(never_split=["ph.d."]),
    "no basic tokenization": recipe(do_basic_tokenize=False),
    "assigned slots": recipe(("assign", ("[unused1]", "covid-19")), vocabulary="unused"),
    "pieces": recipe(add("<l>"), ("pieces", ["zo", "##ology"]), add("<q>")),
    "holes": recipe(add("covid-19", "mrna", "<l>"), ("remove", (["mrna"], False)), add("<q>")),
}
# In these an added token's id is not the number of tokens before it. The Rust library numbers added
# tokens again, so these tokens get other ids.
NUMBERED_AGAIN = ["holes"]
# What transformers 5 saves of the vocabulary "scripts".
RECIPES = {
    "plain": {"settings": {}, "tokens": [], "roles": {}},
    "added": {"settings": {}, "tokens": ["covid-19", LEFT, RIGHT], "roles": {}},
    "special": {
        "settings": {},
        "tokens": [],
        "roles": {"extra_special_tokens": ["<q>", "<r>"], "bos_token": "<s>"},
    },
    "cased": {"settings": {"do_lower_case": False}, "tokens": ["COVID-19"], "roles": {}},
    "accents kept": {"settings": {"strip_accents": False}, "tokens": [], "roles": {}},
    "other roles": {
        "settings": {"cls_token": "hello", "sep_token": "the"},
        "tokens": [],
        "roles": {},
    },
}
KEPT = [name for name, variant in VARIANTS.items() if not variant.dropped]
LEFT_OUT = [name for name, variant in VARIANTS.items() if variant.dropped]
RELATIVES = [f"{kind}Fast" for kind in FAMILY]
# Where the classes of version 5 give something else than those of version 4.
RELATIVES_DIFFER = {
    "FunnelTokenizerFast": {"given"},
    "SplinterTokenizerFast": {"given"},
    # The unknown token in lower case, and token type ids of 0.
    "MPNetTokenizerFast": {"decoded", "pairs"},
}
# What a class for any file gives, if a call asks for no more.
NO_TYPES = {"given": ["input_ids", "attention_mask"]}
PIECES = [
    *"covid-19 COVID-19 xcovid-19y [MASK] [SEP] [mask] Mrna Ph.D. caf\u00e9 CAF\u00c9".split(),
    *"\ufb01ne \u4eba\u6c11 2nd extraordinarily the @home <l> <q> </q> <r> zoology . ,".split(),
    *("x\x07y", "a\u200bb", "12 345", "long covid", " ", "  ", "\t"),
]


def write_relative(name: str, folder: Path) -> None:
    """What a fast class of BERT's family saves; the vocabulary has the role tokens of each."""
    tokenizer = getattr(trietok, name)(vocabulary_file("every role", folder), model_max_length=8)
    tokenizer.add_tokens(["covid-19"])
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Golden texts, each piece by itself and among spaces, and mixtures."""
    seed = random.randrange(10**9)
    print(f"random.Random({seed})")
    mixed = random.Random(seed)
    return [
        *filter(is_valid, [*SENTENCES[2:21], *SENTENCES[21::9]]),
        *PIECES,
        *(f"a {piece} b" for piece in PIECES),
        *("".join(mixed.choices([*PIECES, " "], k=5)) for _ in range(40)),
    ]


@pytest.fixture(scope="module")
def lower(texts) -> list[str]:
    """Texts that nothing lower-cases.

    The slow class of version 5 cuts at the added tokens before it lower-cases, and it lower-cases
    words instead of characters, so that a sigma at the end of a word becomes another letter.
    """
    return [text for text in texts if text == text.lower()]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """The directories that trietok saves or a variant changes, by name."""
    root = tmp_path_factory.mktemp("saved-by-trietok")
    folders = {}
    for number, name in enumerate([*VARIANTS, *RELATIVES, *SLOW]):
        folders[name] = root / str(number)
        if name in VARIANTS:
            write_variant(name, folders[name])
            continue
        folders[name].mkdir()
        if name in RELATIVES:
            write_relative(name, folders[name])
        else:
            counts: Counter[str] = Counter()
            made_by("trietok slow", SLOW[name], folders[name], counts).save_pretrained(
                folders[name]
            )
            assert not counts["refused change"], name
    return folders


@pytest.fixture(scope="module")
def five(folders, texts, lower, tmp_path_factory) -> dict[str, Any]:
    """What transformers 5 gives, by class and directory, and the folder with what it saves."""
    work = tmp_path_factory.mktemp("five")
    (work / "source").mkdir()
    vocabulary_file("scripts", work / "source")
    paths = {name: str(folder) for name, folder in folders.items()}
    job = {
        "texts": texts,
        "lower": lower,
        "fast": {
            "AutoTokenizer": paths,
            "BertTokenizer": {name: paths[name] for name in VARIANTS},
            "PreTrainedTokenizerFast": {name: paths[name] for name in LEFT_OUT},
        },
        "slow": {name: paths[name] for name in SLOW},
        "source": str(work / "source"),
        "recipes": RECIPES,
    }
    (work / "job.json").write_text(json.dumps(job), encoding="utf-8")
    run = subprocess.run(
        [PYTHON5, transformers5.__file__, str(work)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    result = json.loads((work / "result.json").read_text(encoding="utf-8"))
    assert result["version"].startswith("5.")
    return {**result, "folder": work / "saved"}


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value))


@pytest.fixture(scope="module")
def ours(folders, texts) -> dict[str, Any]:
    """What trietok's fast class gives of each directory, as it comes from JSON."""
    return {
        name: as_json(
            transformers5.sample(
                getattr(
                    trietok, name if name in RELATIVES else "BertTokenizerFast"
                ).from_pretrained(folder),
                texts,
            )
        )
        for name, folder in folders.items()
    }


# ---- what transformers 5 loads -------------------------------------------------------------------


@needs_5
@pytest.mark.parametrize("name", KEPT)
def test_a_variant_of_which_nothing_is_left_out_gives_the_same(name, five, ours):
    named = VARIANTS[name].config.get("tokenizer_class")
    without_types = NO_TYPES if named in ("PreTrainedTokenizerFast", "RetriBertTokenizer") else {}
    assert five["AutoTokenizer"][name] == ours[name] | without_types
    if named is None:
        assert five["BertTokenizer"][name] == ours[name]


@needs_5
@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_variant_of_which_something_is_left_out_gives_something_else(name, five, ours):
    """When this fails, transformers 5 has learnt to use that part: the rule and the page name it no
    more.
    """
    assert five["AutoTokenizer"][name] != ours[name]
    assert five["BertTokenizer"][name] == five["AutoTokenizer"][name]
    assert five["PreTrainedTokenizerFast"][name] == ours[name] | NO_TYPES


@needs_5
@pytest.mark.parametrize("name", RELATIVES)
def test_berts_relatives_give_the_same_but_for_what_version_5_changed(name, five, ours):
    different = {
        part for part in ours[name] if five["AutoTokenizer"][name][part] != ours[name][part]
    }
    assert different == RELATIVES_DIFFER.get(name, set())


@needs_5
@pytest.mark.parametrize("name", SLOW)
def test_a_slow_save_gives_the_same_in_the_slow_and_the_fast_class(
    name, five, ours, folders, lower
):
    slow = trietok.BertTokenizer.from_pretrained(folders[name])
    assert len(lower) > 70
    want = five[transformers5.SLOW][name]
    for part, got in as_json(transformers5.slow_sample(slow, lower)).items():
        if part == "vocabulary":  # an id without a token has a line, which is a token there
            want[part] = {t: i for t, i in want[part].items() if not t.startswith("[unused-id-")}
        assert got == want[part], part
    if name in NUMBERED_AGAIN:
        assert five["AutoTokenizer"][name]["ids"] != ours[name]["ids"]
    else:
        assert five["AutoTokenizer"][name] == ours[name]


@pytest.mark.parametrize("name", [name for name, variant in VARIANTS.items() if variant.agrees])
def test_tokenizers_alone_gives_the_ids_of_trietok(name, folders, texts, ours):
    bare = tokenizers.Tokenizer.from_file(str(folders[name] / "tokenizer.json"))
    assert [bare.encode(text).ids for text in texts] == ours[name]["ids"]


# ---- what transformers 5 saves -------------------------------------------------------------------


@needs_5
@pytest.mark.parametrize("name", RECIPES)
def test_what_transformers_5_saves_has_the_same_ids_in_trietok(name, five, texts, lower, tmp_path):
    fast = trietok.BertTokenizerFast.from_pretrained(five["folder"] / "fast" / name)
    assert [fast.encode(text) for text in texts] == five["saved"][f"fast {name}"]
    slow = trietok.BertTokenizer.from_pretrained(five["folder"] / "slow" / name)
    assert [slow.encode(text) for text in lower] == five["saved"][f"slow {name}"]
    # The fast class saves its vocabulary in tokenizer.json alone, which the slow class reads.
    assert trietok.BertTokenizer.from_pretrained(five["folder"] / "fast" / name).vocab == fast.vocab
    shutil.copytree(five["folder"] / "fast" / name, tmp_path / "with vocabulary")
    vocabulary_file("scripts", tmp_path / "with vocabulary")
    with_file = trietok.BertTokenizer.from_pretrained(tmp_path / "with vocabulary")
    assert with_file.get_vocab() == fast.get_vocab()
