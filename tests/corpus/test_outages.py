"""What is set aside and what is not: a store that is out, files that are damaged, rows without
text; and how much.
"""

from __future__ import annotations

import errno
import json
import os
import random
import re
from collections import Counter

import pytest

from tests.cli.commands import error, run
from tests.corpus.shards import contents, ids_of, rows_in, write
from trietok import FileError, FileFormatError, InputError, TemporaryError, TextFiles, encode_files
from trietok.corpus import open_corpus
from trietok.files import stores

pytest.importorskip("pyarrow")
pytest.importorskip("zstandard")
fsspec = pytest.importorskip("fsspec")

NAMES = ["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz", "e.csv"]


class Busy(fsspec.get_filesystem_class("memory")):
    """A store that gives no answer to a share of what it is asked, as another server of S3 says
    it.
    """

    protocol = "busy"
    store = {}
    share, rng = 0.0, random.Random()
    asked: Counter[str] = Counter()

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.removeprefix("busy://"))

    @classmethod
    def answer(cls, what):
        cls.asked[what] += 1
        if cls.rng.random() < cls.share:
            raise OSError(errno.EBUSY, "Please reduce your request rate")

    def _open(self, path, mode="rb", **options):
        self.answer("open")
        file = super()._open(path, mode, **options)
        return Reader(file) if mode == "rb" else file

    def info(self, path, **options):
        self.answer("info")
        return super().info(path, **options)

    def glob(self, path, **options):
        self.answer("glob")
        return super().glob(path, **options)

    def cat_file(self, path, **options):
        self.answer("cat")
        return super().cat_file(path, **options)

    def put_file(self, *arguments, **options):
        self.answer("put")
        return super().put_file(*arguments, **options)


class Reader:
    """A file that may be gone after any number of bytes; one that has failed is of no more use."""

    def __init__(self, file):
        self._file, self._is_broken = file, False

    def read(self, size=-1):
        assert not self._is_broken
        self._is_broken = True
        Busy.answer("read")
        self._is_broken = False
        return self._file.read(min(size, 100) if size >= 0 else size)

    def __getattr__(self, name):
        return getattr(self._file, name)


@pytest.fixture
def busy(tmp_path, monkeypatch):
    """The store, with the same files as a folder; nobody waits."""
    fsspec.register_implementation("busy", Busy, clobber=True)
    monkeypatch.setattr(stores, "_FIRST_WAIT", 0)
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    Busy.share, Busy.rng, Busy.asked = 0, random.Random(seed), Counter()
    store = fsspec.filesystem("busy")
    store.store.clear()
    (tmp_path / "here").mkdir()
    for number, name in enumerate(NAMES):
        path = tmp_path / "here" / name
        if name.endswith(".csv"):
            path.write_text("text\n" + "".join(f"people {row} of {number}\n" for row in range(40)))
        else:
            write(path, [f"people {row} of {number} the" for row in range(40)])
        store.pipe_file(f"/texts/{name}", path.read_bytes())
    return store


OPTIONS = {"workers": 1, "shard_bytes": 500, "on_error": "skip"}


def shards(out):
    return {name: content for name, content in contents(out).items() if name.startswith("part-")}


# ---- a store -------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 2])
def test_outages_that_pass_change_nothing(english, tmp_path, busy, monkeypatch, workers):
    """Of 40 % of what the store is asked nothing is answered; no file is set aside for that."""
    monkeypatch.setattr(stores, "_TRIES", 40)
    encode_files(tmp_path / "here" / "*", tmp_path / "a", english, **OPTIONS)
    Busy.share = 0.4
    workers = workers if english.text_encoder.kernel is not None else 1
    manifest = encode_files(
        "busy://texts/*", tmp_path / "b", english, **OPTIONS | {"workers": workers}
    )
    assert manifest["set_aside"] == []
    assert shards(tmp_path / "a") == shards(tmp_path / "b")
    assert Busy.asked["read"] > 100
    encode_files("busy://texts/*", "busy://out", english, **OPTIONS)
    Busy.share = 0
    assert list(open_corpus("busy://out")) == rows_in(tmp_path / "a")
    assert len(list(TextFiles("busy://texts/*"))) == 200


