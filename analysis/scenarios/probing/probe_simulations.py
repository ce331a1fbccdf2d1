"""Simulations of probes: calls of open functions by one account, with a census after each.

Three accounts probe: one without tokens, a large holder funded by its balance slot, and a buyer.
Each has separate simulations, of at most MOST_ACTS calls. Sends no request.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec

from analysis.scenarios.probing.census import Census, TokenHoldings, UnpaidTokens, gain_between
from analysis.scenarios.probing.probe_calls import ProbeCall, ProbeInputs, plan_calls
from analysis.scenarios.theft.attack_setup import AttackSetup
from analysis.scenarios.theft.victim_purchase import VictimPurchase
from analysis.scenarios.trade.token_calls import approve_call
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    SimBlock,
    SimCall,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import CallWriter, SimulationBuilder
from analysis.static.custody.open_functions import OpenFunction, OpenFunctions
from analysis.static.evm.cfg import selector_of
from analysis.static.evm.path_state import HOLDER_FUNCTIONS
from core.evm.primitives import Address, Hash32, RawAmount, Selector

MOST_ACTS: Final = 80
"""Most calls of one simulation. Nodes bound its gas, 50 million at Geth."""

_ACT_GAS: Final = 600_000
_HOLDER_SHARE: Final = 12
"""Divisor of the supply: a large holder."""
_BYSTANDER_SHARE: Final = 1_000
_STEP_S: Final = 12
_WAIT_S: Final = 601
"""Seconds between probes of code that may make callers wait."""
LATE_S: Final = 25 * 3_600
LATE_BLOCKS: Final = 150
"""Nodes simulate at most 256 blocks."""

_ONE_CALL: Final = "eth_call"

Kind = Literal["newcomer", "holder", "buyer"]


class ProbeInquiry(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs of the probes of one token."""

    attack: AttackSetup
    """Pinned block, first simulated block, balance slot and pool."""
    functions: OpenFunctions
    buyer: VictimPurchase | None
    """The purchase of an ordinary buyer. None: nothing could be bought."""
    watched: tuple[Address, ...]
    """Accounts that may pay: creator, owners and large holders."""
    sale: TradeSetup | None
    """Pool in which tokens are sold. None: there is none."""
    buy_raw: RawAmount
    """Quote amount that an ordinary buyer pays in that pool; 0 without one."""
    pool_raw: int
    """Tokens in that pool."""
    wei_per_quote: float | None
    """Worth of the smallest unit of that pool's quote token in wei. None: not known."""
    price_wei: int
    """Coins that an ordinary buyer pays."""


class ProbeCaller(msgspec.Struct, frozen=True, kw_only=True):
    """The account that probes, and how it got its tokens."""

    kind: Kind
    inputs: ProbeInputs
    census: Census
    slots: Mapping[Hash32, Hash32]
    """Balance slot of a holder, with its value. Empty: it is not funded by override."""
    prologue: VictimPurchase | None


class SimulatedProbe(msgspec.Struct, frozen=True, kw_only=True):
    """One probe with the handles of its calls."""

    function: OpenFunction
    call: ProbeCall
    is_late: bool
    acts: tuple[CallHandle, ...]
    before: CallHandle
    """The census before it."""
    after: CallHandle


class ProbeSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """The probes of one simulation, in order."""

    caller: ProbeCaller
    probes: tuple[SimulatedProbe, ...]
    simulation: Simulation


class SuspectedGain(msgspec.Struct, frozen=True, kw_only=True):
    """A probe after which its caller had more, with those before it that succeeded."""

    caller: ProbeCaller
    probe: SimulatedProbe
    gain: UnpaidTokens
    before: tuple[SimulatedProbe, ...]
    payers: tuple[Address, ...]
    """Accounts that its events name as senders of tokens."""


# --- callers -----------------------------------------------------------------------------------


