"""Answers as a node would send them."""

import asyncio
from collections.abc import Callable, Sequence

import msgspec
from eth_abi.abi import encode

from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.node.scripted_calls import AnsweringNode

BLOCK = Hash32("0x" + "22" * 32)
REVERTED = RpcFault(code=3, message="execution reverted", data="0x")
LOST_BLOCK = RpcFault(code=-32000, message="header not found")


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
