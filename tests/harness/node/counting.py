"""Node that counts the requests of an analysis."""

import asyncio
from collections.abc import Sequence

from analysis.reads.node import Node
from core.evm.primitives import BlockRef
from core.rpc.messages import RpcAnswer, RpcRequest


class CountingNode:
    """Counts calls, and round trips as they depend on each other.

    A batch sent after another one has come back is one trip further; concurrent batches are one.
    """

    def __init__(self, node: Node, *, delay_s: float = 0.0) -> None:
        """`delay_s`: added to each trip, as a node elsewhere would have it."""
        self._node = node
        self._delay_s = delay_s
        self.trips = 0
        """Length of the longest chain of batches, each waiting for the one before."""
        self.calls = 0
        self.requests: list[RpcRequest] = []
        self._returned = 0

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        self.calls += len(requests)
        self.requests += requests
        at = self._returned + 1
        self.trips = max(self.trips, at)
        await asyncio.sleep(self._delay_s)
        answers = await self._node.batch(requests)
        self._returned = max(self._returned, at)
        return answers

    async def fetch_head(self) -> BlockRef:
        self.calls += 1
        at = self._returned + 1
        self.trips = max(self.trips, at)
        await asyncio.sleep(self._delay_s)
        head = await self._node.fetch_head()
        self._returned = max(self._returned, at)
        return head
