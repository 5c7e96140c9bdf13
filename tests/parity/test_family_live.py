"""BERT's relatives beside transformers' slow classes: texts, pairs, every option of a call, saving
and loading.
"""

from __future__ import annotations

import functools
import inspect
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
from trietok.tokenizer.relatives import CLASSES

from .conftest import (
    ROLES,
    TENSORS,
    UNCASED,
    assert_same,
    different,
    short_texts,
    state_of,
    texts,
)

NAMES = [kind.__name__ for kind in CLASSES if kind is not trietok.BertTokenizer]
FUNNEL = ["<pad>", "<unk>", "<cls>", "<sep>", "<mask>", "<s>", "</s>"]
MPNET = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"]
SPECIAL = {
    "FunnelTokenizer": FUNNEL,
    "MPNetTokenizer": MPNET,
    "SplinterTokenizer": [*ROLES, "[QUESTION]"],
}
SPECIAL_TEXTS = [
    *FUNNEL,
    " <mask>",
    "a <mask> b",
    "[QUESTION]",
    "[MASK]",
    "e\u0301",
    "豈",
    "\u1112\u1161\u11ab",
]


def their_class(name: str) -> Any:
    if name.startswith("RetriBert"):
        from transformers.models.deprecated.retribert import tokenization_retribert as module

        return getattr(module, name)
    return getattr(transformers, name)


@functools.cache
def _root() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="trietok-family-")


@functools.cache
def vocab_file(name: str) -> str:
    path = Path(_root().name, f"{name}.txt")
    tokens = [*SPECIAL.get(name, ROLES), *UNCASED[len(ROLES) :]]
    path.write_text("".join(token + "\n" for token in tokens), encoding="utf-8", newline="\n")
    return str(path)


def both(name: str, **options: Any) -> tuple[Any, Any]:
    """transformers' tokenizer and trietok's, with the same options."""
    path = vocab_file(name)
    return their_class(name)(path, **options), getattr(trietok, name)(path, **options)


@functools.cache
def both_cached(
    name: str, padding_side: str = "right", truncation_side: str = "right"
) -> tuple[Any, Any]:
    return both(
        name, padding_side=padding_side, truncation_side=truncation_side, model_max_length=40
    )


KIND = st.sampled_from(NAMES)
BOOL = st.booleans()
OPTIONAL_BOOL = st.sampled_from([None, True, False])
SIDE = st.sampled_from(["right", "left"])
CALL = st.fixed_dictionaries(
    {},
    optional={
        "add_special_tokens": BOOL,
        "padding": st.sampled_from([False, True, "max_length"]),
        "truncation": st.sampled_from([False, True, "only_first", "only_second"]),
        "max_length": st.sampled_from([6, 8, 12, 16]),
        "stride": st.sampled_from([0, 1]),
        "pad_to_multiple_of": st.sampled_from([None, 4]),
        "padding_side": st.sampled_from([None, "left", "right"]),
        "return_special_tokens_mask": BOOL,
        "return_token_type_ids": OPTIONAL_BOOL,
        "return_attention_mask": OPTIONAL_BOOL,
        "return_length": BOOL,
    },
)


