"""`to_transformers`: what transformers' programs get, and what transformers reads of what is
saved.
"""

from __future__ import annotations

import copy
import json
import pickle
import tempfile
from pathlib import Path
from typing import Any

import pytest
import transformers

import trietok
from trietok.clients import to_transformers

IS_FOUR = transformers.__version__.startswith("4.")
# Letters that are newer than Unicode 9, a format character and an unassigned one: the profiles
# differ on them.
TEXT = "the ĿL \u1d2c covid-19 people\u0378 x\u200by unaffable <ent> PEOPLE [X]"
ROLES = ["unk", "cls", "sep", "pad", "mask"]
PROFILES = [trietok.BertTokenizer, trietok.BertTokenizerFast]
FAMILY = [
    *PROFILES,
    trietok.DistilBertTokenizer,
    trietok.DistilBertTokenizerFast,
    trietok.MPNetTokenizerFast,
]


class Shouting(trietok.BertTokenizer):
    """A user's own class."""

    def _tokenize(self, text: str, **kwargs: Any) -> list[str]:
        return [*super()._tokenize(text), "!"]


def made(kind: type[Any], **kwargs: Any) -> Any:
    if "MPNet" in kind.__name__:  # whose own tokens are others
        kwargs |= {
            "bos_token": "[CLS]",
            "eos_token": "[SEP]",
            **{f"{name}_token": f"[{name.upper()}]" for name in ROLES},
        }
    tokenizer = kind.from_pretrained("trietok-en", **kwargs)
    tokenizer.add_tokens(["covid-19", trietok.AddedToken("<ent>", lstrip=True)])
    tokenizer.add_special_tokens({"additional_special_tokens": ["[X]"]})
    return tokenizer


@pytest.mark.parametrize("kind", FAMILY)
def test_it_is_a_tokenizer_of_transformers_with_the_same_results(kind: type[Any]) -> None:
    tokenizer = made(kind)
    theirs = to_transformers(tokenizer)
    assert isinstance(theirs, transformers.PreTrainedTokenizerBase)
    assert isinstance(theirs, kind)
    assert isinstance(theirs, transformers.PreTrainedTokenizerFast) == (tokenizer.profile == "fast")
    assert theirs.is_fast
    assert theirs.profile == tokenizer.profile
    calls: list[tuple[Any, dict[str, Any]]] = [
        (TEXT, {}),
        (TEXT, {"truncation": True, "max_length": 7, "return_offsets_mapping": True}),
        (TEXT, {"add_special_tokens": False, "return_special_tokens_mask": True}),
        ([TEXT, "a text"], {"padding": True, "return_tensors": "np"}),
        ([(TEXT, TEXT), ("a", "b")], {"truncation": True, "max_length": 12}),
        ([["two", "words"]], {"is_split_into_words": True}),
        (TEXT, {"return_length": True, "return_special_tokens_mask": True}),
        ([TEXT, "a"], {"return_length": True, "padding": True}),
    ]
    for text, options in calls:
        ours, others = tokenizer(text, **options), theirs(text, **options)
        assert set(ours) == set(others)
        for name, value in ours.items():
            assert repr(value) == repr(others[name]), name
    assert theirs.tokenize(TEXT) == tokenizer.tokenize(TEXT)
    assert theirs.decode(theirs.encode(TEXT)) == tokenizer.decode(tokenizer.encode(TEXT))
    assert theirs.get_vocab() == tokenizer.get_vocab()
    assert len(theirs) == len(tokenizer)


@pytest.mark.parametrize("kind", PROFILES)
def test_results_have_the_details_of_transformers_fast_in_both_profiles(
    kind: type[Any], tmp_path: Path
) -> None:
    tokenizer = made(kind)
    made(trietok.BertTokenizerFast).save_pretrained(tmp_path)
    fast = transformers.BertTokenizerFast.from_pretrained(tmp_path)
    calls: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        (("unaffable people", "covid-19"), {}),
        (
            ("a b c d e",),
            {"truncation": True, "max_length": 4, "stride": 1, "return_overflowing_tokens": True},
        ),
    ]
    for texts, options in calls:
        ours, others = (each(*texts, **options) for each in (to_transformers(tokenizer), fast))
        assert ours.is_fast
        assert ours["input_ids"] == others["input_ids"]
        assert ours.get("overflow_to_sample_mapping") == others.get("overflow_to_sample_mapping")
        for method in ("tokens", "word_ids", "sequence_ids"):
            assert getattr(ours, method)() == getattr(others, method)()
        assert ours.char_to_token(0, 3) == others.char_to_token(0, 3)


