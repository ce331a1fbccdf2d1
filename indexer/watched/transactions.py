"""Whole transactions of a block, and the selection of those that concern watched tokens. Pure."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec
import numpy as np

from core.evm.abi import selector_of
from core.evm.primitives import Address, Hash32
from core.rpc.failures import MalformedAnswerError
from core.rpc.messages import RpcAnswer, RpcFault
from indexer.watched.watched_set import WatchedSet
from sql.tokens.watched_tokens import WatchedToken

_OF_HOLDERS: Final = frozenset(
    bytes.fromhex(selector_of(signature)[2:])
    for signature in (
        "transfer(address,uint256)",
        "transferFrom(address,address,uint256)",
        "approve(address,uint256)",
        "increaseAllowance(address,uint256)",
        "decreaseAllowance(address,uint256)",
        "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
        "deposit()",
        "withdraw(uint256)",
    )
)
"""Functions for holders of a token. Sources: EIP-20, EIP-2612, OpenZeppelin's ERC20, WETH9."""

_SELECTOR_BYTES: Final = 4
_ADDRESS_BYTES: Final = 20


class BlockTransaction(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction as included in its block."""

    hash: Hash32
    sender: Address
    to: bytes
    """20 bytes; empty where it creates a contract."""
    data: bytes
    gas: int
    value_wei: int


class WatchCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction that may concern a watched token, before its receipt is known."""

    transaction: BlockTransaction
    token: WatchedToken
    what: Literal["call", "trade"]
    """call: of the token itself. trade: at a router or pool, with the token in its data."""


class _WireTransaction(msgspec.Struct, rename="camel", gc=False):
    hash: str
    sender: str = msgspec.field(name="from")
    input: str
    gas: str
    value: str
    to: str | None = None


class _WireBlock(msgspec.Struct, gc=False):
    hash: str
    transactions: list[_WireTransaction]


class _WireReceipt(msgspec.Struct, rename="camel", gc=False):
    transaction_hash: str
    block_hash: str
    gas_used: str
    status: str | None = None


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a transaction."""

    has_succeeded: bool | None
    """None: not in the receipt (before EIP-658)."""
    gas_used: int


_block = msgspec.json.Decoder(_WireBlock | None)
_receipt = msgspec.json.Decoder(_WireReceipt | None)


def decode_transactions(answer: RpcAnswer, *, block: Hash32) -> list[BlockTransaction]:
    """Decode a block with its transactions. Raises MalformedAnswerError, also for another block
    than requested."""
    request = f"transactions of block {block}"
    wire = _decoded(_block, answer, request=request)
    if not isinstance(wire, _WireBlock) or wire.hash.lower() != block:
        raise MalformedAnswerError(service="node", reason=f"{request}: another block, or none")
    try:
        return [_transaction(one) for one in wire.transactions]
    except ValueError as error:
        raise MalformedAnswerError(service="node", reason=f"{request}: {error}") from None


def decode_receipt(answer: RpcAnswer, *, transaction: Hash32, block: Hash32) -> Receipt:
    """Decode a receipt. Raises MalformedAnswerError, also for another transaction or block."""
    request = f"receipt of {transaction}"
    wire = _decoded(_receipt, answer, request=request)
    if not isinstance(wire, _WireReceipt):
        raise MalformedAnswerError(service="node", reason=f"{request}: there is none")
    if (wire.transaction_hash.lower(), wire.block_hash.lower()) != (transaction, block):
        raise MalformedAnswerError(service="node", reason=f"{request}: of another block")
    try:
        has_succeeded = None if wire.status is None else bool(int(wire.status, 16))
        return Receipt(has_succeeded=has_succeeded, gas_used=int(wire.gas_used, 16))
    except ValueError as error:
        raise MalformedAnswerError(service="node", reason=f"{request}: {error}") from None


def pick_candidates(
    transactions: Sequence[BlockTransaction], watched: WatchedSet
) -> Iterator[WatchCandidate]:
    """Yield possible calls of watched tokens by non-holders, and possible failed trades.

    A trade with several watched tokens is one candidate for each.
    """
    trades = []
    for one in transactions:
        token = watched.tokens.get(one.to)
        if token is not None:
            if one.data[:_SELECTOR_BYTES] not in _OF_HOLDERS and one.data:
                yield WatchCandidate(transaction=one, token=token, what="call")
        elif one.to in watched.routers or one.to in watched.pools:
            trades.append(one)
    for place, token in _named_tokens([one.data for one in trades], watched):
        yield WatchCandidate(transaction=trades[place], token=token, what="trade")
    for one in trades:
        for pool in watched.pools.get(one.to, ()):
            token = next(each for each in watched.tokens.values() if each.token_id == pool.token_id)
            yield WatchCandidate(transaction=one, token=token, what="trade")


def _named_tokens(
    datas: Sequence[bytes], watched: WatchedSet
) -> Iterator[tuple[int, WatchedToken]]:
    """Yield the watched tokens whose address occurs in a transaction's data, with its place.

    Each token once per transaction.
    """
    joined = b"".join(datas)
    if len(joined) < _ADDRESS_BYTES:
        return
    starts = np.cumsum([0, *map(len, datas)])
    found = set()
    for offset in _possible_offsets(joined, watched):
        token = watched.tokens.get(joined[offset : offset + _ADDRESS_BYTES])
        if token is None:
            continue
        place = int(np.searchsorted(starts, offset, side="right")) - 1
        is_within = offset + _ADDRESS_BYTES <= starts[place + 1]
        if is_within and (place, token.token_id) not in found:
            found.add((place, token.token_id))
            yield place, token


def _possible_offsets(joined: bytes, watched: WatchedSet) -> list[int]:
    """Return the offsets of the first two bytes of any watched token's address: a dict look-up of
    each offset would take five times as long."""
    raw = np.frombuffer(joined, np.uint8).astype(np.uint16)
    pairs = raw[:-1] << 8 | raw[1:]
    is_head = np.zeros(1 << 16, np.bool_)
    is_head[[int.from_bytes(address[:2]) for address in watched.tokens]] = True
    offsets: list[int] = np.flatnonzero(is_head[pairs]).tolist()
    return offsets


def _transaction(wire: _WireTransaction) -> BlockTransaction:
    return BlockTransaction(
        hash=Hash32(wire.hash.lower()),
        sender=Address(wire.sender.lower()),
        to=b"" if wire.to is None else bytes.fromhex(wire.to[2:]),
        data=bytes.fromhex(wire.input[2:]),
        gas=int(wire.gas, 16),
        value_wei=int(wire.value, 16),
    )


def _decoded(
    decoder: "msgspec.json.Decoder[_WireBlock | None] | msgspec.json.Decoder[_WireReceipt | None]",
    answer: RpcAnswer,
    *,
    request: str,
) -> _WireBlock | _WireReceipt | None:
    if isinstance(answer, RpcFault):
        raise MalformedAnswerError(service="node", reason=f"{request}: {answer.message}")
    try:
        return decoder.decode(answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedAnswerError(service="node", reason=f"{request}: {error}") from None
