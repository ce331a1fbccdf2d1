"""Time-dependent sales: the crowd sells minutes, an hour, a day and thirty days after it bought.

One simulation of all moments. At each, an ordinary and a small seller sell all of it, and retry in
the next block. A later revert, or a tax of half or more, that did not occur earlier is a finding.
Sends no request.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import msgspec

from analysis.scenarios.later import crowd
from analysis.scenarios.later.crowd import MOMENTS, SENDER, CrowdHoldings, CrowdMember
from analysis.scenarios.trade.account_calls import account_calls, write_approvals
from analysis.scenarios.trade.token_calls import balance_call
from analysis.scenarios.trade.trade_outcome import HEAVY_TAX_PCT, read_buy, read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    ApprovalSteps,
    BuySteps,
    Order,
    SaleSteps,
    write_approval,
    write_buy,
    write_sale,
)
from analysis.scenarios.trade.transfer import (
    TransferResult,
    TransferSteps,
    read_transfer,
    unsettled,
    write_transfer,
)
from analysis.simulation.block_schedule import SimulatedBlock
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    Simulation,
    SimulationResult,
)
from core.evm.primitives import RawAmount

_HOUR_S: Final = 3_600
_DAY_S: Final = 86_400

WAITS_S: Final = (
    *(0, 0, 0, 0),  # opening and approvals
    *(0, 0),  # two blocks per moment
    *(300, 0),
    *(_HOUR_S - 300, 0),
    *(_DAY_S - _HOUR_S, 0),
    *(29 * _DAY_S, 0, 0),  # the newcomer sells in the last block
)
"""Seconds to wait before each block but the first."""

_FIRST: Final = crowd.BLOCKS + 1
_NEWCOMERS: Final = ("next block", "+1 day", "+30 days")
"""Moments at which a new account buys, and SENDER transfers a part."""

_APPROVE_LATE: Final = {
    CrowdMember("seller", "+1 hour"): "+5 minutes",
    CrowdMember("small seller", "+1 day"): "+1 hour",
    CrowdMember("seller", "+30 days"): "+1 day",
}
"""Moments of late approvals. The other sellers approve in the block after the buys."""

_SENT_PARTS: Final = 16


class Newcomer(msgspec.Struct, frozen=True, kw_only=True):
    """An account that buys at a later moment."""

    buy: BuySteps
    sale: SaleSteps | None
    """Sale of about three quarters of an ordinary purchase, as the bought amount is not known in
    advance. None: it does not sell."""


class MomentSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one moment."""

    when: str
    block: SimulatedBlock
    sales: tuple[tuple[SaleSteps, ...], ...]
    """The attempts of each seller that holds something."""
    newcomer: Newcomer | None
    """None: no account buys or transfers then."""
    transfer: TransferSteps | None
    """None: there is nothing to transfer."""


class LaterSalesSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of all moments."""

    simulation: Simulation
    setup: TradeSetup
    buys: tuple[CallHandle, ...]
    """The first buys of the crowd."""
    moments: tuple[MomentSteps, ...]

    @property
    def shown(self) -> tuple[CallHandle, ...]:
        """Return the calls whose results the evidence includes."""
        newcomers = [each.newcomer for each in self.moments if each.newcomer is not None]
        return (
            *self.buys,
            *(attempts[0].sell for each in self.moments for attempts in each.sales),
            *(each.transfer.transfer for each in self.moments if each.transfer is not None),
            *(each.buy.buy for each in newcomers),
            *(each.sale.sell for each in newcomers if each.sale is not None),
        )


def write_simulation(
    setup: TradeSetup, holdings: CrowdHoldings, blocks: Sequence[SimulatedBlock]
) -> LaterSalesSimulation:
    """Return the simulation. `blocks`: one more than WAITS_S has entries."""
    return _Writer(setup, holdings, blocks).write()


class _Writer:
    def __init__(
        self, setup: TradeSetup, holdings: CrowdHoldings, blocks: Sequence[SimulatedBlock]
    ) -> None:
        self._setup = setup
        self._balances = holdings.balances
        self._blocks = blocks
        self._calls = crowd.builder_of(blocks)

    def write(self) -> LaterSalesSimulation:
        setup = self._setup
        buys = crowd.write_buys(self._calls, setup)
        crowd.write_second_buy(self._calls[crowd.BLOCKS - 1], setup)
        approvals = {
            member: self._write_approval(member)
            for member in crowd.MEMBERS
            if member in self._balances
        }
        moments = tuple(
            self._write_moment(moment, _FIRST + 2 * at, approvals)
            for at, moment in enumerate(MOMENTS)
        )
        newcomers = {
            setup.trader(_newcomer(moment)): crowd.paid(setup, "seller") for moment in _NEWCOMERS
        }
        simulation = build_simulation(
            setup, self._calls.blocks(), payers={**crowd.payments(setup), **newcomers}
        )
        return LaterSalesSimulation(simulation=simulation, setup=setup, buys=buys, moments=moments)

    def _write_approval(self, member: CrowdMember) -> ApprovalSteps:
        """Write the approval of the balance, and an unlimited one for all but ordinary sellers."""
        late = _APPROVE_LATE.get(member)
        at = crowd.BLOCKS if late is None else _FIRST + 2 * MOMENTS.index(late) + 1
        calls = account_calls(self._calls[at], member.name)
        seller, amount = crowd.trader(self._setup, member), self._balances[member]
        if member.role == "seller":
            return write_approval(calls, self._setup, seller, "at sale", amount)
        return write_approvals(calls, self._setup, seller, amount)

    def _write_moment(
        self, moment: str, at: int, approvals: Mapping[CrowdMember, ApprovalSteps]
    ) -> MomentSteps:
        """Write the first attempts in the block with index `at`, and the others in the next."""
        sellers = [member for member in _sellers(moment) if member in self._balances]
        has_newcomer = moment in _NEWCOMERS
        firsts = [self._write_first(at, each, approvals[each]) for each in sellers]
        transfer = self._write_transfer(at, moment) if has_newcomer else None
        sales = tuple(
            (first, *self._write_retries(at + 1, member, first))
            for member, first in zip(sellers, firsts, strict=True)
        )
        # Some tokens block all sales in a block with a buy, so the buy comes last.
        newcomer = self._write_newcomer(at + 1, moment) if has_newcomer else None
        return MomentSteps(
            when=moment,
            block=self._blocks[at],
            sales=sales,
            newcomer=newcomer,
            transfer=transfer,
        )

    def _write_first(self, at: int, member: CrowdMember, approval: ApprovalSteps) -> SaleSteps:
        calls = account_calls(self._calls[at], member.name)
        order = Order(label="at sale", amount=self._balances[member])
        seller = crowd.trader(self._setup, member)
        return write_sale(calls, self._setup, seller, order, approval=approval)

    def _write_retries(
        self, at: int, member: CrowdMember, first: SaleSteps
    ) -> tuple[SaleSteps, SaleSteps]:
        calls = account_calls(self._calls[at], member.name)
        seller, amount = crowd.trader(self._setup, member), self._balances[member]
        again = Order(label="again at sale", amount=amount)
        half = Order(label="half at sale", amount=RawAmount(max(1, amount // 2)), share="half")
        return (
            write_sale(calls, self._setup, seller, again),
            write_sale(calls, self._setup, seller, half, first=first),
        )

    def _write_transfer(self, at: int, moment: str) -> TransferSteps | None:
        sent = RawAmount(self._balances.get(SENDER, 0) // _SENT_PARTS)
        if not sent:
            return None
        sender = crowd.trader(self._setup, SENDER)
        return write_transfer(
            account_calls(self._calls[at], f"{moment} {SENDER.name}"),
            self._setup.candidate.token,
            sender,
            self._setup.trader(f"friend {moment}"),
            sent,
            reader=sender,
        )

    def _write_newcomer(self, at: int, moment: str) -> Newcomer:
        setup, name = self._setup, _newcomer(moment)
        calls, buyer = account_calls(self._calls[at], name), setup.trader(name)
        steps = write_buy(calls, setup, buyer, crowd.paid(setup, "seller"))
        at_sale = calls.add(balance_call(setup.candidate.token, buyer, "balance at sale"))
        buy = msgspec.structs.replace(steps, at_sale=at_sale)
        if moment != MOMENTS[-1]:
            return Newcomer(buy=buy, sale=None)
        amount = self._sold_by_newcomer()
        approval = write_approvals(calls, setup, buyer, amount)
        selling = account_calls(self._calls[at + 1], name)
        order = Order(label="at sale", amount=amount)
        sale = write_sale(selling, setup, buyer, order, approval=approval)
        return Newcomer(buy=buy, sale=sale)

    def _sold_by_newcomer(self) -> RawAmount:
        sellers = (each for each in _sellers(MOMENTS[-1]) if each in self._balances)
        amount = next((self._balances[each] for each in sellers), 4)
        return RawAmount(max(1, amount * 3 // 4))


def _sellers(moment: str) -> tuple[CrowdMember, CrowdMember]:
    return CrowdMember("seller", moment), CrowdMember("small seller", moment)


def _newcomer(moment: str) -> str:
    return f"buyer {moment}"


VERSION: Final = 2

_TAX_POINTS: Final = 0.01
"""Taxes that differ by no more than this are equal. Percentage points."""


class LaterSale(msgspec.Struct, frozen=True, kw_only=True):
    """One moment and its outcomes."""

    when: str
    block_number: int
    time_s: int
    blocks_left_out: int
    """See SimulatedBlock.left_out."""
    sale: Outcome
    """The worse of the two sales."""
    sales: tuple[Outcome, ...]
    """Outcomes of the ordinary and the small seller; after 30 days also of the newcomer."""
    buy: Outcome | None
    """None: no account bought then."""
    transfer: TransferResult | None


class LaterSales(msgspec.Struct, frozen=True, kw_only=True):
    """Outcomes of all moments, compared with the first."""

    pool: str
    """Candidate.key of the pool."""
    changes: tuple[str, ...]
    """Differences from the first moment: `+1 day: sale refused`."""
    moments: tuple[LaterSale, ...]
    is_blocked: bool | None
    """True if a sale passed at an earlier moment and reverts at a later one. None: a moment was not
    determined."""
    tax_rises: bool | None
    """True if the tax of a later moment is half or more. None: not determined."""


def read_result(written: LaterSalesSimulation, result: SimulationResult) -> LaterSales:
    """Return the outcomes of all moments, compared with the first."""
    moments = tuple(_read_moment(written.setup, result, steps) for steps in written.moments)
    return LaterSales(
        pool=written.setup.candidate.key,
        changes=tuple(
            f"{moment.when}: {change}"
            for moment in moments[1:]
            for change in _changes(moments[0], moment)
        ),
        moments=moments,
        is_blocked=_is_blocked(moments),
        tax_rises=_tax_rises(moments),
    )


def find_first_sale(later: LaterSales) -> LaterSale | None:
    """Return the first moment at which everybody sells, if all are refused before it, and nobody
    after it. None: the sales come out otherwise."""
    passes = [all(isinstance(sale, Passed) for sale in each.sales) for each in later.moments]
    if not passes[-1] or any(earlier and not after for earlier, after in pairwise(passes)):
        return None
    at = passes.index(True)
    waiting = (sale for each in later.moments[:at] for sale in each.sales)
    return later.moments[at] if all(isinstance(sale, Refused) for sale in waiting) else None


def _read_moment(setup: TradeSetup, result: SimulationResult, steps: MomentSteps) -> LaterSale:
    sales = [_read_seller(setup, result, attempts) for attempts in steps.sales]
    newcomer, bought = steps.newcomer, None
    if newcomer is not None:
        bought = read_buy(setup, result, newcomer.buy)
        if newcomer.sale is not None:
            sold = read_sale(setup, result, newcomer.sale)
            if isinstance(bought, Passed) and isinstance(sold, Passed):
                sales.append(sold)
    return LaterSale(
        when=steps.when,
        block_number=steps.block.number,
        time_s=steps.block.time_s,
        blocks_left_out=steps.block.left_out,
        sale=worst(sales),
        sales=tuple(sales),
        buy=bought,
        transfer=_read_transfer(result, steps),
    )


def _read_seller(
    setup: TradeSetup, result: SimulationResult, attempts: Sequence[SaleSteps]
) -> Outcome:
    """Return the outcome of one seller's attempts.

    A balance that shrank without a trade counts as a tax. A sale of half where the whole reverts is
    no sale, unless the balance had shrunk.
    """
    outcomes = [read_sale(setup, result, each) for each in attempts]
    before, amount = result.word(attempts[0].before), attempts[0].order.amount
    kept = 1.0 if before is None else min(before, amount) / amount
    for each, outcome in zip(attempts, outcomes, strict=True):
        if isinstance(outcome, Passed) and (each.order.share != "half" or kept < 1):
            if outcome.tax is None:
                return outcome
            return Passed(tax=round(100 - (100 - outcome.tax) * kept, 4))
    if before is not None and not before:
        return Refused(reason="what was bought is gone")
    return next((each for each in outcomes if isinstance(each, Refused)), outcomes[0])


def _read_transfer(result: SimulationResult, steps: MomentSteps) -> TransferResult | None:
    if steps.newcomer is None:
        return None
    if steps.transfer is None:
        return unsettled("there was nothing to send")
    return read_transfer(result, steps.transfer)


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the first revert, else the highest tax, else the first outcome that was not
    determined."""
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    passed = [outcome for outcome in outcomes if isinstance(outcome, Passed)]
    if refused:
        return refused[0]
    if passed:
        return max(passed, key=lambda outcome: -1.0 if outcome.tax is None else outcome.tax)
    missing = NotSimulated(missing="FUNDS", reason="nobody held anything to sell")
    return next(iter(outcomes), missing)


