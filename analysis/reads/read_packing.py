"""Packing: which reads of a batch go together in which multicall. Pure."""

import secrets
from collections.abc import Mapping, Sequence

import msgspec

from analysis.reads.chain_reads import CallRead, CodeRead, ContractRead, SlotRead, source_of
from analysis.reads.multicall import PackStep, fits, pack_request
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcRequest

_FEWEST = 3
"""Reads that are worth a pack; fewer go alone."""

_LONGEST_DATA = 8_191
"""Bytes of calldata: 16 KiB of JSON. A larger read needs the gas of a call of its own."""

_Key = tuple[Address | None, bool]


class ReadPack(msgspec.Struct, kw_only=True):
    """Reads of one multicall, with their indices in the batch."""

    at: Address
    """Where the code of Reader is put: the contract whose slots it reads, or an unused address."""
    overrides: dict[Address, dict[str, object]] = {}
    """State that the reads are made on, besides that code."""
    steps: list[PackStep] = []
    indices: list[int] = []

    def request(self, block: object) -> RpcRequest:
        """Return the eth_call, for a block tag or an EIP-1898 block."""
        return pack_request(self.steps, at=self.at, block=block, overrides=self.overrides)


def pack_reads(
    reads: Mapping[int, ContractRead], first_bytes: Mapping[int, int], *, is_newest: bool
) -> list[ReadPack]:
    """Return the packs of these reads, which are by their index in the batch, in that order.

    Reads that are in none go alone. `is_newest`: the batch is of the newest block, which only packs
    identify, so a single read is worth one.
    """
    packs: dict[_Key, ReadPack] = {}
    homes: dict[int, tuple[ReadPack, int]] = {}
    for index, read in reads.items():
        source = source_of(read)
        if not _is_packable(read) or (source is not None and source.read.index not in homes):
            continue
        pack = homes[source.read.index][0] if source else _home(read, packs)
        if pack is None or not _belongs(read, pack) or not fits(pack.steps):
            continue
        homes[index] = pack, len(pack.steps)
        pack.indices.append(index)
        pack.steps.append(
            PackStep(
                read=read,
                source=homes[source.read.index][1] if source else None,
                first_bytes=first_bytes.get(index),
            )
        )
    return [pack for pack in packs.values() if _is_worthwhile(pack.steps, is_newest=is_newest)]


def _is_worthwhile(steps: Sequence[PackStep], *, is_newest: bool) -> bool:
    """True if a pack saves calls, or a trip where reads depend on others; in a batch of the newest
    block it also identifies the block, which no plain read does."""
    if is_newest or any(step.source is not None for step in steps):
        return bool(steps)
    return len(steps) >= _FEWEST


def _is_packable(read: ContractRead) -> bool:
    if not isinstance(read, CallRead):
        return True
    return read.to is not None and read.code is None and len(read.data) <= _LONGEST_DATA


def _home(read: ContractRead, packs: dict[_Key, ReadPack]) -> ReadPack | None:
    """Return the pack of a read without a source. None: that pack's overrides conflict."""
    owner = read.contract if isinstance(read, SlotRead) else None
    overrides = _overrides(read)
    key = owner, bool(overrides)
    pack = packs.get(key)
    if pack is None:
        pack = packs[key] = ReadPack(at=owner or Address("0x" + secrets.token_hex(20)))
    if any(pack.overrides.get(name, change) != change for name, change in overrides.items()):
        return None
    pack.overrides |= overrides
    return pack


def _overrides(read: ContractRead) -> dict[Address, dict[str, object]]:
    match read:
        case CallRead(to=str(to), storage=storage) if storage:
            return {Address(to): {"stateDiff": dict[Hash32, Hash32](storage)}}
    return {}


def _belongs(read: ContractRead, pack: ReadPack) -> bool:
    """True if the read means the same inside the pack, where one contract's code is Reader."""
    match read:
        case SlotRead(contract=contract):
            return contract == pack.at
        case CallRead(to=subject) | CodeRead(address=subject):
            return subject != pack.at
