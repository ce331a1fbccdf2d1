"""A node that answers from a script, or not at all."""

import asyncio
from collections.abc import Callable, Sequence

from core.evm.primitives import BlockRef
from core.rpc.messages import RpcAnswer, RpcRequest

Answerer = Callable[[RpcRequest], RpcAnswer]


class _Headless:
    """Methods of a node that no test of this folder needs."""

    async def fetch_head(self) -> BlockRef:
        raise AssertionError


class AnsweringNode(_Headless):
    """Answers every request of every batch in the same way."""

    def __init__(self, answer: Answerer) -> None:
        self._answer = answer

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        return [self._answer(request) for request in requests]


class ScriptedNode(_Headless):
    """Answers each batch through the next answerer; beyond the last it stays silent for ever."""

    def __init__(self, *answerers: Answerer) -> None:
        self._answerers = list(answerers)
        self.requests: list[tuple[RpcRequest, ...]] = []

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        self.requests.append(tuple(requests))
        if not self._answerers:
            await asyncio.Event().wait()
        answer = self._answerers.pop(0)
        return [answer(request) for request in requests]
