"""Condition check: simulates a trade with each of its code's conditions turned, in one pool.

Inputs are the trade conditions of the involved contracts and a buy that passed. Output is which
what-if simulations make a sale fail or lose half, and which conditions stay untested. Sends no
request.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

import msgspec

from analysis.conditions.condition_inputs import OrdinaryTrade, WhatIf
from analysis.conditions.condition_plan import ConditionPlan, callees_of, make_plan, renamed
from analysis.scenarios.conditions import size_simulation, what_if
from analysis.scenarios.conditions.what_if import InputSimulation, WhatIfOutcome
from analysis.scenarios.trade.buy import Bought, BuyTry
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import NotSimulated, Outcome, Passed, SimulationResult
from analysis.static.token_model.conditions.trade_conditions import TradeConditions
from core.evm.primitives import Address, Hash32, RawAmount
from core.report.report import EvidenceRow

_YEAR_S: Final = 365 * 86_400
"""Time ahead within which a sale that the clock alone stops counts as harm, not as untested."""
_ORDINARY_COINS_WEI: Final = (2 * 10**16, 5 * 10**18)
_ORDINARY_GAS: Final = (100_000, 2_500_000)
_ORDINARY_PRICE_PCT: Final = (25, 400)
"""Quote reserves in percent of today's: fourfold is a price sixteen times today's."""

_CRUMB: Final = 1_000
"""Divisor of an ordinary holding: a sale of less may fail for being too small."""

_LOW_TAX_PCT: Final = 10.0
"""Percentage points that an input may add to the tax on a sale without being noted."""

_MOST_SHOWN: Final = 40

_LATER: Final = frozenset({"time", "block"})
"""Inputs that count for the findings of later sales."""


class CodeConditions(msgspec.Struct, frozen=True, kw_only=True):
    """Trade conditions of one contract, and its storage."""

    contract: Address
    conditions: TradeConditions
    words: Mapping[Hash32, int]


class UntestedCondition(msgspec.Struct, frozen=True, kw_only=True):
    """One untested condition, in the evidence."""

    selector: str
    pc: int
    effect: str
    sources: tuple[str, ...]
    why: str
    """Reason why it was not tested."""


class InputValue(msgspec.Struct, frozen=True, kw_only=True):
    """One input and the value it was set to."""

    input: str
    value: str
    slot: Hash32 | None


class HarmfulInput(InputValue, frozen=True, kw_only=True):
    """An input that makes a sale fail, or costs half of it or clearly more than usual."""

    also: tuple[InputValue, ...] = ()
    """Inputs set together with it."""
    extent: str
    buy: Outcome
    sale: Outcome


class ConditionFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Findings of one pool. None: not determined."""

    untested: bool | None = None
    blocked_later: bool = False
    tax_rises: bool = False
    blocked_after_others: bool = False
    depends_on_conditions: bool | None = None
    names_harm: bool | None = False
    """True if a trade comes to harm once the owner has set an address to one of its parties."""
    evidence: tuple[EvidenceRow, ...] = ()


class ConditionReport(msgspec.Struct, frozen=True, kw_only=True):
    """Body of the evidence."""

    conditions: int
    is_complete: bool
    played: int
    untested: tuple[UntestedCondition, ...]
    harmful: tuple[HarmfulInput, ...]


class ConditionSimulations(msgspec.Struct, frozen=True, kw_only=True):
    """The what-if simulations of one pool."""

    setup: TradeSetup
    buyer: BuyTry
    plans: tuple[tuple[CodeConditions, OrdinaryTrade, ConditionPlan], ...]
    """Codes whose conditions are settled in this pool. Empty: another pool settles them."""
    simulations: tuple[InputSimulation, ...]

    @property
    def jobs(self) -> list[SimulationJob]:
        """Simulation jobs, in the order in which `read_results` expects the results."""
        pool = self.setup.candidate.pool
        return [SimulationJob(simulation=each.simulation, pool=pool) for each in self.simulations]

    @property
    def callees(self) -> tuple[Address, ...]:
        """Return called contracts of which must be read whether they are accounts: only then are
        conditions on the success of a call to them tested."""
        return tuple(
            dict.fromkeys(
                callee
                for code, setting, _ in self.plans
                for callee in callees_of(code.conditions, code.words)
                if callee not in setting.known
            )
        )


