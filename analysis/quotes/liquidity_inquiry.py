"""Liquidity holders of a token's pools, and a sale after the largest withdrawal.

Everything is read and simulated on one block. The sale is that of an exit quote, after the
withdrawal by the largest holder that can withdraw, in the same block.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.liquidity.find_ownership import OwnedPool, find_ownership
from analysis.liquidity.holdings import LiquidityHolding
from analysis.liquidity.liquidity_shares import LiquidityShares, TokenParties, Withdrawer
from analysis.market.liquidity_value import Price
from analysis.market.native_price import anchor_prices
from analysis.market.pool_ranking import ValuedPool
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import trade_setups
from analysis.pipeline.second_round import MarketState
from analysis.pipeline.trade_rounds import simulation_job
from analysis.quotes.exit_quote import seller_of, untested
from analysis.quotes.token_market import read_market
from analysis.scenarios.trade.exit_sale import (
    ExitLeg,
    ExitOutcome,
    ExitSimulation,
    read_exit,
    write_exit,
)
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.scenarios.trade.withdrawal import (
    Withdrawal,
    Withdrawn,
    read_withdrawal,
    write_withdrawal,
)
from analysis.scenarios.trade.withdrawal_calls import withdrawn_parts
from analysis.simulation.backends import perform
from analysis.simulation.simulate_v1 import NotSimulated, Passed, Refused
from core.evm.primitives import Address, BlockRef, RawAmount
from core.report.report import PoolResultRow, Report

MOST_POOLS: Final = 3
"""Most pools that are inspected, deepest first."""

SALE_USD: Final = 100.0
"""Size of the sale before and after the withdrawal, at the spot price."""


class SimulatedSale(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated sale of SALE_USD."""

    outcome: Passed | Refused | NotSimulated
    proceeds_raw: RawAmount | None = None
    """Smallest units of the quote token. None: it did not pass."""
    proceeds_usd: float | None = None


class WithdrawalFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Withdrawal by the largest holder that can withdraw, and a sale before and after it."""

    by: Withdrawer
    withdrawn: Withdrawn
    is_part: bool
    """True if the holder has more positions than were withdrawn."""
    sale_before: SimulatedSale
    sale_after: SimulatedSale


class PoolLiquidity(msgspec.Struct, frozen=True, kw_only=True):
    """One pool."""

    pool: str
    """Candidate.key."""
    dex: str
    kind: str
    quote: Address
    liquidity_usd: float
    ownership: LiquidityShares
    withdrawal: WithdrawalFindings | None
    reason: str
    """Reason why no withdrawal was simulated. Empty: one was."""


class LiquidityFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Liquidity holders at one block."""

    block: BlockRef
    pools: tuple[PoolLiquidity, ...]
    """Deepest first."""
    pools_left_out: int
    """Pools beyond those."""


class _Planned(msgspec.Struct, frozen=True, kw_only=True):
    """The simulations of one pool."""

    by: Withdrawer
    withdrawal: Withdrawal
    is_part: bool
    before: ExitSimulation
    after: ExitSimulation


async def find_liquidity(
    context: ChainContext, token: Address, report: Report
) -> LiquidityFindings:
    """Return the findings. `report`: the token's, for its creator, its owner, and sales of buyers.

    Raises TokenRefusedError, UpstreamError.
    """
    known, first_round, state = await read_market(context, token)
    created = {str(row.pool_id or row.pool): row.block_number for row in known.pools}
    picked = state.pools[:MOST_POOLS]
    owned = await find_ownership(
        context.chain,
        [(pool.candidate, pool.state) for pool in picked],
        TokenParties(
            creator=report.token.creator_address,
            owner=report.token.owner_address or next(iter(first_round.owners), None),
        ),
        created=created,
        block=first_round.pin,
        node=context.node,
        capabilities=context.capabilities,
        index=context.index,
    )
    inquiry = _Withdrawals(context, first_round, state, report)
    found = await inquiry.simulate(picked, owned)
    return LiquidityFindings(
        block=first_round.pin,
        pools=tuple(
            PoolLiquidity(
                pool=pool.candidate.key,
                dex=pool.candidate.dex.name,
                kind=pool.candidate.dex.kind,
                quote=pool.candidate.quote,
                liquidity_usd=pool.value.liquidity_usd,
                ownership=one.ownership,
                withdrawal=None if isinstance(withdrawal, str) else withdrawal,
                reason=withdrawal if isinstance(withdrawal, str) else "",
            )
            for pool, one, withdrawal in zip(picked, owned, found, strict=True)
        ),
        pools_left_out=len(state.pools) - len(picked),
    )


