"""Reads the slots that code compares with the caller: for the owner verdict, and for timebombs.

Output: the wallets in them, and whether all are vacant.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from analysis.reads.eth_reads import code_at
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_batch import ReadBatch
from analysis.static.custody.simulation_hints import StoredAddress
from analysis.token import ownership
from analysis.token.admission import DELEGATION_BYTES
from core.errors import UpstreamError
from core.primitives import Address, Hash32
from core.rpc.messages import RpcAnswer

OWNER_SLOTS_WAIT_S: Final = 2.0
"""Seconds to wait for the slots. Source: the specification, "Other constants"."""


class OwnerSlots(msgspec.Struct, frozen=True, kw_only=True):
    """Contents of the owner-check slots."""

    wallets: tuple[Address, ...] | None
    """Wallets in them. None: not read, or not in time."""
    are_vacant: bool | None
    """All hold zero or a burn address. None: not all were read, and no other value was seen."""


NO_SLOTS: Final = OwnerSlots(wallets=None, are_vacant=True)
"""For code that compares the caller with no slot."""

NOT_READ: Final = OwnerSlots(wallets=None, are_vacant=None)


async def read_owner_slots(
    node: Node,
    token: Address,
    slots: Sequence[Hash32],
    *,
    block: Hash32,
    packed: Sequence[StoredAddress] = (),
    capabilities: NodeCapabilities | None = None,
) -> OwnerSlots:
    """Read the slots and, in the same round, the code of the addresses in them.

    An address that shares its slot with other data, as all in `packed` do, counts as a wallet,
    because its code is not read. Never raises: a chain that does not answer leaves None. Reads are
    not packed without `capabilities`.
    """
    trip = ReadBatch()
    asked = trip.ask(ownership.slot_requests(token, slots, block=block))
    codes = trip.ask(
        [code_at(trip.promise(at), block=block) for at in range(asked.start, asked.stop)],
        first_bytes=DELEGATION_BYTES,
    )
    shared = trip.ask(ownership.slot_requests(token, [place.slot for place in packed], block=block))
    with suppress(TimeoutError, UpstreamError):
        async with asyncio.timeout(OWNER_SLOTS_WAIT_S):
            await trip.send(node, capabilities)
    with suppress(UpstreamError):
        if trip.has(asked):
            held = ownership.read_slots(slots, trip[asked])
            beside = _packed(packed, trip[shared] if trip.has(shared) else ())
            hidden = [slot.packed_holder for slot in (*held, *beside)]
            sharers = tuple(dict.fromkeys(each for each in hidden if each is not None))
            wallets = _wallets(held, trip[codes]) if trip.has(codes) else None
            return OwnerSlots(
                wallets=(*(wallets or ()), *sharers) if sharers else wallets,
                are_vacant=ownership.are_vacant((*held, *beside)),
            )
    return NOT_READ


def _packed(
    places: Sequence[StoredAddress], answers: Sequence[RpcAnswer]
) -> tuple[ownership.OwnerSlot, ...]:
    """Decode the packed slots. `answers`: empty where none came."""
    slots = [place.slot for place in places]
    if not answers:
        return tuple(
            ownership.OwnerSlot(slot=place.slot, word=None, shift=place.shift) for place in places
        )
    return tuple(
        msgspec.structs.replace(slot, shift=place.shift)
        for slot, place in zip(ownership.read_slots(slots, answers), places, strict=True)
    )


def _wallets(
    held: Sequence[ownership.OwnerSlot], codes: Sequence[RpcAnswer]
) -> tuple[Address, ...]:
    """Return the wallets. `codes`: of the address in each slot."""
    by_holder = {
        slot.holder: code for slot, code in zip(held, codes, strict=True) if slot.holder is not None
    }
    return ownership.read_wallets(held, tuple(by_holder.values()))
