"""Reads, in one round trip, a contract's clock and the storage slots that are compared with it."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.reads.eth_reads import read_word, word_at
from analysis.reads.node import Node
from analysis.static.token_model.clock_limits import ClockLimit
from analysis.token import contract_clock
from analysis.token.contract_clock import Reading
from core.errors import UpstreamError
from core.primitives import Address, Hash32
from core.report import ClockLimitRow
from core.rpc.messages import RpcAnswer, RpcFault

CLOCK_WAIT_S: Final = 5.0
"""Seconds to wait for the chain. Source: the specification, "Other constants"."""

_MOST_SLOTS: Final = 64
"""Slots read; code that compares the clock with more is made to cause reads."""


class ClockState(msgspec.Struct, frozen=True, kw_only=True):
    """Clock and clock limits at one block."""

    reading: Reading | None
    """None: not read, because there is no limit, or the chain did not answer in time."""
    limits: tuple[ClockLimitRow, ...]
    """Each different one once, with stored values as far as they were read."""


async def read_clock_state(
    node: Node, token: Address, limits: Sequence[ClockLimit], *, block: Hash32
) -> ClockState:
    """Read the clock and the slots. Never raises: a chain that does not answer leaves None."""
    slots = _slots_of(limits)
    reading, words = None, dict[Hash32, int]()
    if limits:
        asked = (
            contract_clock.request(block=block),
            *(word_at(token, slot, block=block) for slot in slots),
        )
        try:
            async with asyncio.timeout(CLOCK_WAIT_S):
                told, *held = await node.batch(asked)
            reading = contract_clock.read(told)
            words = _words(slots, held)
        except (TimeoutError, UpstreamError):
            pass
    rows = (_row(limit, words) for limit in limits)
    return ClockState(reading=reading, limits=tuple(dict.fromkeys(rows)))


def _slots_of(limits: Sequence[ClockLimit]) -> tuple[Hash32, ...]:
    named = dict.fromkeys(limit.slot for limit in limits if limit.slot is not None)
    return tuple(named)[:_MOST_SLOTS]


def _words(slots: Sequence[Hash32], answers: Sequence[RpcAnswer]) -> dict[Hash32, int]:
    """Return the values that were read; a slot that the node fails to read is left out."""
    return {
        slot: read_word(answer)
        for slot, answer in zip(slots, answers, strict=True)
        if not isinstance(answer, RpcFault)
    }


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
