"""HTTP around the stand-in: one thread a connection, everything logged."""

import json
import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol
from urllib.parse import parse_qsl, urlsplit

from tests.standins.github.answer import Answer


class Received(NamedTuple):
    """One request as it came in; what is not JSON stays text."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class Desk(Protocol):
    """Whoever answers the requests."""

    def answer(self, received: Received) -> Answer | None:
        """The answer, or None to break the connection."""
        ...


class Server(ThreadingHTTPServer):
    """A server that can be stopped while clients still hold their connections open."""

    daemon_threads = True

    def __init__(self, host: str, port: int, desk: Desk) -> None:
        self.desk = desk
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__((host, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, so that stopping can end it."""
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection."""
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """End every connection that is still open."""
        with self._open_lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # the client was faster


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet
    disable_nagle_algorithm = True
    server: Server

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        received = Received(
            self.command,
            parts.path,
            dict(parse_qsl(parts.query)),
            {name.lower(): value for name, value in self.headers.items()},
            self._body(),
        )
        answer = self.server.desk.answer(received)
        if answer is None:
            self._reset()
        else:
            self._send(answer)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _handle  # noqa: N815 - http.server's names

    def _body(self) -> Any:
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not raw:
            return None
        try:
            return json.loads(raw)
        except ValueError:
            return raw.decode(errors="replace")

    def _send(self, answer: Answer) -> None:
        text = answer.data if isinstance(answer.data, str) else json.dumps(answer.data)
        content = b"" if answer.data is None else text.encode()
        kind = "text/html" if isinstance(answer.data, str) else "application/json"
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        if "Content-Length" not in answer.headers:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _reset(self) -> None:
        """Close without a word: the client sees a connection reset by its peer."""
        at_once = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        self.connection.close()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Requests are in the stand-in's own log."""
