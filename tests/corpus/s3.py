"""A proxy in front of a server of S3's protocol: it counts requests, and makes faults that such
servers make.
"""

from __future__ import annotations

import http.client
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

INTERNAL = (
    b"<Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"
)
SLOW_DOWN = (
    b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
)
BROKEN = b"<Error><Code>AccessDenied</Code><Message>Not today</Message></Error>"


class Request(NamedTuple):
    """What was asked: its method, the name of the object or of the bucket, and what follows the
    question mark.
    """

    method: str
    name: str
    query: str

    @property
    def is_list(self):
        return self.method == "GET" and "list-type" in self.query


class Proxy:
    """Where the requests go through; `fault` is asked about each, with its number, and says what
    becomes of it.

    It says None, `"busy"` (a 503), `"broken"` (a 500), `"forbidden"`, `"dropped"` (it does not
    arrive), `"reset"` (nor does this end the connection as it should), `"unanswered"` (it arrives,
    and the answer is lost), `"cut"` (half of the answer is), `"stale"` (a list is empty) or a
    number of seconds that it takes.
    """

    def __init__(self, host, port):
        self.requests = []
        self.fault = lambda number, request: None
        self.is_down = False
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self):
                try:
                    super().handle_one_request()
                except OSError:  # the client was killed
                    self.close_connection = True

            def log_message(self, *arguments):
                pass

            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = urlsplit(self.path)
                request = Request(self.command, unquote(parts.path).strip("/"), parts.query)
                with proxy.lock:
                    proxy.requests.append(request)
                    number = len(proxy.requests)
                fault = proxy.fault(number, request)
                if isinstance(fault, (int, float)):
                    time.sleep(fault)
                if proxy.is_down or fault == "dropped":
                    return self.hang_up()
                if fault == "reset":
                    self.connection.setsockopt(
                        socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                    )
                    self.close_connection = True
                    return self.connection.close()
                told = {
                    "busy": (503, SLOW_DOWN),
                    "broken": (500, INTERNAL),
                    "forbidden": (403, BROKEN),
                }.get(fault)
                if told is not None:
                    return self.answer(*told)
                onward = http.client.HTTPConnection(host, port, timeout=300)
                kept = {
                    name: value for name, value in self.headers.items() if name.lower() != "expect"
                }
                onward.request(self.command, self.path, body, kept)
                got = onward.getresponse()
                content = got.read()
                onward.close()
                if fault == "unanswered":
                    return self.hang_up()
                if fault == "stale":
                    content = (
                        b"<ListBucketResult><KeyCount>0</KeyCount>"
                        b"<IsTruncated>false</IsTruncated></ListBucketResult>"
                    )
                return self.answer(got.status, content, got.getheaders(), is_cut=fault == "cut")

            do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on

            def answer(self, status, content, headers=(), is_cut=False):
                self.send_response(status)
                for name, value in headers:
                    if name.lower() not in (
                        "content-length",
                        "connection",
                        "date",
                        "server",
                        "transfer-encoding",
                    ):
                        self.send_header(name, value)
                length = (
                    dict(headers).get("Content-Length") if self.command == "HEAD" else len(content)
                )
                self.send_header("Content-Length", str(length or 0))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content[: len(content) // 2] if is_cut else content)
                if is_cut:
                    self.hang_up()

            def hang_up(self):
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

        self.lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def forget(self):
        """Begin to count, without faults."""
        with self.lock:
            self.requests.clear()
            self.fault = lambda number, request: None

    def stop(self):
        self._server.shutdown()
        self._server.server_close()
