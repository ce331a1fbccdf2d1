"""Best-effort reads of storage slots of one contract: slots not read in time are left out."""

import asyncio
from collections.abc import Sequence
from typing import Final

from analysis.reads.eth_reads import read_word, word_at
from analysis.reads.node import Node
from core.errors import UpstreamError
from core.primitives import Address, Hash32
from core.rpc.messages import RpcFault

WAIT_S: Final = 2.0
"""Seconds to wait for the slots, as for those of the owner."""


async def read_words(
    node: Node, contract: Address, slots: Sequence[Hash32], *, block: Hash32
) -> dict[Hash32, int]:
    """Return the values of these slots that were read in time. Never raises."""
    if not slots:
        return {}
    try:
        async with asyncio.timeout(WAIT_S):
            told = await node.batch([word_at(contract, slot, block=block) for slot in slots])
        return {
            slot: read_word(answer)
            for slot, answer in zip(slots, told, strict=True)
            if not isinstance(answer, RpcFault)
        }
    except (TimeoutError, UpstreamError):
        return {}
