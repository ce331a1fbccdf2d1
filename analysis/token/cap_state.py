"""Reads, in one round trip, the storage slots that decide whether caps are in force."""

from analysis.reads.block_reader import BlockReader
from analysis.reads.storage_words import read_words
from analysis.static.token_model.cap_rules import CapRules
from core.primitives import Address, Hash32


async def read_cap_words(reader: BlockReader, token: Address, rules: CapRules) -> dict[Hash32, int]:
    """Return the values of the rules' slots that were read in time. Never raises."""
    both = (rule for rule in (rules.trading, rules.position) if rule is not None)
    slots = tuple(dict.fromkeys(slot for rule in both for slot in rule.slots))
    return await read_words(reader, token, slots)
