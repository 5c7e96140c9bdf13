"""Models of a few numbers, as files: what the tests of `apply_rows` change."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

import numpy as np

from trietok import BertTokenizer, plan_rows

DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": np.uint16, "I8": np.int8}
WORDS = ("the", "co", "##v", "##id", "vac", "##cine")  # ids from 5


def write_tensors(path: Path, tensors: dict[str, tuple[str, np.ndarray]], metadata=None) -> None:
    """A .safetensors file; bfloat16 is given as its bits."""
    header, end = {"__metadata__": metadata} if metadata else {}, 0
    for name, (dtype, array) in tensors.items():
        offsets = [end, end + array.nbytes]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": offsets}
        end = offsets[1]
    write_header(path, header, b"".join(array.tobytes() for _, array in tensors.values()))


def write_header(path: Path, header: dict | bytes, content: bytes | None = None) -> None:
    """Write the header of a .safetensors file; what follows it stays, if no content is given."""
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    if content is None:
        raw = path.read_bytes()
        content = raw[8 + int.from_bytes(raw[:8], "little") :]
    path.write_bytes(len(head).to_bytes(8, "little") + head + content)


def header_of(path: Path) -> dict:
    raw = path.read_bytes()
    return json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Each tensor of a file, or of all files of a directory, as an array of its bits' type:
    bfloat16 as uint16.
    """
    if path.is_dir():
        files = sorted(path.glob("*.safetensors"))
        return {name: array for file in files for name, array in read_tensors(file).items()}
    raw = path.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    arrays = {}
    for name, tensor in header_of(path).items():
        if name != "__metadata__":
            first, last = (start + offset for offset in tensor["data_offsets"])
            array = np.frombuffer(raw[first:last], DTYPES[tensor["dtype"]])
            arrays[name] = array.reshape(tensor["shape"])
    return arrays


def numbers(*shape: int, dtype: str = "F32", seed: int = 0) -> tuple[str, np.ndarray]:
    values = np.random.default_rng(seed).normal(size=shape)
    if dtype == "BF16":
        return dtype, (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return dtype, values.astype(DTYPES[dtype])


def bert(rows: int, dtype: str = "F32") -> dict[str, tuple[str, np.ndarray]]:
    """Some tensors of a BERT with an untied head."""
    shapes = {
        "bert.embeddings.word_embeddings.weight": (rows, 4),
        "bert.embeddings.position_embeddings.weight": (7, 4),
        "bert.encoder.layer.0.output.dense.weight": (4, 6),
        "cls.predictions.bias": (rows,),
        "cls.predictions.decoder.weight": (rows, 4),
    }
    return {
        name: numbers(*shape, dtype=dtype, seed=seed)
        for seed, (name, shape) in enumerate(shapes.items())
    }


def save_model(
    directory: Path, tensors, rows: int, *, shards: int = 1, tokenizer=None, **config
) -> Path:
    """A directory as transformers saves a model."""
    directory.mkdir(parents=True, exist_ok=True)
    if shards == 1:
        write_tensors(directory / "model.safetensors", tensors, {"format": "pt"})
    else:
        names = list(tensors)
        weight_map = {}
        for number in range(shards):
            file = f"model-{number + 1:05}-of-{shards:05}.safetensors"
            some = {name: tensors[name] for name in names[number::shards]}
            write_tensors(directory / file, some, {"format": "pt"})
            weight_map.update(dict.fromkeys(some, file))
        total = sum(array.nbytes for _, array in tensors.values())
        parameters = sum(array.size for _, array in tensors.values())
        index = {
            "metadata": {"total_size": total, "total_parameters": parameters, "by": "me"},
            "weight_map": weight_map,
        }
        (directory / "model.safetensors.index.json").write_text(json.dumps(index))
    values = {
        "model_type": "bert",
        "vocab_size": rows,
        "pad_token_id": 0,
        "hidden_size": 4,
        **config,
    }
    (directory / "config.json").write_text(
        json.dumps({key: value for key, value in values.items() if value != "none"})
    )
    if tokenizer is not None:
        tokenizer.save_pretrained(directory)
    return directory


def two_tokenizers(vocab_file, new=("covid", "vaccine")):
    """A tokenizer of eleven tokens, the same with more, and the plan from one to the other."""
    before = BertTokenizer(str(vocab_file(*WORDS)))
    after = copy.deepcopy(before)
    after.add_wordpieces(list(new))
    return before, after, plan_rows(before, after, initialization="mean")


def stop_at_the_rename(directory: Path, signal_: int, is_before: bool) -> None:
    """Have this process send itself a signal before or after a directory gets its name."""
    rename = os.rename

    def renamed(source, target) -> None:
        is_it = os.path.realpath(target) == os.path.realpath(directory)
        if is_it and is_before:
            os.kill(os.getpid(), signal_)
        rename(source, target)
        if is_it:
            os.kill(os.getpid(), signal_)

    os.rename = renamed


def contents(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
