"""A corpus in a store, by fsspec's store in memory: the shards of a directory, gone on with, all or
nothing.
"""

from __future__ import annotations

import json
import pickle
import sys
from importlib.util import find_spec

import pytest

from tests.cli.commands import error, run
from tests.corpus.shards import contents, write
from trietok import (
    FileError,
    FileFormatError,
    InputError,
    MissingDependencyError,
    TemporaryError,
    encode_files,
)
from trietok.corpus import open_corpus

pytest.importorskip("pyarrow")
pytest.importorskip("zstandard")
fsspec = pytest.importorskip("fsspec")

PLACE = "memory://corpora/ids"


class Stop(Exception):
    pass


class Store:
    """The store, as a test looks at it, and what is done to it behind a run's back."""

    def __init__(self):
        self.files = fsspec.filesystem("memory")
        self.files.store.clear()

    def contents(self):
        start = len("/corpora/ids/")
        return {name[start:]: self.files.cat_file(name) for name in sorted(self.files.store)}


@pytest.fixture
def store():
    yield Store()
    fsspec.filesystem("memory").store.clear()


@pytest.fixture
def corpus(tmp_path):
    """Files of each kind, one bad row, and the options that cut them into some ten shards."""
    for number, name in enumerate(["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz"]):
        write(tmp_path / name, [f"people {row} of {number} the" for row in range(30)])
    with open(tmp_path / "a.txt", "ab") as file:
        file.write(b"\xff\nfine\n")
    return [tmp_path / "[abcd].*"], {"shard_bytes": 500, "on_error": "skip", "workers": 1}


def in_order(place, files):
    """The bytes of the shards that a manifest names, in its order, without the names; and its
    counts.
    """
    manifest = open_corpus(place).manifest
    shards = [[files[file["name"]] for file in shard["files"]] for shard in manifest["shards"]]
    return shards, manifest["totals"], files.get("rejects.jsonl")


def stop_after(number):
    def progress(state):
        if state.shards == number:
            raise Stop

    return progress


@pytest.mark.parametrize("file_format", ["parquet", "npy", "bin"])
def test_the_shards_of_a_directory(english, tmp_path, corpus, store, file_format):
    files, options = corpus
    options |= {"file_format": file_format, "return_attention_mask": True}
    here = encode_files(files, tmp_path / "here", english, **options)
    there = encode_files(files, PLACE + "/", english, **options)
    assert there["totals"] == here["totals"]
    made = store.contents()
    assert in_order(PLACE, made) == in_order(tmp_path / "here", contents(tmp_path / "here"))
    named = {file["name"] for shard in there["shards"] for file in shard["files"]}
    parts = {
        name.partition("-")[0]
        for name in made.keys() - named
        if name not in ("manifest.json", "rejects.jsonl")
    }
    assert parts == {"shards", "sources"}

    one, other = open_corpus(tmp_path / "here"), open_corpus(PLACE)
    assert list(other) == list(one) == list(pickle.loads(pickle.dumps(other)))
    assert [other.source(row) for row in range(len(other))] == [
        one.source(row) for row in range(len(one))
    ]
    assert other.row(7) == one.row(7)
    assert other.arrow_dataset().to_table() == one.arrow_dataset().to_table()


def test_a_torch_dataset(english, corpus, store):
    pytest.importorskip("torch")
    files, options = corpus
    encode_files(files, PLACE, english, **options)
    dataset = pickle.loads(pickle.dumps(open_corpus(PLACE).torch_dataset()))
    assert [row["input_ids"].tolist() for row in dataset] == list(open_corpus(PLACE))


@pytest.mark.parametrize("number", [1, 7])
def test_what_was_stopped_goes_on(english, tmp_path, corpus, store, number):
    files, options = corpus
    encode_files(files, tmp_path / "here", english, **options)
    with pytest.raises(Stop):
        encode_files(files, PLACE, english, progress=stop_after(number), **options)
    before = store.contents()
    assert len([name for name in before if name.endswith(".record.json")]) == number
    assert "manifest.json" not in before
    with pytest.raises(
        FileError, match=r"memory://corpora/ids holds no finished corpus: it has no manifest\.json"
    ):
        open_corpus(PLACE)
    with pytest.raises(
        InputError, match=r"holds a run already; go on with it \(resume=True, --resume\)"
    ):
        encode_files(files, PLACE, english, **options)
    assert store.contents() == before
    seen = []
    encode_files(files, PLACE, english, resume=True, progress=seen.append, **options)
    assert seen[-1].kept == number
    whole = store.contents()
    assert in_order(PLACE, whole) == in_order(tmp_path / "here", contents(tmp_path / "here"))
    encode_files(files, PLACE, english, resume=True, **options)  # nothing is left to do
    assert store.contents() == whole


