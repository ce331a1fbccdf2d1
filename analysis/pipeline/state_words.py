"""The storage words that a report depends on, for later blocks to be compared with. Pure."""

from collections.abc import Iterable, Mapping

from analysis.scenarios.conditions.condition_check import CodeConditions
from core.evm.primitives import Address, Hash32, to_hash32
from core.report.report import StateWord


def state_words(
    token: Address,
    own: Iterable[Mapping[Hash32, int]],
    codes: Iterable[CodeConditions],
) -> tuple[StateWord, ...]:
    """Return each word once, by contract and slot.

    `own`: words of the token's slots, by slot. `codes`: contracts with the slots that their
    conditions read.
    """
    words = {(token, slot): word for read in own for slot, word in read.items()}
    words |= {(code.contract, slot): word for code in codes for slot, word in code.words.items()}
    return tuple(
        StateWord(contract=contract, slot=slot, word=to_hash32(word))
        for (contract, slot), word in sorted(words.items())
    )
