"""Reads, in one round trip, a contract's clock and the storage slots that are compared with it."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.storage_words import SlotReads
from analysis.static.token_model.clock.clock_limits import ClockLimit
from analysis.token.contract_clock import ClockRead, ClockReading
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32
from core.report.report import ClockLimitRow

CLOCK_WAIT_S: Final = 5.0
"""Seconds to wait for the chain. Source: the specification, "Other constants"."""

_MOST_SLOTS: Final = 64
"""Most slots that are read, as code can compare the clock with any number."""


class ClockState(msgspec.Struct, frozen=True, kw_only=True):
    """Clock and clock limits at one block."""

    reading: ClockReading | None
    """None: not read, because there is no limit, or the chain did not answer in time."""
    limits: tuple[ClockLimitRow, ...]
    """Distinct limits, with stored values as far as they were read."""
    words: Mapping[Hash32, int] = {}
    """Whole words of the slots that were read."""


async def read_clock_state(
    reader: BlockReader, token: Address, limits: Sequence[ClockLimit]
) -> ClockState:
    """Read the clock and the slots. Never raises: a chain that does not answer leaves None."""
    reading, words = None, dict[Hash32, int]()
    if limits:
        batch = reader.batch()
        clock, slots = ClockRead(batch), SlotReads(batch, token, _slots_of(limits))
        try:
            await reader.send_within(batch, CLOCK_WAIT_S)
            reading = clock.read()
            words = slots.read()
        except (TimeoutError, UpstreamError):
            pass
    rows = (_row(limit, words) for limit in limits)
    return ClockState(reading=reading, limits=tuple(dict.fromkeys(rows)), words=words)


def _slots_of(limits: Sequence[ClockLimit]) -> tuple[Hash32, ...]:
    named = dict.fromkeys(limit.slot for limit in limits if limit.slot is not None)
    return tuple(named)[:_MOST_SLOTS]


def _row(limit: ClockLimit, words: dict[Hash32, int]) -> ClockLimitRow:
    value = limit.value
    if limit.slot is not None:
        word = words.get(limit.slot)
        value = None if word is None else limit.value_in(word)
    return ClockLimitRow(
        source=limit.source,
        slot=limit.slot,
        value=value,
        compared_with=limit.compared_with,
    )
