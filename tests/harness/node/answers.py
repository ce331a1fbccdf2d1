"""Answers as a node would send them, and nodes in memory that send them."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
from eth_abi.abi import encode

from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import BlockRef, Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

BLOCK = Hash32("0x" + "22" * 32)
REVERTED = RpcFault(code=3, message="execution reverted", data="0x")
LOST_BLOCK = RpcFault(code=-32000, message="header not found")


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


class ScriptedAnswers(_Headless):
    """Answers each batch by the next answerer; after the last it never answers."""

    def __init__(self, *answerers: Answerer) -> None:
        self._answerers = list(answerers)
        self.requests: list[tuple[RpcRequest, ...]] = []

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        self.requests.append(tuple(requests))
        if not self._answerers:
            await asyncio.Event().wait()
        answer = self._answerers.pop(0)
        return [answer(request) for request in requests]


def sent(data: bytes) -> msgspec.Raw:
    """Bytes as the result of a read."""
    return msgspec.Raw(f'"0x{data.hex()}"'.encode())


def word(number: int) -> msgspec.Raw:
    """One word as the result of a read."""
    return sent(number.to_bytes(32))


def address(text: str) -> msgspec.Raw:
    """An address in a word."""
    return word(int(text, 16))


def string(text: str) -> msgspec.Raw:
    """An ABI string."""
    return sent(encode(["string"], [text]))


def answer_in_turn(batch: ReadBatch, answers: Sequence[RpcAnswer]) -> None:
    """Send a batch to a node that gives these answers, one for each request."""
    left = list(answers)
    answer_each(batch, lambda _: left.pop(0))
    assert not left


def answer_each(batch: ReadBatch, answer: Callable[[RpcRequest], RpcAnswer]) -> None:
    """Send a batch to a node that answers each request separately."""
    asyncio.run(batch.send(AnsweringNode(answer)))


def requests_of(batch: ReadBatch) -> list[RpcRequest]:
    """Return the requests of a batch, unpacked."""
    requests = list[RpcRequest]()

    def note(request: RpcRequest) -> RpcAnswer:
        requests.append(request)
        return REVERTED

    answer_each(batch, note)
    return requests


def raw(value: object) -> msgspec.Raw:
    """Any result."""
    return msgspec.Raw(msgspec.json.encode(value))
