"""Steps of the time-dependent sales: one simulation of all moments, and the handles of its calls.

At each moment an ordinary and a small seller sell all they hold, and retry in the next block: all
of it, then half. Most approve in the block after the buys; one of the two of each later moment does
so five minutes, an hour or a day after it bought, long before it sells. At some moments a new
account buys and another transfers. Sends no request.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.scenarios.later import crowd
from analysis.scenarios.later.crowd import MOMENTS, SENDER, CrowdHoldings, CrowdMember
from analysis.scenarios.trade.account_calls import account_calls, write_approvals
from analysis.scenarios.trade.token_calls import balance_call
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
from analysis.scenarios.trade.transfer import TransferSteps, write_transfer
from analysis.simulation.block_schedule import SimulatedBlock
from analysis.simulation.simulate_v1 import CallHandle, Simulation
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
"""Moments of the approvals of those sellers who do not approve in the block after the buys."""

_SENT_PARTS: Final = 16


class Newcomer(msgspec.Struct, frozen=True, kw_only=True):
    """An account that buys at a later moment."""

    buy: BuySteps
    sale: SaleSteps | None
    """Of about three quarters of an ordinary purchase, as the amount bought is not known in
    advance. None: it does not sell."""


class MomentSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one moment."""

    when: str
    block: SimulatedBlock
    sales: tuple[tuple[SaleSteps, ...], ...]
    """The attempts of each seller that holds something."""
    newcomer: Newcomer | None
    """None: nobody buys then, and nobody transfers."""
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
        self._held = holdings.held
        self._blocks = blocks
        self._calls = crowd.builder_of(blocks)

    def write(self) -> LaterSalesSimulation:
        setup = self._setup
        buys = crowd.write_buys(self._calls, setup)
        crowd.write_second_buy(self._calls[crowd.BLOCKS - 1], setup)
        approvals = {
            member: self._write_approval(member) for member in crowd.MEMBERS if member in self._held
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
        """Write the approval of what is held, for all but the ordinary sellers also an unlimited
        one."""
        late = _APPROVE_LATE.get(member)
        at = crowd.BLOCKS if late is None else _FIRST + 2 * MOMENTS.index(late) + 1
        calls = account_calls(self._calls[at], member.name)
        seller, amount = crowd.trader(self._setup, member), self._held[member]
        if member.role == "seller":
            return write_approval(calls, self._setup, seller, "at sale", amount)
        return write_approvals(calls, self._setup, seller, amount)

    def _write_moment(
        self, moment: str, at: int, approvals: Mapping[CrowdMember, ApprovalSteps]
    ) -> MomentSteps:
        """Write the first attempts in the block with index `at`, and the others in the next."""
        sellers = [member for member in _sellers(moment) if member in self._held]
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
        order = Order(label="at sale", amount=self._held[member])
        seller = crowd.trader(self._setup, member)
        return write_sale(calls, self._setup, seller, order, approval=approval)

    def _write_retries(
        self, at: int, member: CrowdMember, first: SaleSteps
    ) -> tuple[SaleSteps, SaleSteps]:
        calls = account_calls(self._calls[at], member.name)
        seller, amount = crowd.trader(self._setup, member), self._held[member]
        again = Order(label="again at sale", amount=amount)
        half = Order(label="half at sale", amount=RawAmount(max(1, amount // 2)), share="half")
        return (
            write_sale(calls, self._setup, seller, again),
            write_sale(calls, self._setup, seller, half, first=first),
        )

    def _write_transfer(self, at: int, moment: str) -> TransferSteps | None:
        sent = RawAmount(self._held.get(SENDER, 0) // _SENT_PARTS)
        if not sent:
            return None
        sender = crowd.trader(self._setup, SENDER)
        return write_transfer(
            account_calls(self._calls[at], f"{moment} {SENDER.name}"),
            self._setup.candidate.token,
            sender,
            self._setup.trader(f"friend {moment}"),
            sent,
            asker=sender,
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
        held = next((self._held[who] for who in _sellers(MOMENTS[-1]) if who in self._held), 4)
        return RawAmount(max(1, held * 3 // 4))


def _sellers(moment: str) -> tuple[CrowdMember, CrowdMember]:
    return CrowdMember("seller", moment), CrowdMember("small seller", moment)


def _newcomer(moment: str) -> str:
    return f"buyer {moment}"
