"""Block headers: their requests and the decoding of the answers."""

from typing import NewType

import msgspec

from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32
from core.rpc.failures import IllFormedError, MalformedAnswerError
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

LogsBloom = NewType("LogsBloom", int)
"""The 2,048-bit filter of a block's log addresses and topics, as a number. 0: it has no logs, or
the node sends no filters."""

_HASH_CHARS = 66
_HASH_BYTES = 32
_BLOOM_CHARS = 514
_MOST_NUMBER = 2**63 - 1

_METHODS = frozenset({"eth_getBlockByNumber", "eth_getBlockByHash"})

LATEST = RpcRequest("eth_getBlockByNumber", ("latest", False))


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """Header fields that following, reads and simulations use."""

    ref: BlockRef
    logs_bloom: LogsBloom
    proposer: Address
    base_fee_wei: int | None
    """None: the chain has none (before EIP-1559)."""

    @property
    def number(self) -> int:
        """Return the block number."""
        return self.ref.number


class _WireHeader(msgspec.Struct, rename="camel"):
    number: str
    hash: str
    parent_hash: str
    timestamp: str
    logs_bloom: str | None = None
    miner: str | None = None
    base_fee_per_gas: str | None = None


_decoder = msgspec.json.Decoder(_WireHeader | None)


def header_request(number: int) -> RpcRequest:
    """Return the request for the canonical block at a height."""
    return RpcRequest("eth_getBlockByNumber", (hex(number), False))


def block_request(block: Hash32 | None) -> RpcRequest:
    """Return the request for a block by its hash. None: for the newest."""
    return LATEST if block is None else RpcRequest("eth_getBlockByHash", (block, False))


def is_header_request(request: RpcRequest) -> bool:
    """True if the request is for a block without its transactions."""
    return request.method in _METHODS and request.params[1:] == (False,)


def decode_header(answer: RpcAnswer, *, request: str) -> Header | None:
    """Decode the answer to a block request. None: the node has no such block.

    Raises MalformedAnswerError, also for an error object: a block request has no other valid
    answer.
    """
    if isinstance(answer, RpcFault):
        raise MalformedAnswerError(service="node", reason=f"{request}: {answer.message}")
    try:
        wire = _decoder.decode(answer)
        return None if wire is None else _read(wire)
    except (msgspec.MsgspecError, ValueError) as error:
        raise MalformedAnswerError(service="node", reason=f"{request}: {error}") from None


def _read(wire: _WireHeader) -> Header:
    return Header(
        ref=BlockRef(
            number=_number(wire.number),
            hash=_hash(wire.hash),
            parent_hash=_hash(wire.parent_hash),
            time_s=_number(wire.timestamp),
        ),
        logs_bloom=_bloom(wire.logs_bloom),
        proposer=ZERO_ADDRESS if wire.miner is None else Address(wire.miner.lower()),
        base_fee_wei=None if wire.base_fee_per_gas is None else int(wire.base_fee_per_gas, 16),
    )


def _hash(text: str) -> Hash32:
    # fromhex skips blanks, so what it returns is counted, too.
    if len(text) != _HASH_CHARS or len(bytes.fromhex(text[2:])) != _HASH_BYTES:
        raise IllFormedError(part="block hash")
    return Hash32(text.lower())


def _number(text: str) -> int:
    number = int(text, 16)
    if not 0 <= number <= _MOST_NUMBER:
        raise IllFormedError(part="number or time of a block")
    return number


def _bloom(text: str | None) -> LogsBloom:
    if not text or text == "0x":
        return LogsBloom(0)
    if len(text) != _BLOOM_CHARS:
        raise IllFormedError(part="bloom filter")
    return LogsBloom(int(text, 16))
