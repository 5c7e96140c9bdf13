"""Objects of S3, read from a server of that protocol on this machine."""

from __future__ import annotations

import fsspec
import pytest

from tests.batches.shards import ids_of, rows_in
from tests.conftest import needs
from trietok import FileError, TextFiles, encode_files

pytestmark = pytest.mark.engines

boto3 = needs("boto3")
server = needs("moto.server")
needs("s3fs")

TEXTS = {"a.txt": "the people", "b.txt": "of the states"}
BODY = "{}\n"


@pytest.fixture
def s3(monkeypatch):
    """A client of the server."""
    running = server.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    client = _connected(f"http://{host}:{port}", monkeypatch)
    yield client
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    running.stop()


def _connected(address, monkeypatch):
    """A client of a server, with a bucket that has files, and the environment that has others find
    the server.
    """
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
    client = boto3.client("s3")
    client.create_bucket(Bucket="bucket")
    for name, text in TEXTS.items():
        client.put_object(Bucket="bucket", Key=name, Body=BODY.format(text).encode())
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    return client


def test_objects_and_a_glob_are_encoded_once_and_kept_by_a_second_run(english, tmp_path, s3):
    several = ["s3://bucket/a.txt", "s3://bucket/b.txt"]
    for number, names in enumerate(("s3://bucket/*.txt", several)):
        out, seen = tmp_path / str(number), []
        for more in ({}, {"resume": True, "progress": seen.append}):
            encode_files(names, out, english, workers=1, **more)
        assert seen[-1].kept == 1
        assert rows_in(out) == ids_of(english, TEXTS.values())
        assert list(TextFiles(names)) == [*TEXTS.values()]
    with pytest.raises(FileError):
        encode_files("s3://bucket/c.txt", tmp_path / "none", english, workers=1)
