"""`trietok play`: what it serves, to whom, and what it says where it cannot. `tests/browser/` has
the page itself.
"""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys

import pytest

import trietok
from tests.cli.commands import ROOT, error, posix


class Served:
    """A server of the command: its port, its process, and what it answers."""

    def __init__(self, process: subprocess.Popen) -> None:
        self.process = process
        self.port = int(process.stdout.readline().split(":")[2].partition("/")[0])

    def request(
        self, path: str = "/", asked: object = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """GET a path; or POST what is asked as JSON, if anything is."""
        own = f"localhost:{self.port}"
        headers = {
            "Host": own,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        if asked is None:
            connection.request("GET", path, headers=headers)
        else:
            body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
            headers = {
                "Content-Type": "application/json",
                "Origin": f"http://{headers['Host']}",
                **headers,
            }
            connection.request("POST", path, body, headers)
        response = connection.getresponse()
        return (
            response.status,
            {name.lower(): value for name, value in response.getheaders()},
            response.read(),
        )

    def ask(self, **asked: object) -> dict:
        status, _, content = self.request("/ask", asked)
        assert status == 200
        return json.loads(content)

    def explain(self, text: str, *models: str, profile: str = "slow", **options: object) -> dict:
        asked = [
            {"model": model, "profile": profile, "names": ["the first", model]} for model in models
        ]
        return self.ask(do="explain", text=text, tokenizers=asked, **options)


@pytest.fixture(scope="module")
def serve():
    started = []

    def start(*arguments: str) -> Served:
        command = [sys.executable, "-m", "trietok", "play", "--port", "0", "--no-browser", "-q"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        started.append(subprocess.Popen([*command, *arguments], cwd=ROOT, text=True, **pipes))
        return Served(started[-1])

    yield start
    for process in started:
        process.terminate()
        assert process.communicate()[1] in ("", "trietok: stopped\n")


@pytest.fixture(scope="module")
def served(serve):
    return serve()


def test_the_page_is_a_part_of_the_package_and_nothing_else_is_served(served):
    status, headers, content = served.request("/")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert b"<title>trietok playground</title>" in content
    assert served.request("/page.js?new")[1]["content-type"].startswith("text/javascript")
    for path in ("/../play.py", "//etc/passwd", "/%2e%2e/play.py", "/%00", "//[", "/nothing.js"):
        assert served.request(path)[0] == 404


def test_only_the_page_itself_is_answered(served):
    asked = {"do": "models"}
    assert served.request("/ask", asked)[0] == 200
    assert served.request("/ask", asked, Host=f"127.0.0.1:{served.port}")[0] == 200
    own = f"localhost:{served.port}"
    for host in ("evil.example", f"evil.example:{served.port}", "localhost", "127.0.0.1:1", ""):
        assert served.request("/", Host=host)[0] == 403
        assert served.request("/ask", asked, Host=host)[0] == 403
    for origin in (
        "http://evil.example",
        "null",
        f"https://{own}",
        f"http://127.0.0.1:{served.port}",
    ):
        assert served.request("/ask", asked, Origin=origin)[0] == 403
    # what a form of another page can send
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        assert served.request("/ask", asked, Content_Type=kind)[0] == 403


def test_requests_are_bounded_and_odd_ones_are_answered(served):
    assert "300,000 characters" in served.explain("a" * 300_001, "trietok-en")["error"]
    padded = {"padding": "max_length", "max_length": 10**9}
    assert "a max_length of at most 300,000" in served.explain("a", "trietok-en", **padded)["error"]
    assert served.request("/ask", asked={}, Content_Length="99999999999")[0] == 413
    assert served.request("/ask", asked={}, Content_Length="-1")[0] == 413
    for odd in (
        b"",
        b"[]",
        b"\xff",
        b'{"do": "go"}',
        b'{"do": "explain", "text": 1}',
        b"[" * 100_000,
    ):
        status, _, content = served.request("/ask", odd)
        assert status == 200
        assert "trietok could not answer" in json.loads(content)["error"]
    for models in (["/etc"], ["trietok-en", "/etc"]):  # only those that it was given
        assert (
            "the page has no vocabulary '/etc' in the slow profile"
            in served.explain("a", *models)["error"]
        )
    assert "in the quick profile" in served.explain("a", "trietok-en", profile="quick")["error"]
    ids = trietok.BertTokenizer.from_pretrained("trietok-en")("a")["input_ids"]
    assert served.explain("a \ud800", "trietok-en")["ids"] == ids


def test_several_models_answer_side_by_side(serve, tiny, tmp_path):
    other = trietok.BertTokenizer.from_pretrained(tiny)
    other.add_tokens(["hellx"])
    folders = [str(tmp_path / name / "model") for name in ("mine", "yours")]
    for folder in folders:
        other.save_pretrained(folder)
    models = [each for model in (tiny, *folders, tiny) for each in ("-m", model)]
    served = serve(*models, "--profile", "slow")
    listed = served.ask(do="models")
    first, *others = listed["shown"]
    assert tiny.endswith(first)
    assert others == ["model", folders[1]]  # the name that is taken comes in whole
    assert listed["models"]["model"] == ["slow", "fast"]
    assert listed["models"]["trietok-zh"] == ["fast", "slow"]
    answer = served.explain("hello hellx", first, *others)
    assert answer["ids"] == trietok.BertTokenizer.from_pretrained(tiny)("hello hellx")["input_ids"]
    assert [each["ids"] for each in answer["others"]] == [other("hello hellx")["input_ids"]] * 2
    assert answer["counts"] == {"characters": 11, "words": 2, "tokens": 4, "unknown": 1}
    assert answer["others"][0]["counts"]["unknown"] == 0


@posix
def test_an_interrupt_ends_the_server_with_130(serve):
    served = serve()
    assert served.request("/")[0] == 200
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(300) == 130


def test_a_port_in_use_and_a_model_that_is_not_there_are_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert port in error("play", "--no-browser", "--port", port)
    assert "no-such" in error("play", "--no-browser", "-m", "./no-such")
    for name in ("a.csv", "a.txt"):
        (tmp_path / name).write_text("text,label\nthe people,1\n")
        assert name in error("play", "--no-browser", "-m", str(tmp_path / name))
