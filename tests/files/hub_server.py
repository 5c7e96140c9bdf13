"""A hub on 127.0.0.1: models in memory, served the way `hf_hub_download` asks for them, and a log
of what was asked.

It answers HEAD and GET of `/{model}/resolve/{revision}/{path}` with the headers the HuggingFace hub
sends, among them `X-Error-Code` where something is missing. GET of
`/api/models/{model}/tree/{revision}/{folder}` lists what a folder holds.
"""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote


def sha(*parts: str) -> str:
    return hashlib.sha1("\0".join(parts).encode()).hexdigest()


@dataclass
class Model:
    """A repository: branch, tag or commit → commit, and commit → path → text. `token` opens it,
    where it has one.
    """

    revisions: dict[str, str] = field(default_factory=dict)
    commits: dict[str, dict[str, str]] = field(default_factory=dict)
    token: str | None = None
    gated: bool = False

    def push(self, files: dict[str, str], revision: str = "main") -> str:
        """Set the files of a revision; returns the commit."""
        commit = sha(revision, *map(repr, sorted(files.items())))
        self.commits[commit] = dict(files)
        self.revisions[revision] = self.revisions[commit] = commit
        return commit


class Hub:
    """The server. A context manager: it serves until the `with` block ends.

    `fail` maps a file's name, "GET " and a file's name, or "*" for every file, to what goes wrong:
    a status, "hang up" or "not a hub". `log` has a tuple of method, model, revision and path for
    every request, in order.
    """

    def __init__(self) -> None:
        self.models: dict[str, Model] = {}
        self.fail: dict[str, int | str] = {}
        self.log: list[tuple[str, str, str, str]] = []
        self.after_request: Any = lambda *request: None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Hub:
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving; connections are refused from now on."""
        self._server.shutdown()
        self._server.server_close()

    def add(self, name: str, files: dict[str, str], revision: str = "main", **options: Any) -> str:
        """Add a model, or a revision to one; returns the commit."""
        return self.models.setdefault(name, Model(**options)).push(files, revision)

    def take_log(self) -> list[tuple[str, str, str, str]]:
        log, self.log = self.log, []
        return log


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def log_message(self, *arguments: object) -> None:
            pass

        def answer(self) -> None:
            """Log a request for a file or for what a folder holds, and answer it."""
            path = self.path.partition("?")[0].strip("/")
            is_listing = path.startswith("api/models/")
            name, found, rest = path.removeprefix("api/models/").partition(
                "/tree/" if is_listing else "/resolve/"
            )
            revision, _, path = rest.partition("/")
            request = (self.command, name, unquote(revision), unquote(path))
            hub.log.append(request if found else (self.command, self.path, "", ""))
            token = (self.headers.get("Authorization") or "").removeprefix("Bearer ") or None
            if not self.fails(request[3].rpartition("/")[2]):
                self.serve(*request[1:], token, is_listing)
            hub.after_request(*request)

        def fails(self, file: str) -> bool:
            failure = hub.fail.get(f"{self.command} {file}", hub.fail.get(file, hub.fail.get("*")))
            self.close_connection = failure == "hang up"
            if failure == "not a hub":  # such as the log-in page of a network
                self.send(200, "<html>Welcome</html>")
            elif isinstance(failure, int):
                self.send(failure)
            return failure is not None

        def serve(
            self, name: str, revision: str, path: str, token: str | None, is_listing: bool
        ) -> None:
            model = hub.models.get(name)
            if model is None:
                # The hub does not tell strangers which private models there are.
                self.refuse(404 if token else 401, "RepoNotFound")
            elif model.token not in (None, token) and model.gated:
                self.refuse(403 if token else 401, "GatedRepo")
            elif model.token not in (None, token):
                self.send(401, X_Error_Message="Invalid username or password.")
            elif revision not in model.revisions:
                self.refuse(404, "RevisionNotFound")
            else:
                self.serve_commit(model, model.revisions[revision], path, is_listing)

        def serve_commit(self, model: Model, commit: str, path: str, is_listing: bool) -> None:
            files = model.commits[commit]
            inside = [each for each in files if each.startswith(path + "/")]
            if is_listing and inside:
                entries = [
                    {"type": "file", "path": each, "size": 1, "oid": sha(files[each])}
                    for each in inside
                ]
                self.send(200, json.dumps(entries), X_Repo_Commit=commit)
            elif path not in files:
                self.refuse(404, "EntryNotFound", X_Repo_Commit=commit)
            else:
                tag = f'"{sha(files[path])}"'
                self.send(200, files[path], ETag=tag, X_Repo_Commit=commit, Accept_Ranges="bytes")

        def refuse(self, status: int, code: str, **headers: str) -> None:
            self.send(status, X_Error_Code=code, X_Error_Message=code, **headers)

        def send(self, status: int, text: str = "", **headers: str) -> None:
            body = text.encode()
            self.send_response(status)
            for header, value in headers.items():
                self.send_header(header.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    return Handler
