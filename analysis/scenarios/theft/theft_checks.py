"""Theft checks: simulated attempts to take a holder's tokens, and the findings from them.

Combines allowance bypass, drain, solved thefts and owner balance changes of one token. A simulation
that did not run, and a store whose custody is not proved, never lead to a negative answer. Only
`simulate_thefts` sends requests.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.scenarios.theft import allowance_bypass, drain, owner_balance, solved_thefts
from analysis.scenarios.theft.attack_setup import AttackSetup
from analysis.scenarios.theft.theft_attempts import (
    AttackSimulation,
    TheftOutcome,
    case_evidence,
    read_case,
    write_cases,
)
from analysis.scenarios.theft.unproved_stores import (
    UndecidedStore,
    contract_evidence,
    doubt_evidence,
    open_custody,
)
from analysis.scenarios.theft.victim_purchase import VictimPurchase
from analysis.simulation.backends import perform
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.simulate_v1 import NotSimulated, SimulationResult
from analysis.static.custody.custody_report import StoredAddress
from analysis.static.custody.simulation_hints import SimulationHints
from analysis.static.evm.path_state import TRANSFER_FROM
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from core.evm.primitives import Address
from core.report.report import EvidenceRow


class TheftFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Answers of the theft checks. Definitions: the specification, "Simulation"."""

    allowance_bypass: bool | None
    privileged_spenders: tuple[Address, ...]
    funds_can_be_drained: bool | None
    owner_can_change_balance: bool | None
    """None: not assessed."""
    is_unproved: bool | None
    """True if the code may move or approve tokens without consent of their holder. None: the code
    was not fully analysed."""
    evidence: tuple[EvidenceRow, ...]


class TheftSimulations(msgspec.Struct, frozen=True, kw_only=True):
    """The simulations, by the question they answer."""

    bypass: tuple[AttackSimulation, ...]
    drain: tuple[AttackSimulation, ...]
    owner: tuple[AttackSimulation, ...]

    @property
    def cases(self) -> tuple[AttackSimulation, ...]:
        """Return all cases, in the order in which `read_simulations` expects their results."""
        return (*self.bypass, *self.drain, *self.owner)


