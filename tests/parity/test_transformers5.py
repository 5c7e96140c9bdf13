"""What transformers 5 makes of directories that hold more than BERT's own settings, beside
trietok's fast profile.

The directories are those of tests/vocabulary/variants.py, which says of each what transformers 5
leaves out. Needs TRIETOK_TRANSFORMERS5_PYTHON, as test_interop.py does.
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
from typing import Any

import pytest
import tokenizers

import trietok
from tests.vocabulary.variants import VARIANTS, write_variant
from trietok.tokenizer.fast_relatives import FAST_CLASSES

from .transformers5 import sample

PYTHON5 = os.environ.get("TRIETOK_TRANSFORMERS5_PYTHON")
needs_5 = pytest.mark.skipif(not PYTHON5, reason="needs TRIETOK_TRANSFORMERS5_PYTHON")
PIECES = [
    *"covid-19 COVID-19 xcovid-19y [MASK] [SEP] [mask] Mrna Ph.D. café CAFÉ ﬁne".split(),
    *(
        "x\x07y",
        "a\u200bb",
        "人民",
        "12 345",
        "2nd",
        "extraordinarily",
        "the",
        "@home",
        " ",
        "  ",
        ".",
        ",",
        "\t",
    ),
]
# what a class for any file gives, if a call asks for no more
NO_TYPES = {"given": ["input_ids", "attention_mask"]}
RELATIVES_DIFFER = {
    "FunnelTokenizerFast": ["given"],
    "SplinterTokenizerFast": ["given"],
    # the unknown token in lower case, and token type ids of 0
    "MPNetTokenizerFast": [
        "decoded",
        "pairs",
    ],
}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Each piece by itself and among spaces, and mixtures."""
    seed = random.randrange(10**9)
    print(f"random.Random({seed})")
    mixed = random.Random(seed)
    return [
        *PIECES,
        *(f"a {piece} b" for piece in PIECES),
        *("".join(mixed.choices(PIECES, k=5)) for _ in range(30)),
    ]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, pathlib.Path]:
    work = tmp_path_factory.mktemp("variants")
    return {name: write_variant(name, work / str(number)) for number, name in enumerate(VARIANTS)}


@pytest.fixture(scope="module")
def relatives(tmp_path_factory) -> dict[str, pathlib.Path]:
    """What each class of BERT's relatives saves, by the name of the class."""
    work = tmp_path_factory.mktemp("relatives")
    vocabulary = work / "vocab.txt"
    entries = trietok.BertTokenizerFast.from_pretrained("trietok-en").get_vocab()
    others = ["<s>", "</s>", "<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "[QUESTION]"]
    vocabulary.write_text(
        "".join(f"{token}\n" for token in [*entries, *others]), encoding="utf-8", newline="\n"
    )
    for kind in FAST_CLASSES:
        tokenizer = kind(vocabulary, model_max_length=8)
        tokenizer.add_tokens(["covid-19"])
        tokenizer.save_pretrained(work / kind.__name__)
    return {kind.__name__: work / kind.__name__ for kind in FAST_CLASSES}


@pytest.fixture(scope="module")
def ours(folders, texts) -> dict[str, Any]:
    loaded = {
        name: trietok.BertTokenizerFast.from_pretrained(folder) for name, folder in folders.items()
    }
    return {
        name: json.loads(json.dumps(sample(tokenizer, texts))) for name, tokenizer in loaded.items()
    }


@pytest.fixture(scope="module")
def five(folders, relatives, texts, tmp_path_factory) -> dict[str, Any]:
    work = tmp_path_factory.mktemp("five")
    job = {
        "texts": texts,
        "variants": {name: str(folder) for name, folder in {**folders, **relatives}.items()},
    }
    (work / "job.json").write_text(json.dumps(job), encoding="utf-8")
    script = pathlib.Path(__file__).parent / "transformers5.py"
    run = subprocess.run([PYTHON5, str(script), str(work)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads((work / "result.json").read_text(encoding="utf-8"))


@needs_5
@pytest.mark.parametrize(
    "name", [name for name, variant in VARIANTS.items() if not variant.dropped]
)
def test_where_nothing_is_left_out_all_is_equal(name, five, ours):
    named = VARIANTS[name].config.get("tokenizer_class")
    without_types = NO_TYPES if named in ("PreTrainedTokenizerFast", "RetriBertTokenizer") else {}
    assert five["AutoTokenizer"][name] == ours[name] | without_types
    if named is None:
        assert five["BertTokenizer"][name] == ours[name]


@needs_5
@pytest.mark.parametrize("name", [kind.__name__ for kind in FAST_CLASSES])
def test_all_is_equal_for_berts_relatives(name, five, relatives, texts):
    want = sample(trietok.AutoTokenizer.from_pretrained(relatives[name]), texts)
    different = {
        part
        for part, rows in json.loads(json.dumps(want)).items()
        if five["AutoTokenizer"][name][part] != rows
    }
    assert different == set(RELATIVES_DIFFER.get(name, ()))


@needs_5
@pytest.mark.parametrize("name", [name for name, variant in VARIANTS.items() if variant.dropped])
def test_what_is_left_out_makes_a_difference(name, five, ours):
    """When this fails, transformers 5 has learnt to use that part: the rule and the page name it no
    more.
    """
    assert five["AutoTokenizer"][name] != ours[name]
    assert five["BertTokenizer"][name] == five["AutoTokenizer"][name]


@needs_5
@pytest.mark.parametrize("name", [name for name, variant in VARIANTS.items() if variant.dropped])
def test_the_class_for_any_file_leaves_nothing_out(name, five, ours):
    assert five["PreTrainedTokenizerFast"][name] == ours[name] | NO_TYPES


@pytest.mark.parametrize("name", [name for name, variant in VARIANTS.items() if variant.agrees])
def test_tokenizers_alone_gives_the_ids_of_trietok(name, folders, texts, ours):
    bare = tokenizers.Tokenizer.from_file(str(folders[name] / "tokenizer.json"))
    assert [bare.encode(text).ids for text in texts] == ours[name]["ids"]
