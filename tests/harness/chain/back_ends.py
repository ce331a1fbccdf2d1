"""Ways in which a node can simulate for an analysis."""

from collections.abc import Sequence

from analysis.reads.node import Node
from core.evm.primitives import BlockRef
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

LACKING: dict[str, tuple[str, ...]] = {
    "simulate": (),
    "traces": ("eth_simulateV1",),
    "calls": ("eth_simulateV1", "debug_traceCall"),
}
"""Methods that the real node, anvil, is kept from answering, by back end."""


class Lacking:
    """A real node that does not know some methods."""

    def __init__(self, node: Node, methods: Sequence[str]) -> None:
        self._node = node
        self._methods = methods

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        known = [request for request in requests if request.method not in self._methods]
        answers = iter(await self._node.batch(known))
        return [
            RpcFault(
                code=-32601,
                message=f"the method {request.method} does not exist/is not available",
            )
            if request.method in self._methods
            else next(answers)
            for request in requests
        ]
