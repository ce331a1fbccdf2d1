"""Transport for an endpoint's address."""

from core.rpc.http_transport import HttpTransport
from core.rpc.transport import Transport, TransportLimits


def open_transport(url: str, *, service: str, limits: TransportLimits) -> Transport:
    """Return the transport to an http, https, ws or wss URL that `name_endpoint` has checked.

    Needs a running event loop; nothing is sent yet.
    """
    if url.lower().startswith("ws"):
        from core.rpc.websocket import WebSocketTransport  # noqa: PLC0415 - most nodes are HTTP

        return WebSocketTransport(url, service=service, limits=limits)
    return HttpTransport(url, service=service, limits=limits)