@pytest.mark.parametrize("moment", ["at once", "in the middle", "at the end"])
def test_an_outage_that_lasts_fails_the_run_which_goes_on_later(
    english, tmp_path, busy, monkeypatch, moment
):
    monkeypatch.setattr(stores, "_TRIES", 3)
    out, seen = tmp_path / "out", []

    def progress(state):
        seen.append(state)
        if (state.shards == 3 and moment == "in the middle") or state.done_bytes == state.all_bytes:
            Busy.share = 1

    Busy.share = float(moment == "at once")
    with pytest.raises(TemporaryError, match="Please reduce your request rate") as info:
        encode_files("busy://texts/*", out, english, progress=progress, **OPTIONS)
    assert not isinstance(info.value, (FileError, FileFormatError))
    if moment != "at once":
        stays = f"{len(seen)} finished shards stay in {out}; --resume continues"
        assert str(info.value).endswith(stays)
    assert not (out / "manifest.json").exists()
    Busy.share = 0
    assert encode_files("busy://texts/*", out, english, resume=True, **OPTIONS)["set_aside"] == []
    encode_files(tmp_path / "here" / "*", tmp_path / "unbroken", english, **OPTIONS)
    assert shards(out) == shards(tmp_path / "unbroken")


def test_workers_of_an_engine_meet_an_outage(english, tmp_path, busy, monkeypatch):
    monkeypatch.setattr(stores, "_TRIES", 3)
    options = {name: value for name, value in OPTIONS.items() if name != "workers"}

    def mapped(function, jobs):
        for number, job in enumerate(jobs):
            Busy.share = float(number == 4)
            yield function(job)

    with pytest.raises(
        TemporaryError, match=r"Please reduce .* 4 finished shards stay in .*; --resume continues"
    ):
        encode_files("busy://texts/*", tmp_path / "out", english, map_shards=mapped, **options)
    Busy.share = 0
    manifest = encode_files(
        "busy://texts/*", tmp_path / "out", english, resume=True, map_shards=map, **options
    )
    assert manifest["set_aside"] == []
    assert manifest["totals"]["rows"] == 200


def test_a_damaged_file_in_a_store_is_set_aside(english, tmp_path, busy):
    busy.pipe_file("/texts/d.txt.gz", b"plain")
    busy.pipe_file("/texts/c.parquet", b"PAR1 and no more")
    manifest = encode_files("busy://texts/*", tmp_path / "out", english, **OPTIONS)
    assert [file["name"][-9:] for file in manifest["set_aside"]] == ["c.parquet", "/d.txt.gz"]
    assert manifest["totals"]["rows"] == 120


class Answered(Exception):
    """An error of a store's library, with a number of HTTP."""

    def __init__(self, status):
        self.status = status


class OfBoto(Exception):
    def __init__(self, status):
        self.response = {"ResponseMetadata": {"HTTPStatusCode": status}}


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("raised", "is_outage"),
    [
        (Answered(503), True),
        (Answered(429), True),
        (Answered(404), False),
        (OfBoto(500), True),
        (OfBoto(400), False),
        (caused(OSError(errno.EIO, "Forbidden"), OfBoto(403)), False),
        (caused(OSError(errno.EIO, "InternalError"), OfBoto(500)), True),
        (ConnectionResetError(errno.ECONNRESET, "reset"), True),
        (TimeoutError(), True),
        (RuntimeError("the store has no time"), True),
        (PermissionError(errno.EACCES, "no"), False),
        (FileNotFoundError(errno.ENOENT, "no"), False),
        (ValueError("of the program"), False),
        (NotImplementedError(), False),
    ],
)
def test_which_errors_of_a_store_are_outages(
    english, tmp_path, busy, monkeypatch, raised, is_outage
):
    """The others say something of the file."""
    monkeypatch.setattr(stores, "_TRIES", 2)
    original = Reader.read

    def read(self, size=-1):
        if len(self._file.getvalue()) == 4:
            raise raised
        return original(self, size)

    monkeypatch.setattr(Reader, "read", read)
    busy.pipe_file("/texts/f.txt", b"the\n")
    if is_outage:
        with pytest.raises(
            TemporaryError, match=r"cannot read busy://.*f\.txt: the store gives no answer now: "
        ):
            encode_files("busy://texts/*", tmp_path / "out", english, **OPTIONS)
    else:
        manifest = encode_files("busy://texts/*", tmp_path / "out", english, **OPTIONS)
        assert [file["name"][-6:] for file in manifest["set_aside"]] == ["/f.txt"]