@pytest.mark.parametrize("side", ["right", "left"])
def test_a_pair_is_cut_as_the_slow_profile_cuts_it(side: str) -> None:
    tokenizer = made(trietok.BertTokenizer, truncation_side=side)
    theirs = to_transformers(tokenizer)
    for strategy in (True, "only_first", "only_second"):
        for texts in (("a b c d", "e f g h"), ("a b c", "d e f g h"), ("a b c d e", "f g")):
            for length in range(6, 12):
                options = {"truncation": strategy, "max_length": length}
                assert theirs(*texts, **options).input_ids == tokenizer(*texts, **options).input_ids
                rows = theirs(*texts, return_overflowing_tokens=True, **options)
                assert rows.input_ids[0] == tokenizer(*texts, **options).input_ids
                kept = {token for row in rows.input_ids for token in row}
                if strategy is True:
                    assert kept == set(tokenizer(*texts).input_ids)


@pytest.mark.parametrize("kind", [*FAMILY, Shouting])
def test_pickled_and_copied_ones_give_the_same_ids(kind: type[Any]) -> None:
    tokenizer = made(kind)
    theirs = to_transformers(tokenizer, allow_differences=kind is Shouting)
    ids = tokenizer.encode(TEXT)
    for other in (pickle.loads(pickle.dumps(theirs)), copy.deepcopy(theirs), copy.copy(theirs)):
        assert type(other) is type(theirs)
        assert other.encode(TEXT) == ids
        assert other.allow_differences == theirs.allow_differences
    if kind is not Shouting:
        assert pickle.loads(pickle.dumps(type(theirs))) is type(theirs)


def test_later_changes_do_not_reach_the_copy() -> None:
    tokenizer = made(trietok.BertTokenizer)
    theirs = to_transformers(tokenizer)
    tokenizer.add_tokens("<later>")
    assert len(theirs) == len(tokenizer) - 1
    assert to_transformers(theirs) is theirs
    theirs.add_tokens(["zzz", "yyy"])
    assert len(theirs) == len(tokenizer) + 1
    theirs.pad_token = "[X]"
    assert theirs.pad_token_id == theirs.convert_tokens_to_ids("[X]") != tokenizer.pad_token_id


def read_by_transformers(directory: Any) -> Any:
    return transformers.AutoTokenizer.from_pretrained(str(directory))


@pytest.mark.parametrize("kind", FAMILY)
def test_transformers_reads_what_is_saved_with_the_same_ids_or_refuses_it(
    kind: type[Any], tmp_path: Any
) -> None:
    # transformers 5's slow class finds an added token in small letters only.
    tokenizer = made(kind, do_lower_case=IS_FOUR or kind.profile == "fast")
    to_transformers(tokenizer).save_pretrained(tmp_path)
    if IS_FOUR and tokenizer.profile == "slow":
        with pytest.raises(ValueError, match="BertTokenizerLegacy does not exist"):
            read_by_transformers(tmp_path)
        read = getattr(transformers, kind.__name__).from_pretrained(str(tmp_path))
    else:
        read = read_by_transformers(tmp_path)
    assert read.encode(TEXT) == tokenizer.encode(TEXT)
    assert list(read(TEXT)) == list(tokenizer(TEXT))
    ours = trietok.AutoTokenizer.from_pretrained(tmp_path)
    assert ours.profile == tokenizer.profile
    assert ours.encode(TEXT) == tokenizer.encode(TEXT)
    assert list(ours(TEXT)) == list(tokenizer(TEXT))
    again = type(to_transformers(tokenizer)).from_pretrained(tmp_path)
    assert isinstance(again, transformers.PreTrainedTokenizerBase)
    assert again.encode(TEXT) == tokenizer.encode(TEXT)


