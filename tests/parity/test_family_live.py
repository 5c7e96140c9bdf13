"""BERT's relatives beside transformers' classes: saving and loading, the reader's call, and the
class that `AutoTokenizer` chooses. `test_live_calls` compares their calls.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

import trietok
from tests.conftest import assert_share, examples
from tests.parity.comparing import TENSORS, assert_same, different, state_of
from tests.parity.programs import SLOW, SPECIAL, their_class, tokenizers, vocab_file
from tests.strategies import BOOL, OPTIONAL_BOOL, short_texts, some_of

TEXTS = [
    *("", "Hello world!", "a <mask> b [MASK]", "e\u0301 豈 \u1112\u1161\u11ab zzz"),
    "[QUESTION] <cls> </s><X>y",
]


def assert_both_load(name: str, directory: Path) -> tuple[Any, Any]:
    theirs = their_class(name).from_pretrained(directory)
    ours = getattr(trietok, name).from_pretrained(directory)
    problem = different(state_of(theirs), state_of(ours))
    assert problem is None, problem
    for text in TEXTS:
        assert ours(text, TEXTS[3]) == dict(theirs(text, TEXTS[3]))
    return theirs, ours


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("saver", ["theirs", "ours"])
def test_what_one_saves_both_load(name: str, saver: str, tmp_path: Path) -> None:
    theirs, ours = tokenizers(name, do_lower_case=False, model_max_length=77)
    for tokenizer, library in ((theirs, transformers), (ours, trietok)):
        tokenizer.add_tokens([library.AddedToken("<X>", rstrip=True), "newword"])
        tokenizer.add_special_tokens({"additional_special_tokens": ["<y>"]})
    (theirs if saver == "theirs" else ours).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["tokenizer_class"] == name
    _, again = assert_both_load(name, tmp_path)
    for text in TEXTS:
        assert again(text, text) == dict(ours(text, text))
    if name != "RetriBertTokenizer":  # transformers' auto class does not find it
        auto = transformers.AutoTokenizer.from_pretrained(tmp_path, use_fast=False)
        assert type(auto).__name__ == name
    assert type(trietok.AutoTokenizer.from_pretrained(tmp_path, use_fast=False)).__name__ == name


@pytest.mark.parametrize("name", [n for n in SLOW if n.removesuffix("Tokenizer") not in SPECIAL])
def test_another_class_loads_what_berts_class_saves(name: str, tmp_path: Path) -> None:
    tokenizers("BertTokenizer")[1].save_pretrained(tmp_path)
    assert_both_load(name, tmp_path)


def test_the_call_of_dprs_reader_gives_the_same() -> None:
    theirs, ours = tokenizers("DPRReaderTokenizer", model_max_length=40)
    counts: Counter[bool] = Counter()
    options = some_of(
        padding=(False, True, "max_length"),
        truncation=BOOL,
        max_length=(None, 5, 10, 30),
        return_attention_mask=OPTIONAL_BOOL,
        return_tensors=(None, *TENSORS),
    )
    several = st.lists(st.tuples(short_texts(), short_texts()), min_size=1, max_size=3)

    @examples(60)
    @given(several, short_texts(), st.sampled_from(["one", "each", "too few"]), options)
    def each(passages: Any, question: str, form: str, options: dict[str, Any]) -> None:
        titles, contents = [title for title, _ in passages], [text for _, text in passages]
        questions = {"one": question, "each": contents, "too few": contents[1:]}[form]
        for arguments, more in (
            ((questions, titles, contents), {}),
            ((titles[0],), {}),
            (("hello",), {"titles": titles[0]}),
            (("a",), {"texts": titles[0]}),
        ):
            more |= options
            returned = assert_same(
                lambda arguments=arguments, more=more: theirs(*arguments, **more),
                lambda arguments=arguments, more=more: ours(*arguments, **more),
            )
            counts[returned] += 1

    each()
    assert_share(counts[True], counts.total(), 0.3)


# ---- AutoTokenizer -------------------------------------------------------------------------------


def class_for(auto: Any, directory: Path, **options: Any) -> str:
    return type(auto.from_pretrained(str(directory), **options)).__name__


def write(directory: Path, tokenizer_config: Any, config: Any) -> None:
    directory.mkdir(parents=True)
    (directory / "vocab.txt").write_bytes(Path(vocab_file("DistilBertTokenizer")).read_bytes())
    for name, values in (("tokenizer_config.json", tokenizer_config), ("config.json", config)):
        if values is not None:
            (directory / name).write_text(json.dumps(values))


def test_every_model_type_has_the_class_of_transformers(tmp_path: Path) -> None:
    known = {"BertTokenizer", *SLOW} - {"RetriBertTokenizer"}
    types = {kind: slow for kind, (slow, _) in TOKENIZER_MAPPING_NAMES.items() if slow in known}
    assert known - set(types.values()) == {"DPRContextEncoderTokenizer", "DPRReaderTokenizer"}
    for model_type, name in types.items():
        directory = tmp_path / "nothing" / model_type
        write(directory, {}, {"model_type": model_type})
        special = SPECIAL.get(name.removesuffix("Tokenizer"))
        if special:
            (directory / "vocab.txt").write_bytes(Path(vocab_file(name)).read_bytes())
        assert class_for(trietok.AutoTokenizer, directory, use_fast=False) == name


@pytest.mark.parametrize(
    ("tokenizer_config", "config"),
    [
        ({"tokenizer_class": "ElectraTokenizer"}, {"model_type": "bert"}),
        ({}, {"model_type": "distilbert"}),
        ({}, {"model_type": "bert", "tokenizer_class": "LxmertTokenizer"}),
        ({"do_lower_case": False}, {"model_type": "dpr"}),
        (None, {"model_type": "visual_bert"}),
        ({"tokenizer_class": None}, {"model_type": "layoutlm"}),
        ({"tokenizer_class": "NoSuchTokenizer"}, {"model_type": "bert"}),
        ({}, {"model_type": "no-such-type"}),
    ],
)
def test_a_directory_has_the_class_that_transformers_finds(
    tokenizer_config: Any, config: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "nothing" / "x"
    write(folder, tokenizer_config, config)
    for path, options in ((folder, {}), (folder.parent, {"subfolder": "x"})):
        assert_same(
            lambda p=path, o=options: class_for(transformers.AutoTokenizer, p, use_fast=False, **o),
            lambda p=path, o=options: class_for(trietok.AutoTokenizer, p, use_fast=False, **o),
        )


@pytest.mark.parametrize("config", [None, {}])
def test_where_no_file_names_a_class_transformers_refuses_what_trietok_takes_for_berts(
    config: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "x"
    write(folder, {}, config)
    with pytest.raises(ValueError, match="Unrecognized model"):
        transformers.AutoTokenizer.from_pretrained(str(folder))
    assert class_for(trietok.AutoTokenizer, folder) == "BertTokenizerFast"
