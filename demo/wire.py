"""JSON-RPC over kept-alive HTTP connections, one per thread, synchronous."""

import http.client
import threading
from collections.abc import Sequence

import msgspec

from core.errors import UpstreamError
from core.rpc.messages import RpcFault, RpcRequest

_TIMEOUT_S = 30.0


class NodeRefusedError(UpstreamError):
    """The node answered a request with an error object."""

    def __init__(self, *, method: str, fault: RpcFault) -> None:
        super().__init__(service="anvil", reason=f"{method}: {fault.message}")
        self.method = method
        self.fault = fault


class _Error(msgspec.Struct):
    code: int
    message: str
    data: object = None


class _Answer(msgspec.Struct):
    id: int
    result: object = None
    error: _Error | None = None


class Wire:
    """Asks one HTTP endpoint."""

    def __init__(self, *, host: str, port: int) -> None:
        self._host = host
        self._port = port
        self._local = threading.local()
        self._open: set[http.client.HTTPConnection] = set()

    def ask(self, requests: Sequence[RpcRequest]) -> list[object]:
        """Results in the order asked.

        Raises NodeRefusedError for the first request that was refused, UpstreamError when the
        endpoint does not answer.
        """
        if not requests:
            return []  # JSON-RPC has no empty batch
        body = msgspec.json.encode(
            [
                {"jsonrpc": "2.0", "id": number, "method": one.method, "params": one.params}
                for number, one in enumerate(requests)
            ]
        )
        try:
            answers = msgspec.json.decode(self._post(body), type=list[_Answer])
        except (OSError, http.client.HTTPException, msgspec.MsgspecError) as error:
            self._drop()
            raise UpstreamError(service="anvil", reason=str(error) or repr(error)) from error
        by_id = {answer.id: answer for answer in answers}
        return [_result(one, by_id.get(number)) for number, one in enumerate(requests)]

    def close(self) -> None:
        """Close the connections of all threads."""
        while self._open:
            self._open.pop().close()

    def _post(self, body: bytes) -> bytes:
        connection = self._connection()
        connection.request("POST", "/", body, {"Content-Type": "application/json"})
        return connection.getresponse().read()

    def _connection(self) -> http.client.HTTPConnection:
        held = getattr(self._local, "connection", None)
        if isinstance(held, http.client.HTTPConnection):
            return held
        made = http.client.HTTPConnection(self._host, self._port, timeout=_TIMEOUT_S)
        self._local.connection = made
        self._open.add(made)
        return made

    def _drop(self) -> None:
        connection = self._connection()
        connection.close()
        self._open.discard(connection)
        del self._local.connection


def _result(request: RpcRequest, answer: _Answer | None) -> object:
    if answer is None:
        raise UpstreamError(service="anvil", reason=f"no answer to {request.method}")
    if answer.error is not None:
        data = answer.error.data if isinstance(answer.error.data, str) else None
        fault = RpcFault(code=answer.error.code, message=answer.error.message, data=data)
        raise NodeRefusedError(method=request.method, fault=fault)
    return answer.result
