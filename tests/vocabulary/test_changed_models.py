"""A model whose vocabulary changes: kept rows bit for bit, new rows as the initialization says, and
all that stands beside the rows.
"""

from __future__ import annotations

import copy
import itertools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import safetensors
from hypothesis import given
from hypothesis import strategies as st

import trietok
from tests.cli.commands import posix
from tests.conftest import SPECIAL, examples
from tests.vocabulary.models import (
    DTYPES,
    bert,
    contents,
    numbers,
    read_tensors,
    save_model,
    stop_at_the_rename,
)
from trietok import BertTokenizer, BertTokenizerFast, adapt, apply_rows, compare

KINDS = {"slow": BertTokenizer, "fast": BertTokenizerFast}
WORDS = (
    *("the", "sick", "co", "##v", "##id", "vac", "##cine", "##s", "[unused0]", "[unused1]"),
    *("a", "b", "##b", "doctor"),
)
ROWS = 5 + len(WORDS)
TABLE, DECODER = "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"
BIAS = "cls.predictions.bias"
TEXTS = ["the covid vaccines", "covid, a doctor", "vaccines b"]
PIECES = {"##cines": ["##cine", "##s"]}  # of new tokens that are no texts


# ---- numbers -------------------------------------------------------------------------------------

BITS = {"F64": np.uint64, "F32": np.uint32, "F16": np.uint16, "BF16": np.uint16}
INFINITY = {"F64": 0x7FF << 52, "F32": 0xFF << 23, "F16": 0x1F << 10, "BF16": 0xFF << 7}


def value_of(bits: int, dtype: str) -> Fraction:
    """The finite number that some bits stand for."""
    if dtype == "BF16":
        bits, dtype = bits << 16, "F32"
    (number,) = np.array([bits], BITS[dtype]).view(DTYPES[dtype])
    return Fraction(float(number))


def nearest(number: Fraction, dtype: str) -> Fraction:
    """The nearest number of a type, by bisection, as larger bits are larger numbers; of two that
    are equally near, the even one.
    """
    low, high = 0, INFINITY[dtype] - 1
    while low < high:
        middle = (low + high + 1) // 2
        is_below = value_of(middle, dtype) <= abs(number)
        low, high = (middle, high) if is_below else (low, middle - 1)
    below, above = value_of(low, dtype), value_of(low + 1, dtype)
    distances = abs(number) - below, above - abs(number)
    takes_above = distances[0] > distances[1] or (distances[0] == distances[1] and low % 2)
    return (above if takes_above else below) * (1 if number >= 0 else -1)


# ---- changes -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """A model to change, and where to write the other."""

    directory: Path
    out: Path
    tokenizer: BertTokenizer
    initialization: str | Callable[..., object] = "mean"

    def adapt(self, texts=(), **options) -> trietok.Adapted:
        profile = "fast" if self.tokenizer.is_fast else "slow"
        options = {"profile": profile, "initialization": self.initialization} | options
        return adapt(self.directory, self.out, texts, **options)

    def in_python(self, change: Callable[[BertTokenizer], object]) -> None:
        after = copy.deepcopy(self.tokenizer)
        change(after)
        plan = trietok.plan_rows(self.tokenizer, after, initialization=self.initialization)
        apply_rows(plan, self.directory, self.out, tokenizer=after)


class Change(NamedTuple):
    """What is done to a model, and the tokens that come and go. `moves`: ids close up."""

    apply: Callable[[Model], object]
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    moves: bool = False


def trimmed(model: Model) -> None:
    smaller = trietok.trim(model.tokenizer, ["the covid sick"], keep=["b"])
    apply_rows(smaller.plan, model.directory, model.out, tokenizer=smaller.tokenizer)


def added_in_python(tokenizer: BertTokenizer) -> None:
    tokenizer.add_wordpieces(["covid", "##cines"])
    tokenizer.add_tokens(["the sick", "co☃"])