def test_a_store_of_which_only_a_list_is_answered_is_not_empty(busy, monkeypatch):
    """Small files that give no answer do not count as files that are not there."""
    monkeypatch.setattr(stores, "_TRIES", 2)
    Busy.share = 1
    with pytest.raises(TemporaryError, match="cannot read files of busy://texts"):
        stores.Place("busy://texts").read(["a.txt"])
    Busy.share = 0
    assert list(stores.Place("busy://texts").read(["a.txt", "none.txt"])) == ["a.txt"]


@pytest.mark.parametrize("name", NAMES)
def test_too_many_open_files_are_no_fault_of_a_file(english, tmp_path, monkeypatch, busy, name):
    files = [tmp_path / "here" / "a.txt", tmp_path / "here" / name]

    def refused(*arguments, **options):
        raise OSError(errno.EMFILE, "Too many open files", str(files[1]))

    with monkeypatch.context() as patch:
        patch.setattr("trietok.corpus.text_inputs.open_bytes", refused)
        patch.setattr("trietok.corpus.text_inputs.open_parquet", refused)
        patch.setattr("trietok.corpus.text_inputs._small_file", lambda read: None)
        with pytest.raises(TemporaryError, match=r"Too many open files.*; --resume continues"):
            encode_files([*{*files}], tmp_path / "out", english, **OPTIONS)
    assert (
        encode_files([*{*files}], tmp_path / "out", english, resume=True, **OPTIONS)["set_aside"]
        == []
    )


# ---- by exit code --------------------------------------------------------------------------------


def test_the_exit_code_tells_an_outage_a_file_and_a_row(tmp_path, busy, monkeypatch):
    monkeypatch.setattr(stores, "_TRIES", 2)

    def code(*files, out, **options):
        more = [
            part
            for name, value in options.items()
            for part in (f"--{name.replace('_', '-')}", str(value))
        ]
        result = run(
            "encode-files", *map(str, files), "-o", str(tmp_path / out), "--on-error", "skip", *more
        )
        return result.exit_code

    rows = tmp_path / "rows.txt"
    rows.write_bytes(b"the\n\xff\n")
    assert code(rows, out="a") == 0
    assert code(rows, tmp_path / "none.txt", out="b") == 1
    assert code(rows, out="c", most_skipped=0) == 2
    Busy.share = 1
    assert code("busy://texts/a.txt", out="d") == 75
    assert not (tmp_path / "d" / "manifest.json").exists()


# ---- how much is set aside -----------------------------------------------------------------------


BAD = range(10, 60, 10)
LIMITED = ["--on-error", "skip", "--most-skipped"]


@pytest.fixture
def rows(tmp_path):
    """Four files, of which one has five bad rows among a hundred: 400 rows."""
    for number in range(4):
        lines = [b"the people %d" % row for row in range(100)]
        for row in BAD if number == 1 else ():
            lines[row] = b"\xff"
        (tmp_path / f"{number}.txt").write_bytes(b"\n".join(lines) + b"\n")
    return tmp_path / "*.txt"


@pytest.mark.parametrize("limit", [5, "5", "1.25%", "100%"])
def test_as_much_as_is_allowed(english, tmp_path, rows, limit):
    manifest = encode_files(rows, tmp_path / "out", english, most_skipped=limit, **OPTIONS)
    assert manifest["totals"]["rejected"] == 5


