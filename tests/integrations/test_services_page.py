"""The service of docs/guides/replace_transformers.md, started by the page's own commands."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import trietok
from tests.conftest import needs

pytestmark = pytest.mark.clients

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guides" / "replace_transformers.md").read_text(encoding="utf-8")
COMMANDS = [
    command
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    for command in block.splitlines()
    if not command.startswith(("pip ", "trietok "))
]
START_SECONDS = 300  # only to notice a service that never answers
TEXTS = ["The people", "of the United States [SEP]"]


@pytest.fixture
def service(tmp_path):
    """The directory with the page's service.py."""
    needs("fastapi")
    (code,) = re.findall(r"^```python\n(# service\.py\n.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (tmp_path / "service.py").write_text(code, encoding="utf-8")
    return tmp_path


def post(port: int, body: object) -> object:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/ids", json.dumps(body).encode(), method="POST"
    )
    request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
        return json.load(answer)


def port_of(process: subprocess.Popen, log: Path) -> int:
    """The port that the system gave a service, which says so once it listens there."""
    end = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < end:
        said = re.search(r"http://127\.0\.0\.1:(\d+) ", log.read_text(encoding="utf-8"))
        if said:
            return int(said[1])
        time.sleep(0.1)
    raise AssertionError(f"no port; exit code {process.poll()}: {log.read_text(encoding='utf-8')}")


def test_the_page_has_the_commands():
    assert [command.split()[0] for command in COMMANDS] == ["uvicorn", "gunicorn"]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0])
def test_the_service_of_the_page(service, command):
    program, *arguments = shlex.split(command)
    for name in (program, *(["uvicorn_worker"] if program == "gunicorn" else [])):
        needs(name)
    where = ["--port", "0"] if program == "uvicorn" else ["--bind", "127.0.0.1:0"]
    paths = os.pathsep.join(
        [str(service), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    log = service / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-m", program, *arguments, *where],
            cwd=service,
            env={**os.environ, "PYTHONPATH": paths},
            stderr=written,
            stdout=written,
        )
    try:
        port = port_of(process, log)
        rows = post(port, {"texts": TEXTS, "max_length": 6})
        tokenizer = trietok.BertTokenizerFast.from_pretrained("trietok-en")
        options = {"truncation": True, "max_length": 6, "split_special_tokens": True}
        assert rows == tokenizer(TEXTS, **options).input_ids
        assert rows != tokenizer(TEXTS).input_ids
        for wrong in ({"texts": TEXTS, "max_length": 2}, {"texts": []}):
            with pytest.raises(urllib.error.HTTPError) as refused:
                post(port, wrong)
            assert refused.value.code == 422
    finally:
        process.terminate()
        process.wait(START_SECONDS)


def test_the_service_in_its_own_process(service, monkeypatch):
    """As FastAPI's own test client calls it, from many threads."""
    needs("httpx")
    from fastapi.testclient import TestClient

    monkeypatch.syspath_prepend(service)
    module = importlib.import_module("service")
    monkeypatch.delitem(sys.modules, "service")
    with TestClient(module.app) as client, ThreadPoolExecutor(16) as threads:
        lengths = [3 + number % 8 for number in range(160)]
        bodies = [{"texts": TEXTS, "max_length": length} for length in lengths]
        answers = list(threads.map(lambda body: client.post("/ids", json=body).json(), bodies))
    assert answers == [
        module.tokenizer(
            TEXTS, truncation=True, max_length=length, split_special_tokens=True
        ).input_ids
        for length in lengths
    ]
