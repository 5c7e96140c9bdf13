"""A model's directory from someone else: what is in it is read without waiting, and nothing beyond
it is copied.
"""

from __future__ import annotations

import json
import os
import random
import socket
import subprocess
import sys

import pytest

from tests.cli.commands import environment, posix
from tests.vocabulary.models import bert, numbers, save_model, two_tokenizers, write_tensors
from trietok import FileError, FileFormatError, TrietokError, apply_rows
from trietok.files.safetensors import LONGEST_HEADER, SafetensorsError, read_header

ROWS = 11  # of the tokenizers of `two_tokenizers`
INDEX = "model.safetensors.index.json"

ODD = ("modules.json", "generation_config.json", "README.md")  # without which a model is a model
NEEDED = ("config.json", INDEX, "model-00001-of-00002.safetensors", "model.safetensors")
APPLY = """
import sys, trietok
plan = trietok.RowPlan("A", "B", 11, 13, [*range(11), ~0, ~0], [((5, 1.0),)])
for model in sys.argv[1:]:
    try:
        applied = trietok.apply_rows(plan, model, model + "-out")
    except trietok.TrietokError as error:
        print(f"refused: {error}")
    else:
        print("applied without", *applied.left_out)
"""


@pytest.fixture
def two(vocab_file):
    return two_tokenizers(vocab_file)


def odd_files():
    """Ways to put what is no regular file under a name."""
    yield "pipe", os.mkfifo
    yield "device", lambda path: os.symlink("/dev/zero", path)
    yield "directory", os.mkdir
    yield "loop", lambda path: os.symlink(os.path.basename(path), path)
    yield "nowhere", lambda path: os.symlink("nothing", path)

    def listen(path):  # the path of a socket is short
        here = os.getcwd()
        os.chdir(os.path.dirname(path))
        try:
            socket.socket(socket.AF_UNIX).bind(os.path.basename(path))
        finally:
            os.chdir(here)

    yield "socket", listen


@posix
@pytest.mark.parametrize("kind", [kind for kind, _ in odd_files()])
def test_what_is_no_regular_file_keeps_nobody_waiting(tmp_path, kind):
    models = []
    for name in (*ODD, *NEEDED):
        shards = 2 if name == INDEX or "-of-" in name else 1
        models.append(
            save_model(tmp_path / f"model {len(models)}", bert(ROWS), ROWS, shards=shards)
        )
        (models[-1] / name).unlink(missing_ok=True)
        dict(odd_files())[kind](str(models[-1] / name))
    command = [sys.executable, "-c", APPLY, *map(str, models)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=600)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[: len(ODD)] == ["applied without"] * len(ODD)
    for name, line in zip(NEEDED, lines[len(ODD) :], strict=True):
        assert line.startswith("refused: ")
        assert name in line
    assert not list(tmp_path.glob("*-out/modules.json"))


def test_links_to_what_is_outside_are_not_copied(two, tmp_path):
    """And links inside are followed; the file that is left out is named."""
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS)
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
    applied = apply_rows(plan, model, tmp_path / "out")
    assert sorted(applied.left_out) == sorted(outside)
    assert sorted(applied.copied) == ["inside.txt", "modules.json", "own.txt", "round.txt"]
    assert "absolute.txt" in str(applied)
    assert not [
        path
        for path in (tmp_path / "out").rglob("*")
        if path.is_file() and b"1234" in path.read_bytes()
    ]


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_a_snapshot_of_a_hub_cache(two, tmp_path):
    """Its links lead to the blobs beside the snapshots, and are followed; others there are not."""
    _, _, plan = two
    repository = tmp_path / "models--x--y"
    snapshot = save_model(repository / "snapshots" / "0a1b", bert(ROWS), ROWS)
    (snapshot / "generation_config.json").write_text('{"pad_token_id": 0}')
    (snapshot / "1_Pooling").mkdir()
    (snapshot / "1_Pooling" / "config.json").write_text("{}")
    (snapshot / "README.md").write_text("read me")
    apply_rows(plan, snapshot, tmp_path / "wanted")
    (repository / "blobs").mkdir()
    for path in [path for path in snapshot.rglob("*") if path.is_file()]:
        blob = repository / "blobs" / str(abs(hash(path)))
        path.rename(blob)
        path.symlink_to(os.path.relpath(blob, path.parent))
    (repository / "refs").write_text("1234")
    (snapshot / "refs").symlink_to("../../refs")
    for number, directory in enumerate((snapshot, tmp_path / "link")):
        if not directory.exists():
            directory.symlink_to(snapshot)
        applied = apply_rows(plan, directory, tmp_path / f"out-{number}")
        assert applied.left_out == ("refs",)
        assert contents(tmp_path / f"out-{number}") == contents(tmp_path / "wanted")


