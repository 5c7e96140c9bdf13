"""`trietok play`: what it serves, to whom, and what it says where it cannot. `tests/browser/` has the page itself."""

from __future__ import annotations

import http.client
import io
import json
import socket
import subprocess
import sys
import zipfile

import pytest

import trietok
from tests.cli.commands import ROOT, error
from trietok.cli.play import default_site


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site"
    (folder / "pyodide").mkdir(parents=True)
    (folder / "build.json").write_text(json.dumps({"trietok": trietok.__version__}), encoding="utf-8")
    for name in ("config.json", "pyodide/pyodide.mjs", "pyodide/pyodide.asm.wasm"):
        (folder / name).write_text('{"model": null}', encoding="utf-8")
    return folder


@pytest.fixture
def serve(site):
    started = []

    def start(*arguments: str) -> int:
        command = [sys.executable, "-m", "trietok", "play", "--site", str(site), "--port", "0", "--no-browser"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen([*command, *arguments], cwd=ROOT, text=True, **pipes))
        return int(started[-1].stdout.readline().split(":")[2].partition("/")[0])

    yield start
    for process in started:
        process.terminate()
        assert "Traceback" not in process.communicate()[1]


def get(port: int, path: str, host: str = "localhost") -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path, headers={"Host": f"{host}:{port}"})
    response = connection.getresponse()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return response.status, headers, response.read()


def test_it_serves_the_folder_and_the_model_to_this_machine(serve, tiny):
    port = serve("--model", tiny)
    status, headers, _ = get(port, "/pyodide/pyodide.mjs")
    assert (status, headers["content-type"]) == (200, "text/javascript")
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert get(port, "/pyodide/pyodide.asm.wasm")[1]["content-type"] == "application/wasm"
    assert get(port, "/pyodide/")[0] == 404  # no lists of files
    assert get(port, "/../build.json")[0] == 200  # inside the folder, wherever dots lead
    assert get(port, "/../../etc/passwd")[0] == 404
    for path in ("/%00", "/a%00b.js", "/%ED%A0%80", "//["):  # no names of files
        assert get(port, path)[0] == 404
    assert get(port, "/build.json", host="evil.example")[0] == 403
    name = json.loads(get(port, "/config.json")[2])["model"]
    assert tiny.endswith(name)
    with zipfile.ZipFile(io.BytesIO(get(port, "/model.zip")[2])) as archive:
        assert "vocab.txt" in archive.namelist()


def test_without_a_model_the_page_begins_with_a_built_in_vocabulary(serve):
    port = serve()
    assert json.loads(get(port, "/config.json")[2]) == {"model": None}
    assert get(port, "/model.zip")[0] == 404


def test_where_it_is_not_built_one_line_says_how(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_site() == str(tmp_path / "trietok" / "playground")
    assert "build it from a checkout of trietok: python docs/playground/build.py" in error("play", "--no-browser")


def test_a_port_in_use_and_a_model_that_is_not_there(site):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert f"cannot listen on port {port}" in error("play", "--site", str(site), "--no-browser", "--port", port)
    assert "no-such" in error("play", "--site", str(site), "--no-browser", "-m", "./no-such")
