"""Reads, in one round trip, the storage slots that decide whether caps are in force."""

from analysis.reads.node import Node
from analysis.reads.storage_words import read_words
from analysis.static.token_model.cap_rules import CapRules
from core.primitives import Address, Hash32


async def read_cap_words(
    node: Node, token: Address, rules: CapRules, *, block: Hash32
) -> dict[Hash32, int]:
    """Return the values of the rules' slots that were read in time. Never raises."""
    both = (rule for rule in (rules.trading, rules.position) if rule is not None)
    slots = tuple(dict.fromkeys(slot for rule in both for slot in rule.slots))
    return await read_words(node, token, slots, block=block)
