"""The pinned block of one analysis: its header, as far as reads and simulations need it."""

import msgspec

from core.errors import UpstreamError
from core.primitives import Address, BlockRef, Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

_HASH_CHARS = 66


class PinnedHeader(msgspec.Struct, frozen=True, kw_only=True):
    """Header fields that reads and simulations use."""

    ref: BlockRef
    proposer: Address
    base_fee_wei: int | None
    """None: the chain has none (before EIP-1559)."""


class _WireHeader(msgspec.Struct, rename="camel"):
    number: str
    hash: str
    parent_hash: str
    timestamp: str
    miner: str
    base_fee_per_gas: str | None = None


def request(block: Hash32 | None) -> RpcRequest:
    """Return a read of a block's header. None: of the newest."""
    if block is None:
        return RpcRequest("eth_getBlockByNumber", ("latest", False))
    return RpcRequest("eth_getBlockByHash", (block, False))


def read(answer: RpcAnswer) -> PinnedHeader:
    """Decode the header. Raises UpstreamError, also for a block that the node does not have."""
    if isinstance(answer, RpcFault):
        raise UpstreamError(service="node", reason=f"block header: {answer.message}")
    try:
        wire = msgspec.json.decode(answer, type=_WireHeader)
        base_fee = wire.base_fee_per_gas
        return PinnedHeader(
            ref=BlockRef(
                number=int(wire.number, 16),
                hash=_hash(wire.hash),
                parent_hash=_hash(wire.parent_hash),
                time_s=int(wire.timestamp, 16),
            ),
            proposer=Address(wire.miner.lower()),
            base_fee_wei=None if base_fee is None else int(base_fee, 16),
        )
    except (msgspec.DecodeError, ValueError) as error:
        raise UpstreamError(service="node", reason=f"block header: {error}") from error


def _hash(text: str) -> Hash32:
    if len(text) != _HASH_CHARS:
        raise ValueError(text[:_HASH_CHARS])
    return Hash32("0x" + bytes.fromhex(text[2:]).hex())
