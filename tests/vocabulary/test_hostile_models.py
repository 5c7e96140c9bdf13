"""A model's directory that is damaged, or from someone else: what is in it is read without waiting,
and nothing beyond it is copied.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import environment, posix
from tests.vocabulary.models import (
    WORDS,
    bert,
    contents,
    header_of,
    numbers,
    save_model,
    write_header,
    write_tensors,
)
from trietok import (
    BertTokenizer,
    FileError,
    FileFormatError,
    InputError,
    InputTypeError,
    TrietokError,
    adapt,
    apply_rows,
    check,
    plan_rows,
)
from trietok.files.safetensors import SafetensorsError, read_header

ROWS = 5 + len(WORDS)
TABLE, DECODER = "bert.embeddings.word_embeddings.weight", "cls.predictions.decoder.weight"
BIAS = "cls.predictions.bias"
WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
MOST = 10_000_000  # bytes of a header that is read


@pytest.fixture
def make(vocab_file, tmp_path):
    """A function that writes a model of a few numbers with its tokenizer."""
    tokenizer = BertTokenizer(vocab_file(*WORDS))

    def made(name="model", tensors=None, rows=ROWS, **options) -> Path:
        tensors = tensors or bert(rows)
        return save_model(tmp_path / name, tensors, rows, tokenizer=tokenizer, **options)

    return made


def check_refused(model: Path, kind: type[TrietokError] = FileFormatError) -> str:
    """The model is refused with a short error of a kind, and nothing is written."""
    out = model.with_name("refused")
    with pytest.raises(kind) as caught:
        adapt(model, out, terms=["covid"])
    message = str(caught.value)
    message.encode()
    assert len(message) < 800
    assert not out.exists()
    return message


# ---- headers of weights --------------------------------------------------------------------------


def header_with(**changed: object) -> Callable[[dict], dict]:
    """The header with other values for one tensor."""
    return lambda header: header | {BIAS: header[BIAS] | changed}


def doubled(header: dict) -> bytes:
    return (json.dumps(header)[:-1] + f', "{BIAS}": {json.dumps(header[BIAS])}}}').encode()


def overlapping(header: dict) -> dict:
    first, last = header[TABLE]["data_offsets"]
    return header | {TABLE: header[TABLE] | {"data_offsets": [first + 4, last + 4]}}


HEADERS = {
    "overlapping tensors": overlapping,
    "a tensor past the end": lambda header: (
        header | {DECODER: header[DECODER] | {"data_offsets": [0, 1 << 40]}}
    ),
    "another size": lambda header: header | {TABLE: header[TABLE] | {"shape": [ROWS, 5]}},
    "a name that is no text": lambda header: header | {"\ud800": header[BIAS]},
    "a name twice": doubled,
    "metadata that are no text": lambda header: header | {"__metadata__": {"a": "\udc00"}},
    "metadata of numbers": lambda header: header | {"__metadata__": {"format": 1}},
    **{f"dtype {value!r:.9}": header_with(dtype=value) for value in ("\ud800", None, 4, [], "F33")},
    "a long dtype": header_with(dtype="x" * 5000),
    "a shape of many numbers": header_with(shape=[9] * 1_000_000),
    **{
        f"shape {value!r:.9}": header_with(shape=value)
        for value in ([10**30], [True], [-1], [1.0], "x", None)
    },
    **{
        f"offsets {value!r:.9}": header_with(data_offsets=value)
        for value in ([0], [0, 4, 8], [-4, 0], "x", None)
    },
    "offsets without bounds": header_with(data_offsets=[0, 10**4000]),
    **{
        f"header {value!r:.9}": lambda header, value=value: value
        for value in ([], 4, b"\xff", b"[" * 100_000, b"{", b"")
    },
    "spaces without end": lambda header: json.dumps(header).encode() + b" " * MOST,
}


@pytest.mark.parametrize("change", HEADERS.values(), ids=HEADERS)
def test_a_header_that_lies_is_refused(make, change):
    path = make() / WEIGHTS
    write_header(path, change(header_of(path)))
    assert WEIGHTS in check_refused(path.parent)


def test_any_bytes_in_a_header_are_read_or_refused(make):
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    path = make() / WEIGHTS
    raw = path.read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    refused = 0
    for _ in range(120):
        changed = bytearray(raw)
        for _ in range(rng.randrange(1, 4)):
            choices = b'{}[]",:\\u09-e' + bytes([rng.randrange(256)])
            changed[rng.randrange(end)] = rng.choice(choices)
        path.write_bytes(changed)
        assert check(path.parent).ok is not None  # it never raises
        try:
            read_header(path)
        except SafetensorsError:
            refused += 1
    assert 40 < refused < 120, f"seed {seed}"


def test_weights_that_are_cut_off_or_too_long_are_refused(make):
    path = make() / WEIGHTS
    whole = path.read_bytes()
    for damaged in (*(whole[:end] for end in (0, 4, 9, 100, len(whole) - 1)), whole + b"\0"):
        path.write_bytes(damaged)
        check_refused(path.parent)


# ---- shards and config.json ----------------------------------------------------------------------

FIRST, SECOND = (f"model-0000{number}-of-00002.safetensors" for number in (1, 2))
NAMES = ("x" * 5000 + ".safetensors", "\ud800.safetensors", "a\0.safetensors", "third.safetensors")
OUTSIDE = ("../other.safetensors", "/other.safetensors", "..", "", [])


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"nothing": FIRST}, FileFormatError),
        ({TABLE: SECOND}, FileFormatError),
        ({TABLE: None}, FileFormatError),
        *(({"more": name}, FileError) for name in NAMES),
        *(({"more": name}, FileFormatError) for name in OUTSIDE),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_index_that_lies_is_refused(make, tmp_path, changes, kind):
    model = make(shards=2)
    write_tensors(tmp_path / "other.safetensors", {"more": numbers(2)})
    index = json.loads((model / INDEX).read_text())
    weight_map = index["weight_map"] | changes
    index["weight_map"] = {name: file for name, file in weight_map.items() if file is not None}
    (model / INDEX).write_text(json.dumps(index))
    check_refused(model, kind if kind is FileFormatError else TrietokError)


def test_a_config_or_weights_that_do_not_fit_the_tokenizer_are_refused(make):
    for rows in ("none", 0, "11"):
        check_refused(make(vocab_size=rows))
    check_refused(make(vocab_size=ROWS + 1), InputError)
    check_refused(make(rows=9), InputError)
    check_refused(make(tensors={"layer.weight": numbers(3, 3)}), InputError)
    check_refused(make(tensors={"": numbers(0)}), InputError)
    model = make()
    (model / "config.json").unlink()
    check_refused(model, FileError)
    check_refused(model / "nowhere", FileError)


def test_weights_of_other_formats_or_in_a_folder_are_named_with_what_to_do(make):
    model = make(architectures=["BertForMaskedLM"])
    (model / WEIGHTS).rename(model / "pytorch_model.bin")
    assert "from transformers import BertForMaskedLM" in check_refused(model, FileError)
    config = json.loads((model / "config.json").read_text())
    config["architectures"] = ["x; import os; os.remove('a')"]
    (model / "config.json").write_text(json.dumps(config))
    assert "os.remove" not in check_refused(model, FileError)
    (model / "pytorch_model.bin").unlink()
    check_refused(model, FileError)
    make("model/0_Transformer")
    assert "0_Transformer" in check_refused(model, FileError)


def test_a_plan_for_another_vocabulary_is_refused(make, small, tmp_path):
    model, other, out = make(), small("other"), tmp_path / "out"
    before, after = (BertTokenizer.from_pretrained(model) for _ in range(2))
    after.add_wordpieces(["covid"])
    plan = plan_rows(before, after)
    for wrong, tokenizer, kind in (
        (plan, before, InputError),
        (plan, "new", InputTypeError),
        ("plan.json", after, InputTypeError),
    ):
        with pytest.raises(kind):
            apply_rows(wrong, model, out, tokenizer=tokenizer)
    other.save_pretrained(model)
    with pytest.raises(InputError) as caught:
        apply_rows(plan, model, out)
    for tokenizer in (before, other):
        assert tokenizer.fingerprint() in str(caught.value)
    assert not out.exists()
    (model / "vocab.txt").unlink()
    assert apply_rows(plan, model, out).rows_after == ROWS + 1  # nothing tells whose model it is


# ---- what is no file, and links ------------------------------------------------------------------

ODD = ("modules.json", "generation_config.json", "README.md")  # without which a model is a model
NEEDED = ("config.json", INDEX, FIRST, WEIGHTS)
ADAPT = """
import sys, trietok
for model in sys.argv[1:]:
    try:
        adapted = trietok.adapt(model, model + "-out", terms=["covid"])
    except trietok.TrietokError as error:
        print(f"refused: {error}")
    else:
        print("adapted without", *adapted.applied.left_out)
