"""Reads, in one round trip, the storage that caps and the evidence of the code name."""

from collections.abc import Iterable
from typing import Final

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.storage_words import read_words
from analysis.static.token_model.cap_rules import CapRules
from core.evm.primitives import Address, Hash32
from core.report.report import EvidenceRow

_MOST_PROOF_SLOTS: Final = 24
"""Slots read for the evidence; code that names more is made to cause reads."""


class _Named(msgspec.Struct, frozen=True):
    """What evidence of the code has that names slots."""

    slots: tuple[Hash32, ...] = ()


async def read_cap_words(
    reader: BlockReader, token: Address, rules: CapRules, evidence: Iterable[EvidenceRow] = ()
) -> dict[Hash32, int]:
    """Return the values of the slots of the rules and of the evidence that were read in time. Never
    raises."""
    both = (rule for rule in (rules.trading, rules.position) if rule is not None)
    of_rules = dict.fromkeys(slot for rule in both for slot in rule.slots)
    named = (slot for row in evidence for slot in msgspec.json.decode(row.body, type=_Named).slots)
    of_proofs = tuple(dict.fromkeys(named))[:_MOST_PROOF_SLOTS]
    return await read_words(reader, token, tuple(of_rules | dict.fromkeys(of_proofs)))