CHANGES = {
    "terms": Change(
        lambda model: model.adapt(terms=["Covid", "the sick", "##cines", "bb", "☃"]),
        ("covid", "the sick", "##cines", "bb", "☃"),
    ),
    "whole words": Change(
        lambda model: model.adapt(terms=["covid", "vaccines"], way="single-word"),
        ("covid", "vaccines"),
    ),
    "inside words": Change(lambda model: model.adapt(terms=["bb"], way="added"), ("bb",)),
    "slots": Change(
        lambda model: model.adapt(terms=["covid", "bb"], way="unused"),
        ("covid", "bb"),
        ("[unused0]", "[unused1]"),
    ),
    "words of texts": Change(
        lambda model: model.adapt(TEXTS, min_frequency=2), ("covid", "vaccines")
    ),
    "removed": Change(lambda model: model.adapt(remove=["a"]), (), ("a",), True),
    "removed and added": Change(
        lambda model: model.adapt(remove=["the", "a"], terms=["covid", "bb"]),
        ("covid", "bb"),
        ("the", "a"),
        True,
    ),
    "trimmed": Change(
        trimmed,
        (),
        ("vac", "##cine", "##s", "[unused0]", "[unused1]", "a", "##b", "doctor"),
        True,
    ),
    "added in Python": Change(
        lambda model: model.in_python(added_in_python), ("covid", "##cines", "the sick", "co☃")
    ),
    "a slot in Python": Change(
        lambda model: model.in_python(lambda t: t.assign_unused("[unused1]", "covid")),
        ("covid",),
        ("[unused1]",),
    ),
    "removed in Python": Change(
        lambda model: model.in_python(lambda t: t.keep_only(range(ROWS - 1))), (), ("doctor",)
    ),
}


@pytest.fixture
def make(vocab_file, tmp_path):
    """A function that writes a model with its tokenizer, and files beside them."""

    def made(kind="slow", tensors=None, **options) -> Model:
        tokenizer = KINDS[kind](vocab_file(*WORDS))
        initialization = options.pop("initialization", "mean")
        if tensors:
            options.setdefault("hidden_size", tensors[TABLE][1].shape[1])
        directory = tmp_path / "model"
        save_model(directory, tensors or bert(ROWS), ROWS, tokenizer=tokenizer, **options)
        (directory / "README.md").write_text("read me")
        (directory / "1_Pooling").mkdir()
        (directory / "1_Pooling" / "config.json").write_text("{}")
        return Model(directory, tmp_path / "out", tokenizer, initialization)

    return made


def weights_of(token: str, initialization: str, before: BertTokenizer) -> dict[int, Fraction]:
    """The shares of old rows in the row of a new token."""
    if initialization == "zeros":
        return {}
    if initialization.startswith("copy:"):
        return {before.convert_tokens_to_ids(initialization.removeprefix("copy:")): Fraction(1)}
    found = PIECES.get(token) or before.tokenize(token)
    pieces = [piece for piece in found if piece != "[UNK]"]
    ids = before.convert_tokens_to_ids(pieces)
    lengths = [len(piece.removeprefix("##")) ** 2 for piece in pieces]
    if initialization == "all" or not pieces:
        ids = list(range(before.max_id + 1))
    if initialization != "length" or not pieces:
        lengths = [1] * len(ids)
    shares: dict[int, Fraction] = {}
    for token_id, length in zip(ids, lengths, strict=True):
        shares[token_id] = shares.get(token_id, Fraction(0)) + Fraction(length, sum(lengths))
    return shares


def check_new_row(new: np.ndarray, old: np.ndarray, weights: dict[int, Fraction], dtype: str):
    bits = new.reshape(-1).view(BITS[dtype])
    terms = [(weight, old[row].reshape(-1).view(BITS[dtype])) for row, weight in weights.items()]
    for column, found in enumerate(bits):
        exact = sum(
            (weight * value_of(int(row[column]), dtype) for weight, row in terms), Fraction()
        )
        value = value_of(int(found), dtype)
        if dtype == "F64":  # the sum itself is rounded
            assert abs(value - exact) <= Fraction(2) ** -45 * max(1, abs(exact))
        else:
            assert value == nearest(exact, dtype), (column, weights)