@pytest.mark.skipif(IS_FOUR, reason="needs transformers 5: 4 refuses what is saved")
def test_a_token_that_transformers_would_miss_is_not_saved(
    tmp_path: Any, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = to_transformers(made(trietok.BertTokenizer))
    assert "cannot be saved" in caplog.text
    with pytest.raises(trietok.NotSupportedError):
        theirs.save_pretrained(tmp_path)
    assert not list(tmp_path.iterdir())
    cased = to_transformers(made(trietok.BertTokenizer, do_lower_case=False))
    cased.save_pretrained(tmp_path / "cased")
    cased.add_tokens(trietok.AddedToken("<one>", single_word=True))
    with pytest.raises(trietok.NotSupportedError):
        cased.save_pretrained(tmp_path / "cased")
    allowed = to_transformers(made(trietok.BertTokenizer), allow_differences=True)
    allowed.save_pretrained(tmp_path / "allowed")
    read = read_by_transformers(tmp_path / "allowed")
    assert read.encode(TEXT) == allowed.encode(TEXT)
    assert read.encode("COVID-19") != allowed.encode("COVID-19")


@pytest.mark.skipif(not IS_FOUR, reason="needs transformers 4: 5 has its own test")
def test_allowed_differences_show_in_the_ids_that_transformers_4_reads(tmp_path: Any) -> None:
    tokenizer = made(trietok.BertTokenizer)
    to_transformers(tokenizer, allow_differences=True).save_pretrained(tmp_path)
    read = read_by_transformers(tmp_path)
    assert read.encode("people <ent>") == tokenizer.encode("people <ent>")
    assert read.encode(TEXT) != tokenizer.encode(TEXT)
    assert read.encode(TEXT) == made(trietok.BertTokenizerFast).encode(TEXT)


class Exclaiming(trietok.BertTokenizerFast):
    """A user's own class of the fast profile."""

    def prepare_for_tokenization(
        self, text: str, is_split_into_words: bool = False, **kwargs: Any
    ) -> tuple[str, dict[str, Any]]:
        return text + " !", kwargs


class Named(trietok.BertTokenizerFast):
    """A user's own class that changes nothing."""


@pytest.mark.parametrize(
    "kind", [trietok.MPNetTokenizer, trietok.FunnelTokenizer, Shouting, Exclaiming]
)
def test_a_class_that_transformers_does_not_have_is_refused(kind: type[Any]) -> None:
    tokenizer = made(kind)
    with pytest.raises(trietok.NotSupportedError, match=r"allow_differences=True"):
        to_transformers(tokenizer)
    theirs = to_transformers(tokenizer, allow_differences=True)
    assert theirs.tokenize(TEXT) == tokenizer.tokenize(TEXT)
    assert theirs.encode(TEXT) == tokenizer.encode(TEXT)


def edited(**changes: Any) -> Any:
    """A fast tokenizer whose tokenizer.json is not what its class makes of the vocabulary."""
    with tempfile.TemporaryDirectory() as folder:
        made(trietok.BertTokenizerFast).save_pretrained(folder)
        path = Path(folder) / "tokenizer.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        for key, value in changes.items():
            content[key] = {**content[key], **value} if value else value
        path.write_text(json.dumps(content), encoding="utf-8")
        return trietok.BertTokenizerFast.from_pretrained(folder)


def with_another_role() -> Any:
    tokenizer = made(trietok.BertTokenizerFast)
    tokenizer.add_special_tokens({"cls_token": "<s>"})  # the template keeps its [CLS]
    return tokenizer


UNUSUAL = {
    "another role": with_another_role,
    "nothing around": lambda: edited(post_processor=None),
    "shorter words": lambda: edited(model={"max_input_chars_per_word": 5}),
    "control characters": lambda: edited(normalizer={"clean_text": False}),
    "no decoder": lambda: edited(decoder=None),
    "a user's class": lambda: made(Named),
    "usual": lambda: made(trietok.BertTokenizerFast),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_transformers_reads_an_unusual_tokenizer_with_the_same_ids(
    name: str, tmp_path: Any
) -> None:
    """transformers 5 makes its BERT tokenizer of the vocabulary and the roles, whatever stands in
    tokenizer.json.
    """
    tokenizer = UNUSUAL[name]()
    to_transformers(tokenizer).save_pretrained(tmp_path)
    saved = json.loads((tmp_path / "tokenizer_config.json").read_text(encoding="utf-8"))[
        "tokenizer_class"
    ]
    is_usual = name in ("usual", "a user's class")
    assert saved == ("BertTokenizer" if is_usual else "PreTrainedTokenizerFast")
    text = f"{TEXT} a\x07b unaffable don't"
    for read in (read_by_transformers(tmp_path), trietok.AutoTokenizer.from_pretrained(tmp_path)):
        assert read.encode(text, "people") == tokenizer.encode(text, "people")
        assert list(read(text)) == list(tokenizer(text))
        assert read.decode(read.encode(text)) == tokenizer.decode(tokenizer.encode(text))
    assert (
        type(trietok.AutoTokenizer.from_pretrained(tmp_path, use_fast=is_usual))
        is trietok.BertTokenizerFast
    )


@pytest.mark.skipif(IS_FOUR, reason="needs transformers 5: 4 writes a small sigma anywhere")
def test_saving_warns_of_a_final_sigma(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    tokenizer = trietok.BertTokenizer.from_pretrained("trietok-multi", do_lower_case=True)
    to_transformers(tokenizer).save_pretrained(tmp_path)
    assert caplog.text.count("\N{GREEK CAPITAL LETTER SIGMA}") == 1
    text = "\N{GREEK CAPITAL LETTER OMICRON}\N{GREEK CAPITAL LETTER SIGMA}"
    assert read_by_transformers(tmp_path).encode(text) != tokenizer.encode(text)


@pytest.mark.parametrize(
    "value", ["trietok-en", trietok.BertTokenizer, transformers.BatchEncoding()], ids=type
)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(trietok.InputTypeError):
        to_transformers(value)


def test_a_fast_one_has_a_rust_tokenizer_behind_it() -> None:
    tokenizer = made(trietok.BertTokenizerFast)
    theirs = to_transformers(tokenizer)
    assert theirs.backend_tokenizer.encode(TEXT).ids == tokenizer.encode(TEXT)
    theirs.add_tokens(["unaffable"])
    assert (
        theirs.backend_tokenizer.encode(TEXT).ids == theirs.encode(TEXT) != tokenizer.encode(TEXT)
    )
    slow = to_transformers(made(trietok.BertTokenizer))
    assert not hasattr(slow, "backend_tokenizer")


@pytest.mark.parametrize("kind", PROFILES)
def test_use_does_not_change_the_pickled_bytes(kind: type[Any]) -> None:
    """As `datasets` fingerprints a tokenizer."""
    theirs = to_transformers(made(kind))
    before = pickle.dumps(theirs)
    theirs(TEXT, padding=True, truncation=True, max_length=9)
    assert len(theirs.decode(theirs.encode(TEXT))) > 9
    assert len(theirs) > 8000
    assert pickle.dumps(theirs) == before


@pytest.mark.parametrize("kind", PROFILES)
def test_results_are_batch_encodings_of_both_libraries(kind: type[Any]) -> None:
    tokenizer = made(kind)
    result, plain = to_transformers(tokenizer)([TEXT, "a text"]), tokenizer([TEXT, "a text"])
    assert isinstance(result, transformers.BatchEncoding)
    assert isinstance(result, trietok.BatchEncoding)
    for each in (result, copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert type(each) is type(result)
        assert each == plain
        assert each.word_ids(0) == result.encodings[0].word_ids


def test_a_role_that_was_added_again_is_refused_until_it_is_loaded_again(tmp_path: Path) -> None:
    tokenizer = made(trietok.BertTokenizerFast)
    tokenizer.add_tokens([trietok.AddedToken("[MASK]")])
    text = "a [MASK] [mask]"
    with pytest.raises(trietok.NotSupportedError):
        to_transformers(tokenizer)
    tokenizer.save_pretrained(tmp_path / "ours")
    loaded = trietok.BertTokenizerFast.from_pretrained(tmp_path / "ours")
    theirs = to_transformers(loaded)
    theirs.save_pretrained(tmp_path / "theirs")
    read = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    ids = loaded.encode(text)
    assert theirs.encode(text) == read.encode(text) == ids
    shown = loaded.decode(ids, skip_special_tokens=True)
    assert (
        theirs.decode(ids, skip_special_tokens=True)
        == read.decode(ids, skip_special_tokens=True)
        == shown
    )