def test_another_list_of_files(english, tmp_path, corpus, store):
    files, options = corpus
    encode_files(files, PLACE, english, **options)
    others = [
        tmp_path / "d.txt.gz",
        tmp_path / "a.txt",
        write(tmp_path / "e.txt", ["the new people"]),
    ]
    encode_files(others, tmp_path / "here", english, **options)
    seen = []
    encode_files(others, PLACE, english, resume=True, progress=seen.append, **options)
    assert {name[-9:] for name in seen[-1].removed} == {"jsonl.zst", "c.parquet"}
    assert seen[-1].shards - seen[-1].kept == 1
    assert in_order(PLACE, store.contents()) == in_order(
        tmp_path / "here", contents(tmp_path / "here")
    )
    assert len(store.contents()) == len(contents(tmp_path / "here"))


@pytest.mark.parametrize("step", range(6))
def test_an_end_that_is_interrupted(english, tmp_path, corpus, store, monkeypatch, step):
    """Whatever of the last requests is the last one: the old corpus is there, or the new one is,
    and it can go on.
    """
    files, options = corpus
    encode_files([tmp_path / "a.txt"], PLACE, english, **options)
    old = in_order(PLACE, store.contents())
    encode_files(files[::-1], tmp_path / "here", english, **options)
    new = in_order(tmp_path / "here", contents(tmp_path / "here"))
    asked = []
    put_file, rm = store.files.put_file, store.files.rm

    def counted(function):
        def request(*arguments, **options):
            if any(
                name in str(arguments) for name in ("manifest.json", "/rejects.jsonl", "plan.json")
            ):
                asked.append(arguments)
                if len(asked) > step:
                    raise PermissionError("Stop")  # which is not asked again
            return function(*arguments, **options)

        return request

    with monkeypatch.context() as patch:
        patch.setattr(
            type(store.files), "put_file", lambda self, *a, **o: counted(put_file)(*a, **o)
        )
        patch.setattr(type(store.files), "rm", lambda self, *a, **o: counted(rm)(*a, **o))
        with pytest.raises(FileError, match="Stop"):
            encode_files(files, PLACE, english, resume=True, **options)
    manifest = json.loads(store.contents()["manifest.json"])
    assert manifest["totals"] in (old[1], new[1])
    encode_files(files, PLACE, english, resume=True, **options)
    assert in_order(PLACE, store.contents()) == new
    assert not [name for name in store.contents() if name.startswith(".trietok")]


@pytest.mark.parametrize("damage", ["gone", "short", "other bytes"])
def test_shards_that_are_damaged(english, tmp_path, corpus, store, damage):
    files, options = corpus
    encode_files(files, PLACE, english, **options)
    whole = store.contents()
    name = sorted(whole)[5]
    if damage == "gone":
        store.files.rm_file(f"/corpora/ids/{name}")
    else:
        store.files.pipe_file(
            f"/corpora/ids/{name}", whole[name][:-1] + (b"" if damage == "short" else b"?")
        )
    if damage != "other bytes":
        with pytest.raises(
            (FileError, FileFormatError),
            match=rf"memory://corpora/ids/{name} .*--resume|cannot read",
        ):
            open_corpus(PLACE)
    encode_files(files, PLACE, english, resume=True, verify=True, **options)
    assert store.contents() == whole


def test_a_run_that_another_has_taken_over(english, tmp_path, corpus, store):
    """Two go on with one run at the same time: the one that began first ends without a manifest."""
    files, options = corpus
    encode_files(files, tmp_path / "here", english, **options)
    other = []

    def goes_on_too(state):
        if state.shards == 5 and not other:
            other.append(encode_files([tmp_path / "a.txt"], PLACE, english, resume=True, **options))

    with pytest.raises(
        InputError, match="another run has gone on with the run in memory://corpora/ids meanwhile"
    ):
        encode_files(files, PLACE, english, progress=goes_on_too, **options)
    assert open_corpus(PLACE).manifest == other[0]
    encode_files(files, PLACE, english, resume=True, **options)
    assert in_order(PLACE, store.contents()) == in_order(
        tmp_path / "here", contents(tmp_path / "here")
    )


def test_two_runs_that_begin_at_one_time(english, corpus, store, monkeypatch):
    """Each sees an empty place; the store lets one of them put its plan."""
    files, options = corpus
    monkeypatch.setattr(type(store.files), "find", lambda self, path, **options: {})
    with pytest.raises(Stop):
        encode_files(files, PLACE, english, progress=stop_after(1), **options)
    monkeypatch.setattr(type(store.files), "cat", lambda self, paths, **options: {})
    with pytest.raises(InputError, match="memory://corpora/ids holds a run already"):
        encode_files(files, PLACE, english, **options)