@pytest.mark.parametrize(
    "name",
    [
        "x" * 5000 + ".safetensors",
        "\ud800.safetensors",
        "a\0.safetensors",
        "../other.safetensors",
        "/other.safetensors",
        "..",
        "",
        [],
    ],
    ids=lambda name: str(name)[:9],
)
def test_names_in_an_index(two, tmp_path, name):
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS, shards=2)
    write_tensors(tmp_path / "other.safetensors", {"more": numbers(2)})
    index = json.loads((model / INDEX).read_text())
    index["weight_map"]["more"] = name
    (model / INDEX).write_text(json.dumps(index))
    with pytest.raises((FileError, FileFormatError)) as caught:
        apply_rows(plan, model, tmp_path / "out")
    assert len(str(caught.value)) < 500
    str(caught.value).encode()


def with_header(path, header) -> None:
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    new = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + raw[8 + length :])


def test_headers(two, tmp_path):
    """A name or a type that is none, numbers without bounds, a name twice: each is one error, and
    at once.
    """
    _, _, plan = two
    model = save_model(tmp_path / "model", bert(ROWS), ROWS)
    path = model / "model.safetensors"
    raw = path.read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    name = "cls.predictions.bias"

    def refused(header):
        path.write_bytes(raw)
        with_header(path, header)
        with pytest.raises(FileFormatError) as caught:
            apply_rows(plan, model, tmp_path / "out")
        str(caught.value).encode()
        assert len(str(caught.value)) < 800

    def of(**changed):
        return header | {name: header[name] | changed}

    refused(header | {"\ud800": header[name]})
    refused(header | {"__metadata__": {"a": "\udc00"}})
    for dtype in ("\ud800", None, 4, [], {}, "F33", "x" * 5000):
        refused(of(dtype=dtype))
    for shape in ([9] * 1_000_000, [10**30], [True], [-1], [1.0], "x", None):
        refused(of(shape=shape))
    for offsets in ([0], [0, 4, 8], [0, 10**4000], [-4, 0], "x", None):
        refused(of(data_offsets=offsets))
    for other in ([], 4, b"\xff", b"[" * 100_000, b"{", b""):
        refused(other)
    doubled = json.dumps(header)[:-1] + f', "{name}": {json.dumps(header[name])}}}'
    refused(doubled.encode())
    refused(json.dumps(header).encode() + b" " * LONGEST_HEADER)


def test_any_bytes_in_a_header(tmp_path):
    """A header of which some bytes were changed is read, or refused."""
    seed = random.randrange(2**32)
    rng = random.Random(seed)
    path = tmp_path / "model.safetensors"
    write_tensors(path, bert(ROWS), {"format": "pt"})
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    refused = 0
    for _ in range(2000):
        changed = bytearray(raw)
        for _ in range(rng.randrange(1, 4)):
            changed[rng.randrange(8 + length)] = rng.choice(
                b'{}[]",:\\u09-e' + bytes([rng.randrange(256)])
            )
        path.write_bytes(changed)
        try:
            read_header(path)
        except SafetensorsError:
            refused += 1
    assert refused > 500, seed


def test_a_command_in_an_error_holds_no_words_of_the_directory(two, tmp_path):
    _, _, plan = two
    model = save_model(
        tmp_path / "model", bert(ROWS), ROWS, architectures=["x; import os; os.remove('a')"]
    )
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    with pytest.raises(TrietokError) as caught:
        apply_rows(plan, model, tmp_path / "out")
    assert "os.remove" not in str(caught.value)
