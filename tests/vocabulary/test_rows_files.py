"""`apply_rows`: the files it writes, and what it refuses."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pytest
import safetensors

from tests.vocabulary.models import (
    bert,
    numbers,
    read_tensors,
    save_model,
    two_tokenizers,
    write_tensors,
)
from trietok import (
    BertTokenizer,
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    MissingDependencyError,
    RowPlan,
    apply_rows,
    plan_rows,
)

ROWS, AFTER = 11, 13  # of the tokenizers of `two_tokenizers`
TABLE, DECODER = "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"
BIAS = "cls.predictions.bias"


@pytest.fixture
def two(vocab_file):
    return two_tokenizers(vocab_file)


def tensors_of(directory) -> dict[str, np.ndarray]:
    found = {}
    for path in sorted(directory.glob("*.safetensors")):
        found.update(read_tensors(path))
    return found


def names_in(directory) -> list[str]:
    return sorted(
        path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()
    )


# ---- what is written -----------------------------------------------------------------------------


@pytest.mark.parametrize("shards", [1, 2, 5])
@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16", "F64"])
def test_every_tensor(two, tmp_path, dtype, shards):
    before, after, plan = two
    tensors = bert(ROWS, dtype)
    model = save_model(tmp_path / "model", tensors, ROWS, shards=shards, tokenizer=before)
    told = []
    applied = apply_rows(
        plan, model, tmp_path / "out", tokenizer=after, progress=lambda *pair: told.append(pair)
    )
    new = tensors_of(tmp_path / "out")
    assert new.keys() == tensors.keys()
    for name, (_, old) in tensors.items():
        if name in (TABLE, DECODER, BIAS):
            assert new[name].shape == (AFTER, *old.shape[1:])
            assert (new[name][:ROWS] == old).all()
        else:
            assert (new[name] == old).all()
    pieces, weights = zip(*plan.terms_of(ROWS), strict=True)
    if dtype in ("F32", "F64"):
        expected = np.average(
            tensors[TABLE][1][list(pieces)].astype(np.float64), axis=0, weights=weights
        )
        assert new[TABLE][ROWS] == pytest.approx(expected, rel=1e-6)
    size = sum(array.nbytes for array in new.values())
    assert told[-1] == (size, size)
    assert told == sorted(told)
    assert {(each.name, each.before[0], each.after[0], each.dtype) for each in applied.tensors} == {
        (name, ROWS, AFTER, dtype) for name in (TABLE, DECODER, BIAS)
    }
    if shards > 1:
        index = json.loads((tmp_path / "out" / "model.safetensors.index.json").read_text())
        assert index["metadata"] == {
            "total_size": size,
            "total_parameters": sum(array.size for array in new.values()),
            "by": "me",
        }
        assert index["weight_map"] == {
            name: path.name
            for path in (tmp_path / "out").glob("*.safetensors")
            for name in read_tensors(path)
        }
    for path in (tmp_path / "out").glob("*.safetensors"):
        with safetensors.safe_open(path, framework="numpy") as file:
            assert file.metadata() == {"format": "pt"}
    saved = BertTokenizer.from_pretrained(tmp_path / "out")
    assert saved.fingerprint() == plan.after == applied.plan.after


def test_spare_rows_and_multiples(two, tmp_path):
    """New ids take spare rows over; the others stay."""
    _, _, plan = two
    tensors = bert(16)
    model = save_model(tmp_path / "model", tensors, 16)
    applied = apply_rows(plan, model, tmp_path / "out")
    new = tensors_of(tmp_path / "out")[TABLE]
    assert len(new) == 16
    assert (new[AFTER:] == tensors[TABLE][1][AFTER:]).all()
    assert not (new[ROWS:AFTER] == tensors[TABLE][1][ROWS:AFTER]).any()
    assert "the model had 16 rows and has 16, 3 of them spare" in str(applied)
    apply_rows(plan, model, tmp_path / "more", multiple_of=32)
    more = tensors_of(tmp_path / "more")[TABLE]
    assert (more[:16] == new).all()
    assert more.shape == (32, 4)
    assert not more[16:].any()
    assert json.loads((tmp_path / "more" / "config.json").read_text())["vocab_size"] == 32


def test_rows_that_move_and_rows_that_go(vocab_file, tmp_path):
    before = BertTokenizer(str(vocab_file("a", "b", "c")))
    after = BertTokenizer(
        str(
            vocab_file(
                "c", "a", special=["[UNK]", "[CLS]", "[PAD]", "[SEP]", "[MASK]"], name="new.txt"
            )
        )
    )
    plan = plan_rows(before, after, initialization="mean")
    tensors = bert(8)
    config = {
        "eos_token_id": [3, 2],
        "bos_token_id": None,
        "other_token_id": 99,
        "type_vocab_size": 2,
    }
    model = save_model(tmp_path / "model", tensors, 8, tokenizer=before, **config)
    (model / "generation_config.json").write_text(
        json.dumps({"pad_token_id": 0, "suppress_tokens": [4], "x": 0})
    )
    applied = apply_rows(plan, model, tmp_path / "out", tokenizer=after)
    order = [1, 2, 0, 3, 4, 7, 5]
    assert list(plan.sources) == order
    for name in (TABLE, DECODER, BIAS):
        assert (tensors_of(tmp_path / "out")[name] == tensors[name][1][order]).all()
    written = json.loads((tmp_path / "out" / "config.json").read_text())
    assert written == {
        **{"model_type": "bert", "hidden_size": 4, **config},
        **{"vocab_size": 7, "pad_token_id": 2, "eos_token_id": [3, 1]},
    }
    assert applied.ids == {"vocab_size": 7, "pad_token_id": 2, "eos_token_id": [3, 1]}
    generation = json.loads((tmp_path / "out" / "generation_config.json").read_text())
    assert generation == {"pad_token_id": 2, "suppress_tokens": [4], "x": 0}


def test_ids_that_no_file_says(tmp_path):
    """The class takes 0 for padding where config.json says nothing; the new one has to say it."""
    plan = RowPlan("A", "B", 3, 3, [1, 0, 2])
    model = save_model(tmp_path / "model", bert(3), 3, pad_token_id="none")
    apply_rows(plan, model, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "config.json").read_text())["pad_token_id"] == 1
    mpnet = save_model(tmp_path / "mpnet", bert(3), 3, model_type="mpnet", pad_token_id=1)
    with pytest.raises(InputError):
        apply_rows(plan, mpnet, tmp_path / "other")
    with pytest.raises(InputError):
        apply_rows(RowPlan("A", "B", 3, 2, [1, 2]), model, tmp_path / "other")


def test_other_files(two, tmp_path):
    before, after, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS, tokenizer=before)
    (model / "1_Pooling").mkdir()
    (model / "2_Dense").mkdir()
    (model / "onnx").mkdir()
    (model / ".git").mkdir()
    (model / "1_Pooling" / "config.json").write_text('{"word_embedding_dimension": 4}')
    (model / "modules.json").write_text(
        json.dumps([{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}])
    )
    for name in (
        "README.md",
        "2_Dense/pytorch_model.bin",
        "onnx/model.onnx",
        "onnx/vocab.txt",
        ".git/config",
    ):
        (model / name).write_text(name)
    for name in ("pytorch_model.bin", "tf_model.h5", "flax_model.msgpack", "tokenizer.json.bak"):
        (model / name).write_text(name)
    os.symlink("README.md", model / "LINK.md")
    applied = apply_rows(plan, model, tmp_path / "out")
    copied = [
        "1_Pooling/config.json",
        "2_Dense/pytorch_model.bin",
        "LINK.md",
        "README.md",
        "modules.json",
    ]
    assert list(applied.copied) == [*copied, "tokenizer.json.bak"]
    assert list(applied.left_out) == [
        *(
            "flax_model.msgpack",
            "onnx/model.onnx",
            "onnx/vocab.txt",
            "pytorch_model.bin",
            "tf_model.h5",
        ),
    ]
    assert names_in(tmp_path / "out") == sorted(
        [*applied.copied, "config.json", "model.safetensors"]
    )
    assert (tmp_path / "out" / "LINK.md").read_text() == "README.md"
    assert not (tmp_path / "out" / "LINK.md").is_symlink()
    assert "not carried over: flax_model.msgpack, onnx/model.onnx" in str(applied)
    assert "without a tokenizer" in str(applied)
    apply_rows(plan, model, tmp_path / "whole", tokenizer=after)
    assert {"vocab.txt", "tokenizer_config.json", "special_tokens_map.json"} <= set(
        names_in(tmp_path / "whole")
    )
    json.dumps(applied.to_dict())


def test_tensors_that_trietok_does_not_know(two, tmp_path):
    _, _, plan = two
    tensors = {**bert(ROWS), "scorer.table": numbers(ROWS, 3), "scorer.odd": numbers(3, ROWS)}
    model = save_model(tmp_path / "model", tensors, ROWS)
    with pytest.raises(InputError, match=r"--also scorer.table .* --leave scorer.table"):
        apply_rows(plan, model, tmp_path / "out")
    apply_rows(plan, model, tmp_path / "out", also=["scorer.table"], leave=["*.odd"])
    new = tensors_of(tmp_path / "out")
    assert (new["scorer.table"].shape, new["scorer.odd"].shape) == ((AFTER, 3), (3, ROWS))
    for options in (
        {"also": ["nothing"], "leave": ["*.odd"]},
        {"leave": ["*.nothing"]},
        {"also": ["scorer.table"], "leave": ["scorer.*"]},
        {"also": ["scorer.table", "scorer.odd"]},
        {"leave": ["*"]},
    ):
        with pytest.raises(InputError):
            apply_rows(plan, model, tmp_path / "other", **options)


# ---- what is refused -----------------------------------------------------------------------------


def rewrite(path, change) -> None:
    """Change the header of a .safetensors file; what follows it stays."""
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    change(header)
    new = json.dumps(header).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + raw[8 + length :])


def shifted(header):
    header[TABLE]["data_offsets"] = [number + 4 for number in header[TABLE]["data_offsets"]]


def too_far(header):
    header[DECODER]["data_offsets"][1] += 1 << 40


def of_other_size(header):
    header[TABLE]["shape"] = [ROWS, 5]


def of_no_type(header):
    header[TABLE]["dtype"] = "F33"


def with_odd_metadata(header):
    header["__metadata__"] = {"format": 1}


@pytest.mark.parametrize("change", [shifted, too_far, of_other_size, of_no_type, with_odd_metadata])
def test_a_header_that_lies(two, tmp_path, change):
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS)
    rewrite(model / "model.safetensors", change)
    with pytest.raises(FileFormatError) as caught:
        apply_rows(plan, model, tmp_path / "out")
    assert "model.safetensors" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_cut_off(two, tmp_path):
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS)
    whole = (model / "model.safetensors").read_bytes()
    for end in (0, 4, 9, 100, len(whole) - 1):
        (model / "model.safetensors").write_bytes(whole[:end])
        with pytest.raises(FileFormatError):
            apply_rows(plan, model, tmp_path / "out")
    (model / "model.safetensors").write_bytes(whole + b"\0")
    with pytest.raises(FileFormatError):
        apply_rows(plan, model, tmp_path / "out")


def test_shards_and_their_index(two, tmp_path):
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS, shards=2)
    index_path = model / "model.safetensors.index.json"
    index = json.loads(index_path.read_text())
    first, second = sorted(set(index["weight_map"].values()))

    def refused(error, **weight_map):
        index_path.write_text(
            json.dumps({**index, "weight_map": {**index["weight_map"], **weight_map}})
        )
        with pytest.raises(error):
            apply_rows(plan, model, tmp_path / "out")

    refused(FileFormatError, nothing=first)
    refused(FileFormatError, **{TABLE: second})
    refused(FileFormatError, more="../other.safetensors")
    refused(FileError, more="third.safetensors")
    del index["weight_map"][TABLE]
    refused(FileFormatError)
    index["weight_map"] = []
    index_path.write_text(json.dumps(index))
    with pytest.raises(FileFormatError):
        apply_rows(plan, model, tmp_path / "out")


def test_what_config_json_says(two, tmp_path):
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS)
    for vocab_size in ("none", 0, "11"):
        save_model(model, bert(ROWS), ROWS, vocab_size=vocab_size)
        with pytest.raises(FileFormatError):
            apply_rows(plan, model, tmp_path / "out")
    save_model(model, bert(ROWS), ROWS + 1)
    with pytest.raises(InputError):
        apply_rows(plan, model, tmp_path / "out")
    save_model(model, bert(9), 9)
    with pytest.raises(InputError):
        apply_rows(plan, model, tmp_path / "out")
    (model / "config.json").unlink()
    with pytest.raises(FileError):
        apply_rows(plan, model, tmp_path / "out")
    with pytest.raises(FileError):
        apply_rows(plan, tmp_path / "nowhere", tmp_path / "out")


def test_weights_in_other_formats_only(two, tmp_path):
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS, architectures=["BertForMaskedLM"])
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    with pytest.raises(FileError, match="from transformers import BertForMaskedLM"):
        apply_rows(plan, model, tmp_path / "out")
    (model / "pytorch_model.bin").unlink()
    with pytest.raises(FileError):
        apply_rows(plan, model, tmp_path / "out")
    save_model(model / "0_Transformer", bert(ROWS), ROWS)
    with pytest.raises(FileError, match="0_Transformer"):
        apply_rows(plan, model, tmp_path / "out")


def test_tokenizers_of_other_vocabularies(two, tmp_path, vocab_file):
    before, after, plan = two
    other = BertTokenizer(str(vocab_file("other", name="other.txt")))
    model = save_model(tmp_path / "model", bert(ROWS), ROWS, tokenizer=other)
    with pytest.raises(InputError) as caught:
        apply_rows(plan, model, tmp_path / "out")
    assert before.fingerprint() in str(caught.value)
    assert other.fingerprint() in str(caught.value)
    save_model(model, bert(ROWS), ROWS, tokenizer=before)
    with pytest.raises(InputError):
        apply_rows(plan, model, tmp_path / "out", tokenizer=before)
    apply_rows(plan, model, tmp_path / "out", tokenizer=after)
    with pytest.raises(InputTypeError):
        apply_rows("plan.json", model, tmp_path / "more")
    with pytest.raises(InputTypeError):
        apply_rows(plan, model, tmp_path / "more", tokenizer="new")


def test_places_that_cannot_be_written(two, tmp_path):
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS)
    before = names_in(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").touch()
    (tmp_path / "empty").mkdir(mode=0o750)
    (tmp_path / "file").touch()
    os.symlink(model, tmp_path / "link")
    for out in ("model", "model/new", "link/new", "full", "file", "file/new", "a\0b", "x" * 300):
        with pytest.raises(FileError):
            apply_rows(plan, model, f"{tmp_path}/{out}")
    assert names_in(tmp_path) == sorted([*before, "file", "full/a"])
    apply_rows(plan, model, tmp_path / "empty")
    assert (tmp_path / "empty").stat().st_mode & 0o777 == 0o750
    os.symlink(tmp_path / "elsewhere", tmp_path / "to-elsewhere")
    apply_rows(plan, model, tmp_path / "to-elsewhere")
    assert (tmp_path / "elsewhere" / "config.json").is_file()
    apply_rows(plan, model, tmp_path / "deep" / "er" / "out")
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.skipif(sys.platform == "win32", reason="needs Unix: limits of files")
def test_a_full_disk(two, tmp_path):
    """A file may not become as large as the weights: what was begun is removed, and the error says
    where it was.
    """
    import resource
    import signal

    _, after, plan = two
    model = save_model(tmp_path / "model", {**bert(ROWS), "large": numbers(1000, 100)}, ROWS)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
        with pytest.raises(FileError):
            apply_rows(plan, model, tmp_path / "out", tokenizer=after)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["model"]


def test_packages_that_are_missing(two, tmp_path, monkeypatch):
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS)
    for name in ("safetensors", "numpy"):
        with monkeypatch.context() as context:
            context.setitem(sys.modules, name, None)
            with pytest.raises(MissingDependencyError, match=f"pip install {name}$") as caught:
                apply_rows(plan, model, tmp_path / "out")
            assert caught.value.extra == "model"


def test_a_model_without_files_of_tensors_that_change(two, tmp_path):
    _, _, plan = two
    model = save_model(tmp_path / "model", {"layer.weight": numbers(3, 3)}, ROWS)
    with pytest.raises(InputError):
        apply_rows(plan, model, tmp_path / "out")
    write_tensors(model / "model.safetensors", {})
    with pytest.raises(InputError):
        apply_rows(plan, model, tmp_path / "out")
