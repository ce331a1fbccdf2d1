"""The two JSON-RPC values that cross package borders: a request, and a node's refusal of one."""

import msgspec


class RpcRequest(msgspec.Struct, frozen=True):
    """One call to a node. `params` must be encodable as JSON."""

    method: str
    params: tuple[object, ...] = ()


class RpcFault(msgspec.Struct, frozen=True, kw_only=True):
    """The error object a node answered with (JSON-RPC 2.0, section 5.1).

    A revert arrives as one of these (code 3, or -32000 with words); a dead node never does: the
    client raises UpstreamError for that.
    """

    code: int
    message: str
    data: str | None = None
    """Revert data as 0x hex. None: the node sent none, or not as a string."""


RpcAnswer = msgspec.Raw | RpcFault
"""The undecoded JSON of `result`, or the error object."""
