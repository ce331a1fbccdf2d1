"""RPC clients with scripted clocks and transports."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec

from core.rpc.client import RpcClient
from core.rpc.messages import RpcAnswer, RpcRequest
from tests.harness.node.serve import SETTINGS, Node


class SkippingClock:
    """Waits by moving the clock on."""

    def __init__(self) -> None:
        self.skipped_s = 0.0
        self.waits: list[float] = []

    def now_s(self) -> float:
        return time.monotonic() + self.skipped_s

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.skipped_s += seconds
        await asyncio.sleep(0)


@asynccontextmanager
async def client_of(
    *nodes: Node, clock: SkippingClock | None = None, scheme: str = "http"
) -> AsyncIterator[RpcClient]:
    urls = [node.url.replace("http", scheme) for node in nodes]
    client = await RpcClient.connect(urls, 1, SETTINGS, clock=clock or SkippingClock())
    try:
        yield client
    finally:
        await client.aclose()


def echo(*words: str) -> list[RpcRequest]:
    return [RpcRequest("echo", (word,)) for word in words]


def texts(answers: Sequence[RpcAnswer]) -> list[object]:
    return [msgspec.json.decode(one) if isinstance(one, msgspec.Raw) else one for one in answers]
