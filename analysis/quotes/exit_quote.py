"""Exit quote: proceeds of the sale of a holding, at several sizes, over all pools together.

Two rounds of simulated sales on one block. The first sells each size in each pool. From these the
best split over the pools is computed, and the second round sells that split in one transaction
sequence, so every quote was run. Pools count only where the token's report has a buyer's sale that
passed, and where the tax of the quoted sales is not below that of buyers: a token can treat buyers
differently.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.market.liquidity_value import Price
from analysis.market.native_price import anchor_prices
from analysis.market.pool_ranking import ValuedPool, pick_traded
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import trade_setups
from analysis.pipeline.second_round import MarketState
from analysis.pipeline.trade_rounds import simulation_job
from analysis.quotes.exit_choice import PoolSales, better_of, find_exclusion, half_depth, plan_legs
from analysis.quotes.exit_reading import ExitLine, read_line, unread_line
from analysis.quotes.token_market import read_market
from analysis.scenarios.trade.exit_sale import (
    ExitLeg,
    ExitOutcome,
    ExitSimulation,
    Seller,
    read_exit,
    write_exit,
)
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.simulation.backends import perform
from analysis.simulation.simulate_v1 import NotSimulated, Refused
from core.evm.primitives import Address, BlockRef, RawAmount
from core.report.report import PoolResultRow, Report

SIZES_USD: Final = (100.0, 1_000.0, 10_000.0, 100_000.0)
"""Sizes that every quote has, in USD at the spot price."""

MOST_POOLS: Final = 5
"""Pools that are sold in, deepest first."""


MOST_LEFT_OUT: Final = 20
"""Most pools that are listed as left out, deepest first."""

Unsold = Refused | NotSimulated

_TOO_SHALLOW: Final = NotSimulated(
    missing="LIQUIDITY", reason="too shallow, or beyond the pools that are sold in"
)
_NOT_TRIED: Final = NotSimulated(missing="FUNDS", reason="not tried")
_NO_SELLER: Final = NotSimulated(
    missing="HOLDER", reason="no wallet can be given the token, and no holder is known"
)


class RequestedSize(msgspec.Struct, frozen=True, kw_only=True):
    """Size chosen by the caller. At most one is set."""

    usd: float | None = None
    """USD at the spot price."""
    amount_raw: RawAmount | None = None
    """Smallest units of the token."""


class LeftOutPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool that the quote does not sell in."""

    pool: str
    """Candidate.key: address, or id in its manager."""
    dex: str
    liquidity_usd: float
    reason: str


class ExitQuote(msgspec.Struct, frozen=True, kw_only=True):
    """Quote at one block."""

    block: BlockRef
    decimals: int
    spot_usd: float | None
    """USD of one whole token in the deepest pool that is sold in, before fees. None: no such pool,
    or it has no price."""
    native_usd: float | None
    """USD of the native coin, in which gas is paid. None: not known."""
    gas_price_wei: int
    lines: tuple[ExitLine, ...]
    """Lines of SIZES_USD, ascending, then of the caller's size."""
    half_depth: ExitLine | None
    """Sale that takes about half of the pools' quote sides; see its `depth_share`. None: no pool is
    sold in."""
    pools: tuple[str, ...]
    """Keys of the pools that are sold in, deepest first."""
    left_out: tuple[LeftOutPool, ...]
    simulated_sales: int
    """Number of simulated sales."""


