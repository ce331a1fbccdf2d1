"""Probe check: simulates calls by which ordinary accounts create balances.

Determines balances_can_be_created. Every open function is called with boundary values. Where the
caller then has more than others paid, the shortest sequence is repeated by itself, with every
account that its events name as payer. Only that sequence is evidence. What is paid for in coins is
sold: it is created if the sale returns more.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.scenarios.probing.called_sales import (
    find_blocked_sale,
    write_called_sales,
    write_confirmations,
)
from analysis.scenarios.probing.census import UnpaidTokens, gain_between
from analysis.scenarios.probing.probe_calls import REPEATS
from analysis.scenarios.probing.probe_simulations import (
    LATE_BLOCKS,
    LATE_S,
    ProbeCaller,
    ProbeInquiry,
    ProbeSimulation,
    SimulatedProbe,
    SuspectedGain,
    act_call,
    functions_run,
    holdings_at,
    read_probes,
    stage,
    write_approvals,
    write_probes,
    write_purchase,
)
from analysis.scenarios.trade.account_calls import ACT_GAS
from analysis.scenarios.trade.trade_steps import Order, SaleSteps, write_approval, write_sale
from analysis.simulation.backends import perform
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from analysis.static.evm.path_state import HOLDER_FUNCTIONS
from core.evm.primitives import ZERO_ADDRESS, RawAmount, Selector
from core.report.report import EvidenceRow

KEY: Final = "balances_can_be_created"
TAKING_KEY: Final = "funds_can_be_drained:probes"
VERSION: Final = 1

_MOST_SUSPICIONS: Final = 6
_MOST_PREPARATIONS: Final = 4
_STEP_S: Final = 12
_PREPARED: Final = 8
_ACTED: Final = 10
"""Repetitions of a preparation and of the act after it: a rate of a quarter more shows."""
_MOST_PAYERS: Final = 8
_MATERIAL_PARTS: Final = 100
"""Divisor of the supply: more than that, created for nothing, is a danger."""
_REPEATED_PARTS: Final = 1_000_000
"""The same where it can be repeated without end."""
_PROFIT_PCT: Final = 110
"""Percent of the payment that a sale must exceed; less is the difference between two prices."""
_MOST_SOLD: Final = 9
"""Most tokens that are sold, as a multiple of those in the pool."""


class ProbeFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of the check."""

    value: bool | None = None
    """None: some probes were not made, or not read."""
    takes_from_others: bool = False
    """True if a caller took tokens of the pool or of a bystander."""
    functions_run: frozenset[Selector] = frozenset()
    """Functions of which a call succeeded and moved tokens."""
    blocks_sales: bool = False
    """True if calls of a stranger make the sale of an ordinary buyer fail."""
    evidence: tuple[EvidenceRow, ...] = ()


class ProbeOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one confirmed sequence."""

    caller: str
    is_created: bool | None
    """None: what was paid for could not be sold."""
    is_taken: bool
    """True if tokens of the pool or a bystander were taken."""
    created_raw: str
    """Tokens beyond what others paid, and by which the supply did not grow."""
    minted_raw: str
    """Tokens that the supply counts."""
    taken_raw: str
    """Tokens that the pool or a bystander lost."""
    paid_wei: str
    returned_wei: str
    """Worth of the sale. Empty: nothing was sold."""


class _Sequence(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one suspicion, in a separate simulation."""

    caller: ProbeCaller
    probe: SimulatedProbe
    """The probe that is repeated."""
    simulation: Simulation
    start: CallHandle
    readings: tuple[CallHandle, ...]
    """A census after each repetition."""
    acts: tuple[CallHandle, ...]
    sale: SaleSteps | None


async def simulate_probes(
    node: Node,
    capabilities: NodeCapabilities,
    inquiry: ProbeInquiry,
    *,
    codes: Sequence[bytes] = (),
) -> ProbeFindings:
    """Run all probes in one round trip; where one is suspicious, its sequences in another.

    `codes` as in `perform`. Raises UpstreamError.
    """
    written, called = write_probes(inquiry), write_called_sales(inquiry)
    jobs = [*(each.simulation for each in written), *(each.simulation for each in called)]
    results = await perform(node, capabilities, _jobs(inquiry, jobs), codes=codes)
    is_known, suspicions = _read(inquiry, written, results[: len(written)])
    run = frozenset(
        selector
        for each, result in zip(written, results, strict=False)
        for selector in functions_run(each, result)
    )
    sequences = [
        sequence
        for suspicion in suspicions[:_MOST_SUSPICIONS]
        for sequence in _write_sequences(inquiry, suspicion)
    ]
    sales = write_confirmations(inquiry, called, results[len(written) :])
    if not sequences and not sales:
        return ProbeFindings(value=False if is_known else None, functions_run=run)
    jobs = [*(each.simulation for each in sequences), *(each.simulation for each in sales)]
    repeated = await perform(node, capabilities, _jobs(inquiry, jobs), codes=codes)
    is_known &= len(suspicions) <= _MOST_SUSPICIONS
    found = _conclude(inquiry, sequences, repeated[: len(sequences)], is_known=is_known)
    found = msgspec.structs.replace(found, functions_run=run)
    row = find_blocked_sale(sales, repeated[len(sequences) :]) if sales else None
    if row is None:
        return found
    return msgspec.structs.replace(found, blocks_sales=True, evidence=(*found.evidence, row))


