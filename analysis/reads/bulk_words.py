"""Reads of storage words of very many contracts, and of balances, in few calls.

For one eth_call, each contract's code is replaced by a loop that returns the slots named in its
calldata, and the probe contract Reader calls them in turn. The words equal those of
eth_getStorageAt.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from analysis.reads.chain_reads import CallRead, SlotRead, call_of
from analysis.reads.eth_reads import WORD, NoAnswer
from analysis.reads.multicall import PackStep, ReadStatus, pack_request, read_pack
from analysis.reads.node import Node
from analysis.reads.rpc_reads import NodeFault, read_answer, read_request
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcAnswer, RpcRequest

_LOADER: Final = "0x60005b3681101560155780355481526020016002565b366000f3"
"""for (i = 0; i < calldatasize; i += 32) memory[i] = sload(calldata[i]); return memory. No opcode
that is younger than Frontier."""

_AT: Final = Address("0x" + "a55a" * 10)
"""Address at which the code of Reader is placed. It has no known key."""

_WORD_GAS: Final = 2_300
_CALL_GAS: Final = 12_000
_MOST_GAS: Final = 12_000_000
"""Gas planned for one call, of the 15 million that it may take."""

MOST_SLOTS: Final = 200
"""Slots of one read, by the gas that Reader gives to one call."""
_MOST_STEPS: Final = 2_000
_MOST_PLAIN: Final = 500
"""Words that are read one by one where the node replaces no code."""


class WordsRead(msgspec.Struct, frozen=True, kw_only=True):
    """Slots of one contract, 32 bytes each."""

    contract: Address
    slots: bytes


class BalanceRead(msgspec.Struct, frozen=True, kw_only=True):
    """Token balance of an account."""

    token: Address
    account: Address


BulkRead = WordsRead | BalanceRead


async def fetch_bulk(node: Node, reads: Sequence[BulkRead], *, block: Hash32) -> list[bytes | None]:
    """Return the words of each read, 32 bytes a slot or for the balance. None: it was not
    answered.

    Raises UpstreamError when no endpoint answers at all.
    """
    found: list[bytes | None] = [None] * len(reads)
    packs = list(_packs(reads))
    answers = await node.batch([_request(reads, pack, block=block) for pack in packs])
    left: list[int] = []
    for pack, answer in zip(packs, answers, strict=True):
        decoded = read_pack(answer, count=len(pack))
        if decoded is None:
            left += pack
            continue
        for at, result in zip(pack, decoded[1], strict=True):
            if result.status is ReadStatus.OK and len(result.data) == _length(reads[at]):
                found[at] = result.data
    if left:
        await _fetch_plainly(node, reads, left, found, block=block)
    return found


def _packs(reads: Sequence[BulkRead]) -> Iterator[list[int]]:
    """Yield the indexes of reads that share a call.

    Balances are not read in calls that replace a token's code.
    """
    for kind in (WordsRead, BalanceRead):
        pack: list[int] = []
        gas = 0
        for at, read in enumerate(reads):
            if not isinstance(read, kind):
                continue
            cost = _CALL_GAS + _WORD_GAS * (_length(read) // WORD)
            if pack and (gas + cost > _MOST_GAS or len(pack) >= _MOST_STEPS):
                yield pack
                pack, gas = [], 0
            pack.append(at)
            gas += cost
        if pack:
            yield pack


def _request(reads: Sequence[BulkRead], pack: Sequence[int], *, block: Hash32) -> RpcRequest:
    overrides: dict[Address, object] = {}
    steps = []
    for at in pack:
        read = reads[at]
        if isinstance(read, WordsRead):
            overrides[read.contract] = {"code": _LOADER}
            steps.append(PackStep(read=CallRead(to=read.contract, data=read.slots)))
        else:
            steps.append(PackStep(read=_balance_call(read)))
    return pack_request(steps, at=_AT, block={"blockHash": block}, overrides=overrides)


def _balance_call(read: BalanceRead) -> CallRead:
    return call_of(read.token, "balanceOf(address)", read.account)


def _length(read: BulkRead) -> int:
    return len(read.slots) if isinstance(read, WordsRead) else WORD


async def _fetch_plainly(
    node: Node,
    reads: Sequence[BulkRead],
    left: Sequence[int],
    found: list[bytes | None],
    *,
    block: Hash32,
) -> None:
    """Read one by one, up to a bound, what the node did not answer in bulk."""
    singles: list[tuple[int, CallRead | SlotRead]] = []
    for at in left:
        singles += ((at, one) for one in _single_reads(reads[at]))
    singles = singles[:_MOST_PLAIN]
    requests = [read_request(one, block=block) for _, one in singles]
    answers: Sequence[RpcAnswer] = await node.batch(requests) if requests else []
    words: dict[int, list[bytes]] = {}
    for (at, one), answer in zip(singles, answers, strict=True):
        reply = read_answer(one, answer)
        if not isinstance(reply, NodeFault | NoAnswer):
            words.setdefault(at, []).append(reply)
    for at, parts in words.items():
        whole = b"".join(parts)
        if len(whole) == _length(reads[at]):
            found[at] = whole


def _single_reads(read: BulkRead) -> Iterator[CallRead | SlotRead]:
    if isinstance(read, BalanceRead):
        yield _balance_call(read)
        return
    for start in range(0, len(read.slots), WORD):
        slot = Hash32("0x" + read.slots[start : start + WORD].hex())
        yield SlotRead(contract=read.contract, slot=slot)
