"""Caps: reads their storage, and evaluates the code's cap rules on it.

A cap is in force if it can revert an ordinary transfer of at most the supply. Conditions on sender
or recipient are left open (over-approximated), so a cap from which some are exempt counts.
"""

from collections.abc import Container, Iterable, Mapping
from itertools import product
from typing import Final

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.storage_words import read_words
from analysis.static.evm.expressions import FOLDED, MASK
from analysis.static.token_model.caps.cap_rules import REFUSED, CapRule, CapRules, ComputationStep
from analysis.token.contract_clock import ClockReading
from core.evm.primitives import Address, Hash32, RawAmount, to_hash32
from core.report.fields.static_findings import StaticFindings
from core.report.report import EvidenceRow

_MOST_VALUES: Final = 16

Values = frozenset[int] | None
"""Possible results of a step. None: any value."""

_TRUE: Final = frozenset({1})
_FALSE: Final = frozenset({0})


class CapInput(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs of the evaluation of caps."""

    rules: CapRules
    words: Mapping[Hash32, int]
    """Storage by slot, as far as it was read."""
    supply_raw: RawAmount
    clock: ClockReading | None


def with_caps(static: StaticFindings, caps: CapInput) -> StaticFindings:
    """Return the findings with the caps now in force. A rule with an unread slot keeps the finding
    of the code alone."""
    return msgspec.structs.replace(
        static,
        has_trading_cap=_in_force(static.has_trading_cap_functionality, caps.rules.trading, caps),
        has_position_cap=_in_force(
            static.has_position_cap_functionality, caps.rules.position, caps
        ),
    )


class CapLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The caps in force, in smallest units. None: no such cap, or its size is not known."""

    transfer_raw: int | None = None
    """The largest amount of a single transfer."""
    holding_raw: int | None = None
    """The most that one address may hold."""


class StorageEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Body of the evidence row `storage`."""

    words: Mapping[Hash32, Hash32]
    """Values by slot at the report's block, of the slots that other evidence names."""
    limits: CapLimits


def cap_limits(static: StaticFindings, caps: CapInput) -> CapLimits:
    """Return the sizes of the caps that `with_caps` found in force."""
    return CapLimits(
        transfer_raw=_limit(static.has_trading_cap, caps.rules.trading, caps),
        holding_raw=_limit(static.has_position_cap, caps.rules.position, caps),
    )


def storage_evidence(caps: CapInput, limits: CapLimits) -> tuple[EvidenceRow, ...]:
    """Return the row with the storage that was read, and the sizes of the caps in force. Empty:
    nothing was read."""
    body = StorageEvidence(
        words={slot: to_hash32(word) for slot, word in caps.words.items()},
        limits=limits,
    )
    if not body.words and body.limits == CapLimits():
        return ()
    return (EvidenceRow(key="storage", body=msgspec.json.encode(body).decode()),)


def _limit(is_in_force: bool | None, rule: CapRule | None, caps: CapInput) -> int | None:
    """Return the largest amount up to the supply that the rule does not refuse, by bisection.

    None: no cap in force, a slot of it was not read, or it refuses nothing or everything.
    """
    if not is_in_force or rule is None or any(slot not in caps.words for slot in rule.slots):
        return None

    def refuses(amount: int) -> bool:
        return _reaches_refusal(rule, _results(rule.steps, caps.words, amount, caps.clock))

    refused = next((amount for amount in _amounts(caps.supply_raw) if refuses(amount)), None)
    if refused is None or refuses(0):
        return None
    allowed = 0
    while refused - allowed > 1:
        middle = (allowed + refused) // 2
        if refuses(middle):
            refused = middle
        else:
            allowed = middle
    return allowed


_MONOTONIC: Final = frozenset({"ADD", "SUB", "MUL", "DIV", "LT", "GT", "ISZERO", "phi"})


def is_monotonic(rule: CapRule, slots: Container[Hash32]) -> bool:
    """True if the rule only grows or falls with these slots, so that their extremes decide."""
    reads: list[bool] = []
    for step in rule.steps:
        given = any(reads[argument] for argument in step.arguments)
        if given and step.operation not in _MONOTONIC:
            return False
        reads.append(given or (step.operation == "slot" and step.word in slots))
    return True


def least_allowed(rule: CapRule, caps: CapInput, words: Mapping[Hash32, int]) -> int:
    """Return the largest amount up to the supply that a rule allows with other storage. 0: not
    known, or it allows nothing."""
    changed = msgspec.structs.replace(caps, words={**caps.words, **words})
    if any(slot not in changed.words for slot in rule.slots):
        return 0
    if not _in_force(True, rule, changed):
        return caps.supply_raw
    return _limit(True, rule, changed) or 0


def _in_force(has_functionality: bool | None, rule: CapRule | None, caps: CapInput) -> bool | None:
    if not has_functionality or rule is None or any(slot not in caps.words for slot in rule.slots):
        return has_functionality
    largest = caps.supply_raw
    if rule.constant is not None:
        # a constant cap counts whatever the supply is
        largest = RawAmount(max(largest, int(rule.constant, 16) + 1))
    return any(
        _reaches_refusal(rule, _results(rule.steps, caps.words, amount, caps.clock))
        for amount in _amounts(largest)
    )


def _amounts(largest: RawAmount) -> tuple[int, ...]:
    """Return the amounts to try: the largest exceeds a cap first, but a rule may exempt the whole
    supply."""
    return largest, max(0, largest - 1), largest // 2


def _reaches_refusal(rule: CapRule, results: list[Values]) -> bool:
    waiting, seen = list(rule.starts), set(rule.starts)
    while waiting:
        number = waiting.pop()
        if number == REFUSED:
            return True
        choice = rule.choices[number]
        values = results[choice.condition]
        sides: list[int] = []
        if values is None or values - _FALSE:
            sides += choice.if_true
        if values is None or 0 in values:
            sides += choice.if_false
        waiting += [side for side in sides if side not in seen]
        seen.update(sides)
    return False


def _results(
    steps: tuple[ComputationStep, ...],
    words: Mapping[Hash32, int],
    amount: int,
    clock: ClockReading | None,
) -> list[Values]:
    results: list[Values] = []
    for step in steps:
        given = [results[each] for each in step.arguments]
        match step.operation:
            case "number" if step.word is not None:
                value: Values = frozenset({int(step.word, 16)})
            case "slot" if step.word is not None:
                value = frozenset({words[step.word]})
            case "amount":
                value = frozenset({amount})
            case "time":
                value = None if clock is None else frozenset({clock.time_s})
            case "block":
                value = None if clock is None else frozenset({clock.block_number})
            case "phi":
                value = _union(given)
            case _:
                value = _computed(step.operation, given)
        results.append(value)
    return results


def _union(given: list[Values]) -> Values:
    found: set[int] = set()
    for values in given:
        if values is None:
            return None
        found |= values
    return frozenset(found)


def _computed(operation: str, given: list[Values]) -> Values:
    fold = FOLDED.get(operation)
    if fold is None:
        return None
    known = [values for values in given if values is not None]
    if len(known) < len(given):
        return _partly_known(operation, given)
    found = frozenset(fold(*values) & MASK for values in product(*known))
    return found if len(found) <= _MOST_VALUES else None


def _partly_known(operation: str, given: list[Values]) -> Values:
    """Return the results known for certain while an operand may be any value."""
    first, last = given[0], given[-1]
    match operation:
        case "AND" | "MUL" if _FALSE in given:
            return _FALSE
        case "DIV" | "MOD" if first == _FALSE:
            return _FALSE
        case "OR" if _TRUE in given:
            # conditions are joined by OR; of other values the remaining bits are not known
            return _TRUE
        case "GT" if first == _FALSE or last == frozenset({MASK}):
            return _FALSE
        case "LT" if last == _FALSE or first == frozenset({MASK}):
            return _FALSE
    return None


_MOST_PROOF_SLOTS: Final = 24
"""Most slots that are read for the evidence, as code can name any number."""


class _Named(msgspec.Struct, frozen=True):
    """Slots in a body of code evidence."""

    slots: tuple[Hash32, ...] = ()


async def read_cap_words(
    reader: BlockReader, token: Address, rules: CapRules, evidence: Iterable[EvidenceRow] = ()
) -> dict[Hash32, int]:
    """Return the slots of rules and evidence that were read in time. Never raises."""
    both = (rule for rule in (rules.trading, rules.position) if rule is not None)
    of_rules = dict.fromkeys(slot for rule in both for slot in rule.slots)
    named = (slot for row in evidence for slot in msgspec.json.decode(row.body, type=_Named).slots)
    of_proofs = tuple(dict.fromkeys(named))[:_MOST_PROOF_SLOTS]
    return await read_words(reader, token, tuple(of_rules | dict.fromkeys(of_proofs)))
