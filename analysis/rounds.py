"""One network round trip made of the reads of many steps."""

from collections.abc import Sequence

from analysis.node import Node, RpcAnswer
from config.jsonrpc import RpcRequest


class Round:
    """Collects requests, sends them as one batch, and hands each step its own answers."""

    def __init__(self) -> None:
        self._requests: list[RpcRequest] = []
        self._answers: list[RpcAnswer] = []

    def ask(self, requests: Sequence[RpcRequest]) -> slice:
        """Add a step's requests. The slice gets their answers once the round was sent."""
        start = len(self._requests)
        self._requests.extend(requests)
        return slice(start, len(self._requests))

    async def send(self, node: Node) -> None:
        """Raises UpstreamError when no endpoint answers."""
        self._answers = await node.batch(self._requests) if self._requests else []

    def __getitem__(self, asked: slice) -> list[RpcAnswer]:
        return self._answers[asked]