def check_changed(model: Model, change: Change, dtype: str = "F32") -> None:
    """Compare the two directories: tokens, ids, rows, files."""
    kind = type(model.tokenizer)
    before, after = (kind.from_pretrained(each) for each in (model.directory, model.out))
    old_ids, new_ids = before.get_vocab(), after.get_vocab()
    comparison = compare(before, after, ())
    assert set(comparison.gained) == set(change.gained) == new_ids.keys() - old_ids.keys()
    assert set(comparison.lost) == set(change.lost) == old_ids.keys() - new_ids.keys()
    moved = {
        token: (row, new_ids[token])
        for token, row in old_ids.items()
        if new_ids.get(token, row) != row
    }
    assert comparison.moved == moved
    assert bool(moved) == change.moves
    old, new = read_tensors(model.directory), read_tensors(model.out)
    assert old.keys() == new.keys()
    for name in old.keys() - {TABLE, DECODER, BIAS}:
        assert new[name].tobytes() == old[name].tobytes(), name
    for name in (TABLE, DECODER, BIAS):
        assert len(new[name]) == after.max_id + 1
        for token in old_ids.keys() & new_ids.keys():
            assert new[name][new_ids[token]].tobytes() == old[name][old_ids[token]].tobytes(), token
        for token in change.gained:
            weights = weights_of(token, model.initialization, before)
            check_new_row(new[name][new_ids[token]], old[name], weights, dtype)
    config, old_config = (
        json.loads((each / "config.json").read_text()) for each in (model.out, model.directory)
    )
    assert config == {**old_config, "vocab_size": after.max_id + 1}
    for name in ("README.md", "1_Pooling/config.json"):
        assert (model.out / name).read_bytes() == (model.directory / name).read_bytes()
    assert (model.out / "tokenizer.json").exists() == after.is_fast
    for path in model.out.glob("*.safetensors"):
        with safetensors.safe_open(path, framework="numpy") as file:
            assert file.metadata() == {"format": "pt"}


OTHERS = itertools.product(
    ("terms", "slots", "removed and added", "added in Python"),
    ("length", "all", "zeros", "copy:co"),
    ("slow",),
)


@pytest.mark.parametrize(
    ("name", "initialization", "kind"), [*itertools.product(CHANGES, ("mean",), KINDS), *OTHERS]
)
def test_a_change_keeps_old_rows_and_makes_new_ones(make, name, initialization, kind):
    model = make(kind, initialization=initialization)
    CHANGES[name].apply(model)
    check_changed(model, CHANGES[name])


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["F64", "F32", "F16", "BF16"])
def test_every_type_of_numbers_and_number_of_files(make, dtype, shards):
    model = make(tensors=bert(ROWS, dtype), shards=shards, initialization="length")
    steps = []
    change = CHANGES["removed and added"]
    done = model.adapt(
        remove=change.lost, terms=change.gained, progress=lambda *step: steps.append(step)
    )
    check_changed(model, change, dtype)
    new = read_tensors(model.out)
    size = sum(array.nbytes for array in new.values())
    assert steps == sorted(steps)
    assert steps[-1] == (size, size)
    assert {
        (each.name, each.before[0], each.after[0], each.dtype) for each in done.applied.tensors
    } == {(name, ROWS, ROWS, dtype) for name in (TABLE, DECODER, BIAS)}
    assert len(list(model.out.glob("*.safetensors"))) == shards
    if shards > 1:
        index = json.loads((model.out / "model.safetensors.index.json").read_text())
        parameters = sum(array.size for array in new.values())
        assert index["metadata"] == {"total_size": size, "total_parameters": parameters, "by": "me"}
        files = {path.name: read_tensors(path) for path in model.out.glob("*.safetensors")}
        assert index["weight_map"] == {name: file for file in files for name in files[file]}


