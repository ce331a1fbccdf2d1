"""JSON-RPC over WebSocket for live chains, with the subscription to new heads."""

import threading
from collections.abc import Mapping
from functools import partial
from typing import Self

import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, serve

from tests.harness.replay.answers import NodeAnswers
from tests.harness.replay.block_spool import SpooledBlock
from tests.harness.replay.faults import Fault
from tests.harness.replay.http_server import answer_calls, read_message
from tests.harness.replay.live_chain import LiveChain

_SUBSCRIPTION = "0xfeed"


class HeadSocket:
    """WebSockets of several chains on a free port of this machine, one path each. Use as a context
    manager."""

    def __init__(self, chains: Mapping[str, LiveChain]) -> None:
        self._nodes = {path: NodeAnswers(chain) for path, chain in chains.items()}
        self._subscribers: dict[str, set[ServerConnection]] = {path: set() for path in chains}
        self._server: Server = serve(self._handle, "127.0.0.1", 0, compression=None, max_size=None)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        for path, chain in chains.items():
            chain.on_head = partial(self._announce, path)

    def url(self, path: str) -> str:
        """Address of a chain's node."""
        return f"ws://127.0.0.1:{self._server.socket.getsockname()[1]}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()

    def _handle(self, connection: ServerConnection) -> None:
        path = connection.request.path if connection.request else ""
        node = self._nodes.get(path)
        if node is None:
            return
        try:
            for message in connection:
                body = message.encode() if isinstance(message, str) else message
                connection.send(self._answer(connection, path, node, body), text=True)
        finally:
            self._subscribers[path].discard(connection)

    def _answer(
        self, connection: ServerConnection, path: str, node: NodeAnswers, body: bytes
    ) -> bytes:
        calls, is_batch = read_message(body)
        if calls[0].method != "eth_subscribe":
            return b"".join(answer_calls(node, calls, Fault(), is_batch=is_batch))
        self._subscribers[path].add(connection)
        answer = {"jsonrpc": "2.0", "id": calls[0].id, "result": _SUBSCRIPTION}
        return msgspec.json.encode(answer)

    def _announce(self, path: str, block: SpooledBlock) -> None:
        params = {"subscription": _SUBSCRIPTION, "result": msgspec.Raw(block.header)}
        notification = {"jsonrpc": "2.0", "method": "eth_subscription", "params": params}
        text = msgspec.json.encode(notification)
        for connection in list(self._subscribers[path]):
            try:
                connection.send(text, text=True)
            except ConnectionClosed:
                self._subscribers[path].discard(connection)
