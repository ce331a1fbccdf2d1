"""Owner of the token, and whether ownership is renounced.

Getters are called at the token's own address, so a proxy answers through its implementation.
Source: the specification, "ownership_renounced".
"""

from collections.abc import Sequence

import msgspec

from analysis.reads.eth_reads import decode_address
from analysis.reads.read_batch import ReadBatch
from config.burn import BURN_ADDRESSES
from core.evm.primitives import ADDRESS_MASK, Address, Hash32, address_of

OWNER_GETTERS = ("owner()", "getOwner()", "_owner()")


class OwnerSlot(msgspec.Struct, frozen=True, kw_only=True):
    """A storage slot that the code compares with the caller, and its current value."""

    slot: Hash32
    word: int | None
    """None: the node did not return it."""
    shift: int = 0
    """Bits to the right of the address in the slot, which then holds other data too."""

    @property
    def holder(self) -> Address | None:
        """Return the live address in the slot. None: not read, a burn address, or more than an
        address."""
        address = None if self.word is None else address_of(self.word)
        return None if address in BURN_ADDRESSES else address

    @property
    def packed_holder(self) -> Address | None:
        """Return the live address that shares the slot with other data. None: there is none, or not
        read.

        *Inferred* without a shift: the code may compare the whole slot, which equals no caller.
        """
        if self.word is None or not (self.shift or self.word > ADDRESS_MASK):
            return None
        address = address_of(self.word >> self.shift & ADDRESS_MASK)
        return None if address in BURN_ADDRESSES else address

    @property
    def is_vacant(self) -> bool | None:
        """True if it holds zero or a burn address. None: not read."""
        if self.word is None:
            return None
        if self.shift:
            return self.packed_holder is None
        return self.word == 0 or address_of(self.word) in BURN_ADDRESSES


class Ownership(msgspec.Struct, frozen=True, kw_only=True):
    """Owner of one token."""

    owner_address: Address | None
    """None: no getter answered, which is no sign of renouncement."""
    ownership_renounced: bool | None
    """None: no getter answered, but a wallet is in an owner-check slot."""


class OwnerReads:
    """Calls of the owner getters."""

    def __init__(self, batch: ReadBatch, token: Address) -> None:
        self._batch = batch
        self.getters = tuple(
            batch.call(token, getter, returns=decode_address) for getter in OWNER_GETTERS
        )

    def read(self) -> tuple[Address, ...]:
        """Return the addresses from the getters, in their order. Raises UpstreamError."""
        owners = [self._batch[getter] for getter in self.getters]
        return tuple(owner for owner in owners if owner is not None)


def find_ownership(owners: Sequence[Address], wallets: Sequence[Address] | None) -> Ownership:
    """Apply the specification's table.

    `owners`: from `OwnerReads`. `wallets`: from `OwnerSlotReads`; None: the slots were not read (in
    time), which counts as no wallet. If two getters disagree, the live address wins.
    """
    live = [owner for owner in owners if owner not in BURN_ADDRESSES]
    if live:
        return Ownership(owner_address=live[0], ownership_renounced=False)
    if owners:
        return Ownership(owner_address=owners[0], ownership_renounced=True)
    return Ownership(owner_address=None, ownership_renounced=None if wallets else True)


def are_vacant(slots: Sequence[OwnerSlot]) -> bool | None:
    """True if all slots are vacant. Contracts and values that are no address count as taken.

    None: one was not read, and none of the others is taken.
    """
    found = {slot.is_vacant for slot in slots}
    if False in found:
        return False
    return None if None in found else True