@pytest.mark.parametrize(
    ("limit", "allowed"), [(4, "4"), ("0", "0"), ("1.24%", "1.24%"), ("0%", "0%")]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_more_than_is_allowed(english, tmp_path, rows, limit, allowed, workers):
    options, out = {**OPTIONS, "workers": workers}, tmp_path / "out"
    with pytest.raises(FileFormatError) as info:
        encode_files(rows, out, english, most_skipped=limit, **options)
    said = str(info.value)
    assert re.search("set aside: [1-5] rows? without text[,;] ", said)
    assert f"(--most-skipped) allows {allowed}: " in said
    assert "1.txt, row 11: byte 0xff at offset 0 of the text is not UTF-8" in said
    assert "finished shards stay in" in said
    assert "; --resume continues with what is repaired, or with a higher limit" in said
    assert not (out / "manifest.json").exists()
    manifest = encode_files(rows, out, english, resume=True, most_skipped="2%", **options)
    assert manifest["totals"]["rejected"] == 5
    encode_files(rows, tmp_path / "unbroken", english, **options)
    assert contents(out) == contents(tmp_path / "unbroken")


def test_a_number_ends_a_run_before_all_is_read(english, tmp_path, rows):
    seen = []
    with pytest.raises(FileFormatError, match="allows 2: "):
        encode_files(
            rows, tmp_path / "out", english, most_skipped=2, progress=seen.append, **OPTIONS
        )
    assert len(seen) < 8
    finished = seen[-1].shards
    with pytest.raises(FileFormatError, match="allows 2: "):  # the shards that stay count
        encode_files(
            rows,
            tmp_path / "out",
            english,
            most_skipped=2,
            resume=True,
            progress=seen.append,
            **OPTIONS,
        )
    assert seen[-1].kept == finished


def test_a_file_counts_as_so_many_rows_as_its_bytes_have_elsewhere(english, tmp_path, rows):
    raw = (tmp_path / "3.txt").read_bytes()
    (tmp_path / "3.txt").unlink()
    (tmp_path / "3.txt.gz").write_bytes(b"plain" + raw[5:])
    files = [rows, tmp_path / "3.txt.gz"]
    said = (
        r"set aside: 5 rows without text and 1 file that cannot be read, about 10[0-9] of 40[0-9]"
        r" rows; most"
    )
    with pytest.raises(
        FileFormatError, match=said + r".*allows 25%: .*3\.txt\.gz is damaged, or no gzip file"
    ):
        encode_files(files, tmp_path / "out", english, most_skipped="25%", **OPTIONS)
    assert encode_files(
        files, tmp_path / "out", english, resume=True, most_skipped="27%", **OPTIONS
    )["set_aside"]
    with pytest.raises(
        FileFormatError,
        match=r"set aside: 1 file that cannot be read; .* allows 0: cannot read .*n\.txt",
    ):
        encode_files(
            [tmp_path / "0.txt", tmp_path / "n.txt"],
            tmp_path / "n",
            english,
            most_skipped=0,
            **OPTIONS,
        )


def test_in_a_store_and_on_an_engine(english, tmp_path, rows, busy):
    options = {name: value for name, value in OPTIONS.items() if name != "workers"}
    for number, (out, more) in enumerate(
        [("busy://out", {}), (tmp_path / "out", {}), ("busy://out2", {})]
    ):
        with pytest.raises(
            FileFormatError, match=r"1\.txt, row 11: byte 0xff .* --resume continues"
        ):
            encode_files(rows, out, english, most_skipped=number, map_shards=map, **options, **more)
        manifest = encode_files(
            rows, out, english, most_skipped=5, resume=True, map_shards=map, **options
        )
        assert manifest["totals"]["rejected"] == 5
        assert list(open_corpus(out)) == ids_of(
            english,
            [
                f"the people {row}"
                for n in range(4)
                for row in range(100)
                if n != 1 or row not in BAD
            ],
        )


@pytest.mark.parametrize("limit", [-1, 1.0, True, "", "1 %", "101%", "1.5", "-1", "%", [], "1e3%"])
def test_what_is_no_limit(english, tmp_path, rows, limit):
    with pytest.raises(
        InputError, match=r"most_skipped is .*; it is a number of rows from 0, or a share of them"
    ):
        encode_files(rows, tmp_path / "out", english, most_skipped=limit, **OPTIONS)


def test_a_limit_is_for_what_is_skipped(english, tmp_path, rows):
    with pytest.raises(InputError, match="most_skipped needs on_error='skip'"):
        encode_files(rows, tmp_path / "out", english, most_skipped=1)
    said = error("encode-files", str(rows), "-o", str(tmp_path / "out"), *LIMITED, "few")
    assert "most_skipped is 'few'" in said
    assert not os.path.exists(tmp_path / "out")


def test_rejects_name_what_the_message_names(english, tmp_path, rows):
    encode_files(rows, tmp_path / "out", english, **OPTIONS)
    lines = (tmp_path / "out" / "rejects.jsonl").read_text().splitlines()
    assert [json.loads(line)["row"] for line in lines] == [11, 21, 31, 41, 51]
