"""Sequential sales of the crowd, which show the effect of other trades on a sale.

One simulation, an hour after the buys. A large buyer buys first and sells in the middle, so that
the price moves both ways. Each other seller has a separate block and retries in the next. One has
bought twice and sells in thirds; one transfers half to a friend, which sells it. Sends no request.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from analysis.scenarios.later import crowd
from analysis.scenarios.later.crowd import MOMENTS, SENDER, TWICE, CrowdHoldings, CrowdMember
from analysis.scenarios.later.later_sales import worst
from analysis.scenarios.trade.account_calls import account_calls, write_approvals
from analysis.scenarios.trade.buy import part_of_reserve
from analysis.scenarios.trade.trade_outcome import HEAVY_TAX_PCT, read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    ApprovalSteps,
    Order,
    SaleSteps,
    write_sale,
    write_unread_buy,
)
from analysis.scenarios.trade.transfer import write_transfer
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

VERSION: Final = 1

_HOUR_S: Final = 3_600
WAITS_S: Final = (0, 0, 0, 0, 0, _HOUR_S, *[0] * 7, _HOUR_S, 0)
"""Seconds to wait before each block but the first: the opening, approvals, the large buy; an hour;
eight blocks of sales; an hour; the second sales, and their retries."""

_WHALE: Final = "large buyer"
_WHALE_SHARES: Final = (3, 13)
"""Divisors of the reserve for the large buyer's purchases. All that pass count."""

_FRIEND: Final = "friend"
_PARTS: Final = ("part", "rest")
_APPROVALS: Final = crowd.BLOCKS
_WHALE_BUYS: Final = 5
_FIRST: Final = 6
"""Index of the block of the first sale, after the hour; the large buyer approves in it."""


class CrowdSales(msgspec.Struct, frozen=True, kw_only=True):
    """Outcomes of all sales."""

    pool: str
    """Candidate.key of the pool."""
    sales: dict[str, Outcome]
    """Outcome by seller, in the order of the sales."""
    is_blocked: bool | None
    """True if a sale reverted. None: no sale was determined."""
    tax_rises: bool | None
    """True if a sale lost half or more. None: no sale was determined."""


class SellerSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts of one sale."""

    name: str
    """Name of the sale in the evidence."""
    first: SaleSteps
    again: SaleSteps
    """In the next block."""


class CrowdSalesSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of all sales."""

    simulation: Simulation
    setup: TradeSetup
    sales: tuple[SellerSteps, ...]
    """Sales in order, without that of the large buyer."""
    shown: tuple[CallHandle, ...]
    """The calls whose results the evidence includes."""


def write_simulation(
    setup: TradeSetup, holdings: CrowdHoldings, blocks: Sequence[SimulatedBlock]
) -> CrowdSalesSimulation:
    """Return the simulation. `blocks`: one more than WAITS_S has entries."""
    return _Writer(setup, holdings, blocks).write()


def read_result(written: CrowdSalesSimulation, result: SimulationResult) -> CrowdSales:
    """Return the outcomes of all sellers but the large buyer."""
    sales = {each.name: _read_seller(written.setup, result, each) for each in written.sales}
    learnt = [outcome for outcome in sales.values() if not isinstance(outcome, NotSimulated)]
    taxes = [outcome.tax for outcome in learnt if isinstance(outcome, Passed)]
    return CrowdSales(
        pool=written.setup.candidate.key,
        sales=sales,
        is_blocked=isinstance(worst(learnt), Refused) if learnt else None,
        tax_rises=any(tax is not None and tax >= HEAVY_TAX_PCT for tax in taxes)
        if learnt
        else None,
    )


def _read_seller(setup: TradeSetup, result: SimulationResult, steps: SellerSteps) -> Outcome:
    outcomes = [read_sale(setup, result, each) for each in (steps.first, steps.again)]
    return next((each for each in outcomes if isinstance(each, Passed)), worst(outcomes))


# --- writing -----------------------------------------------------------------------------------


class _Sale(msgspec.Struct, frozen=True, kw_only=True):
    """One planned sale."""

    seller_name: str
    amount: RawAmount
    part: Literal["", "part", "rest"] = ""
    """First or second sale of a seller. Empty: it has one only."""
    is_counted: bool = True
    """False: its outcome is not a finding."""

    @property
    def name(self) -> str:
        return f"{self.seller_name}, {self.part}" if self.part else self.seller_name

    def order(self, *, is_retry: bool) -> Order:
        """Return the first attempt, or the second."""
        words = (self.part, "again" if is_retry else "", "at sale")
        return Order(label=" ".join(filter(None, words)), amount=self.amount)