@pytest.mark.parametrize("name", NAMES)
def test_the_class_has_the_same_surface(name: str) -> None:
    theirs, ours = their_class(name), getattr(trietok, name)

    def defaults(kind: Any) -> list[tuple[str, Any]]:
        return [(p.name, p.default) for p in inspect.signature(kind.__init__).parameters.values()]

    assert defaults(ours) == defaults(theirs)
    for attribute in ("model_input_names", "padding_side", "truncation_side"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert not [
        n
        for n in dir(theirs)
        if not n.startswith("_") and not hasattr(ours, n) and n not in LEFT_OUT
    ]
    theirs, ours = both(name)
    difference = different(state_of(theirs), state_of(ours))
    assert difference is None, difference
    for attribute in (
        "clean_up_tokenization_spaces",
        "model_max_length",
        "pad_token_type_id",
        "is_fast",
    ):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    for pair in (False, True):
        assert ours.num_special_tokens_to_add(pair) == theirs.num_special_tokens_to_add(pair)
    for tokenizer in (theirs, ours):
        tokenizer.add_tokens(["new", "hello"])
    assert list(ours.get_vocab().items()) == list(theirs.get_vocab().items())


LEFT_OUT = """
    apply_chat_template decode_best_spans encode_message_with_chat_template get_chat_template
    save_chat_templates push_to_hub register_for_auto_class as_target_tokenizer
    prepare_seq2seq_batch
    """.split()


@examples(70)
@given(
    KIND,
    st.fixed_dictionaries(
        {},
        optional={
            "do_lower_case": BOOL,
            "do_basic_tokenize": BOOL,
            "never_split": st.lists(
                st.sampled_from(["c++", "Hello", "e\u0301", "a!b"]), max_size=2
            ),
            "tokenize_chinese_chars": BOOL,
            "strip_accents": OPTIONAL_BOOL,
        },
    ),
    texts(SPECIAL_TEXTS),
)
def test_a_text_becomes_the_same_tokens_and_ids(
    name: str, options: dict[str, Any], text: str
) -> None:
    theirs, ours = both(name, **options)
    assert_same(lambda: theirs.tokenize(text), lambda: ours.tokenize(text))
    assert_same(lambda: theirs(text), lambda: ours(text))
    assert_same(lambda: theirs.decode(theirs.encode(text)), lambda: ours.decode(ours.encode(text)))


@examples(120)
@given(KIND, SIDE, SIDE, short_texts(), st.one_of(st.none(), short_texts()), CALL)
def test_a_call_for_one_text_or_pair(
    name: str,
    padding_side: str,
    truncation_side: str,
    text: str,
    pair: str | None,
    options: dict[str, Any],
) -> None:
    theirs, ours = both_cached(name, padding_side, truncation_side)
    assert_same(lambda: theirs(text, pair, **options), lambda: ours(text, pair, **options))


@examples(70)
@given(
    KIND,
    SIDE,
    st.lists(st.tuples(short_texts(), short_texts()), min_size=1, max_size=4),
    BOOL,
    CALL,
)
def test_a_call_for_a_batch(
    name: str,
    padding_side: str,
    pairs: list[tuple[str, str]],
    with_pairs: bool,
    options: dict[str, Any],
) -> None:
    theirs, ours = both_cached(name, padding_side)
    first, second = [a for a, _ in pairs], [b for _, b in pairs] if with_pairs else None
    assert_same(lambda: theirs(first, second, **options), lambda: ours(first, second, **options))


@examples(30)
@given(
    KIND,
    SIDE,
    st.lists(st.integers(0, 20), max_size=5),
    st.one_of(st.none(), st.lists(st.integers(0, 20))),
)
def test_the_template(
    name: str, padding_side: str, ids: list[int], pair_ids: list[int] | None
) -> None:
    theirs, ours = both_cached(name, padding_side)
    for method in (
        "build_inputs_with_special_tokens",
        "create_token_type_ids_from_sequences",
        "get_special_tokens_mask",
        "prepare_for_model",
    ):
        assert_same(
            lambda method=method: getattr(theirs, method)(ids, pair_ids),
            lambda method=method: getattr(ours, method)(ids, pair_ids),
        )
    whole = theirs.build_inputs_with_special_tokens(ids, pair_ids)
    assert ours.get_special_tokens_mask(whole, None, True) == theirs.get_special_tokens_mask(
        whole, None, True
    )


TEXTS = [
    "",
    "Hello world!",
    "a <mask> b [MASK]",
    "e\u0301 豈 \u1112\u1161\u11ab zzz",
    "[QUESTION] <cls> </s><X>y",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("saver", ["theirs", "ours"])
def test_what_one_saves_both_load(name: str, saver: str, tmp_path: Path) -> None:
    theirs, ours = both(name, do_lower_case=False, model_max_length=77)
    for tokenizer, token in ((theirs, transformers.AddedToken), (ours, trietok.AddedToken)):
        tokenizer.add_tokens([token("<X>", rstrip=True), "newword"])
        tokenizer.add_special_tokens({"additional_special_tokens": ["<y>"]})
    (theirs if saver == "theirs" else ours).save_pretrained(tmp_path)
    assert json.loads((tmp_path / "tokenizer_config.json").read_text())["tokenizer_class"] == name
    loaded, again = (
        their_class(name).from_pretrained(tmp_path),
        getattr(trietok, name).from_pretrained(tmp_path),
    )
    difference = different(state_of(loaded), state_of(again))
    assert difference is None, difference
    for text in TEXTS:
        assert again(text, text) == dict(loaded(text, text)) == dict(ours(text, text))
    if name != "RetriBertTokenizer":  # transformers' auto class does not find it
        auto = transformers.AutoTokenizer.from_pretrained(tmp_path, use_fast=False)
        assert type(auto).__name__ == name
    assert type(trietok.AutoTokenizer.from_pretrained(tmp_path, use_fast=False)).__name__ == name


@pytest.mark.parametrize("name", [n for n in NAMES if n not in SPECIAL])
def test_another_class_loads_it(name: str, tmp_path: Path) -> None:
    both("BertTokenizer")[1].save_pretrained(tmp_path)
    loaded, again = (
        their_class(name).from_pretrained(tmp_path),
        getattr(trietok, name).from_pretrained(tmp_path),
    )
    difference = different(state_of(loaded), state_of(again))
    assert difference is None, difference
    assert again(TEXTS[1], TEXTS[3]) == dict(loaded(TEXTS[1], TEXTS[3]))


# ---- DPR's reader --------------------------------------------------------------------------------

WORD_TEXTS = st.lists(short_texts(), min_size=1, max_size=3)


@examples(40)
@given(
    st.data(),
    WORD_TEXTS,
    st.fixed_dictionaries(
        {},
        optional={
            "padding": st.sampled_from([False, True, "max_length"]),
            "truncation": BOOL,
            "max_length": st.sampled_from([None, 5, 10, 30]),
            "return_attention_mask": OPTIONAL_BOOL,
            "return_tensors": st.sampled_from([None, *TENSORS]),
        },
    ),
)
def test_the_readers_call(data: st.DataObject, titles: list[str], options: dict[str, Any]) -> None:
    theirs, ours = both_cached("DPRReaderTokenizer")
    contents = data.draw(st.lists(short_texts(), min_size=len(titles), max_size=len(titles)))
    questions = data.draw(st.one_of(short_texts(), st.just(contents), st.just(contents[1:])))
    assert_same(
        lambda: theirs(questions, titles, contents, **options),
        lambda: ours(questions, titles, contents, **options),
    )
    assert_same(lambda: theirs(titles[0], **options), lambda: ours(titles[0], **options))
    assert_same(
        lambda: theirs("hello", titles=titles[0], **options),
        lambda: ours("hello", titles=titles[0], **options),
    )
    assert_same(
        lambda: theirs("a", texts=titles[0], **options),
        lambda: ours("a", texts=titles[0], **options),
    )


# ---- AutoTokenizer -------------------------------------------------------------------------------


def test_every_model_type_has_the_class_of_transformers() -> None:
    from transformers.models.auto.tokenization_auto import TOKENIZER_MAPPING_NAMES

    from trietok.tokenizer.auto import _MODEL_TYPES

    names = {*(kind.__name__ for kind in CLASSES), "BertJapaneseTokenizer"}
    theirs = {
        model_type: slow
        for model_type, (slow, _) in TOKENIZER_MAPPING_NAMES.items()
        if slow in names
    }
    assert theirs == _MODEL_TYPES


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
def test_the_class_of_a_directory(tokenizer_config: Any, config: Any, tmp_path: Path) -> None:
    folder = tmp_path / "nothing" / "x"
    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_bytes(Path(vocab_file("BertTokenizer")).read_bytes())
    for name, values in (("tokenizer_config.json", tokenizer_config), ("config.json", config)):
        if values is not None:
            (folder / name).write_text(json.dumps(values))

    def load(auto: Any, *path: str, **options: Any) -> Any:
        return type(
            auto.from_pretrained(str(Path(tmp_path, *path)), use_fast=False, **options)
        ).__name__

    mine, other = trietok.AutoTokenizer, transformers.AutoTokenizer
    for path, options in ((("nothing", "x"), {}), (("nothing",), {"subfolder": "x"})):
        assert_same(
            lambda p=path, o=options: load(other, *p, **o),
            lambda p=path, o=options: load(mine, *p, **o),
        )


@pytest.mark.parametrize("config", [None, {}])
def test_where_no_file_names_a_class_transformers_refuses_what_trietok_takes_for_berts(
    config: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "x"
    folder.mkdir()
    (folder / "vocab.txt").write_bytes(Path(vocab_file("BertTokenizer")).read_bytes())
    (folder / "tokenizer_config.json").write_text("{}")
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match="Unrecognized model"):
        transformers.AutoTokenizer.from_pretrained(str(folder))
    assert type(trietok.AutoTokenizer.from_pretrained(str(folder))).__name__ == "BertTokenizerFast"
