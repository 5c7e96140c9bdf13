"""`trietok play`: the playground, a page in which trietok runs, on this machine, with the vocabulary of a model.

In: the folder that `docs/playground/build.py` makes. Out: a server for this machine alone, until it is stopped.
"""

from __future__ import annotations

import functools
import http.server
import io
import json
import os
import tempfile
import zipfile
from typing import Any

import click

import trietok
from trietok.cli import options
from trietok.cli.options import DEFAULT_MODEL, tokenizer_of
from trietok.cli.output import warn, write_line

_HOST = "127.0.0.1"
_PORT = 8642
# Scripts, styles and requests of this server alone; Python in the browser is WebAssembly.
_POLICY = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


@options.command()
@options.model
@options.number(
    "--port", type=click.IntRange(min=0, max=65535), default=_PORT, help="The port to listen on; 0 is any free one."
)
@options.flag("--no-browser", help="Do not open a browser.")
@options.file("--site", metavar="DIR", help="The folder that docs/playground/build.py made.")
@options.offline
def play(model: str, port: int, no_browser: bool, site: str | None) -> None:
    """Serve the playground, a page for trying texts, on this machine only.

    \b
    Examples:
      trietok play
      trietok play -m my-tokenizer --port 0
    """
    folder = site or default_site()
    _check(folder)
    served: dict[str, bytes] = {}
    if model != DEFAULT_MODEL:
        name = os.path.basename(os.path.normpath(model))
        served = {"/config.json": json.dumps({"model": name}).encode(), "/model.zip": _zipped(tokenizer_of(model))}
    try:
        server = http.server.ThreadingHTTPServer(
            (_HOST, port), functools.partial(_Handler, served=served, directory=folder)
        )
    except OSError as error:
        reason = f"cannot listen on port {port}: {error.strerror}; choose another one with --port"
        raise trietok.InputError(reason) from error
    with server:
        address = f"http://{_HOST}:{server.server_port}/"
        write_line(f"the playground is at {address}; Ctrl-C stops it")
        if not no_browser:
            import webbrowser

            webbrowser.open(address)
        server.serve_forever()


def default_site() -> str:
    """The folder where the playground is looked for, and where `build.py` puts it.

    >>> os.path.basename(default_site())
    'playground'
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(cache, "trietok", "playground")


def _check(folder: str) -> None:
    try:
        with open(os.path.join(folder, "build.json"), encoding="utf-8") as file:
            version = json.load(file)["trietok"]
    except (OSError, ValueError, KeyError, TypeError):
        raise trietok.FileError(
            f"there is no playground in {folder}; build it from a checkout of trietok: python docs/playground/build.py "
            f"{folder}",
            path=folder,
        ) from None
    if version != trietok.__version__:
        warn(f"the playground in {folder} runs trietok {version}, and this is {trietok.__version__}; build it again")


def _zipped(tokenizer: Any) -> bytes:
    """The files of a tokenizer."""
    made = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(made, "w") as archive:
        tokenizer.save_pretrained(folder)
        for name in sorted(os.listdir(folder)):
            archive.write(os.path.join(folder, name), name)
    return made.getvalue()


class _Handler(http.server.SimpleHTTPRequestHandler):
    """The files of a folder, and some that are only here."""

    extensions_map = {  # the same on every system
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
    }

    def __init__(self, *arguments: Any, served: dict[str, bytes], **options: Any) -> None:
        self._served = served
        super().__init__(*arguments, **options)

    def send_head(self) -> Any:
        """Send what goes before the content, and return the content to be read, as for files."""
        if not self._is_asked_by_name():
            self.send_error(403)
            return None
        content = self._served.get(self.path)
        if content is None:
            try:
                return super().send_head()
            except ValueError:  # no file can have that name
                self.send_error(404)
                return None
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(self.path))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)

    def _is_asked_by_name(self) -> bool:
        """Whether the request names this machine: a page from elsewhere, whose name was made to lead here, does not."""
        return self.headers.get("Host", "").rpartition(":")[0] in (_HOST, "localhost")

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def list_directory(self, path: Any) -> None:
        self.send_error(404)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: the page says what goes wrong."""
