"""Balance slot detection: finds a token's balance mapping by state override and `balanceOf`.

One eth_call overrides every candidate slot with a different value; the value that `balanceOf`
returns identifies the slot. Nothing is inferred from code, so packed, hashed and proxied layouts
are found if the balance is the low part of one of the candidate slots.
"""

from collections.abc import Iterator
from itertools import islice

import msgspec

from analysis.reads.chain_reads import call_of
from analysis.reads.eth_reads import Reply, decode_uint
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.simulate_v1 import READ_GAS
from core.evm.keccak import keccak
from core.evm.primitives import Address, Hash32, RawAmount, to_hash32

_LOWEST_MARK = 10**15
"""Lowest of the consecutive marks: small enough for packed balances, unlike any real answer for a
codeless account that never held the token."""

_PLAIN_SLOTS = 64
"""Number of slots tried as base of a mapping(address => ...), in Solidity's and in Vyper's key
order."""

_ERC20_NAMESPACE = "openzeppelin.storage.ERC20"
"""Source: OpenZeppelin Contracts 5 upgradeable, ERC20Upgradeable; hashed by ERC-7201."""

_SOLADY_SEED = "87a211a2"
"""Source: Solady, src/tokens/ERC20.sol, _BALANCE_SLOT_SEED."""

_CANDIDATES = 2 * _PLAIN_SLOTS + 2


class BalanceProbe:
    """The read of `account`'s balance with all candidate slots marked. `account` must be fresh."""

    def __init__(self, batch: ReadBatch, token: Address, account: Address) -> None:
        marks = tuple(
            (slot, to_hash32(_LOWEST_MARK + index))
            for index, slot in enumerate(candidate_slots(account))
        )
        read = call_of(token, "balanceOf(address)", account)
        probe = msgspec.structs.replace(read, gas=READ_GAS, storage=marks)
        self._batch = batch
        self._index = batch.add(probe, returns=_decode_index)

    def read(self) -> int | None:
        """Return the index of the candidate slot that holds balances. None: none of them does.

        A node that cannot override state rejects the request; then nothing was found either.
        """
        return self._batch.get(self._index)


def _decode_index(reply: Reply) -> int | None:
    marked = decode_uint(reply)
    if marked is None:
        return None
    index = marked - _LOWEST_MARK
    return index if 0 <= index < _CANDIDATES else None


def balance_override(
    account: Address, amount_raw: RawAmount, *, index: int
) -> dict[Hash32, Hash32]:
    """Return the slot and the 32-byte value that give `account` this balance. Check it by balanceOf
    before use."""
    slot = next(islice(candidate_slots(account), index, None))
    return {slot: to_hash32(amount_raw)}


def plain_mapping(index: int) -> tuple[int, bool] | None:
    """Return the declared slot of a candidate's mapping, and True if it hashes the key first. None:
    it is no plain mapping."""
    return (index // 2, index % 2 == 0) if index < 2 * _PLAIN_SLOTS else None


def candidate_slots(account: Address) -> Iterator[Hash32]:
    """Yield all candidate slots, in index order."""
    key = bytes.fromhex(account[2:]).rjust(32, b"\0")
    for base in range(_PLAIN_SLOTS):
        place = base.to_bytes(32, "big")
        yield _hash(key + place)
        yield _hash(place + key)
    yield _hash(key + _erc7201(_ERC20_NAMESPACE))
    yield _hash(key[12:] + bytes(8) + bytes.fromhex(_SOLADY_SEED))


def _erc7201(namespace: str) -> bytes:
    inner = int.from_bytes(keccak(namespace.encode()), "big") - 1
    return keccak(inner.to_bytes(32, "big"))[:31] + b"\0"


def _hash(data: bytes) -> Hash32:
    return Hash32("0x" + keccak(data).hex())
