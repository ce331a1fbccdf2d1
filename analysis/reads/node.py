"""The interface of a chain's node that the analysis reads through."""

from collections.abc import Sequence
from typing import Protocol

from core.evm.primitives import BlockRef
from core.rpc.messages import RpcAnswer, RpcRequest


class Node(Protocol):
    """A chain's nodes, behind the endpoints that the deployment configures."""

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        """Send all requests in one round trip; answers come in the order of the requests.

        Raises UpstreamError when no endpoint answers in time.
        """
        ...

    async def fetch_head(self) -> BlockRef:
        """Return the newest block the node knows. Raises UpstreamError."""
        ...