def find_callers(inquiry: ProbeInquiry) -> list[ProbeCaller]:
    """Return the accounts that probe: always one without tokens."""
    attack = inquiry.attack
    callers = [_caller(inquiry, "newcomer", attack.account("newcomer"), 0)]
    if attack.slot_index is not None:
        amount = max(1, attack.supply_raw // _HOLDER_SHARE)
        callers.append(_caller(inquiry, "holder", attack.account("large holder"), amount))
    if inquiry.buyer is not None:
        wallet = inquiry.buyer.wallet
        callers.append(_caller(inquiry, "buyer", wallet.address, wallet.balance_raw))
    return callers


def _caller(inquiry: ProbeInquiry, kind: Kind, account: Address, balance_raw: int) -> ProbeCaller:
    attack = inquiry.attack
    friend = attack.account(f"friend of the {kind}")
    bystander = _bystander(attack)
    pool = attack.giver or attack.token
    # the first two may be the same account, which then counts as one
    others = (bystander, pool, *dict.fromkeys((attack.token, *inquiry.watched)))
    slots: dict[Hash32, Hash32] = {}
    if kind == "holder" and attack.slot_index is not None:
        slots = balance_override(account, RawAmount(balance_raw), index=attack.slot_index)
    return ProbeCaller(
        kind=kind,
        inputs=ProbeInputs(
            caller=account,
            friend=friend,
            victim=bystander,
            pool=pool,
            token=attack.token,
            balance_raw=balance_raw,
            supply_raw=attack.supply_raw,
            price_wei=inquiry.price_wei,
        ),
        census=Census(
            at=attack.account("census"),
            token=attack.token,
            own=(account, friend),
            others=tuple(
                one
                for at, one in enumerate(others)
                if one not in (account, friend) and (at < 2 or one not in others[:2])  # noqa: PLR2004 - the first two
            ),
        ),
        slots=slots,
        prologue=inquiry.buyer if kind == "buyer" else None,
    )


def _bystander(attack: AttackSetup) -> Address:
    if attack.slot_index is not None:
        return attack.account("passer-by")
    if attack.holders:
        return attack.holders[0].address
    return attack.giver or attack.token


# --- writing -----------------------------------------------------------------------------------


class _Act(msgspec.Struct, frozen=True, kw_only=True):
    function: OpenFunction
    call: ProbeCall
    is_late: bool = False


def write_probes(inquiry: ProbeInquiry) -> list[ProbeSimulation]:
    """Return the simulations of all probes. Empty: there is no open function."""
    # a transfer spends tokens, so standard functions come last
    functions = sorted(
        inquiry.functions.functions, key=lambda each: each.selector in HOLDER_FUNCTIONS
    )
    if not functions:
        return []
    found = []
    for caller in find_callers(inquiry):
        is_short = caller.kind == "buyer" and bool(inquiry.attack.slot_index is not None)
        acts = [
            _Act(function=function, call=call)
            for function in functions
            for call in plan_calls(function, caller.inputs, is_short=is_short)
        ]
        special = [each for each in functions if each.selector not in HOLDER_FUNCTIONS]
        rounds = [] if is_short else _rounds(special, caller)
        found += [_write(inquiry, caller, chunk) for chunk in _chunks([*acts, *rounds])]
    return found


def _rounds(functions: Sequence[OpenFunction], caller: ProbeCaller) -> list[_Act]:
    """Return all functions in turn, and once more a day later, so that one prepares another."""
    return [
        _Act(function=function, call=msgspec.structs.replace(call, times=1), is_late=is_late)
        for is_late in (False, True)
        for function in functions
        for call in plan_calls(function, caller.inputs, is_short=True)[:2]
    ]


def _chunks(acts: Sequence[_Act]) -> Iterator[list[_Act]]:
    """Yield the acts in as few parts as fit."""
    chunk: list[_Act] = []
    count = 0
    for act in acts:
        if count + act.call.times > MOST_ACTS:
            yield chunk
            chunk, count = [], 0
        chunk.append(act)
        count += act.call.times
    if chunk:
        yield chunk


def _write(inquiry: ProbeInquiry, caller: ProbeCaller, acts: Sequence[_Act]) -> ProbeSimulation:
    places = _places(caller, acts, is_spread=inquiry.functions.reads_clock)
    builder = SimulationBuilder(_times(inquiry, acts, places))
    write_purchase(builder[0], caller)
    reader = inquiry.attack.account("census taker")
    read = caller.census.call(reader, "holdings")
    probes: list[SimulatedProbe] = []
    before = None
    for act, place in zip(acts, places, strict=True):
        calls = builder[place.block]
        if before is None:
            write_approvals(calls, caller)
        if before is None or place.is_fresh:
            before = calls.add(read)
        handles = tuple(calls.add(act_call(caller.inputs, act.call)) for _ in range(act.call.times))
        after = calls.add(read)
        probes.append(
            SimulatedProbe(
                function=act.function,
                call=act.call,
                is_late=act.is_late,
                acts=handles,
                before=before,
                after=after,
            )
        )
        before = after
    refill = {inquiry.attack.token: caller.slots}
    refilled = {place.block for place in places if place.is_fresh} if caller.slots else set()
    blocks = tuple(
        msgspec.structs.replace(block, storage=refill) if number in refilled else block
        for number, block in enumerate(builder.blocks())
    )
    return ProbeSimulation(
        caller=caller, probes=tuple(probes), simulation=stage(inquiry, caller, blocks)
    )


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """The block of a probe."""

    block: int
    is_fresh: bool
    """True if the state may have changed since the last probe."""


def _places(caller: ProbeCaller, acts: Sequence[_Act], *, is_spread: bool) -> list[_Place]:
    """Return the block of each probe. A holder is funded again before each function, late probes
    wait, and `is_spread` gives each probe a block, as callers may have to wait."""
    block = 0 if caller.prologue is None else 1
    places: list[_Place] = []
    for last, act in zip((None, *acts), acts, strict=False):
        is_first = last is None
        is_fresh = last is not None and (
            act.is_late != last.is_late
            or (bool(caller.slots) and not act.is_late and act.function != last.function)
        )
        block += is_fresh or (is_spread and not is_first)
        places.append(_Place(block=block, is_fresh=is_fresh))
    return places


def _times(
    inquiry: ProbeInquiry, acts: Sequence[_Act], places: Sequence[_Place]
) -> list[tuple[int, int]]:
    """Return number and time of each block."""
    step_s = _WAIT_S if inquiry.functions.reads_clock else _STEP_S
    number, time_s = inquiry.attack.block
    late = next((place.block for act, place in zip(acts, places, strict=True) if act.is_late), None)
    times = []
    for block in range(places[-1].block + 1):
        is_late = late is not None and block >= late
        times.append(
            (
                number + block + is_late * LATE_BLOCKS,
                time_s + step_s * block + is_late * LATE_S,
            )
        )
    return times


def write_purchase(calls: CallWriter, caller: ProbeCaller) -> None:
    """Write the purchase of a buyer."""
    if caller.prologue is not None:
        for call in caller.prologue.buying:
            calls.add(call)


def write_approvals(calls: CallWriter, caller: ProbeCaller) -> None:
    """Write approvals of the caller itself and of its friend, which some functions require."""
    inputs = caller.inputs
    for spender in (inputs.caller, inputs.friend):
        calls.add(approve_call(inputs.token, inputs.caller, spender, "allows", gas=_ACT_GAS))


def act_call(inputs: ProbeInputs, call: ProbeCall) -> SimCall:
    """Return one call of a probe."""
    return SimCall(
        label="probe",
        sender=inputs.friend if call.is_friends else inputs.caller,
        to=inputs.token,
        data=call.data,
        value=call.value_wei,
        gas=_ACT_GAS,
    )


def stage(
    inquiry: ProbeInquiry, caller: ProbeCaller, blocks: tuple[SimBlock, ...], *, payers: int = 0
) -> Simulation:
    """Return the simulation of these blocks, with coins, tokens and the census contract.
    `payers`: wei that the caller needs besides its purse."""
    attack, inputs = inquiry.attack, caller.inputs
    storage: dict[Address, Mapping[Hash32, Hash32]] = {}
    if attack.slot_index is not None:
        amount = RawAmount(max(1, attack.supply_raw // _BYSTANDER_SHARE))
        slots = balance_override(inputs.victim, amount, index=attack.slot_index)
        storage[attack.token] = {**slots, **caller.slots}
    values = sum(call.value for block in blocks for call in block.calls)
    senders = dict.fromkeys(call.sender for block in blocks for call in block.calls)
    purses = {one: attack.disguise.purse(one) for one in senders}
    purses[inputs.caller] += values + payers
    code = {caller.census.at: caller.census.code}
    if caller.prologue is not None:
        before = caller.prologue.overrides
        purses[inputs.caller] += before.purses.get(inputs.caller, 0)
        for contract, given in before.storage.items():
            storage[contract] = {**storage.get(contract, {}), **given}
        code |= before.code
    return Simulation(
        pin=attack.pin,
        disguise=attack.disguise,
        blocks=blocks,
        purses=purses,
        storage=storage,
        code=code,
    )


# --- reading -----------------------------------------------------------------------------------


def read_probes(
    written: ProbeSimulation, result: SimulationResult | NotSimulated
) -> list[SuspectedGain] | None:
    """Return the probes after which the caller had more. None: not simulated, or a census failed.

    One eth_call counts as not simulated: it has other accounts, and no events that name payers.
    """
    if isinstance(result, NotSimulated) or result.method == _ONE_CALL:
        return None
    found: list[SuspectedGain] = []
    passed: list[SimulatedProbe] = []
    inputs = written.caller.inputs
    for probe in written.probes:
        before, after = (
            holdings_at(written.caller.census, result, at) for at in (probe.before, probe.after)
        )
        if before is None or after is None:
            return None
        if not any(result[act].ok for act in probe.acts):
            continue
        gain = gain_between(before, after)
        if gain.is_any:
            found.append(
                SuspectedGain(
                    caller=written.caller,
                    probe=probe,
                    gain=gain,
                    before=tuple(passed),
                    payers=tuple(_payers(inputs.token, result, probe.acts)),
                )
            )
        passed.append(probe)
    return found


def functions_run(
    written: ProbeSimulation, result: SimulationResult | NotSimulated
) -> Iterator[Selector]:
    """Yield the functions of which a call succeeded and moved tokens, by events or holdings."""
    if isinstance(result, NotSimulated):
        return
    census, token = written.caller.census, written.caller.inputs.token
    for probe in written.probes:
        passed = [act for act in probe.acts if result[act].ok]
        holdings = [holdings_at(census, result, at) for at in (probe.before, probe.after)]
        if passed and (holdings[0] != holdings[1] or any(_payers(token, result, passed))):
            yield selector_of(probe.function.selector)


def holdings_at(census: Census, result: SimulationResult, at: CallHandle) -> TokenHoldings | None:
    """Return what a census read. None: a read failed."""
    read = result[at]
    return census.read(read.data) if read.ok else None


def _payers(
    token: Address, result: SimulationResult, acts: Iterable[CallHandle]
) -> Iterator[Address]:
    """Yield the addresses that the token's events have in their first field."""
    for act in acts:
        for log in result[act].logs:
            if log.address == token and len(log.topics) > 1:
                yield Address("0x" + log.topics[1][-40:])
