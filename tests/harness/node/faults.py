"""Real nodes behind limits of providers: some requests are refused, whatever the node answers."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import cast

from analysis.reads.node import Node
from core.errors import UpstreamError
from core.evm.primitives import BlockRef
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.node.answers import raw

NO_CODE = raw("0x")
"""Result of a call to an address without code: the node ignored the override."""
UNKNOWN_PARAMETER = RpcFault(code=-32602, message="too many arguments, want at most 2")
RANGE_TOO_LONG = RpcFault(code=-32005, message="range too long", data=None)


class RefusingNode(ABC):
    """A real node in front of which some requests are refused."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.refusals = 0

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        refusals = [self._find_refusal(request) for request in requests]
        answers = await self._node.batch(requests)
        self.refusals += sum(refusal is not None for refusal in refusals)
        return [
            answer if refusal is None else refusal
            for refusal, answer in zip(refusals, answers, strict=True)
        ]

    @abstractmethod
    def _find_refusal(self, request: RpcRequest) -> RpcAnswer | None:
        """Find the answer in place of the node's. None: the request is not refused."""


class Hindered(RefusingNode):
    """Refuses one method, as some providers do, or goes silent at it."""

    def __init__(self, node: Node, method: str, *, answer: RpcFault | None) -> None:
        """`answer` None: the node does not answer any batch with that method."""
        super().__init__(node)
        self._method = method
        self._answer = answer

    def _find_refusal(self, request: RpcRequest) -> RpcAnswer | None:
        if request.method != self._method:
            return None
        if self._answer is None:
            raise UpstreamError(service="node", reason="silence")
        return self._answer


class NoOverrides(RefusingNode):
    """Knows no state overrides in eth_call."""

    def _find_refusal(self, request: RpcRequest) -> RpcAnswer | None:
        has_overrides = request.method == "eth_call" and len(request.params) > 2
        return UNKNOWN_PARAMETER if has_overrides else None


class WithoutCodeOverrides(RefusingNode):
    """Cannot put code at an address in eth_call."""

    def __init__(self, node: Node, answer: RpcAnswer) -> None:
        super().__init__(node)
        self._answer = answer

    def _find_refusal(self, request: RpcRequest) -> RpcAnswer | None:
        return self._answer if request.method == "eth_call" and "code" in str(request) else None


class LogLimitedNode(RefusingNode):
    """Refuses requests for the logs of more than `most_blocks` blocks. 0: all of them."""

    def __init__(self, node: Node, *, most_blocks: int = 0) -> None:
        super().__init__(node)
        self._most_blocks = most_blocks

    def _find_refusal(self, request: RpcRequest) -> RpcAnswer | None:
        if request.method != "eth_getLogs":
            return None
        query = cast("dict[str, str]", request.params[0])
        if not self._most_blocks or query["toBlock"] == "latest":
            return RANGE_TOO_LONG
        spanned = int(query["toBlock"], 16) - int(query["fromBlock"], 16) + 1
        return RANGE_TOO_LONG if spanned > self._most_blocks else None
