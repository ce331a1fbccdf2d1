"""What analysis needs from a node."""

from collections.abc import Sequence
from typing import Protocol

from config.jsonrpc import RpcAnswer, RpcRequest
from config.primitives import BlockRef


class Node(Protocol):
    """A chain's nodes, behind whatever endpoints the deployment has."""

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Send all requests in one round trip; answers come back in the order asked.

        Raises UpstreamError when no endpoint answers in time.
        """
        ...

    async def fetch_head(self) -> BlockRef:
        """The newest block the node knows. Raises UpstreamError."""
        ...
