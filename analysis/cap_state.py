"""One round trip for code with caps: the slots that decide whether they are in force."""

import asyncio
from typing import Final

from analysis.abi import read_word, word_at
from analysis.cap_rules import CapRules
from analysis.node import Node
from config.errors import UpstreamError
from config.jsonrpc import RpcFault
from config.primitives import Address, Hash32

CAP_SLOTS_WAIT_S: Final = 2.0
"""Longest that the slots are waited for: as long as for those of the owner."""


async def read_cap_words(
    node: Node, token: Address, rules: CapRules, *, block: Hash32
) -> dict[Hash32, int]:
    """The words in the slots of the rules, as far as they were told in time. Never raises."""
    both = (rule for rule in (rules.trading, rules.position) if rule is not None)
    slots = tuple(dict.fromkeys(slot for rule in both for slot in rule.slots))
    if not slots:
        return {}
    try:
        async with asyncio.timeout(CAP_SLOTS_WAIT_S):
            told = await node.batch([word_at(token, slot, block=block) for slot in slots])
        return {
            slot: read_word(answer)
            for slot, answer in zip(slots, told, strict=True)
            if not isinstance(answer, RpcFault)
        }
    except (TimeoutError, UpstreamError):
        return {}
