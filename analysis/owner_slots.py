"""Reads the slots that code compares with the caller: wallets for the verdict on ownership, and
whether anybody at all is left in them for a timebomb."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from analysis import ownership
from analysis.abi import code_at
from analysis.gate import DELEGATION_BYTES
from analysis.node import Node, RpcAnswer
from analysis.powers import Powers
from analysis.rounds import Round
from config.errors import UpstreamError
from config.primitives import Address, Hash32

OWNER_SLOTS_WAIT_S: Final = 2.0
"""Longest that the slots are waited for. Source: the specification, "Other constants"."""


class OwnerSlots(msgspec.Struct, frozen=True, kw_only=True):
    """What the owner-check slots told."""

    wallets: tuple[Address, ...] | None
    """Wallets in them. None: not read, or not in time."""
    are_vacant: bool | None
    """All hold zero or a burn address. None: not told of all, and none seen that does not."""


NO_SLOTS: Final = OwnerSlots(wallets=None, are_vacant=True)
"""Of code that compares the caller with no slot."""

NOT_READ: Final = OwnerSlots(wallets=None, are_vacant=None)


async def read_owner_slots(
    node: Node,
    token: Address,
    slots: Sequence[Hash32],
    *,
    block: Hash32,
    powers: Powers | None = None,
) -> OwnerSlots:
    """The slots and, in the same round, the code of whoever is in them.

    Silence of the chain is an answer here, and never raised. `powers` None: reads are not packed.
    """
    trip = Round()
    asked = trip.ask(ownership.slot_requests(token, slots, block=block))
    codes = trip.ask(
        [code_at(trip.promise(at), block=block) for at in range(asked.start, asked.stop)],
        first_bytes=DELEGATION_BYTES,
    )
    with suppress(TimeoutError, UpstreamError):
        async with asyncio.timeout(OWNER_SLOTS_WAIT_S):
            await trip.send(node, powers)
    with suppress(UpstreamError):
        if trip.has(asked):
            held = ownership.read_slots(slots, trip[asked])
            return OwnerSlots(
                wallets=_wallets(held, trip[codes]) if trip.has(codes) else None,
                are_vacant=ownership.are_vacant(held),
            )
    return NOT_READ


def _wallets(
    held: Sequence[ownership.OwnerSlot], codes: Sequence[RpcAnswer]
) -> tuple[Address, ...]:
    """`codes`: of whatever is in each slot."""
    by_holder = {
        slot.holder: code for slot, code in zip(held, codes, strict=True) if slot.holder is not None
    }
    return ownership.read_wallets(held, tuple(by_holder.values()))
