"""JSON-RPC values shared between packages: a request, and a node's error object."""

import msgspec


class RpcRequest(msgspec.Struct, frozen=True):
    """One call to a node. `params` must be encodable as JSON."""

    method: str
    params: tuple[object, ...] = ()


class RpcFault(msgspec.Struct, frozen=True, kw_only=True):
    """The error object in a node's response (JSON-RPC 2.0, section 5.1).

    A revert is one of these (code 3, or -32000 with a message); an unreachable node is not: the
    client raises UpstreamError for that.
    """

    code: int
    message: str
    data: str | None = None
    """Revert data as 0x hex. None: not sent, or in no known form."""


RpcAnswer = msgspec.Raw | RpcFault
"""The undecoded JSON of `result`, or the error object."""