def _conclude(
    inquiry: ProbeInquiry,
    sequences: Sequence[_Sequence],
    results: Sequence[SimulationResult | NotSimulated],
    *,
    is_known: bool,
) -> ProbeFindings:
    """Return the findings, each with the first sequence that shows it. `is_known`: all was probed,
    and every suspicion repeated."""
    value: bool | None = False if is_known else None
    rows: dict[str, EvidenceRow] = {}
    repeated: set[tuple[str, SimulatedProbe]] = set()
    for sequence, result in zip(sequences, results, strict=True):
        if isinstance(result, NotSimulated):
            value = value or None
            continue
        if any(result[act].ok for act in sequence.acts[-len(sequence.readings) :]):
            repeated.add((sequence.caller.kind, sequence.probe))
        outcome = _judge(inquiry, sequence, result)
        if outcome is None:
            value = value or None
            continue
        value = value or (value if outcome.is_created is False else outcome.is_created)
        for key, is_shown in ((KEY, outcome.is_created), (TAKING_KEY, outcome.is_taken)):
            if is_shown and key not in rows:
                rows[key] = simulation_evidence(key, VERSION, sequence.simulation, result, outcome)
    if any((each.caller.kind, each.probe) not in repeated for each in sequences):
        value = value or None  # a gain that no sequence repeats is not explained
    return ProbeFindings(
        value=value, takes_from_others=TAKING_KEY in rows, evidence=tuple(rows.values())
    )


def _jobs(inquiry: ProbeInquiry, simulations: Sequence[Simulation]) -> list[SimulationJob]:
    pool = None if inquiry.sale is None else inquiry.sale.candidate.pool
    return [SimulationJob(simulation=each, pool=pool) for each in simulations]


def _read(
    inquiry: ProbeInquiry,
    written: Sequence[ProbeSimulation],
    results: Sequence[SimulationResult | NotSimulated],
) -> tuple[bool, list[SuspectedGain]]:
    """Return whether everything was probed, and the suspicions: without preparation first, and of
    each function the first."""
    is_known = inquiry.functions.is_complete and bool(written)
    found: list[SuspectedGain] = []
    for each, result in zip(written, results, strict=True):
        read = read_probes(each, result)
        is_known &= read is not None
        found += read or ()
    # without a holder nothing is known of functions that spend tokens
    is_known &= any(each.caller.kind != "newcomer" for each in written)
    firsts = {
        (each.probe.function, each.probe.is_late, _is_unpaid(each)): each
        for each in reversed(found)
    }
    return is_known, sorted(
        firsts.values(), key=lambda each: (not _is_unpaid(each), len(each.before))
    )


def _is_unpaid(suspicion: SuspectedGain) -> bool:
    return suspicion.gain.uncounted_raw > 0


# --- sequences ---------------------------------------------------------------------------------


def _write_sequences(inquiry: ProbeInquiry, suspicion: SuspectedGain) -> list[_Sequence]:
    """Return the probe by itself, and after each of the other functions that succeeded before."""
    earlier = {
        each.function: each
        for each in suspicion.before[::-1]
        if each.function != suspicion.probe.function
    }
    known = (ZERO_ADDRESS, *suspicion.caller.census.own, *suspicion.caller.census.others)
    payers = [one for one in dict.fromkeys(suspicion.payers) if one not in known]
    census = suspicion.caller.census
    caller = msgspec.structs.replace(
        suspicion.caller,
        census=msgspec.structs.replace(census, others=(*census.others, *payers[:_MOST_PAYERS])),
    )
    preparations = tuple(earlier.values())
    single = [(each,) for each in preparations[:_MOST_PREPARATIONS]]
    together = [preparations[::-1]] if len(preparations) > 1 else []
    return [
        _write_sequence(inquiry, caller, suspicion, chosen) for chosen in ((), *single, *together)
    ]