def test_a_list_that_shows_nothing_yet(english, tmp_path, corpus, store, monkeypatch):
    files, options = corpus
    encode_files(files, tmp_path / "here", english, **options)
    with monkeypatch.context() as patch:
        patch.setattr(type(store.files), "find", lambda self, path, **options: {})
        with pytest.raises(Stop):
            encode_files(files, PLACE, english, progress=stop_after(3), **options)
        with pytest.raises(InputError, match="memory://corpora/ids holds a run already"):
            encode_files(files, PLACE, english, **options)
        encode_files(files, PLACE, english, resume=True, **options)
        assert len(open_corpus(PLACE)) == 121
    encode_files(files, PLACE, english, resume=True, **options)
    assert in_order(PLACE, store.contents()) == in_order(
        tmp_path / "here", contents(tmp_path / "here")
    )
    assert len(store.contents()) == len(contents(tmp_path / "here"))


def test_another_plan(english, tmp_path, corpus, store):
    files, options = corpus
    with pytest.raises(Stop):
        encode_files(files, PLACE, english, progress=stop_after(1), **options)
    with pytest.raises(
        InputError,
        match=r"memory://corpora/ids holds a run that was made without pack; this call has 8",
    ):
        encode_files(files, PLACE, english, resume=True, pack=8, **options)
    encode_files(files, PLACE, english, resume=True, **options)
    with pytest.raises(
        InputError,
        match=r"memory://corpora/ids holds a run that was made without pack; this call has 8",
    ):
        encode_files(files, PLACE, english, resume=True, pack=8, **options)
    store.files.pipe_file("/corpora/ids/manifest.json", b"{")
    for call in (
        lambda: encode_files(files, PLACE, english, resume=True, **options),
        lambda: open_corpus(PLACE),
    ):
        with pytest.raises(FileFormatError, match=r"^memory://corpora/ids/manifest\.json, line 1"):
            call()


def test_places_that_hold_something_else(english, corpus, store):
    files, options = corpus
    store.files.pipe_file("/corpora/ids/mine.txt", b"mine")
    with pytest.raises(
        InputError,
        match=r"memory://corpora/ids holds 'mine\.txt', which belongs to no run; give an em",
    ):
        encode_files(files, PLACE, english, **options)
    assert store.contents() == {"mine.txt": b"mine"}
    store.files.rm_file("/corpora/ids/mine.txt")
    encode_files(files, PLACE, english, **options)
    store.files.pipe_file("/corpora/ids/mine.txt", b"mine")
    encode_files(files, PLACE, english, resume=True, **options)
    assert store.contents()["mine.txt"] == b"mine"
    store.files.pipe_file("/corpora/ids/part-00099.parquet", b"mine")
    with pytest.raises(InputError, match=r"holds part-00099\.parquet, which is not of this run"):
        encode_files(files, PLACE, english, resume=True, **options)


def test_a_store_that_takes_nothing(english, corpus, store, monkeypatch, tmp_path):
    files, options = corpus
    put_file = type(store.files).put_file

    def full(self, path, name, **options):
        if name.endswith(".parquet"):
            raise RuntimeError("the store\nis full")
        return put_file(self, path, name, **options)

    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("trietok.files.stores._FIRST_WAIT", 0)
    with monkeypatch.context() as patch:
        patch.setattr(type(store.files), "put_file", full)
        with pytest.raises(
            TemporaryError,
            match=r"^cannot write memory://corpora/ids/part-.*\.parquet: .* now: RuntimeError: the",
        ) as info:
            encode_files(files, PLACE, english, **options)
    assert str(info.value).endswith(
        "0 finished shards stay in memory://corpora/ids; --resume continues"
    )
    assert list(store.contents()) == [".trietok-encode/plan.json"]
    assert not list((tmp_path / "tmp").iterdir())
    encode_files(files, PLACE, english, resume=True, **options)
    assert not list((tmp_path / "tmp").iterdir())


def test_names_to_which_nothing_can_be_written(english, corpus, monkeypatch):
    files, options = corpus
    web = InputError, "nothing can be written to 'https://example.org/ids'; name a place"
    if find_spec("aiohttp") is None:  # fsspec asks for it before it says what it can
        web = MissingDependencyError, "cannot open https://example.org/ids"
    for name, kind, said in [
        ("nowhere://ids", FileError, "cannot open nowhere://ids: Protocol not known: nowhere"),
        ("https://example.org/ids", *web),
        ("memory://", InputError, "nothing can be written to 'memory://'; name a place"),
        ("memory://ids/*", InputError, r"'memory://ids/\*' has \*, \? or \["),
        (
            "zip://a::memory://ids",
            FileError,
            "cannot open zip://a::memory://ids: names that fsspec chains by ::",
        ),
    ]:
        with pytest.raises(kind, match=said):
            encode_files(files, name, english, **options)
    monkeypatch.setitem(sys.modules, "s3fs", None)
    sys.modules["fsspec.registry"]._registry.pop("s3", None)
    with pytest.raises(
        MissingDependencyError, match=r"cannot open s3://b/ids: .*: pip install fsspec s3fs"
    ):
        encode_files(files, "s3://b/ids", english, **options)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(
        MissingDependencyError, match=r"memory://ids needs fsspec.*: pip install fsspec"
    ):
        encode_files(files, "memory://ids", english, **options)