class TheftInquiry(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs of the theft checks of one token."""

    attack: AttackSetup
    hints: SimulationHints
    suspects: tuple[Address, ...]
    """From `privileged_candidates.suspects`."""
    owners: tuple[Address, ...] | None
    """Owners that are not burn addresses. None: owner_can_change_balance is not assessed."""
    is_owner_known: bool
    """True if the owner was determined, including that there is none."""
    parties: Mapping[StoredAddress, Address] = {}
    """Addresses in the storage slots that the code compares callers with; absent where the slot is
    zero."""
    trusted: frozenset[Address] = frozenset()
    """Routers and the like, which holders approve in ordinary use of the token."""
    consenting: frozenset[Address] = frozenset()
    """Contracts that move a holder's tokens only with that holder's consent."""
    contracts: frozenset[Address] = frozenset()
    """Suspects with code, as far as it was read."""
    buyer: VictimPurchase | None = None
    """A victim that buys for real. None: no pool could be bought from."""


def write_simulations(inquiry: TheftInquiry) -> TheftSimulations:
    """Return independent simulations. Empty where no wallet is available."""
    attack, movers = _main_attack(inquiry), inquiry.hints.movers
    suspects = _suspected(inquiry, attack)
    bypasses = write_cases(
        attack, allowance_bypass.write_attempts(attack, suspects), watched=("wallet",)
    )
    for victims in _other_victims(inquiry, attack):
        # A token may distinguish real holders, and buyers, from wallets that have never received
        # anything.
        attempts = allowance_bypass.write_attempts(victims, _suspected(inquiry, victims))
        bypasses += write_cases(victims, attempts, watched=("wallet",))
    spending = [each for each in inquiry.hints.openings if each.selector == TRANSFER_FROM]
    others = [each for each in inquiry.hints.openings if each.selector != TRANSFER_FROM]
    entered = solved_thefts.write_attempts(attack, spending, suspects)
    bypasses += write_cases(attack, entered, watched=("wallet",))
    drains = [
        *drain.write_attempts(attack, movers, suspects),
        *solved_thefts.write_attempts(attack, others, suspects),
    ]
    by_owner = owner_balance.write_attempts(attack, movers, inquiry.owners or ())
    return TheftSimulations(
        bypass=bypasses,
        drain=write_cases(attack, drains, watched=("wallet", "bystander")),
        owner=write_cases(
            attack, by_owner, watched=("wallet", "bystander", "thief", "token", "supply")
        ),
    )


def _suspected(inquiry: TheftInquiry, attack: AttackSetup) -> tuple[Address, ...]:
    """Return the privileged candidates to try. A buyer has approved the venue's router, and some
    routers pay out all coins they hold and could not act after a buy, so trusted ones are left out
    then."""
    if attack.prologue is None:
        return inquiry.suspects
    return tuple(each for each in inquiry.suspects if each not in inquiry.trusted)


def _main_attack(inquiry: TheftInquiry) -> AttackSetup:
    """Return the main attack setup: on wallets funded by their slot; else on one that buys; else on
    those that a pool funds, or on real holders."""
    attack = inquiry.attack
    if attack.slot_index is None and inquiry.buyer is not None:
        return _on_buyer(attack, inquiry.buyer)
    return attack


def _other_victims(inquiry: TheftInquiry, main: AttackSetup) -> Iterator[AttackSetup]:
    attack, buyer = inquiry.attack, inquiry.buyer
    if attack.holders and (main.has_fresh_wallets or main.prologue is not None):
        yield msgspec.structs.replace(attack, slot_index=None, giver=None)
    if buyer is not None and main.prologue is None:
        yield _on_buyer(attack, buyer)


def _on_buyer(attack: AttackSetup, buyer: VictimPurchase) -> AttackSetup:
    return msgspec.structs.replace(
        attack, slot_index=None, giver=None, holders=(buyer.wallet,), prologue=buyer
    )


def read_simulations(
    inquiry: TheftInquiry,
    simulations: TheftSimulations,
    results: Sequence[SimulationResult | NotSimulated],
) -> TheftFindings:
    """Return the findings. A simulation that did not run, and a store whose custody is neither
    proved nor broken in simulation, do not count as safe."""
    rest = iter(results)
    groups = [
        ("allowance_bypass", simulations.bypass, [next(rest) for _ in simulations.bypass]),
        ("funds_can_be_drained", simulations.drain, [next(rest) for _ in simulations.drain]),
        ("owner_can_change_balance", simulations.owner, [next(rest) for _ in simulations.owner]),
    ]
    by_bypass, by_drain, by_owner = (_seen(cases, of_cases) for _, cases, of_cases in groups)
    bypassed = allowance_bypass.conclude(by_bypass, inquiry.suspects, inquiry.contracts)
    doubts = open_custody(
        inquiry.hints, inquiry.parties, trusted=inquiry.trusted, consenting=inquiry.consenting
    )
    on_spending = [each for each in doubts if each.selector == TRANSFER_FROM]
    is_unsure = _has_failed(groups[0][2]) or on_spending or not inquiry.hints.is_proved
    if bypassed.value is False and is_unsure:
        bypassed = allowance_bypass.BypassFindings(value=None)
    drained = drain.conclude(
        by_drain,
        bypass=bypassed.value,
        is_untried=_has_failed(groups[1][2]),
        is_open=bool(doubts) or not inquiry.hints.is_proved,
        contracts=inquiry.contracts,
    )
    owners = inquiry.owners
    return TheftFindings(
        allowance_bypass=bypassed.value,
        privileged_spenders=bypassed.spenders,
        funds_can_be_drained=drained,
        owner_can_change_balance=None
        if owners is None
        else owner_balance.conclude(
            by_owner,
            is_helpless=inquiry.is_owner_known and not (owners and inquiry.hints.movers),
        ),
        is_unproved=_is_unproved(inquiry.hints, doubts),
        evidence=(
            *(row for group in groups for row in case_evidence(*group, suspects=inquiry.suspects)),
            *doubt_evidence("allowance_bypass", bypassed.value, on_spending),
            *doubt_evidence("funds_can_be_drained", drained, doubts),
            *contract_evidence("allowance_bypass", bypassed.value, by_bypass),
            *contract_evidence("funds_can_be_drained", drained, (*by_bypass, *by_drain)),
        ),
    )


def _is_unproved(hints: SimulationHints, doubts: Sequence[UndecidedStore]) -> bool | None:
    if doubts:
        return True
    return False if hints.is_proved else None


async def simulate_thefts(
    node: Node,
    capabilities: NodeCapabilities,
    inquiry: TheftInquiry,
    *,
    reader: BlockReader,
    codes: Sequence[bytes] = (),
) -> TheftFindings:
    """Run all simulations in one round trip, where the node supports it; another one reads whether
    suspects that succeeded have code. `codes` as in `perform`.

    Raises UpstreamError.
    """
    simulations = write_simulations(inquiry)
    jobs = [SimulationJob(simulation=case.simulation) for case in simulations.cases]
    results = await perform(node, capabilities, jobs, codes=codes)
    able = _able(inquiry, simulations, results)
    if able:
        contracts = await read_contracts(reader, able)
        inquiry = msgspec.structs.replace(inquiry, contracts=contracts)
    return read_simulations(inquiry, simulations, results)


def _able(
    inquiry: TheftInquiry,
    simulations: TheftSimulations,
    results: Sequence[SimulationResult | NotSimulated],
) -> list[Address]:
    """Return the suspects that took tokens, except the token, which acts for any caller."""
    seen = _seen(simulations.cases, results)
    able = dict.fromkeys(each.attacker for each in seen if each.has_moved)
    named = set(inquiry.suspects) - {inquiry.attack.token}
    return [attacker for attacker in able if attacker in named]


async def read_contracts(reader: BlockReader, accounts: Sequence[Address]) -> frozenset[Address]:
    """Return those of the accounts that have code. One that delegates to code (EIP-7702) has a key
    as well, and counts as none. Raises UpstreamError."""
    batch = reader.batch()
    codes = {account: batch.code(account, first_bytes=DELEGATION_BYTES) for account in accounts}
    await reader.send(batch)
    read = {account: batch[code] for account, code in codes.items()}
    return frozenset(
        account for account, code in read.items() if code and not is_delegated_account(code)
    )


def _seen(
    cases: Sequence[AttackSimulation], results: Sequence[SimulationResult | NotSimulated]
) -> list[TheftOutcome]:
    return [
        seen
        for case, result in zip(cases, results, strict=True)
        for seen in read_case(case, result)
    ]


def _has_failed(results: Sequence[SimulationResult | NotSimulated]) -> bool:
    return any(isinstance(result, NotSimulated) for result in results)