TERMS = ("covid", "vaccines", "bb", "sick covid", "doctors", "cos", "☃")
STEPS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(TERMS), max_size=3, unique=True),
        st.lists(st.sampled_from((*TERMS, "a", "doctor")), max_size=2, unique=True),
    ),
    min_size=1,
    max_size=5,
)


@examples(24)
@given(kind=st.sampled_from(sorted(KINDS)), steps=STEPS)
def test_a_model_that_grows_and_shrinks_in_steps_has_the_right_rows_after_each(
    tmp_path_factory, kind, steps
):
    """A token that stays has the row it came with, and ids are those of the order of arrival."""
    folder = tmp_path_factory.mktemp("steps")
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *WORDS, ""]), encoding="utf-8")
    first = KINDS[kind](folder / "vocab.txt")
    at = save_model(folder / "0", bert(ROWS), ROWS, tokenizer=first)
    (at / "README.md").write_text("read me")
    (at / "1_Pooling").mkdir()
    (at / "1_Pooling" / "config.json").write_text("{}")
    arrived = tokens_by_id(first)
    for number, (terms, some) in enumerate(steps, 1):
        gone = [term for term in some if term in arrived]
        left = [token for token in arrived if token not in gone]
        new = [term for term in terms if term not in left]
        if not (gone or new):
            continue
        model = Model(at, folder / str(number), KINDS[kind].from_pretrained(at), "length")
        done = model.adapt(terms=terms, remove=gone)
        assert (list(done.removed), list(done.terms.added)) == (gone, new)
        assert sorted(done.terms.added.values()) == [*range(len(left), len(left) + len(new))]
        now = left + sorted(new, key=done.terms.added.get)
        assert tokens_by_id(KINDS[kind].from_pretrained(model.out)) == now
        moves = any(token in now and now.index(token) != row for row, token in enumerate(arrived))
        gained = tuple(token for token in new if token not in gone)
        lost = tuple(token for token in gone if token not in new)
        check_changed(model, Change(print, gained, lost, moves))
        arrived, at = now, model.out


def tokens_by_id(tokenizer: BertTokenizer) -> list[str]:
    ids = tokenizer.get_vocab()
    return sorted(ids, key=ids.get)


# ---- the numbers of new rows ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terms", "bits"),
    [
        ([(1, 1), (2**-8, 1)], 0x3F80),  # the middle of two: to the even one
        ([(1, 1), (3 * 2**-8, 1)], 0x3F82),
        ([(1, 1), (2**-8, 1), (2**-40, 1)], 0x3F81),  # above the middle, which float32 drops
        ([(1, 1), (3 * 2**-8, 1), (-(2**-40), 1)], 0x3F81),  # just below it
        ([(2**-133, 0.5)], 0x0000),  # half of the smallest number
        ([(2**-133, 0.5), (2**-133, 2**-47)], 0x0001),
        ([(-(2**-133), 1), (0, 1)], 0x8001),
    ],
)
def test_bfloat16_is_rounded_once(make, terms, bits):
    values = np.zeros((ROWS, 1), np.float32)
    values[5 : 5 + len(terms), 0] = [value for value, _ in terms]
    table = (values.view(np.uint32) >> 16).astype(np.uint16)
    weights = {5 + number: weight for number, (_, weight) in enumerate(terms)}
    model = make(tensors={TABLE: ("BF16", table)}, initialization=lambda token, pieces: weights)
    model.adapt(terms=["covid"])
    assert read_tensors(model.out)[TABLE][ROWS, 0] == bits