"""


def listen(path: str) -> None:
    """Bind a socket; the path of one is short."""
    here = os.getcwd()
    os.chdir(os.path.dirname(path))
    try:
        socket.socket(socket.AF_UNIX).bind(os.path.basename(path))
    finally:
        os.chdir(here)


# Ways to put what is no regular file under a name.
ODD_FILES = {
    "pipe": lambda path: os.mkfifo(path),
    "device": lambda path: os.symlink("/dev/zero", path),
    "directory": os.mkdir,
    "loop": lambda path: os.symlink(os.path.basename(path), path),
    "nowhere": lambda path: os.symlink("nothing", path),
    "socket": listen,
}


@posix
def test_what_is_no_regular_file_keeps_nobody_waiting(make, tmp_path):
    models, names = [], (*ODD, *NEEDED)
    for number, (kind, name) in enumerate(itertools.product(ODD_FILES, names)):
        shards = 2 if name == INDEX or "-of-" in name else 1
        models.append(make(str(number), shards=shards))
        (models[-1] / name).unlink(missing_ok=True)
        ODD_FILES[kind](str(models[-1] / name))
    command = [sys.executable, "-c", ADAPT, *map(str, models)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600)
    lines = done.stdout.splitlines()
    assert len(lines) == len(models), done.stderr
    for (kind, name), line in zip(itertools.product(ODD_FILES, names), lines, strict=True):
        if name in ODD:
            assert line == "adapted without", (kind, name)
        else:
            assert line.startswith("refused: "), (kind, name)
            assert name in line, kind
    assert not list(tmp_path.glob("*-out/modules.json"))


def test_links_to_what_is_outside_are_not_copied_and_links_inside_are_followed(make, tmp_path):
    model = make()
    (model / "sub").mkdir()
    (model / "modules.json").write_text(json.dumps([{"path": "sub"}]))
    (tmp_path / "secret").write_text('{"password": "1234"}')
    (tmp_path / "model-2").mkdir()
    (tmp_path / "model-2" / "beside").write_text("1234")
    (tmp_path / "out-of-here").symlink_to(tmp_path / "secret")
    outside = {
        "absolute.txt": tmp_path / "secret",
        "generation_config.json": tmp_path / "secret",
        "link.txt": "../out-of-here",
        "prefix.txt": "../model-2/beside",
        "sub/pytorch_model.bin": "../../secret",
        "chat_template.jinja": "/etc/passwd",
    }
    for name, target in outside.items():
        (model / name).symlink_to(target)
    (model / "folder").symlink_to(tmp_path / "model-2")
    (model / "own.txt").write_text("mine")
    (model / "inside.txt").symlink_to("sub/../own.txt")
    (model / "round.txt").symlink_to("../model/own.txt")
    applied = adapt(model, tmp_path / "out", terms=["covid"]).applied
    assert sorted(applied.left_out) == sorted(outside)
    assert sorted(applied.copied) == ["inside.txt", "modules.json", "own.txt", "round.txt"]
    assert "absolute.txt" in str(applied)
    assert not any(b"1234" in content for content in contents(tmp_path / "out").values())


def test_a_snapshot_of_a_hub_cache_is_followed_to_its_blobs_and_nowhere_else(make, tmp_path):
    snapshot = make("models--x--y/snapshots/0a1b")
    (snapshot / "generation_config.json").write_text('{"pad_token_id": 0}')
    (snapshot / "1_Pooling").mkdir()
    (snapshot / "1_Pooling" / "config.json").write_text("{}")
    adapt(snapshot, tmp_path / "wanted", terms=["covid"])
    repository = tmp_path / "models--x--y"
    (repository / "blobs").mkdir()
    for number, path in enumerate([path for path in snapshot.rglob("*") if path.is_file()]):
        blob = path.rename(repository / "blobs" / str(number))
        path.symlink_to(os.path.relpath(blob, path.parent))
    (repository / "refs").write_text("1234")
    (snapshot / "refs").symlink_to("../../refs")
    (tmp_path / "link").symlink_to(snapshot)
    for directory, out in ((snapshot, "one"), (tmp_path / "link", "two")):
        applied = adapt(directory, tmp_path / out, terms=["covid"]).applied
        assert applied.left_out == ("refs",)
        assert contents(tmp_path / out) == contents(tmp_path / "wanted")