class _Writer:
    def __init__(
        self, setup: TradeSetup, holdings: CrowdHoldings, blocks: Sequence[SimulatedBlock]
    ) -> None:
        self._setup = setup
        self._balances = holdings.balances
        self._calls = crowd.builder_of(blocks)
        self._approvals: dict[str, ApprovalSteps] = {}
        self._shown: list[CallHandle] = []

    def write(self) -> CrowdSalesSimulation:
        setup = self._setup
        self._shown += crowd.write_buys(self._calls, setup)
        crowd.write_second_buy(self._calls[crowd.BLOCKS - 1], setup)
        for member, amount in self._balances.items():
            self._approve(_APPROVALS, member.name, amount)
        self._write_whale_buys()
        sales = tuple(self._write_sales())
        payers = {**crowd.payments(setup), setup.trader(_WHALE): self._whale_funds()}
        simulation = build_simulation(
            setup, self._calls.blocks(), payers=payers, others=[setup.trader(_FRIEND)]
        )
        return CrowdSalesSimulation(
            simulation=simulation,
            setup=setup,
            sales=sales,
            shown=tuple(self._shown),
        )

    def _write_sales(self) -> Iterator[SellerSteps]:
        """Write the sales of each block, after retries of the previous block's; yield those whose
        outcome counts."""
        before: list[tuple[_Sale, SaleSteps]] = []
        for at, sales in enumerate(self._program(), _FIRST):
            for sale, first in before:
                again = self._sell(at, sale, is_retry=True)
                if sale.is_counted:
                    yield SellerSteps(name=sale.name, first=first, again=again)
            before = [(sale, self._sell(at, sale, is_retry=False)) for sale in sales]
            self._shown += [first.sell for sale, first in before if not sale.part]
            self._write_other_calls(at)

    def _program(self) -> Iterator[tuple[_Sale, ...]]:
        """Yield the sales of each block, from the first after the hour to the last."""
        sellers = [
            _Sale(seller_name=member.name, amount=self._balances[member])
            for member in (CrowdMember("seller", moment) for moment in MOMENTS)
            if member in self._balances
        ]
        twice, sent = self._balances.get(TWICE, 0), self._balances.get(SENDER, 0)
        # A third each: where the first passes, its retry sells a third too.
        third = RawAmount(twice // 3)
        part, rest = (_Sale(seller_name=TWICE.name, amount=third, part=part) for part in _PARTS)
        first_part, last_part = ([part], [rest]) if third else ([], [])
        whale = _Sale(seller_name=_WHALE, amount=self._sold_by_whale(), is_counted=False)
        quarter = RawAmount(sent // 4)
        second = [*last_part, *([_Sale(seller_name=_FRIEND, amount=quarter)] if quarter else [])]
        order = [*sellers[:2], *first_part, *sellers[2:3], whale, *sellers[3:]]
        for at in range(8):
            yield tuple(order[at : at + 1])
        yield tuple(second)
        yield ()

    def _sell(self, at: int, sale: _Sale, *, is_retry: bool) -> SaleSteps:
        calls = account_calls(self._calls[at], sale.seller_name)
        order = sale.order(is_retry=is_retry)
        # The large buyer may sell before it approves; its outcome does not count.
        approval = None if sale.part or is_retry else self._approvals.get(sale.seller_name)
        seller = self._setup.trader(sale.seller_name)
        return write_sale(calls, self._setup, seller, order, approval=approval)

    def _approve(self, at: int, seller_name: str, amount: int) -> None:
        calls = account_calls(self._calls[at], seller_name)
        seller = self._setup.trader(seller_name)
        self._approvals[seller_name] = write_approvals(calls, self._setup, seller, amount)

    def _write_other_calls(self, at: int) -> None:
        """Write other calls of the block.

        The large buyer approves. SENDER transfers half to a friend, which approves in the next
        block.
        """
        sent = self._balances.get(SENDER, 0)
        if at == _FIRST:
            self._approve(at, _WHALE, self._sold_by_whale())
            if half := RawAmount(sent // 2):
                self._send(at, half)
        if at == _FIRST + 1:
            self._approve(at, _FRIEND, sent // 4)

    def _send(self, at: int, amount: RawAmount) -> None:
        setup, sender = self._setup, crowd.trader(self._setup, SENDER)
        steps = write_transfer(
            account_calls(self._calls[at], SENDER.name),
            setup.candidate.token,
            sender,
            setup.trader(_FRIEND),
            amount,
            reader=sender,
        )
        self._shown.append(steps.transfer)

    def _write_whale_buys(self) -> None:
        calls = account_calls(self._calls[_WHALE_BUYS], _WHALE)
        for share in _WHALE_SHARES:
            amount = part_of_reserve(self._setup, share)
            buyer = self._setup.trader(_WHALE)
            write_unread_buy(calls.named(f"{share} "), self._setup, buyer, amount)

    def _whale_funds(self) -> RawAmount:
        return RawAmount(sum(part_of_reserve(self._setup, share) for share in _WHALE_SHARES))

    def _sold_by_whale(self) -> RawAmount:
        """Return about half of the larger purchase, estimated from those of the crowd."""
        member, amount = next(iter(self._balances.items()))
        pay = part_of_reserve(self._setup, _WHALE_SHARES[0])
        paid = crowd.paid(self._setup, member.role)
        return RawAmount(max(1, amount * pay // max(1, paid) // 2))