@pytest.mark.parametrize("dtype", BITS)
def test_kept_rows_and_copies_keep_all_bits_and_sums_of_what_is_not_finite_are_refused(make, dtype):
    rng = np.random.default_rng(1)
    most = np.iinfo(BITS[dtype]).max
    table = rng.integers(0, most, size=(ROWS, 5), dtype=BITS[dtype], endpoint=True)
    table[7] = INFINITY[dtype] - 1, 1, 0, most // 2 + 1, 5  # of "co": the largest, -0, subnormal
    table[8] = INFINITY[dtype], INFINITY[dtype] + 1, most, 0, 0  # of "##v": infinite, NaN
    tensors = {TABLE: (dtype, table.view(DTYPES[dtype]))}
    model = make(tensors=tensors, initialization="copy:co")
    model.adapt(terms=["covid"], remove=["a"])
    new = read_tensors(model.out)[TABLE].view(BITS[dtype])
    assert new.tobytes() == np.concatenate([np.delete(table, 15, axis=0), table[7:8]]).tobytes()
    no = replace(model, out=model.out.with_name("no"))
    for initialization in ("mean", "all", "copy:##v"):
        with pytest.raises(trietok.InputError, match=f"'{TABLE}'"):
            replace(no, initialization=initialization).adapt(terms=["covid"])
    with pytest.raises(trietok.InputError, match=f"'{TABLE}'"):  # twice the largest number
        replace(no, initialization=lambda token, pieces: {7: 2.0}).adapt(terms=["covid"])
    assert not no.out.exists()


def test_whole_numbers_are_copied_and_never_added_up(make):
    model = make(tensors={TABLE: numbers(ROWS, 2, dtype="I8")}, initialization="copy:co")
    model.adapt(terms=["covid"])
    new = read_tensors(model.out)[TABLE]
    assert (new[ROWS] == new[7]).all()
    shutil.rmtree(model.out)
    with pytest.raises(trietok.InputError, match="I8"):
        replace(model, initialization="mean").adapt(terms=["covid"])


def all_for_covid(token: str, pieces: list[int]) -> dict[int, float]:
    rows = range(ROWS) if token == "covid" else pieces
    return dict.fromkeys(rows, 1 / len(rows))


@pytest.mark.parametrize("initialization", ["mean", "all", all_for_covid])
def test_tables_larger_than_a_block_and_columns_of_tokens(make, initialization):
    """MobileBERT has a matrix with a column for each token."""
    dense = "cls.predictions.dense.weight"
    rng = np.random.default_rng(2)
    tensors = {
        TABLE: ("F32", rng.normal(size=(ROWS, 150_000)).astype(np.float32)),
        dense: ("F32", rng.normal(size=(120_000, ROWS)).astype(np.float32)),
    }
    model = make(tensors=tensors, model_type="mobilebert", initialization=initialization)
    model.adapt(remove=["a"], terms=["covid", "bb", "the sick"])
    new = read_tensors(model.out)
    for name, table in ((TABLE, new[TABLE]), (dense, new[dense].T)):
        old = tensors[name][1] if name == TABLE else tensors[name][1].T
        assert (table[: ROWS - 1] == np.delete(old, 15, axis=0)).all()
        for row, pieces in enumerate(([7, 8, 9], [16, 17], [5, 6]), ROWS - 1):
            is_of_all = initialization == "all" or (initialization != "mean" and 7 in pieces)
            mean = old[slice(None) if is_of_all else pieces].mean(0, np.float64)
            np.testing.assert_allclose(table[row], mean, rtol=1e-6, atol=1e-7)


# ---- beside the rows -----------------------------------------------------------------------------


def test_spare_rows_are_taken_over_and_rows_are_rounded_up_to_a_multiple(make, vocab_file):
    tokenizer = BertTokenizer(vocab_file(*WORDS))
    model = make()
    save_model(model.directory, bert(32), 32, tokenizer=tokenizer)
    done = model.adapt(terms=["covid", "bb"])
    old, new = (read_tensors(each)[TABLE] for each in (model.directory, model.out))
    assert (len(new), done.applied.rows_after) == (32, 32)
    assert (new[:ROWS] == old[:ROWS]).all()
    assert (new[ROWS + 2 :] == old[ROWS + 2 :]).all()
    assert "the model had 32 rows and has 32, 11 of them spare" in str(done.applied)
    replace(model, out=model.out.with_name("more")).adapt(terms=["covid", "bb"], multiple_of=20)
    more = read_tensors(model.out.with_name("more"))[TABLE]
    assert (more[:32] == new).all()
    assert more.shape == (40, 4)
    assert not more[32:].any()
    config = json.loads((model.out.with_name("more") / "config.json").read_text())
    assert config["vocab_size"] == 40


