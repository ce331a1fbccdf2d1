"""Nodes that refuse a method, state overrides or code overrides, in front of a real one."""

from collections.abc import Sequence

from analysis.reads.node import Node
from core.errors import UpstreamError
from core.evm.primitives import BlockRef
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.node.call_answers import raw


class Hindered:
    """A real node that refuses one method, as some do, or goes silent at it."""

    def __init__(self, node: Node, method: str, *, answer: RpcFault | None) -> None:
        """`answer` None: the node does not answer any request with that method."""
        self._node = node
        self._method = method
        self._answer = answer

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        hindered = [request.method == self._method for request in requests]
        if self._answer is None and any(hindered):
            raise UpstreamError(service="node", reason="silence")
        answers = await self._node.batch(requests)
        return [
            self._answer if stopped and self._answer else answer
            for stopped, answer in zip(hindered, answers, strict=True)
        ]


class NoOverrides:
    """A node that knows no state overrides in eth_call."""

    def __init__(self, node: Node) -> None:
        self._node = node

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        answers = await self._node.batch(requests)
        refusal = RpcFault(code=-32602, message="too many arguments, want at most 2")
        return [
            refusal if request.method == "eth_call" and len(request.params) > 2 else answer
            for request, answer in zip(requests, answers, strict=True)
        ]


NO_CODE = raw("0x")
"""Result of calling an address without code: the node ignored the override."""


class WithoutCodeOverrides:
    """A real node that cannot put code at an address."""

    def __init__(self, node: Node, answer: RpcAnswer) -> None:
        self._node = node
        self._answer = answer
        self.refusals = 0

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        answers = await self._node.batch(requests)
        refused = [request.method == "eth_call" and "code" in str(request) for request in requests]
        self.refusals += sum(refused)
        return [
            self._answer if is_refused else answer
            for is_refused, answer in zip(refused, answers, strict=True)
        ]


UNKNOWN_PARAMETER = RpcFault(code=-32602, message="too many arguments, want at most 2")