def write_simulations(
    setup: TradeSetup,
    bought: Bought,
    codes: Sequence[CodeConditions],
    *,
    repeated: Sequence[CodeConditions] = (),
    supply_raw: RawAmount,
    pool_balance_raw: RawAmount,
    known: Collection[Address],
    block_time_s: float,
) -> ConditionSimulations | None:
    """Return the simulations of all conditions. None: nothing was bought that could be sold.

    `repeated`: codes whose conditions another pool settles. Inputs that can condemn a sale are
    simulated here too, as code can distinguish pools.
    """
    buyer = bought.passed[1] if len(bought.passed) > 1 else bought.largest
    if buyer is None or buyer.balances_raw is None:
        return None
    plans = []
    for code in (*codes, *repeated):
        trade = _ordinary_trade(
            setup,
            buyer.amount_in,
            buyer.balances_raw[0],
            code,
            supply_raw=supply_raw,
            pool_balance_raw=pool_balance_raw,
            known=known,
        )
        plans.append((code, trade, make_plan(code.conditions, trade, ())))
    what_ifs = dict.fromkeys(
        each
        for at, (_, _, plan) in enumerate(plans)
        for each in plan.what_ifs
        if at < len(codes) or (each.input != "price" and _is_ordinary(setup, each))
    )
    simulations = what_if.write_simulations(
        setup, buyer, tuple(what_ifs), block_time_s=block_time_s
    )
    names = dict.fromkeys(
        each for code, trade, _ in plans[: len(codes)] for each in renamed(code.conditions, trade)
    )
    simulations += what_if.write_simulations(setup, buyer, tuple(names), block_time_s=block_time_s)
    sizes = (
        size_simulation.write_size(setup, buyer, each, pool_balance_raw)
        for each in dict.fromkeys(each for _, _, plan in plans for each in plan.sizes)
    )
    return ConditionSimulations(
        setup=setup,
        buyer=buyer,
        plans=tuple(plans[: len(codes)]),
        simulations=(*simulations, *(each for each in sizes if each is not None)),
    )


def _ordinary_trade(
    setup: TradeSetup,
    amount_in: RawAmount,
    amount_raw: RawAmount,
    code: CodeConditions,
    *,
    supply_raw: RawAmount,
    pool_balance_raw: RawAmount,
    known: Collection[Address],
) -> OrdinaryTrade:
    """Return the inputs of the sale of `amount_raw` that `amount_in` bought, as one code sees
    them."""
    number, time_s = setup.blocks[3]
    bought_block, bought_s = setup.blocks[0]
    first_sale_block, first_sale_s = setup.blocks[2]
    base_fee = setup.disguise.base_fee_wei or 0
    trader, token = setup.buyer(amount_in), setup.candidate.token
    pool, router = setup.candidate.holder, setup.route.router
    return OrdinaryTrade(
        time_s=time_s,
        block=number,
        bought_s=bought_s,
        bought_block=bought_block,
        first_sale_s=first_sale_s,
        first_sale_block=first_sale_block,
        base_fee_wei=base_fee,
        gas_price_wei=base_fee + setup.disguise.tips_wei[0],
        gas=500_000,
        coins_wei=setup.disguise.purse(trader),
        amount_raw=amount_raw,
        supply_raw=supply_raw,
        trader=trader,
        token=token,
        contract=code.contract,
        pool=pool,
        quote=setup.candidate.quote,
        router=router,
        proposer=setup.disguise.proposers[0],
        pool_balance_raw=pool_balance_raw,
        is_plain=setup.token_slot_index is not None,
        words=code.words,
        known=frozenset((*known, pool, router, token, code.contract)),
    )


def read_results(
    written: ConditionSimulations,
    results: Sequence[SimulationResult | NotSimulated],
    accounts: Collection[Address],
    *,
    usual_tax: float | None,
) -> ConditionFindings:
    """Return the findings. `accounts`: callees that have no code and cannot get any; `usual_tax`:
    percent, of a sale without a what-if. None: not known."""
    seen: list[WhatIfOutcome] = []
    not_simulated: set[WhatIf] = set()
    for simulation, result in zip(written.simulations, results, strict=True):
        if isinstance(result, NotSimulated):
            not_simulated.add(simulation.what_if)
        else:
            seen.append(what_if.read_result(simulation, result))
    names = [each for each in seen if each.what_if.input == "name"]
    worse_names = [each for each in names if _is_worse(each, usual_tax)]
    harmful = [
        each
        for each in seen
        if each.is_harmful and each not in names and not _is_crumb(written.buyer, each)
    ]
    dearer = [each for each in seen if _is_dearer(each, usual_tax)]
    untested = _untested(written, not_simulated, accounts)
    is_complete = all(code.conditions.is_complete for code, _, _ in written.plans)
    real = [each for each in harmful if _is_ordinary(written.setup, each.what_if)]
    later = [each for each in real if each.what_if.input in _LATER]
    after_others = [each for each in real if _follows_others(each.what_if)]
    return ConditionFindings(
        untested=bool(untested or dearer) or not is_complete or len(real) < len(harmful),
        blocked_later=any(not isinstance(each.sale, Passed) for each in later),
        tax_rises=any(isinstance(each.sale, Passed) for each in (*later, *after_others)),
        blocked_after_others=any(not isinstance(each.sale, Passed) for each in after_others),
        depends_on_conditions=_depends_on_conditions(written, real, not_simulated),
        names_harm=_harm_of_names(worse_names, not_simulated),
        evidence=_evidence(
            written,
            results,
            untested,
            [*harmful, *worse_names, *dearer],
            is_complete=is_complete,
        ),
    )


def _harm_of_names(
    worse: Sequence[WhatIfOutcome], not_simulated: Collection[WhatIf]
) -> bool | None:
    if worse:
        return True
    return None if any(each.input == "name" for each in not_simulated) else False