@pytest.fixture
def words_first(vocab_file, tmp_path):
    """A function that writes a model whose special tokens have the last ids."""

    def made(**config) -> Model:
        special = ["a", "b", "[UNK]", "[CLS]", "[PAD]", "[SEP]", "[MASK]"]
        tokenizer = BertTokenizer(vocab_file("c", special=special))
        directory = tmp_path / "model"
        save_model(directory, bert(8), 8, tokenizer=tokenizer, **{"pad_token_id": 4, **config})
        return Model(directory, tmp_path / "out", tokenizer)

    return made


def test_ids_in_the_configurations_follow_their_tokens(words_first):
    config = {"eos_token_id": [5, 3], "bos_token_id": None, "other_token_id": 99}
    config["sep_token_id"] = 0  # of a token that goes: it is that of the role now
    model = words_first(**config, type_vocab_size=2)
    generation = {"pad_token_id": 4, "suppress_tokens": [0], "x": 4}
    path = model.directory / "generation_config.json"
    path.write_text(json.dumps(generation))
    with pytest.raises(trietok.InputError, match="suppress_tokens"):  # no role tells another
        model.adapt(remove=["a", "b"])
    path.write_text(json.dumps({**generation, "suppress_tokens": [6]}))
    done = model.adapt(remove=["a", "b"])
    written, of_generation = (
        json.loads((model.out / name).read_text())
        for name in ("config.json", "generation_config.json")
    )
    changed = {"vocab_size": 6, "pad_token_id": 2, "eos_token_id": [3, 1], "sep_token_id": 3}
    kept = {"model_type": "bert", "hidden_size": 4, "type_vocab_size": 2}
    assert written == {**kept, **config, **changed}
    assert of_generation == {"pad_token_id": 2, "suppress_tokens": [4], "x": 4}
    assert done.applied.ids == changed


def test_the_padding_that_a_class_takes_by_default_is_written_down_or_the_change_refused(
    words_first,
):
    model = words_first(pad_token_id="none", model_type="convbert")  # whose default is 1
    model.adapt(remove=["a"])
    assert json.loads((model.out / "config.json").read_text())["pad_token_id"] == 0
    mpnet = words_first(model_type="mpnet")  # whose class takes 1, whatever the file says
    with pytest.raises(trietok.InputError):
        replace(mpnet, out=model.out.with_name("no")).adapt(remove=["a"])


def test_other_files_are_copied_and_other_weights_are_left_out(make):
    model = make()
    folders = [{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}]
    (model.directory / "modules.json").write_text(json.dumps(folders))
    copied = ["2_Dense/pytorch_model.bin", "tokenizer.json.bak"]
    left_out = ["flax_model.msgpack", "onnx/model.onnx", "onnx/vocab.txt", "pytorch_model.bin"]
    left_out += ["tf_model.h5"]
    for name in (*copied, *left_out, ".git/config"):
        (model.directory / name).parent.mkdir(exist_ok=True)
        (model.directory / name).write_text(name)
    (model.directory / "LINK.md").symlink_to("README.md")
    applied = model.adapt(terms=["covid"]).applied
    always = ["1_Pooling/config.json", "LINK.md", "README.md", "modules.json"]
    assert sorted(applied.copied) == sorted([*copied, *always])
    assert list(applied.left_out) == left_out
    assert "not carried over: flax_model.msgpack, onnx/model.onnx" in str(applied)
    names = {
        path.relative_to(model.out).as_posix() for path in model.out.rglob("*") if path.is_file()
    }
    own = {"config.json", "model.safetensors", "vocab.txt", "tokenizer_config.json"}
    assert names == {*applied.copied, *own, "special_tokens_map.json"}
    assert (model.out / "LINK.md").read_text() == "read me"
    assert not (model.out / "LINK.md").is_symlink()


