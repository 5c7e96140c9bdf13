"""Objects of S3, which a server of that protocol on this machine keeps.

`pytest -m engines`
"""

from __future__ import annotations

import pathlib

import fsspec
import pyarrow.parquet as pq
import pytest

from tests.batches.text_files import ids_in, ids_of
from tests.conftest import needs
from trietok import FileError, InputError, TextFiles, encode_files
from trietok.batches import units

pytestmark = pytest.mark.engines

boto3 = needs("boto3")
server = needs("moto.server")
s3fs = needs("s3fs")

TEXTS = {"a.txt": "the people", "b.txt": "of the states"}
FILES = "s3://bucket/*.txt"


@pytest.fixture(scope="module")
def address():
    running = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def s3(address, monkeypatch):
    """A client, and a bucket with files. Other libraries connect to the same server."""
    settings = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(units, "_SMALL_BYTES", 0)
    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    for name, text in TEXTS.items():
        client.put_object(Bucket="bucket", Key=name, Body=f"{text}\n".encode())
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    yield client
    for key in keys(client):
        client.delete_object(Bucket="bucket", Key=key)


def keys(client, prefix=""):
    """The names of the objects in the bucket."""
    listed = client.list_objects_v2(Bucket="bucket", Prefix=prefix)
    return [entry["Key"] for entry in listed.get("Contents", [])]


def stored_ids(paths):
    """The ids in objects of the bucket."""
    ids = []
    for path in paths:
        with fsspec.open(path) as file:
            ids += pq.read_table(file).column("input_ids").to_pylist()
    return ids


def test_objects_and_a_glob_are_read_once_and_kept_by_a_second_run(english, tmp_path, s3):
    several = ["s3://bucket/a.txt", "s3://bucket/b.txt"]
    for number, names in enumerate((FILES, several)):
        for kept in (0, 2):
            result = encode_files(names, tmp_path / str(number), english, workers=1)
            assert result.kept == kept
            assert ids_in(result) == ids_of(english, TEXTS.values())
        assert list(TextFiles(names)) == [*TEXTS.values()]
    with pytest.raises(FileError):
        encode_files("s3://bucket/c.txt", tmp_path / "none", english, workers=1)


@pytest.mark.parametrize("output", ["s3://bucket/ids", "s3://bucket/ids/"])
def test_a_bucket_has_the_ids_of_calls_and_a_second_run_keeps_its_objects(english, s3, output):
    s3.put_object(Bucket="bucket", Key="ids/", Body=b"")  # as consoles create a directory
    for kept in (0, 2):
        result = encode_files(FILES, output, english, workers=1)
        assert result.kept == kept
        assert stored_ids(result.paths) == ids_of(english, TEXTS.values())
        assert result.paths == tuple(f"s3://bucket/ids/{name}.parquet" for name in TEXTS)
        assert keys(s3, "ids/") == ["ids/", *(f"ids/{name}.parquet" for name in TEXTS)]


def test_an_object_that_changed_is_an_error_until_force_replaces_its_ids(english, s3):
    output = "s3://bucket/ids"
    encode_files(FILES, output, english, workers=1)
    s3.put_object(Bucket="bucket", Key="a.txt", Body=b"the states\n")
    with pytest.raises(InputError, match=r"s3://bucket/a\.txt"):
        encode_files(FILES, output, english, workers=1)
    if not hasattr(s3fs.S3FileSystem, "_rm_file"):
        pytest.skip("needs s3fs: 2023.6 or newer")
    result = encode_files(FILES, output, english, workers=1, force=True)
    assert result.kept == 1
    assert stored_ids(result.paths) == ids_of(english, ["the states", TEXTS["b.txt"]])


def test_an_upload_that_fails_leaves_no_object(english, tmp_path, s3, monkeypatch):
    models, exceptions = needs("moto.s3.models"), needs("moto.s3.exceptions")
    (tmp_path / "small.txt").write_text("the people\n")

    def refuse(*args, **options):
        raise exceptions.S3ClientError("AccessDenied", "refused by the test")

    with monkeypatch.context() as patch:
        patch.setattr(models.S3Backend, "put_object", refuse)
        with pytest.raises(FileError, match=r"cannot write s3://bucket/ids.*refused by the"):
            encode_files(tmp_path / "small.txt", "s3://bucket/ids", english, workers=1)
    assert not keys(s3, "ids")
    result = encode_files(tmp_path / "small.txt", "s3://bucket/ids", english, workers=1)
    assert stored_ids(result.paths) == ids_of(english, ["the people"])


def test_ray_reads_and_writes_objects(english, s3, monkeypatch):
    needs("ray.data")
    monkeypatch.setenv("PYTHONPATH", str(pathlib.Path(__file__).parents[2]))
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    result = encode_files(FILES, "s3://bucket/ids", english, engine="ray")
    assert (result.rows, result.paths) == (2, ("s3://bucket/ids",))
    paths = [f"s3://bucket/{key}" for key in keys(s3, "ids/") if key.endswith(".parquet")]
    assert sorted(stored_ids(paths)) == sorted(ids_of(english, TEXTS.values()))