def _is_worse(outcome: WhatIfOutcome, usual_tax: float | None) -> bool:
    """True if a sale is refused, or taxed clearly more than usual."""
    if not isinstance(outcome.sale, Passed):
        return outcome.is_harmful
    tax = outcome.sale.tax
    return tax is None or tax > _LOW_TAX_PCT + (usual_tax or 0)


def _is_dearer(outcome: WhatIfOutcome, usual_tax: float | None) -> bool:
    """True if a sale is taxed clearly more than usual, but not harmful. Sizes, and names that the
    owner sets, are judged apart."""
    if outcome.is_harmful or outcome.what_if.input in ("amount", "price", "size", "name"):
        return False
    tax = outcome.sale.tax if isinstance(outcome.sale, Passed) else None
    return tax is not None and tax > _LOW_TAX_PCT + (usual_tax or 0)


def _depends_on_conditions(
    written: ConditionSimulations, real: Sequence[WhatIfOutcome], not_simulated: Collection[WhatIf]
) -> bool | None:
    """True if an ordinary input other than the clock and the price turns a sale. None: one was not
    simulated."""
    if any(_is_of_trader(each.what_if) for each in real):
        return True
    is_open = any(
        _is_of_trader(each) and _is_ordinary(written.setup, each) for each in not_simulated
    )
    return None if is_open else False


def _follows_others(what: WhatIf) -> bool:
    """True if it counts for the finding of sales after others."""
    return what.input == "price" or what.is_counted


def _is_of_trader(what: WhatIf) -> bool:
    return what.input not in _LATER and not _follows_others(what)


def _untested(
    written: ConditionSimulations, not_simulated: set[WhatIf], accounts: Collection[Address]
) -> list[UntestedCondition]:
    found = []
    for code, setting, _ in written.plans:
        plan = make_plan(code.conditions, setting, accounts)
        why = dict(plan.open)
        for number, wanted in plan.wanted:
            if not_simulated.intersection(wanted):
                why.setdefault(number, "the node did not play it")
        for number, reason in sorted(why.items()):
            condition = code.conditions.conditions[number]
            found.append(
                UntestedCondition(
                    selector=condition.selector,
                    pc=condition.pc,
                    effect=condition.effect,
                    sources=condition.sources,
                    why=reason,
                )
            )
    return found


def _is_crumb(buyer: BuyTry, seen: WhatIfOutcome) -> bool:
    bought_raw = buyer.balances_raw[0] if buyer.balances_raw is not None else 0
    return seen.what_if.input == "amount" and seen.what_if.value * _CRUMB < bought_raw


def _is_ordinary(setup: TradeSetup, what: WhatIf) -> bool:
    """True if ordinary traders meet the input, within a year by the clock."""
    disguise = setup.disguise
    base_fee = disguise.base_fee_wei or 0
    number, time_s = setup.blocks[3]
    year = (time_s + _YEAR_S, number + _YEAR_S // 12)
    ranges: dict[str, tuple[int, int]] = {
        "time": (0, year[0]),
        "block": (0, year[1]),
        "gas_price": (base_fee, 2 * base_fee + disguise.tips_wei[1]),
        "base_fee": (base_fee // 3, 3 * base_fee),
        "coins": _ORDINARY_COINS_WEI,
        "gas": _ORDINARY_GAS,
        "price": _ORDINARY_PRICE_PCT,
    }
    if not what.is_real or what.input == "proposer":
        return False
    low, high = ranges.get(what.input, (what.value, what.value))
    return low <= what.value <= high


def _evidence(
    written: ConditionSimulations,
    results: Sequence[SimulationResult | NotSimulated],
    untested: Sequence[UntestedCondition],
    harmful: Sequence[WhatIfOutcome],
    *,
    is_complete: bool,
) -> tuple[EvidenceRow, ...]:
    """Return one evidence row; its calls are those of the first harmful simulation. Empty: nothing
    was to be settled or simulated."""
    if not written.plans and not written.simulations:
        return ()
    outcome = ConditionReport(
        conditions=sum(len(code.conditions.conditions) for code, _, _ in written.plans),
        is_complete=is_complete,
        played=sum(isinstance(result, SimulationResult) for result in results),
        untested=tuple(untested[:_MOST_SHOWN]),
        harmful=tuple(
            HarmfulInput(
                input=each.what_if.input,
                value=hex(each.what_if.value),
                slot=each.what_if.slot,
                also=tuple(
                    InputValue(input=beside.input, value=hex(beside.value), slot=beside.slot)
                    for beside in each.what_if.also
                ),
                extent=each.extent,
                buy=each.buy,
                sale=each.sale,
            )
            for each in harmful[:_MOST_SHOWN]
        ),
    )
    key = f"untested_conditions:{written.setup.candidate.key}"
    chosen = {(each.what_if, each.extent) for each in harmful[:1]}
    for simulation, result in zip(written.simulations, results, strict=True):
        if (
            isinstance(result, SimulationResult)
            and (simulation.what_if, simulation.extent) in chosen
        ):
            return (
                simulation_evidence(key, what_if.VERSION, simulation.simulation, result, outcome),
            )
    body = msgspec.json.encode({"outcome": outcome}).decode()
    return (EvidenceRow(key=key, body=body),)
