"""`trietok play`: the playground, a page for trying texts in vocabularies, served to this machine
alone.

In: the names of models, and the requests of a page. Out: the page's files, and answers of a
`Session`, until the server is stopped.
"""

from __future__ import annotations

import json
import threading
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer

import click

import trietok
from trietok.cli import options
from trietok.cli.options import DEFAULT_MODEL, choice_of
from trietok.cli.output import write_line
from trietok.cli.session import PROFILES, Session
from trietok.files.model_files import BUILT_IN_NAMES

_HOST = "127.0.0.1"
_PORT = 8642
_MORE_PORTS = 20  # to try after it
_MOST_BYTES = 50_000_000  # of a request: the files of a large vocabulary
_PATIENCE = 60  # seconds for a request to arrive
_PAGE = Path(__file__).with_name("playground")
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Scripts, styles and requests of this server alone.
_POLICY = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)


@options.command()
@options.tokenizer(
    "--model",
    "-m",
    "models",
    multiple=True,
    default=[DEFAULT_MODEL],
    help=f"{options.A_MODEL} May be repeated.",
)
@options.profile
@options.number(
    "--port",
    type=click.IntRange(min=0, max=65535),
    help=f"The port to listen on; by default {_PORT} or one after it.",
)
@options.flag("--no-browser", help="Do not open a browser.")
@options.offline
def play(models: tuple[str, ...], port: int | None, no_browser: bool) -> None:
    """Serve the playground, a page for trying texts, on this machine only.

    \b
    Examples:
      trietok play
      trietok play -m google-bert/bert-base-uncased -m my-tokenizer
    """
    session = Session()
    for model in dict.fromkeys(models):
        profile = choice_of(model).kind.profile
        name = Path(model).name
        name = model if not name or name in (*session.shown, *BUILT_IN_NAMES) else name
        try:
            session.load(name, model, (profile, *(other for other in PROFILES if other != profile)))
        except trietok.VocabularyError as error:
            if not Path(model).is_file() or model.endswith(".txt"):
                raise
            taken = (
                "a directory, a vocab.txt, a tokenizer.json, a built-in name or a name on the hub"
            )
            raise trietok.InputError(
                f"{model} holds no vocabulary, and -m takes a tokenizer: {taken}"
            ) from error
        session.shown.append(name)
    with _server(session, port) as server:
        address = f"http://{_HOST}:{server.server_address[1]}/"
        write_line(f"the playground is at {address}; Ctrl-C stops it")
        if not no_browser:
            webbrowser.open(address)
        server.serve_forever()


class _Server(ThreadingHTTPServer):
    # that of HTTP asks for the machine's name, for which some networks take long
    server_bind = TCPServer.server_bind

    def __init__(self, session: Session, port: int) -> None:
        self.session, self.lock = session, threading.Lock()
        super().__init__((_HOST, port), _Handler)
        self.own = {f"{host}:{self.server_address[1]}" for host in (_HOST, "localhost")}

    def handle_error(self, *request: object) -> None:
        """Nothing: a page that was closed takes no answer."""


def _server(session: Session, port: int | None) -> _Server:
    """The server on a port; where none is given, on the first that is free."""
    for each in range(_PORT, _PORT + _MORE_PORTS) if port is None else [port]:
        try:
            return _Server(session, each)
        except OSError as error:
            reason = (
                f"cannot listen on port {each}: {error.strerror}; choose another one with --port"
            )
    raise trietok.InputError(reason)


class _Handler(BaseHTTPRequestHandler):
    """The files of the page, and answers to its requests; to nobody else."""

    server: _Server
    timeout = _PATIENCE

    def do_GET(self) -> None:
        path = _PAGE / (self.path.partition("?")[0].removeprefix("/") or "index.html")
        if not self._is_own():
            self.send_error(HTTPStatus.FORBIDDEN)
        elif path not in _PAGE.iterdir():
            self.send_error(HTTPStatus.NOT_FOUND)
        else:
            self._send(path.read_bytes(), _KINDS.get(path.suffix, "application/octet-stream"))

    def do_POST(self) -> None:
        """Answer a request of the page: JSON for JSON."""
        size = self.headers.get("Content-Length", "")
        if not self._is_own() or self.headers.get("Content-Type") != "application/json":
            self.send_error(HTTPStatus.FORBIDDEN)
        elif not (size.isascii() and size.isdigit()) or int(size) > _MOST_BYTES:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        else:
            try:
                request = self.rfile.read(int(size)).decode()
                with self.server.lock:
                    answer = self.server.session.ask(request)
            # a request that the page does not make, or a fault that it is to show
            except Exception as error:
                answer = json.dumps({"error": f"trietok could not answer: {error}"})
            self._send(answer.encode(), "application/json")

    def _is_own(self) -> bool:
        """Whether the request is of this server's own page: its host, and its origin if it names
        one, are this server.

        A page from elsewhere names another origin; if its name was made to lead here, another host.
        """
        host = self.headers.get("Host", "")
        return (
            host in self.server.own
            and self.headers.get("Origin", f"http://{host}") == f"http://{host}"
        )

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing: the page says what goes wrong."""
