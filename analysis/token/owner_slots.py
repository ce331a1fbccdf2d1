"""Reads the slots that code compares with the caller: for the owner verdict, and for timebombs.

Output: the wallets in them, and whether all are vacant.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.chain_reads import AnswerAddress, Handle
from analysis.reads.read_batch import ReadBatch
from analysis.static.custody.custody_report import StoredAddress
from analysis.token import ownership
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from analysis.token.ownership import OwnerSlot
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32

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
    reader: BlockReader,
    token: Address,
    slots: Sequence[Hash32],
    *,
    packed: Sequence[StoredAddress] = (),
) -> OwnerSlots:
    """Read the slots and, in the same round, the code of the addresses in them.

    An address that shares its slot with other data, as all in `packed` do, counts as a wallet,
    because its code is not read. Never raises: a chain that does not answer leaves None.
    """
    batch = reader.batch()
    reads = OwnerSlotReads(batch, token, slots, packed)
    with suppress(TimeoutError, UpstreamError):
        await reader.send_within(batch, OWNER_SLOTS_WAIT_S)
    with suppress(UpstreamError):
        return reads.read()
    return NOT_READ


class OwnerSlotReads:
    """Reads of the owner-check slots, and of the code of the addresses in them."""

    def __init__(
        self,
        batch: ReadBatch,
        token: Address,
        slots: Sequence[Hash32],
        packed: Sequence[StoredAddress] = (),
    ) -> None:
        self._batch = batch
        self._slots = [(slot, batch.slot(token, slot)) for slot in slots]
        self._codes = [
            batch.code(AnswerAddress(word), first_bytes=DELEGATION_BYTES) for _, word in self._slots
        ]
        self._packed = [(place, batch.slot(token, place.slot)) for place in packed]

    def read(self) -> OwnerSlots:
        """Return the slots as far as they were read: the batch may have been cancelled.

        A slot, or a code, that the node refuses to read is left out. Raises UpstreamError.
        """
        words = [word for _, word in self._slots]
        if not self._has(words):
            return NOT_READ
        whole_slots = [
            OwnerSlot(slot=slot, word=self._batch.get(word)) for slot, word in self._slots
        ]
        is_packed_read = self._has([word for _, word in self._packed])
        packed_slots = [
            OwnerSlot(
                slot=place.slot,
                word=self._batch.get(word) if is_packed_read else None,
                shift=place.shift,
            )
            for place, word in self._packed
        ]
        hidden = [slot.packed_holder for slot in (*whole_slots, *packed_slots)]
        sharers = tuple(dict.fromkeys(each for each in hidden if each is not None))
        wallets = self._wallets(whole_slots) if self._has(self._codes) else None
        return OwnerSlots(
            wallets=(*(wallets or ()), *sharers) if sharers else wallets,
            are_vacant=ownership.are_vacant((*whole_slots, *packed_slots)),
        )

    def _has(self, handles: Sequence[Handle[object]]) -> bool:
        return all(handle in self._batch for handle in handles)

    def _wallets(self, whole_slots: Sequence[OwnerSlot]) -> tuple[Address, ...]:
        """Return those live addresses that are wallets: no code, or delegated code (EIP-7702)."""
        codes = {
            slot.holder: self._batch.get(code)
            for slot, code in zip(whole_slots, self._codes, strict=True)
            if slot.holder is not None
        }
        return tuple(
            holder
            for holder, code in codes.items()
            if code is not None and (not code or is_delegated_account(code))
        )