def _is_blocked(moments: Sequence[LaterSale]) -> bool | None:
    """True if a sale passed and a later one reverts, or the last reverts: a waiting time after the
    buy reverts at first only, a trap later. None: not determined."""
    has_passed = False
    for moment in moments:
        if isinstance(moment.sale, Refused) and (has_passed or moment is moments[-1]):
            return True
        has_passed |= any(isinstance(sale, Passed) for sale in moment.sales)
    return None if any(isinstance(moment.sale, NotSimulated) for moment in moments) else False


def _tax_rises(moments: Sequence[LaterSale]) -> bool | None:
    taxes = [moment.sale.tax for moment in moments[1:] if isinstance(moment.sale, Passed)]
    if any(tax is not None and tax >= HEAVY_TAX_PCT for tax in taxes):
        return True
    return False if len(taxes) == len(moments) - 1 and None not in taxes else None


def _changes(now: LaterSale, then: LaterSale) -> Iterator[str]:
    pairs = [("sale", now.sale, then.sale)]
    if now.buy is not None and then.buy is not None:
        pairs.insert(0, ("buy", now.buy, then.buy))
    for act, before, after in pairs:
        if _word(before) != _word(after):
            yield f"{act} {_word(after)}"
        elif isinstance(before, Passed) and isinstance(after, Passed):
            yield from _tax_change(f"{act} tax", before.tax, after.tax)
    if now.transfer is not None and then.transfer is not None:
        yield from _transfer_changes(now.transfer, then.transfer)


def _transfer_changes(now: TransferResult, then: TransferResult) -> Iterator[str]:
    if now.success != then.success:
        word = {True: "passed", False: "refused", None: "not learnt"}[then.success]
        yield f"transfer {word}"
    yield from _tax_change("send tax", now.send_tax, then.send_tax)
    yield from _tax_change("receive tax", now.receive_tax, then.receive_tax)


def _tax_change(what: str, before: float | None, after: float | None) -> Iterator[str]:
    if before is not None and after is not None and abs(after - before) > _TAX_POINTS:
        yield f"{what} {after:g} %, not {before:g} %"


def _word(outcome: Outcome) -> str:
    if isinstance(outcome, Passed):
        return "passed"
    return "refused" if isinstance(outcome, Refused) else "not learnt"
