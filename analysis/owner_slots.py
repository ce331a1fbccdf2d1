"""Reads the slots that code compares with the caller: wallets for the verdict on ownership, and
whether anybody at all is left in them for a timebomb."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from analysis import ownership
from analysis.node import Node
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
    node: Node, token: Address, slots: Sequence[Hash32], *, block: Hash32
) -> OwnerSlots:
    """Silence of the chain is an answer here, and never raised."""
    seen = NOT_READ
    try:
        async with asyncio.timeout(OWNER_SLOTS_WAIT_S):
            asked = ownership.slot_requests(token, slots, block=block)
            words = ownership.read_slots(slots, await node.batch(asked))
            seen = OwnerSlots(wallets=None, are_vacant=ownership.are_vacant(words))
            holders = ownership.holder_requests(words, block=block)
            codes = await node.batch(holders) if holders else []
            wallets = ownership.read_wallets(words, codes)
            return msgspec.structs.replace(seen, wallets=wallets)
    except (TimeoutError, UpstreamError):
        return seen