class _Market(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs of the sales."""

    context: ChainContext
    round: FirstRound
    prices: Mapping[Address, Price]
    seller: Seller
    pools: Mapping[str, ValuedPool]
    """Pools by Candidate.key."""
    setups: tuple[TradeSetup, ...]

    @property
    def decimals(self) -> int:
        return self.round.admitted.metadata.decimals

    async def simulate(self, written: Sequence[ExitSimulation]) -> list[ExitOutcome]:
        """Run the simulations in one round trip. Raises UpstreamError."""
        jobs = [simulation_job(each.legs[0].setup.candidate, each.simulation) for each in written]
        results = await perform(
            self.context.node, self.context.capabilities, jobs, codes=self.round.codes
        )
        return [read_exit(each, result) for each, result in zip(written, results, strict=True)]


async def quote_exit(
    context: ChainContext, token: Address, report: Report, size: RequestedSize
) -> ExitQuote:
    """Return the quote. `report`: the token's, for the sales of buyers.

    Raises TokenRefusedError, UpstreamError.
    """
    _, first_round, state = await read_market(context, token)
    picked = pick_traded(
        state.pools,
        at_most=MOST_POOLS,
        min_liquidity_usd=context.settings.min_liquidity_usd,
    )
    setups, refused = trade_setups(context, first_round, picked)
    rows: dict[str, PoolResultRow] = {row.pool_id or row.pool: row for row in report.pools or ()}
    prices = anchor_prices(context.chain, first_round.native_usd)
    reasons: dict[str, Unsold] = {
        setup.candidate.key: reason
        for setup in setups
        if (reason := untested(setup, rows.get(setup.candidate.key), prices)) is not None
    }
    for key, trade in refused.items():
        if isinstance(trade.sell, Refused | NotSimulated):
            reasons[key] = trade.sell
    seller = seller_of(first_round, state)
    if seller.most_raw == 0:
        reasons |= {setup.candidate.key: _NO_SELLER for setup in setups}
    market = _Market(
        context=context,
        round=first_round,
        prices=prices,
        seller=seller,
        pools={pool.candidate.key: pool for pool in picked},
        setups=tuple(each for each in setups if each.candidate.key not in reasons),
    )
    return await _Quoting(market, rows, size, reasons).quote(state.pools)


def untested(
    setup: TradeSetup, row: PoolResultRow | None, prices: Mapping[Address, Price]
) -> Unsold | None:
    """Return why a pool's sales are not quoted. None: a buyer's sale passed in it."""
    if row is None:
        reason = "the token's report has no trade in this pool"
    elif row.sell == "refused":
        why = (row.error_message or "the sale reverts").removeprefix("sell: ")
        return Refused(reason=f"buyers cannot sell in this pool: {why}")
    elif row.sell != "passed":
        reason = row.error_message or "no buyer's sale was tested in this pool yet"
    elif setup.candidate.quote not in prices:
        reason = "what the pool pays has no price"
    else:
        return None
    return NotSimulated(missing="POOL", reason=reason)


def seller_of(first_round: FirstRound, state: MarketState) -> Seller:
    """Return the funded account, or the largest real holder where there can be none."""
    supply_raw = first_round.admitted.metadata.supply_raw
    if first_round.token_slot_index is not None:
        return Seller(holder=None, most_raw=supply_raw, slot_index=first_round.token_slot_index)
    holders = [wallet for wallet in state.wallets if wallet.slot_index is None]
    if not holders:
        return Seller(holder=None, most_raw=RawAmount(0), slot_index=None)
    largest = max(holders, key=lambda wallet: wallet.balance_raw)
    return Seller(holder=largest.address, most_raw=largest.balance_raw, slot_index=None)


class _Quoting:
    """Computation of one quote."""

    def __init__(
        self,
        market: _Market,
        rows: Mapping[str, PoolResultRow],
        size: RequestedSize,
        reasons: dict[str, Unsold],
    ) -> None:
        self._market = market
        self._rows = rows
        self._size = size
        self._reasons = reasons
        """Why pools are left out, by Candidate.key."""
        self._simulated = 0

    async def quote(self, found: Sequence[ValuedPool]) -> ExitQuote:
        """Return the quote; `found`: every pool of the token."""
        market = self._market
        spot = self._spot_usd()
        sizes = self._sizes(spot)
        sold = await self._sell_each([amount for _, amount in sizes])
        for each in sold:
            row = self._rows[each.setup.candidate.key]
            reason = find_exclusion(each, buyers_tax=row.sell_tax)
            if reason is not None:
                self._reasons[each.setup.candidate.key] = NotSimulated(
                    missing="HOLDER", reason=reason
                )
        usable = [each for each in sold if each.setup.candidate.key not in self._reasons]
        lines = await self._lines(sizes, usable, spot)
        half = None if not usable else lines.pop()
        return ExitQuote(
            block=market.round.pin,
            decimals=market.decimals,
            spot_usd=spot,
            native_usd=market.round.native_usd,
            gas_price_wei=market.round.disguise.gas_price_wei,
            lines=tuple(lines),
            half_depth=half,
            pools=tuple(each.setup.candidate.key for each in usable),
            left_out=self._left_out(found),
            simulated_sales=self._simulated,
        )

    def _spot_usd(self) -> float | None:
        for setup in self._market.setups:
            usd = self._market.pools[setup.candidate.key].token_usd
            if usd:
                return usd
        return None

    def _sizes(self, spot_usd: float | None) -> list[tuple[float | None, int]]:
        """Return the sizes, in USD (None: not known) and in smallest units (0: not known)."""
        unit = 10**self._market.decimals
        sizes: list[tuple[float | None, int]] = [
            (usd, _units(usd, spot_usd, unit)) for usd in SIZES_USD
        ]
        if self._size.usd is not None:
            sizes.append((self._size.usd, _units(self._size.usd, spot_usd, unit)))
        if self._size.amount_raw is not None:
            amount = self._size.amount_raw
            sizes.append((None if spot_usd is None else amount / unit * spot_usd, amount))
        return sizes

    async def _sell_each(self, amounts: Sequence[int]) -> list[PoolSales]:
        """Sell each amount in each pool, and the amount worth the pool's quote side."""
        market = self._market
        written: list[list[ExitSimulation]] = []
        for setup in market.setups:
            state = market.pools[setup.candidate.key].state
            depth = int(state.quote_reserve_raw / state.price) if state.price else 0
            tried = sorted({amount for amount in (*amounts, depth) if self._can_sell(amount)})
            written.append(
                [
                    write_exit([ExitLeg(setup=setup, amount_raw=RawAmount(each))], market.seller)
                    for each in tried
                ]
            )
        jobs = [each for of_pool in written for each in of_pool]
        self._simulated += len(jobs)
        results = iter(await market.simulate(jobs) if jobs else ())
        return [
            PoolSales.of(
                setup,
                [next(results) for _ in of_pool],
                quote_price=market.prices[setup.candidate.quote],
                quote_reserve_raw=market.pools[setup.candidate.key].state.quote_reserve_raw,
            )
            for setup, of_pool in zip(market.setups, written, strict=True)
        ]

    async def _lines(
        self,
        sizes: Sequence[tuple[float | None, int]],
        usable: Sequence[PoolSales],
        spot: float | None,
    ) -> list[ExitLine]:
        """Return the line of each size; last, if a pool is usable, that of half the depth."""
        market, gas_usd = self._market, self._gas_usd()
        plans = [plan_legs(usable, amount, gas_usd=gas_usd) for _, amount in sizes]
        if usable:
            plans.append(half_depth(usable))
        due = [
            write_exit(plan, market.seller)
            for plan in plans
            if not isinstance(plan, Refused | NotSimulated)
            and self._can_sell(sum(leg.amount_raw for leg in plan))
        ]
        self._simulated += len(due)
        outcomes = iter(await market.simulate(due) if due else ())
        lines: list[ExitLine] = []
        for at, plan in enumerate(plans):
            usd, amount = sizes[at] if at < len(sizes) else (None, 0)
            if not isinstance(plan, Refused | NotSimulated):
                amount = sum(leg.amount_raw for leg in plan)
                usd = None if spot is None else amount / 10**market.decimals * spot
            if not isinstance(plan, Refused | NotSimulated) and self._can_sell(amount):
                lines.append(
                    read_line(
                        better_of(next(outcomes), usable, amount, gas_usd=gas_usd),
                        usable,
                        amount_raw=RawAmount(amount),
                        spot_usd=spot,
                        decimals=market.decimals,
                        gas_price_wei=market.round.disguise.gas_price_wei,
                        native_usd=market.round.native_usd,
                    )
                )
                continue
            missed = plan if isinstance(plan, Refused | NotSimulated) else _NOT_TRIED
            lines.append(unread_line(amount, usd, self._obstacle(amount, usable) or missed))
        return lines

    def _gas_usd(self) -> float:
        """Return USD of one unit of gas; 0 where the coin has no price."""
        round_ = self._market.round
        return round_.disguise.gas_price_wei / 10**18 * (round_.native_usd or 0.0)

    def _can_sell(self, amount: int) -> bool:
        return 0 < amount <= self._market.seller.most_raw

    def _obstacle(self, amount: int, usable: Sequence[PoolSales]) -> Unsold | None:
        """Return why an amount is not tried at all. None: it was, or has no price."""
        seller = self._market.seller
        if not usable:
            return self._nowhere()
        if amount > seller.most_raw:
            whose = "whole supply" if seller.holder is None else "largest known holder's balance"
            return NotSimulated(missing="HOLDER", reason=f"more than the {whose}")
        return None

    def _nowhere(self) -> Unsold:
        """Return why no pool is sold in: a refusal if all of them refuse."""
        reasons = list(self._reasons.values())
        if not reasons:
            return NotSimulated(missing="POOL", reason="the token has no pool that is sold in")
        unknown = [reason for reason in reasons if isinstance(reason, NotSimulated)]
        return unknown[0] if unknown else reasons[0]

    def _left_out(self, found: Sequence[ValuedPool]) -> tuple[LeftOutPool, ...]:
        used = {setup.candidate.key for setup in self._market.setups} - self._reasons.keys()
        return tuple(
            LeftOutPool(
                pool=pool.candidate.key,
                dex=pool.candidate.dex.name,
                liquidity_usd=pool.value.liquidity_usd,
                reason=self._reasons.get(pool.candidate.key, _TOO_SHALLOW).reason,
            )
            for pool in found[:MOST_LEFT_OUT]
            if pool.candidate.key not in used
        )


def _units(usd: float, spot_usd: float | None, unit: int) -> int:
    return 0 if not spot_usd else int(usd / spot_usd * unit)
