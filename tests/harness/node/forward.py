"""Node that forwards calls to a real one, and may change call or answer on the way."""

import http.client
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.harness.replay.answers import RpcCall, RpcRefusalError
from tests.harness.replay.block_spool import Buffers

_PATIENCE_S = 30.0


class _Reply(msgspec.Struct):
    result: Any = None
    error: dict[str, Any] | None = None


Ask = Callable[[RpcCall], Any]
"""Returns the real node's decoded result. Raises RpcRefusalError for its error object."""

Twist = Callable[[RpcCall, Ask], Any]
"""Returns the proxy's answer to a call, for which it may call the real node."""


def tell_the_truth(call: RpcCall, ask: Ask) -> Any:
    """Change nothing."""
    return ask(call)


class ForwardingNode:
    """Answers calls by those of a real node. Each connection's thread has its own to that node."""

    def __init__(self, url: str, twist: Twist = tell_the_truth) -> None:
        self._at = urlsplit(url)
        self._twist = twist
        self._own = threading.local()
        self._opened: list[http.client.HTTPConnection] = []
        self._is_closed = False

    def close(self) -> None:
        """Close the connections to the real node. A waiting thread gets an OSError."""
        self._is_closed = True
        for connection in self._opened:
            connection.auto_open = 0
            connection.close()

    def result(self, call: RpcCall) -> Buffers:
        """The twisted result. Raises RpcRefusalError."""
        return [memoryview(msgspec.json.encode(self._twist(call, self._ask)))]

    def _ask(self, call: RpcCall) -> Any:
        if self._is_closed:
            raise ConnectionAbortedError
        body = {"jsonrpc": "2.0", "id": 1, "method": call.method, "params": call.params}
        connection = self._connection()
        connection.request(
            "POST", "/", msgspec.json.encode(body), {"Content-Type": "application/json"}
        )
        reply = msgspec.json.decode(connection.getresponse().read(), type=_Reply)
        if reply.error is not None:
            data = reply.error.get("data")
            raise RpcRefusalError(
                int(reply.error["code"]),
                str(reply.error["message"]),
                data if isinstance(data, str) else None,
            )
        return reply.result

    def _connection(self) -> http.client.HTTPConnection:
        connection: http.client.HTTPConnection | None = getattr(self._own, "connection", None)
        if connection is None:
            host, port = self._at.hostname or "", self._at.port
            connection = self._own.connection = http.client.HTTPConnection(
                host, port, timeout=_PATIENCE_S
            )
            self._opened.append(connection)
        return connection
