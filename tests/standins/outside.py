"""The outside that tools need: a page for every path, each visit noted."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class Outside:
    """A server on loopback; `visits` are the paths that were asked for."""

    def __init__(self) -> None:
        self.visits: list[str] = []
        visits = self.visits

        class Pages(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                visits.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(f"the page {self.path}".encode())

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def environ(self) -> dict[str, str]:
        """Where it is, for those who are told."""
        return {"OUTSIDE": f"http://127.0.0.1:{self._server.server_port}"}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