class _Withdrawals:
    """Withdrawals and sales of one token's pools."""

    def __init__(
        self, context: ChainContext, first_round: FirstRound, state: MarketState, report: Report
    ) -> None:
        self._context = context
        self._round = first_round
        self._seller = seller_of(first_round, state)
        self._prices: Mapping[Address, Price] = anchor_prices(context.chain, first_round.native_usd)
        self._rows: dict[str, PoolResultRow] = {
            row.pool_id or row.pool: row for row in report.pools or ()
        }

    async def simulate(
        self, pools: Sequence[ValuedPool], owned: Sequence[OwnedPool]
    ) -> list[WithdrawalFindings | str]:
        """Return the findings of each pool, or why there are none. Raises UpstreamError."""
        setups, _ = trade_setups(self._context, self._round, pools)
        by_key = {setup.candidate.key: setup for setup in setups}
        planned = [
            self._plan(pool, one, by_key.get(pool.candidate.key))
            for pool, one in zip(pools, owned, strict=True)
        ]
        written = [
            simulation
            for plan in planned
            if isinstance(plan, _Planned)
            for simulation in (plan.before, plan.after)
        ]
        jobs = [simulation_job(each.legs[0].setup.candidate, each.simulation) for each in written]
        results = iter(
            await perform(
                self._context.node, self._context.capabilities, jobs, codes=self._round.codes
            )
            if jobs
            else ()
        )
        found: list[WithdrawalFindings | str] = []
        for plan in planned:
            if isinstance(plan, str):
                found.append(plan)
                continue
            before, after = next(results), next(results)
            found.append(
                WithdrawalFindings(
                    by=plan.by,
                    withdrawn=read_withdrawal(plan.withdrawal, after),
                    is_part=plan.is_part,
                    sale_before=self._sale(read_exit(plan.before, before)),
                    sale_after=self._sale(read_exit(plan.after, after)),
                )
            )
        return found

    def _plan(self, pool: ValuedPool, owned: OwnedPool, setup: TradeSetup | None) -> _Planned | str:
        by, holding = _largest(owned)
        if by is None or holding is None:
            return "nobody is known who can withdraw it at once"
        if setup is None:
            return "how this pool is traded is not known"
        candidate = pool.candidate
        withdrawal = write_withdrawal(candidate, by.account, holding, self._round.disguise)
        if withdrawal is None:
            return "how this liquidity is withdrawn is not known"
        doubt = untested(setup, self._rows.get(candidate.key), self._prices)
        amount = self._amount(pool)
        if doubt is not None or not amount:
            return "no sale to compare: " + (doubt.reason if doubt else "no wallet or price")
        legs = [ExitLeg(setup=setup, amount_raw=amount)]
        return _Planned(
            by=by,
            withdrawal=withdrawal,
            is_part=len(withdrawn_parts(candidate, holding)) < len(holding.parts),
            before=write_exit(legs, self._seller),
            after=write_exit(legs, self._seller, before=withdrawal.calls, code=withdrawal.code),
        )

    def _amount(self, pool: ValuedPool) -> RawAmount:
        """Return SALE_USD in smallest units of the token. 0: not known."""
        if not pool.token_usd:
            return RawAmount(0)
        unit = 10**self._round.admitted.metadata.decimals
        amount = int(SALE_USD / pool.token_usd * unit)
        return RawAmount(min(amount, self._seller.most_raw))

    def _sale(self, outcome: ExitOutcome) -> SimulatedSale:
        refusal = outcome.refusal
        if refusal is not None:
            return SimulatedSale(outcome=refusal)
        (leg,) = outcome.legs
        got = leg.proceeds_raw or RawAmount(0)
        price = self._prices.get(leg.leg.setup.candidate.quote)
        return SimulatedSale(
            outcome=leg.outcome,
            proceeds_raw=got,
            proceeds_usd=None if price is None else price.value_usd(got),
        )


def _largest(owned: OwnedPool) -> tuple[Withdrawer | None, LiquidityHolding | None]:
    """Return the largest holder that can withdraw without a locker, and its holding."""
    holdings = {holding.holder: holding for holding in owned.holdings.holdings}
    for one in owned.ownership.withdrawers:
        holding = holdings.get(owned.candidate.pool if one.account is None else one.account)
        if holding is not None and one.account not in owned.contracts:
            return one, holding
    return None, None
