"""Block headers off the wire."""

from typing import NewType

import msgspec

from config.jsonrpc import RpcAnswer, RpcFault, RpcRequest
from config.primitives import BlockRef, Hash32
from indexer.failures import IllFormedError, MalformedAnswerError

LogsBloom = NewType("LogsBloom", int)
"""The 2,048-bit filter of a block's log addresses and topics, as a number."""

_HASH_CHARS = 66
_BLOOM_CHARS = 514

LATEST = RpcRequest("eth_getBlockByNumber", ("latest", False))


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What following needs of a header."""

    ref: BlockRef
    logs_bloom: LogsBloom

    @property
    def number(self) -> int:
        """Block number."""
        return self.ref.number


class _WireHeader(msgspec.Struct, rename="camel"):
    number: str
    hash: str
    parent_hash: str
    timestamp: str
    logs_bloom: str


_decoder = msgspec.json.Decoder(_WireHeader | None)


def header_request(number: int) -> RpcRequest:
    """Ask for the block the node holds canonical at a height."""
    return RpcRequest("eth_getBlockByNumber", (hex(number), False))


def decode_header(answer: RpcAnswer, *, asked: str) -> Header | None:
    """Read the answer to a block question. None: the node has no such block.

    Raises MalformedAnswerError, for a refusal too: a block question has no other good answer.
    """
    if isinstance(answer, RpcFault):
        raise MalformedAnswerError(service="node", reason=f"{asked}: {answer.message}")
    try:
        wire = _decoder.decode(answer)
        return None if wire is None else _read(wire)
    except (msgspec.MsgspecError, ValueError) as error:
        raise MalformedAnswerError(service="node", reason=f"{asked}: {error}") from None


def _read(wire: _WireHeader) -> Header:
    return Header(
        ref=BlockRef(
            number=int(wire.number, 16),
            hash=_hash(wire.hash),
            parent_hash=_hash(wire.parent_hash),
            time_s=int(wire.timestamp, 16),
        ),
        logs_bloom=_bloom(wire.logs_bloom),
    )


def _hash(text: str) -> Hash32:
    if len(text) != _HASH_CHARS:
        raise IllFormedError(part="block hash")
    int(text, 16)
    return Hash32(text.lower())


def _bloom(text: str) -> LogsBloom:
    if len(text) != _BLOOM_CHARS:
        raise IllFormedError(part="bloom filter")
    return LogsBloom(int(text, 16))