def test_a_corpus_moves_between_a_directory_and_a_store(english, tmp_path, corpus, store):
    files, options = corpus
    encode_files(files, tmp_path / "here", english, **options)
    encode_files(files, PLACE, english, **options)
    store.files.get(PLACE, str(tmp_path / "copy"), recursive=True)
    assert list(open_corpus(tmp_path / "copy")) == list(open_corpus(tmp_path / "here"))
    seen = []
    encode_files(files, tmp_path / "copy", english, resume=True, progress=seen.append, **options)
    assert seen[-1].kept == seen[-1].shards
    assert contents(tmp_path / "copy") == contents(tmp_path / "here")
    store.files.put(str(tmp_path / "here") + "/", "memory://corpora/copy/", recursive=True)
    assert list(open_corpus("memory://corpora/copy")) == list(open_corpus(tmp_path / "here"))
    encode_files(
        files, "memory://corpora/copy", english, resume=True, progress=seen.append, **options
    )
    assert seen[-1].kept == seen[-1].shards
    assert list(open_corpus("memory://corpora/copy")) == list(open_corpus(tmp_path / "here"))


def test_files_of_this_machine_by_a_url(english, tmp_path, corpus):
    files, options = corpus
    encode_files(files, tmp_path / "here", english, **options)
    encode_files(files, f"file://{tmp_path}/there", english, **options)
    assert contents(tmp_path / "there") == contents(tmp_path / "here")
    assert list(open_corpus(f"file://{tmp_path}/there")) == list(open_corpus(tmp_path / "here"))


def test_the_command(tmp_path, store):
    write(tmp_path / "a.txt", ["The people"])
    command = ("encode-files", str(tmp_path / "a.txt"), "--workers", "1", "-o")
    first, again, resumed = (
        run(*command, PLACE),
        run(*command, PLACE),
        run(*command, PLACE, "--resume"),
    )
    assert first.stdout == f"written to {PLACE}: 1 text, 4 tokens, 1 row in 1 shard\n"
    assert (
        first.stderr
        == f"trietok: warning: {PLACE} is memory of this process, and gone with it; a directory or"
        " s3://bucket/ids stays\n"
    )
    assert f"{PLACE} holds a run already; go on with it" in again.stderr
    assert resumed.stdout.splitlines()[1] == "kept from earlier runs: 1 shard"
    assert error(*command, PLACE, "--force").startswith(
        "--force replaces nothing elsewhere; remove what is in"
    )
    run(*command, f"file://{tmp_path}/ids")
    assert "is there already; go on with its run" in error(*command, f"file://{tmp_path}/ids")


def test_shards_that_are_gone_at_the_end(english, corpus, store):
    """As with workers that have a memory of their own."""
    files, options = corpus
    del options["workers"]

    def loses(encode, shards):
        for number, shard in enumerate(shards):
            yield encode(shard)
            if number == 3:
                store.files.rm_file(next(name for name in store.files.store if "/part-" in name))

    said = r"cannot read memory://corpora/ids/part-.*: No such file or directory"
    with pytest.raises(FileError, match=said):
        encode_files(files, PLACE, english, map_shards=loses, **options)
    assert "manifest.json" not in store.contents()
    encode_files(files, PLACE, english, map_shards=map, resume=True, **options)
    assert len(open_corpus(PLACE)) == 121


def test_a_store_has_nothing_written_elsewhere_on_this_machine(
    english, store, tmp_path, monkeypatch
):
    """Names in a store may hold `..`; the run's folder is copied to a directory for a while."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    write(tmp_path / "a.txt", ["the people"])
    encode_files(tmp_path / "a.txt", PLACE, english, workers=1)
    kept = store.files.store["/corpora/ids/manifest.json"]
    for name in ("../evil", "../../evil", "..", ".", "more/evil", "a\0b", "x" * 300):
        store.files.store[f"/corpora/ids/.trietok-encode/{name}"] = kept
    encode_files(tmp_path / "a.txt", PLACE, english, workers=1, resume=True)
    assert not list(tmp_path.rglob("evil"))
