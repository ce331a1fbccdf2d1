"""A node that limits questions about logs."""

from collections.abc import Sequence
from typing import cast

from analysis.reads.node import Node
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest


class LogLimitedNode:
    """Node that refuses log queries over a number of blocks, as public ones do; 0: all."""

    def __init__(self, node: Node, *, most_blocks: int = 0) -> None:
        self._node, self._most_blocks = node, most_blocks
        self.fetch_head = node.fetch_head

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        answers = await self._node.batch(requests)
        refused = RpcFault(code=-32005, message="range too long", data=None)
        return [
            refused if self._is_refused(request) else answer
            for request, answer in zip(requests, answers, strict=True)
        ]

    def _is_refused(self, request: RpcRequest) -> bool:
        if request.method != "eth_getLogs":
            return False
        query = cast("dict[str, str]", request.params[0])
        if not self._most_blocks or query["toBlock"] == "latest":
            return True
        spanned = int(query["toBlock"], 16) - int(query["fromBlock"], 16) + 1
        return spanned > self._most_blocks
