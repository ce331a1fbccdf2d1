"""Best-effort reads of storage slots of one contract: slots not read in time are left out."""

from collections.abc import Sequence
from typing import Final

from analysis.reads.block_reader import BlockReader
from analysis.reads.read_batch import ReadBatch
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32

WAIT_S: Final = 2.0
"""Seconds to wait for the slots, as for those of the owner."""


class SlotReads:
    """Reads of slots of one contract."""

    def __init__(self, batch: ReadBatch, contract: Address, slots: Sequence[Hash32]) -> None:
        self._batch = batch
        self._words = {slot: batch.slot(contract, slot) for slot in slots}

    def read(self) -> dict[Hash32, int]:
        """Return the values; a slot that the node refuses to read is left out. Raises
        UpstreamError."""
        words = {slot: self._batch.get(word) for slot, word in self._words.items()}
        return {slot: word for slot, word in words.items() if word is not None}


async def read_words(
    reader: BlockReader, contract: Address, slots: Sequence[Hash32]
) -> dict[Hash32, int]:
    """Return the values of these slots that were read in time. Never raises."""
    batch = reader.batch()
    words = SlotReads(batch, contract, slots)
    try:
        await reader.send_within(batch, WAIT_S)
        return words.read()
    except (TimeoutError, UpstreamError):
        return {}
