"""A corpus in S3, by a server of that protocol on this machine, which fails as such servers do, in
two time zones.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tests.cli.commands import environment
from tests.corpus.s3 import Proxy
from tests.corpus.shards import write
from tests.corpus.test_s3 import _connected
from trietok import FileError, InputError, encode_files
from trietok.corpus import open_corpus
from trietok.files.stores import Place

pytestmark = pytest.mark.engines

pytest.importorskip("boto3")
pytest.importorskip("s3fs")
fsspec = pytest.importorskip("fsspec")
server = pytest.importorskip("moto.server")

PLACE = "s3://bucket/ids"
STATE = "bucket/ids/.trietok-encode/"
KILLS = int(os.environ.get("TRIETOK_KILLS", "150")) // 5
LARGE = 105_000_000  # bytes; s3fs puts files of 100 MB in parts


@pytest.fixture(scope="module")
def moto():
    running = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    yield running.get_host_and_port()
    running.stop()


@pytest.fixture
def s3(moto, monkeypatch):
    """The proxy; `proxy.client` is a client of the server behind it."""
    proxy = Proxy(*moto)
    proxy.client = _connected(proxy.address, monkeypatch)
    for name in stored(proxy.client):
        proxy.client.delete_object(Bucket="bucket", Key=name)
    proxy.forget()
    yield proxy
    proxy.stop()


def stored(client):
    """The names of all objects."""
    return [each["Key"] for page in pages(client) for each in page.get("Contents", [])]


def pages(client):
    return client.get_paginator("list_objects_v2").paginate(Bucket="bucket")


def corpus_in(place):
    """The bytes of the shards of a corpus in their order, and its counts."""
    corpus = open_corpus(place)
    names = [file["name"] for shard in corpus.manifest["shards"] for file in shard["files"]]
    if "://" in str(place):
        found = Place(place).read(names)
        return [found[name] for name in names], corpus.manifest["totals"]
    return [(place / name).read_bytes() for name in names], corpus.manifest["totals"]


def left_over(client):
    """The objects that do not belong to the corpus."""
    named = {
        file["name"] for shard in open_corpus(PLACE).manifest["shards"] for file in shard["files"]
    }
    others = {name.removeprefix("ids/") for name in stored(client)} - named
    return {name for name in others if not name.endswith(".jsonl")} - {"manifest.json"}


@pytest.fixture
def corpus(tmp_path, english):
    """Files of each kind and the options that cut them into some shards; and what they are in a
    directory.
    """
    for number, name in enumerate(["a.txt", "b.jsonl.zst", "c.parquet", "d.txt.gz"]):
        write(tmp_path / name, [f"people {row} of {number} the" for row in range(40)])
    files, options = [tmp_path / "[abcd].*"], {"shard_bytes": 700}
    encode_files(files, tmp_path / "here", english, workers=1, **options)
    return files, options, corpus_in(tmp_path / "here")


@pytest.fixture
def by_command(tmp_path, corpus):
    """What the command makes of the files: its tokenizer is of another class."""
    subprocess.run(
        command(corpus[0], str(tmp_path / "by-command")),
        env=environment(),
        check=True,
        capture_output=True,
    )
    return corpus_in(tmp_path / "by-command")


def command(files, place, *options):
    names = [str(file) for file in files]
    return [
        sys.executable,
        "-m",
        "trietok",
        "encode-files",
        *names,
        "-o",
        place,
        "--shard-size",
        "0.0007",
        *options,
    ]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_the_command_in_a_time_zone(corpus, by_command, s3, zone):
    (files, *_), expected = corpus, by_command
    for options, code in (
        (["--workers", "1"], 0),
        ([], 2),
        (["--resume"], 0),
        (["--resume", "--verify"], 0),
    ):
        done = subprocess.run(
            command(files, PLACE, *options),
            env=environment(TZ=zone),
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == code, done.stderr
        assert code == 0 or "s3://bucket/ids holds a run already; go on with it" in done.stderr
        assert corpus_in(PLACE) == expected
        assert not left_over(s3.client)


def every(number, fault, *methods):
    """A fault of each so many requests of some methods."""
    seen = []

    def decide(_, request):
        if request.method in methods:
            seen.append(request)
            return fault if len(seen) % number == 0 else None
        return None

    return decide


FAULTS = {
    "busy": every(3, "busy", "PUT", "GET", "POST"),
    "broken": every(4, "broken", "PUT", "GET", "POST"),
    "reset": every(4, "reset", "PUT", "GET"),
    "answers of which half is lost": every(4, "cut", "GET"),
    "slow": every(9, 1, "PUT"),
    "dropped": every(4, "dropped", "PUT", "GET"),
    "answers that are lost": every(2, "unanswered", "PUT"),
    "a list that lags": lambda number, request: "stale" if request.is_list else None,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_that_pass(english, corpus, s3, fault):
    files, options, expected = corpus
    s3.fault = FAULTS[fault]
    encode_files(files, PLACE, english, workers=2, **options)
    assert corpus_in(PLACE) == expected
    with pytest.raises(InputError, match="s3://bucket/ids holds a run already"):
        encode_files(files, PLACE, english, workers=2, **options)
    encode_files(files, PLACE, english, workers=2, resume=True, **options)
    assert corpus_in(PLACE) == expected
    s3.forget()
    encode_files(files, PLACE, english, workers=2, resume=True, **options)
    assert not left_over(s3.client)


def test_files_of_a_server_that_is_busy_are_not_set_aside(corpus, by_command, tmp_path, s3):
    """40 % of the answers say so; where all do, the run fails, with an exit code of its own, and
    goes on later.
    """
    (folder, *_), expected, names = corpus[0], by_command, []
    for path in sorted(folder.parent.glob(folder.name)):
        s3.client.upload_file(str(path), "bucket", f"texts/{path.name}")
        names.append(f"s3://bucket/texts/{path.name}")
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    rng, out = random.Random(seed), str(tmp_path / "busy")

    def done(*options):
        _, _, _, *given = command(names, out, "--on-error", "skip", *options)
        # as often as for users, but after shorter waits, of ours and of S3's libraries
        hasty = "import runpy; from trietok.files import stores; stores._LONGEST_WAIT = 0.25; "
        run_it = "runpy.run_module('trietok', run_name='__main__', alter_sys=True)"
        return subprocess.run(
            [sys.executable, "-c", hasty + run_it, *given],
            env=environment(AWS_MAX_ATTEMPTS="1"),
            capture_output=True,
            text=True,
            timeout=900,
        )

    s3.fault = lambda number, request: "busy" if number > 12 else None
    failed = done()
    assert failed.returncode == 75, failed.stderr
    assert "the store gives no answer now" in failed.stderr
    assert not (tmp_path / "busy" / "manifest.json").exists()
    s3.fault = lambda number, request: "busy" if rng.random() < 0.4 else None
    again = done("--resume")
    assert again.returncode == 0, again.stderr
    assert open_corpus(out).manifest["set_aside"] == []
    assert corpus_in(tmp_path / "busy") == expected


def test_a_server_that_is_away_for_some_seconds(english, corpus, s3):
    files, options, expected = corpus

    def away(state):
        if state.shards == 5:
            s3.is_down, s3.back_at = True, time.monotonic() + 2

    def decide(number, request):
        if s3.is_down and time.monotonic() > s3.back_at:
            s3.is_down = False

    s3.fault = decide
    encode_files(files, PLACE, english, workers=2, progress=away, **options)
    assert corpus_in(PLACE) == expected


def test_a_server_that_does_not_come_back(corpus, by_command, s3):
    (files, *_), expected = corpus, by_command
    s3.fault = lambda number, request: "forbidden" if number > 12 else None
    done = subprocess.run(
        command(files, PLACE), env=environment(), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 2
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith("trietok: error: cannot write s3://bucket/ids/"), done.stderr
    assert said.endswith("in s3://bucket/ids; --resume continues")
    s3.forget()
    again = subprocess.run(
        command(files, PLACE, "--resume"),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert again.returncode == 0, again.stderr
    assert corpus_in(PLACE) == expected
    assert not left_over(s3.client)


def test_two_runs_that_begin_at_one_time(english, corpus, s3):
    """Neither sees anything of the other; the store lets one of them put its plan."""
    files, options, expected = corpus
    s3.fault = lambda number, request: "stale" if request.is_list else None
    other = []

    def begins_too(number, request):
        if request.method == "PUT" and request.name.endswith("plan.json") and not other:
            other.append(number)
            s3.client.put_object(Bucket="bucket", Key="ids/.trietok-encode/plan.json", Body=b"{}")

    s3.fault = begins_too
    with pytest.raises(InputError, match="s3://bucket/ids holds a run already"):
        encode_files(files, PLACE, english, workers=2, **options)
    s3.forget()
    encode_files(files, PLACE, english, workers=2, resume=True, **options)
    assert corpus_in(PLACE) == expected


@pytest.mark.skipif(os.name != "posix", reason="kills")
def test_killed_again_and_again(corpus, by_command, s3):
    """The driver with its workers, or one alone, at a request that is drawn by lot."""
    (files, *_), expected = corpus, by_command
    seed = random.randrange(10**9)
    print("seed", seed)
    rng = random.Random(seed)
    kills = runs = 0
    while kills < KILLS:
        kernel, limit = rng.choice("01"), rng.randrange(4, 60)
        s3.forget()
        child = subprocess.Popen(
            command(files, f"{PLACE}-{runs}", "--resume", "--workers", "2"),
            env={**environment(), "TRIETOK_KERNEL": kernel},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

        def kill(number, request, child=child, limit=limit):
            # the request is under way while its sender is killed
            return 0.3 if number >= limit else None

        s3.fault = kill
        while child.poll() is None and len(s3.requests) < limit:
            time.sleep(0.001)
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL) if rng.random() < 0.7 else child.kill()
            child.wait()
            kills += 1
            names = [
                name.removeprefix(f"ids-{runs}/")
                for name in stored(s3.client)
                if name.startswith(f"ids-{runs}/")
            ]
            known = (
                ".trietok-encode/",
                "part-",
                "manifest.json",
                "rejects.jsonl",
                "shards-",
                "sources-",
            )
            assert all(name.startswith(known) for name in names)
            continue
        assert child.returncode == 0, child.stderr.read()
        assert corpus_in(f"{PLACE}-{runs}") == expected
        runs += 1
    s3.forget()
    for options in (), ("--verify",):
        done = subprocess.run(
            command(files, f"{PLACE}-{runs}", "--resume", *options),
            env=environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert corpus_in(f"{PLACE}-{runs}") == expected
    assert not [name for name in stored(s3.client) if ".trietok-encode" in name]
    assert not s3.client.list_multipart_uploads(Bucket="bucket").get("Uploads")


@pytest.fixture
def large(tmp_path):
    with open(tmp_path / "large", "wb") as file:
        file.truncate(LARGE)
    return tmp_path / "large"


@pytest.mark.parametrize("fault", ["busy", "dropped", 1])
def test_a_file_in_parts(large, s3, fault):
    parts = []

    def decide(number, request):
        if "partNumber" in request.query:
            parts.append(request)
            return fault if len(parts) == 2 else None
        return None

    s3.fault = decide
    assert Place(PLACE).put(large, "a")
    assert len(parts) >= 3
    assert Place(PLACE).sizes() == {"a": LARGE}
    assert not s3.client.list_multipart_uploads(Bucket="bucket").get("Uploads")


def test_a_file_of_which_a_part_is_not_taken(large, s3):
    s3.fault = lambda number, request: "forbidden" if "partNumber=2" in request.query else None
    with pytest.raises(OSError, match="Not today"):
        Place(PLACE).put(large, "a")
    assert Place(PLACE).sizes() == {}
    assert not s3.client.list_multipart_uploads(Bucket="bucket").get("Uploads")


def test_requests(english, tmp_path, corpus, s3):
    """What a run asks of a store: `docs/corpora.md` has the numbers."""
    files, options, _ = corpus
    manifest = encode_files(files, PLACE, english, workers=2, **options)
    shards = len(manifest["shards"])
    asked = list(s3.requests)
    puts = [request for request in asked if request.method == "PUT"]
    assert len([request for request in puts if "/part-" in request.name]) == shards
    assert len([request for request in puts if request.name.endswith(".record.json")]) == shards
    print(f"{shards} shards, {len(puts)} put, {len(asked) - len(puts)} others:")
    for request in asked:
        if not (
            request.method == "PUT" and ("/part-" in request.name or "record.json" in request.name)
        ):
            print(*request)
    assert len(asked) <= 2 * shards + 20
    s3.requests.clear()
    open_corpus(PLACE)
    print(*s3.requests, sep="\n")
    assert len(s3.requests) <= 8


def test_what_is_wrong_is_said_in_a_line(english, corpus, s3, monkeypatch):
    files, options, _ = corpus
    with pytest.raises(
        FileError, match=r"^cannot write to s3://nowhere/ids: there is no such bucket$"
    ):
        encode_files(files, "s3://nowhere/ids", english, workers=1, **options)
    with pytest.raises(FileError, match=r"^cannot read s3://nowhere/a\.txt: No such bucket$"):
        encode_files("s3://nowhere/a.txt", PLACE, english, workers=1, **options)
    done = subprocess.run(
        command(files, "s3://nowhere/ids"),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 2
    assert len([line for line in done.stderr.splitlines() if "profile" not in line]) == 1, (
        done.stderr
    )
    s3.client.put_object(Bucket="bucket", Key="ids/mine", Body=b"mine")
    with pytest.raises(
        InputError,
        match="s3://bucket/ids holds 'mine', which belongs to no run; give an empty place",
    ):
        encode_files(files, PLACE, english, workers=1, **options)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", "/nowhere")
    done = subprocess.run(
        command(files, PLACE), env=environment(), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 2
    assert [line for line in done.stderr.splitlines() if "profile" not in line] == [
        "trietok: error: cannot list s3://bucket/ids: Unable to locate credentials; give them as"
        " the store's own tools take them, for S3 by `aws configure` or in the variables"
        " AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    ]