def _write_sequence(
    inquiry: ProbeInquiry,
    caller: ProbeCaller,
    suspicion: SuspectedGain,
    preparations: Sequence[SimulatedProbe],
) -> _Sequence:
    attack, probe = inquiry.attack, suspicion.probe
    is_late = probe.is_late or inquiry.functions.reads_clock
    number, time_s = attack.block
    blocks, wait_s = (LATE_BLOCKS, LATE_S) if is_late else (1, _STEP_S)
    times = [(number + blocks + at, time_s + wait_s + _STEP_S * at) for at in range(2)]
    builder = SimulationBuilder((attack.block, *times))
    reader = attack.account("census taker")
    write_purchase(builder[0], caller)
    write_approvals(builder[0], caller)
    start = builder[0].add(caller.census.call(reader, "holdings"))
    acts = []
    for preparation in preparations:
        acts += [
            builder[0].add(act_call(caller.inputs, preparation.call)) for _ in range(_PREPARED)
        ]
    is_paid = probe.call.value_wei > 0
    readings = []
    for _ in range(1 if is_paid else _ACTED if preparations else REPEATS):
        acts.append(builder[1].add(act_call(caller.inputs, probe.call)))
        readings.append(builder[1].add(caller.census.call(reader, "holdings")))
    sale = None
    if is_paid and inquiry.sale is not None:
        gained = suspicion.gain.counted_raw + suspicion.gain.uncounted_raw
        gained = min(gained, _MOST_SOLD * inquiry.pool_raw)
        order = Order(label="created", amount=RawAmount(gained), gas=ACT_GAS)
        setup = inquiry.sale.with_coin(is_wanted=False)
        approval = write_approval(builder[2], setup, caller.inputs.caller, "created", gained)
        sale = write_sale(builder[2], setup, caller.inputs.caller, order, approval=approval)
    simulation = stage(inquiry, caller, builder.blocks())
    return _Sequence(
        caller=caller,
        probe=probe,
        simulation=_with_router(inquiry, simulation),
        start=start,
        readings=tuple(readings),
        acts=tuple(acts),
        sale=sale,
    )


def _with_router(inquiry: ProbeInquiry, simulation: Simulation) -> Simulation:
    route = None if inquiry.sale is None else inquiry.sale.route
    if route is None or not route.code:
        return simulation
    code = {**simulation.code, route.router: route.code}
    return msgspec.structs.replace(simulation, code=code)


# --- judging -----------------------------------------------------------------------------------


def _judge(
    inquiry: ProbeInquiry, sequence: _Sequence, result: SimulationResult
) -> ProbeOutcome | None:
    """Return what the sequence created and took. None: a census failed."""
    census = sequence.caller.census
    start = holdings_at(census, result, sequence.start)
    readings = [holdings_at(census, result, at) for at in sequence.readings]
    if start is None or any(holdings is None for holdings in readings):
        return None
    gains = [gain_between(start, holdings) for holdings in readings if holdings is not None]
    calls = dict(sequence.simulation.calls())
    paid = sum(calls[act].value for act in sequence.acts if result[act].ok)
    returned = _returned_wei(inquiry, sequence, result)
    uncounted, counted = max(each.uncounted_raw for each in gains), gains[-1].counted_raw
    taken = gains[-1].taken_raw
    if sequence.probe.function.selector not in HOLDER_FUNCTIONS:
        taken = max(taken, gains[-1].emptied_raw)
    is_created: bool | None = uncounted > 0 or (not paid and _is_material(gains, start.supply))
    if not start.supply:
        is_created = None  # a supply of zero counts nothing, least of all what is sold in a pool
    elif paid and counted and not uncounted:
        is_created = None if returned is None else _is_profit(inquiry, paid, returned)
    return ProbeOutcome(
        caller=sequence.caller.kind,
        is_created=is_created,
        is_taken=bool(taken) and not paid and not _has_traded(inquiry, sequence, result),
        created_raw=str(uncounted),
        minted_raw=str(counted),
        taken_raw=str(taken),
        paid_wei=str(paid),
        returned_wei="" if returned is None else str(returned),
    )


def _has_traded(inquiry: ProbeInquiry, sequence: _Sequence, result: SimulationResult) -> bool:
    """True if the pool may have sold what it lost: the token buys for others, or no pool and no
    bystander is known."""
    sale = inquiry.sale
    if sale is None or inquiry.attack.token in sequence.caller.census.others[:2]:
        return True
    return any(sale.moved(result[act].logs, is_buy=True) is not None for act in sequence.acts)


def _is_material(gains: Sequence[UnpaidTokens], supply: int) -> bool:
    """True if much of the supply is minted for nothing, or a little without end."""
    first, last = gains[0].counted_raw, gains[-1].counted_raw
    is_endless = last >= first * len(gains) and first * _REPEATED_PARTS > supply
    return last * _MATERIAL_PARTS > supply or (is_endless and first > 0)


def _is_profit(inquiry: ProbeInquiry, paid: int, returned: int) -> bool:
    """True if the sale returned clearly more than was paid."""
    least = inquiry.price_wei // 1_000
    return returned * 100 > paid * _PROFIT_PCT and returned - paid > least


def _returned_wei(
    inquiry: ProbeInquiry, sequence: _Sequence, result: SimulationResult
) -> int | None:
    """Return the worth of the sale. None: nothing was sold, or its worth is not known."""
    if sequence.sale is None or inquiry.sale is None or inquiry.wei_per_quote is None:
        return None
    sold = result[sequence.sale.sell]
    moved = inquiry.sale.moved(sold.logs, is_buy=False) if sold.ok else None
    return None if moved is None else int(moved.sent * inquiry.wei_per_quote)
