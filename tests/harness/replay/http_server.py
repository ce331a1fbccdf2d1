"""JSON-RPC over HTTP/1.1 with kept-alive connections, one thread each, one path for each chain.

Answers are sent from where they lie: nothing of a long one is copied or encoded.
"""

import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Self

import msgspec

from tests.harness.replay.answers import CallAnswers, RpcCall, RpcRefusalError
from tests.harness.replay.block_spool import Buffers
from tests.harness.replay.faults import Fault, FaultPlan, Refusal, no_faults

_MOST_BUFFERS = 1_000
"""In one call of the system; Linux takes 1,024."""
_MOST_BODY = 1 << 24
_PARSE_ERROR = -32700
_one = msgspec.json.Decoder(RpcCall)
_many = msgspec.json.Decoder(list[RpcCall])


class ReplayServer:
    """Nodes of one or several chains on a free port of this machine. Use as a context manager."""

    def __init__(
        self, nodes: Mapping[str, CallAnswers], *, faults: FaultPlan = no_faults, port: int = 0
    ) -> None:
        """`nodes` by path, such as `/1`. `port` 0: a free one."""
        self._nodes = nodes
        self.faults = faults
        """May be replaced at any time."""
        self._listener = socket.create_server(("127.0.0.1", port), backlog=128)
        self._connections: set[socket.socket] = set()
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def port(self) -> int:
        """Port of the server."""
        return int(self._listener.getsockname()[1])

    def url(self, path: str = "/") -> str:
        """Address of a chain's node."""
        return f"http://127.0.0.1:{self.port}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # Closing alone would leave the thread in accept().
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()
        for connection in list(self._connections):
            _shut(connection)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rb") as reader:
                while self._exchange(connection, reader):
                    pass
        except (OSError, ValueError):
            return  # the caller went away, or does not speak HTTP
        finally:
            self._connections.discard(connection)

    def _exchange(self, connection: socket.socket, reader: BinaryIO) -> bool:
        """Answer one request. False: the connection is done with."""
        line = reader.readline().split()
        if not line:
            return False
        path, headers = line[1].decode(), _read_headers(reader)
        length = int(headers.get("content-length", "0"))
        if length > _MOST_BODY or "transfer-encoding" in headers:
            _send(connection, _head(411, 0, {}))
            return False
        body = reader.read(length)
        node = self._nodes.get(path)
        if node is None:
            _send(connection, _head(404, 0, {}))
            return True
        return self._answer(connection, node, body)

    def _answer(self, connection: socket.socket, node: CallAnswers, body: bytes) -> bool:
        try:
            calls, is_batch = read_message(body)
        except msgspec.MsgspecError as error:
            fault, pieces = Fault(), _error(b"null", Refusal(_PARSE_ERROR, str(error)))
        else:
            fault = self.faults(calls)
            if fault.whole is not None:
                pieces = _error(b"null", fault.whole)
            else:
                pieces = answer_calls(node, calls, fault, is_batch=is_batch)
        if fault.delay_s:
            time.sleep(fault.delay_s)
        if fault.status != 200:
            _send(connection, _head(fault.status, 0, fault.headers))
            return True
        length = sum(map(len, pieces))
        head = memoryview(_head(200, length, fault.headers))
        if fault.sent_share < 1.0:
            _send_all(connection, [head, *_first(pieces, int(fault.sent_share * length))])
            return False
        _send_all(connection, [head, *pieces])
        return True


def read_message(body: bytes) -> tuple[list[RpcCall], bool]:
    """The calls of a message, and whether it is a batch. Raises msgspec's errors."""
    if body.lstrip()[:1] == b"[":
        return _many.decode(body), True
    return [_one.decode(body)], False


def answer_calls(
    node: CallAnswers, calls: Sequence[RpcCall], fault: Fault, *, is_batch: bool
) -> Buffers:
    """Write the whole answer to a message, in chunks."""
    pieces: Buffers = [memoryview(b"[")] if is_batch else []
    for at, call in enumerate(calls):
        if at:
            pieces.append(memoryview(b","))
        refusal = fault.refusals.get(at)
        pieces += _answer_call(node, call) if refusal is None else _error(call.id, refusal)
    if is_batch:
        pieces.append(memoryview(b"]"))
    return pieces


def _answer_call(node: CallAnswers, call: RpcCall) -> Buffers:
    try:
        result = node.result(call)
    except RpcRefusalError as error:
        return _error(call.id, Refusal(error.code, error.message, error.data))
    opened = b'{"jsonrpc":"2.0","id":' + bytes(call.id) + b',"result":'
    return [memoryview(opened), *result, memoryview(b"}")]


def _error(call_id: bytes | msgspec.Raw, refusal: Refusal) -> Buffers:
    text = msgspec.json.encode(refusal)
    return [memoryview(b'{"jsonrpc":"2.0","id":' + bytes(call_id) + b',"error":' + text + b"}")]


def _read_headers(reader: BinaryIO) -> dict[str, str]:
    headers = {}
    while line := reader.readline().strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    return headers


def _head(status: int, length: int, headers: Mapping[str, str]) -> bytes:
    header_lines = {"Content-Type": "application/json", "Content-Length": str(length), **headers}
    lines = [
        f"HTTP/1.1 {status} {status}",
        *(f"{name}: {value}" for name, value in header_lines.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _first(pieces: Buffers, size: int) -> Iterator[memoryview]:
    """Yield chunks up to this many bytes."""
    for piece in pieces:
        yield piece[:size]
        size -= len(piece)
        if size <= 0:
            return


def _send(connection: socket.socket, head: bytes) -> None:
    connection.sendall(head)


def _send_all(connection: socket.socket, pieces: Buffers) -> None:
    at, waiting = 0, list(pieces)
    while at < len(waiting):
        sent = connection.sendmsg(waiting[at : at + _MOST_BUFFERS])
        while at < len(waiting) and sent >= len(waiting[at]):
            sent -= len(waiting[at])
            at += 1
        if sent:
            waiting[at] = waiting[at][sent:]


def _shut(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
