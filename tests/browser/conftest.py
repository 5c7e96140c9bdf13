"""The playground that `trietok play` serves, in Chromium.

The tests need Debian's `chromium` and Playwright's Python package, which drives the browser.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from typing import Any

import pytest

from tests.conftest import needs

ROOT = pathlib.Path(__file__).parents[2]
AXE = "axe-core@4.10.3"
SLOW = 120_000  # milliseconds; only a page that hangs takes longer, on a busy machine too


@contextlib.contextmanager
def served_as_files(folder):
    """The address of a folder while it is served."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="session")
def serve():
    """Starts `trietok play`; returns its address."""
    started = []

    def start(*arguments: str) -> str:
        command = [sys.executable, "-m", "trietok", "play", "--port", "0", "--no-browser"]
        process = subprocess.Popen(
            [*command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        line = process.stdout.readline()
        assert line.startswith("the playground is at http://127.0.0.1:"), line
        return line.split(";")[0].split(" at ")[1]

    yield start
    for process in started:
        process.terminate()
        process.wait()


@pytest.fixture(scope="session")
def address(serve):
    return serve()


@pytest.fixture(scope="session")
def browser():
    needs("playwright")
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium")
    with sync_playwright() as driver:
        running = driver.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"], timeout=SLOW
        )
        yield running
        running.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """What keeps people from using a page, as axe-core finds it: a function of the page, for
    serious faults.
    """
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm: it fetches axe-core")
    folder = tmp_path_factory.mktemp("axe")
    packed = subprocess.run(
        [npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True
    )
    if packed.returncode:
        pytest.skip(f"needs npm: it does not fetch {AXE}: {packed.stderr}")
    with tarfile.open(folder / packed.stdout.strip()) as archive:
        script = archive.extractfile("package/axe.min.js").read().decode()

    def serious(page) -> list[tuple[str, str]]:
        page.evaluate(script)
        found = page.evaluate(
            "() => axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)"
        )
        print([(each["impact"], each["id"]) for each in found])
        return [
            (each["id"], each["nodes"][0]["html"])
            for each in found
            if each["impact"] in ("serious", "critical")
        ]

    return serious


@pytest.fixture
def open_page(browser):
    """Opens the playground as `Playground`; at the end nothing was asked for elsewhere, and nothing
    went wrong.
    """
    opened = []

    def start(address: str, **options) -> Playground:
        context = browser.new_context(accept_downloads=True, **options)
        playground = Playground(context, address)
        opened.append((context, playground))
        return playground

    yield start
    for context, playground in opened:
        context.close()
        assert playground.elsewhere == []
        assert playground.wrong == []


class Playground:
    """The page, once it is answered.

    Attributes:
        page: Playwright's.
        elsewhere: requests to anything but the server.
        wrong: errors and complaints of the page.
    """

    def __init__(self, context, address: str) -> None:
        self.elsewhere: list[str] = []
        self.wrong: list[str] = []
        server = address.split("#")[0]
        context.set_default_timeout(SLOW)
        context.route("**/*", lambda route: self._see(route, server))
        self.page = context.new_page()
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on(
            "console",
            lambda said: said.type in ("error", "warning") and self.wrong.append(said.text),
        )
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.add_init_script(
            "window.answers = []; addEventListener('shown', (event) =>"
            " window.answers.push(event.detail), true)"
        )
        self.page.goto(address)
        self.page.wait_for_selector("html[data-booted]", state="attached")
        self.until("() => window.answers.length")

    def _see(self, route, server: str) -> None:
        if not route.request.url.startswith((server, "blob:")):
            self.elsewhere.append(route.request.url)
            route.abort()
        else:
            route.continue_()

    def answer(self, **expected) -> dict:
        """The answer that is shown once the page shows one for these settings."""
        wanted = json.dumps(expected)  # ASCII, so a lone surrogate goes through as well
        return self.until(
            """(json) => {
                const wanted = JSON.parse(json), last = window.answers.at(-1);
                const same = (name) => JSON.stringify(last.asked[name]) === JSON.stringify(wanted[name]);
                return Object.keys(wanted).every(same) && last.answer;
            }""",
            wanted,
        )

    def until(self, function: str, argument: object = None) -> Any:
        """What the function returns in the page, once that is true.

        Playwright's own way has the page evaluate a string, which its policy forbids.
        """
        end = time.monotonic() + SLOW / 1000
        while time.monotonic() < end:
            found = self.page.evaluate(function, argument)
            if found:
                return found
            self.page.wait_for_timeout(10)
        raise AssertionError(f"never true in the page: {function}")

    def type(self, text: str) -> dict:
        """Put a text into the field, as if it was pasted, and wait for what is shown of it."""
        self.page.evaluate(
            """(json) => {
                const field = document.getElementById("text");
                field.value = JSON.parse(json);
                field.dispatchEvent(new Event("input", { bubbles: true }));
            }""",
            json.dumps(text),
        )
        return self.answer(text=text)
