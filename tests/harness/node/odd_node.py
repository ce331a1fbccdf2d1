"""A real node behind one oddity, as public reports describe those of nodes and providers.

Use `odd_node` to serve it, and its `head` to let its chain grow block by block.
"""

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import msgspec

Call = dict[str, Any]
Answer = dict[str, Any]
OPEN = 2**62
"""Head of a node that goes on as the real one does."""

Seen = Counter[str]
"""Counts of a node's past answers, by any key."""


class Oddity(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of odd answers."""

    name: str
    source: str
    """Public report, or the client's source."""
    answer: Callable[[Call, Answer, Seen], Answer] = lambda call, answer, seen: answer
    """Changes the answer to one call."""
    message: Callable[[Sequence[Call], list[Answer], Seen], Any] = lambda calls, answers, seen: (
        answers
    )
    """Changes the answers of a batch; a value other than a list is the whole body."""
    body: Callable[[str, Seen], str] = lambda text, seen: text
    """Changes the text of the answer."""
    status: int = 200
    headers: dict[str, str] = {}


class OddNode:
    """The real node's chain up to `head`, with the oddity's answers."""

    def __init__(self, url: str, oddity: Oddity, *, head: int) -> None:
        self.head = head
        self.oddity = oddity
        self.requests: Counter[str] = Counter()
        self.longest_query = 0
        """Blocks of the longest query for logs."""
        self._at = urlsplit(url)
        self._seen: Seen = Counter()
        self._lock = threading.Lock()

    def reply(self, body: bytes) -> str:
        """Answer a message."""
        message = json.loads(body)
        calls = message if isinstance(message, list) else [message]
        with self._lock:
            self.requests.update(call["method"] for call in calls)
            answers = [
                self.oddity.answer(call, answer, self._seen)
                for call, answer in zip(calls, self._ask(calls), strict=True)
            ]
            if isinstance(message, list):
                answered = self.oddity.message(calls, answers, self._seen)
            else:
                (answered,) = answers
            return self.oddity.body(json.dumps(answered), self._seen)

    def _ask(self, calls: Sequence[Call]) -> list[Answer]:
        placed_calls = [self._placed(call) for call in calls]
        connection = http.client.HTTPConnection(self._at.hostname or "", self._at.port, timeout=30)
        try:
            connection.request(
                "POST", "/", json.dumps(placed_calls), {"Content-Type": "application/json"}
            )
            by_id = {one["id"]: one for one in json.loads(connection.getresponse().read())}
        finally:
            connection.close()
        return [by_id[call["id"]] for call in calls]

    def _placed(self, call: Call) -> Call:
        """Return the call as of a chain that ends at `head`."""
        method, params = call["method"], list(call.get("params", ()))
        if method == "eth_getBlockByNumber" and (self.head < OPEN or params[0] != "latest"):
            number = self.head if params[0] == "latest" else int(params[0], 16)
            params[0] = hex(number if number <= self.head else 2**40)
        if method == "eth_getLogs" and "fromBlock" in params[0]:
            ends = (params[0]["fromBlock"], params[0]["toBlock"])
            first, last = (self.head if end == "latest" else int(end, 16) for end in ends)
            self.longest_query = max(self.longest_query, last - first + 1)
        return call | {"params": params}


@contextmanager
def odd_node(url: str, oddity: Oddity, *, head: int) -> Iterator[tuple[str, OddNode]]:
    """Serve a real node through an oddity; yield its address and the node."""
    node = OddNode(url, oddity, head=head)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            text = node.reply(body).encode()
            self.send_response(oddity.status)
            fields = {"Content-Type": "application/json", **oddity.headers}
            for name, value in (fields | {"Content-Length": str(len(text))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", node
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
