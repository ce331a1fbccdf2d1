"""Limits of JSON-RPC requests, as the client takes them and the settings fill them."""

import msgspec


class RpcLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Limits of a client's requests."""

    timeout_s: float
    """Seconds for one message and its answer."""
    attempts: int
    """Tries of one request over all endpoints, before it fails."""
    max_batch: int
    """Requests in one message."""
    max_response_bytes: int