def test_a_tensor_of_an_unknown_name_is_refused_unless_the_caller_says_what_it_is(make):
    more = {"scorer.table": numbers(ROWS, 3), "scorer.odd": numbers(3, ROWS)}
    model = make(tensors={**bert(ROWS), **more})
    for options in (
        {},
        {"also": ["nothing"], "leave": ["*.odd"]},
        {"leave": ["*.nothing"]},
        {"also": ["scorer.table"], "leave": ["scorer.*"]},
        {"also": ["scorer.table", "scorer.odd"]},
        {"leave": ["*"]},
    ):
        with pytest.raises(trietok.InputError) as caught:
            model.adapt(terms=["covid"], **options)
        if not options:
            assert "--also scorer.table" in str(caught.value)
    assert not model.out.exists()
    model.adapt(terms=["covid"], also=["scorer.table"], leave=["*.odd"])
    new = read_tensors(model.out)
    assert (new["scorer.table"].shape, new["scorer.odd"].shape) == ((ROWS + 1, 3), (3, ROWS))


# ---- where it cannot be written ------------------------------------------------------------------


def test_the_output_is_a_new_directory_or_an_empty_one(make, tmp_path):
    model = make()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    (tmp_path / "empty").mkdir(mode=0o750)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(model.directory)
    before = sorted(tmp_path.rglob("*"))
    for out in ("model", "model/new", "link/new", "full", "file", "file/new", "a\0b", "x" * 300):
        with pytest.raises(trietok.FileError):
            replace(model, out=f"{tmp_path}/{out}").adapt(terms=["covid"])
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "to-elsewhere").symlink_to(tmp_path / "elsewhere")
    for out in ("empty", "to-elsewhere", "deep/er/out"):
        replace(model, out=tmp_path / out).adapt(terms=["covid"])
        assert (tmp_path / out / "config.json").is_file()
    assert (tmp_path / "empty").stat().st_mode & 0o777 == 0o750
    assert not list(tmp_path.glob(".*"))


@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix: limits of files")
def test_a_full_disk_leaves_nothing(make, tmp_path):
    import resource

    model = make(tensors={**bert(ROWS), "large": numbers(1000, 100)})
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        with pytest.raises(trietok.FileError):
            model.adapt(terms=["covid"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["model"]


@pytest.mark.parametrize("name", ["safetensors", "numpy"])
def test_a_missing_package_is_named_with_the_command_that_installs_it(make, monkeypatch, name):
    model = make()
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(trietok.MissingDependencyError, match=f"pip install {name}$") as caught:
        model.adapt(terms=["covid"])
    assert caught.value.extra == "model"


@posix
@pytest.mark.parametrize("is_before", [True, False], ids=["before the rename", "after it"])
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_all_or_nothing_is_there_after_a_kill(make, tmp_path, sent, is_before):
    model, place = make(shards=3), tmp_path / "place"
    model.adapt(terms=["covid"])
    child = os.fork()
    if child == 0:
        try:
            stop_at_the_rename(place / "out", sent, is_before)
            replace(model, out=place / "out").adapt(terms=["covid"])
        except KeyboardInterrupt:
            os._exit(130)
        finally:
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == (-sent if sent == signal.SIGKILL else 130)
    assert (place / "out").exists() != is_before
    if not is_before:
        assert contents(place / "out") == contents(model.out)
        shutil.rmtree(place / "out")
    elif sent == signal.SIGINT:
        assert not place.exists()
    replace(model, out=place / "out").adapt(terms=["covid"])
    assert contents(place / "out") == contents(model.out)
    assert os.listdir(place) == ["out"]
