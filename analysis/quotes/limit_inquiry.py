"""Limits in numbers: the largest buy, sale, transfer and holding, and the gas of a trade.

The limits that the code gives are confirmed, and others found, by a search in simulations; then
each is tried once more alone, a sale through the exchange's router. Real holders sell what they
have, so that a limit that differs by holder shows. Nothing of it is a verdict.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from analysis.market.pool_ranking import ValuedPool, pick_traded
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.condition_reads import analyse_token_code
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import trade_setups
from analysis.pipeline.trade_rounds import simulation_job
from analysis.quotes.census.sellers import CensusHolder, find_sellers
from analysis.quotes.token_market import read_market
from analysis.scenarios.later import holder_sell_census
from analysis.scenarios.trade.limit_probes import (
    LIMIT_KINDS,
    LimitKind,
    LimitSimulation,
    LimitTry,
    read_tries,
    write_tries,
)
from analysis.scenarios.trade.limit_search import FoundLimit, LimitSearch
from analysis.scenarios.trade.sized_trades import (
    SizedTradeSimulation,
    Timing,
    write_sized_sale,
)
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.scenarios.trade.transfer import Wallet
from analysis.simulation.backends import perform
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.block_schedule import next_blocks
from analysis.simulation.simulate_v1 import NotSimulated, Simulation, SimulationResult
from analysis.token.cap_evaluation import (
    CapInput,
    CapLimits,
    cap_limits,
    read_cap_words,
    with_caps,
)
from analysis.token.deadline_state import read_clock_state
from analysis.token.deployed_code import DeployedCode
from analysis.token.live_setters import LiveSetters, read_live_setters
from analysis.token.powers import POSITION_CAP, TRADING_CAP, find_least_cap
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address, BlockRef, RawAmount
from core.report.report import Report

_MOST_ROUNDS: Final = 6
_MOST_HOLDERS: Final = 10
_PART: Final = 100
"""Divisor of a seller's balance, to find limits that depend on it."""

_TRADE_SHARE: Final = 1_000
"""Divisor of the pool's quote reserve: size of the buy whose gas is reported."""


class TokenLimit(msgspec.Struct, frozen=True, kw_only=True):
    """One limit. Amounts are smallest units."""

    kind: LimitKind
    is_limited: bool | None
    """False: the largest possible amount passes. None: not found out."""
    limit_raw: int | None
    """Largest amount that passes. None: there is no limit, or no single one was found."""
    refused_raw: int | None
    """Smallest larger amount that was refused. One more than the limit: it is exact."""
    is_confirmed: bool | None
    """True: alone, a sale through the router, the limit passes and one unit more is refused. None:
    it was not tried alone."""
    by_code_raw: int | None
    """Limit that the code gives with today's storage. None: none, or not followed."""
    floor_raw: int | None
    """Amount below which no setter of the code can bring the limit. None: no bound is proved."""


class LimitFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Limits at one block."""

    block: BlockRef
    supply_raw: RawAmount
    pool: str | None
    """Candidate.key of the pool. None: there is none that can be traded."""
    limits: tuple[TokenLimit, ...]
    """One of each kind, in the order of LIMIT_KINDS."""
    depends_on_balance: bool | None
    """True: what a seller may sell depends on what it holds. None: not found out."""
    differs_by_holder: bool | None
    """True: a real holder could sell more, or less, than a fresh account. None: none was tried."""
    holders_tried: int
    buy_gas: int | None
    """Gas of a buy. None: not simulated, or it did not pass."""
    sale_gas: int | None
    """Gas of a sale without its approval, as above."""
    reason: str
    """Reason why nothing was tried. Empty: something was."""


class _Stand(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the tries are made with."""

    context: ChainContext
    round: FirstRound
    token: Address
    pool: ValuedPool
    setup: TradeSetup
    slot_index: int
    by_code: CapLimits
    floors: CapLimits
    guesses: tuple[int, ...]

    @property
    def supply_raw(self) -> RawAmount:
        return self.round.admitted.metadata.supply_raw

    @property
    def pool_raw(self) -> RawAmount:
        return self.pool.state.token_reserve_raw

    async def simulate(
        self, simulations: Sequence[Simulation]
    ) -> list[SimulationResult | NotSimulated]:
        jobs = [simulation_job(self.setup.candidate, each) for each in simulations]
        return await perform(
            self.context.node, self.context.capabilities, jobs, codes=self.round.codes
        )

    def blocks(self, count: int) -> list[tuple[int, int]]:
        return next_blocks(
            self.round.pin,
            block_time_s=self.context.chain.block_time_s,
            now_s=int(self.context.now_s()),
            waits_s=[0] * (count - 1),
        )


async def find_limits(
    context: ChainContext, token: Address, report: Report, *, until_s: float | None = None
) -> LimitFindings:
    """Return the limits. `report`: the token's, for its parties.

    `until_s`: a time of the event loop's clock; what is not found by then is None. Raises
    TokenRefusedError, UpstreamError.
    """
    _, first_round, state = await read_market(context, token)
    picked = pick_traded(
        state.pools, at_most=1, min_liquidity_usd=context.settings.min_liquidity_usd
    )
    setups, _ = trade_setups(context, first_round, picked)
    by_code, floors, words = await _read_code(context, first_round, token)
    slot_index = first_round.token_slot_index
    if not setups or slot_index is None:
        missing = "balances cannot be set in a simulation" if setups else "no pool can be traded"
        return _untried(first_round, by_code, floors, missing)
    stand = _Stand(
        context=context,
        round=first_round,
        token=token,
        pool=picked[0],
        setup=setups[0],
        slot_index=slot_index,
        by_code=by_code,
        floors=floors,
        guesses=words,
    )
    parties = (report.token.creator_address, report.token.owner_address)
    special = {*BURN_ADDRESSES, *first_round.owners, *(one for one in parties if one is not None)}
    special |= {pool.candidate.holder for pool in state.pools}
    holders = await find_sellers(
        context,
        first_round,
        token,
        pools=[picked[0].candidate.holder],
        indexed=[holder.address for holder in first_round.holders],
        special=special,
    )
    return await _Limits(stand, holders.sellers[:_MOST_HOLDERS]).find(until_s)


class _Limits:
    """Limits of one token in the making."""

    def __init__(self, stand: _Stand, holders: Sequence[CensusHolder]) -> None:
        self._stand = stand
        self._holders = holders
        self._searches = {kind: self._search(kind) for kind in LIMIT_KINDS}
        self._part: LimitTry | None = None
        self._part_moved: bool | None = None
        self._confirmed: dict[LimitKind, bool | None] = {}
        self._differs: bool | None = None
        self._gas: tuple[int | None, int | None] = (None, None)

    async def find(self, until_s: float | None) -> LimitFindings:
        """Search, then confirm, until a time of the event loop's clock. Raises UpstreamError."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until_s):
                await self._narrow()
                await self._confirm()
        sale = self._found("sale")
        return LimitFindings(
            block=self._stand.round.pin,
            supply_raw=self._stand.supply_raw,
            pool=self._stand.setup.candidate.key,
            limits=tuple(self._limit(kind) for kind in LIMIT_KINDS),
            depends_on_balance=(
                None if self._part_moved is None else self._part_moved and sale.passes_raw is None
            ),
            differs_by_holder=self._differs,
            holders_tried=len(self._holders) if self._differs is not None else 0,
            buy_gas=self._gas[0],
            sale_gas=self._gas[1],
            reason="",
        )

    def _search(self, kind: LimitKind) -> LimitSearch:
        stand = self._stand
        most = stand.pool_raw if kind == "buy" else stand.supply_raw
        by_code = _cap(stand.by_code, kind)
        guesses = (*((by_code,) if by_code is not None else ()), *stand.guesses)
        return LimitSearch(kind, most_raw=most, supply_raw=stand.supply_raw, guesses=guesses)

    async def _narrow(self) -> None:
        for number in range(_MOST_ROUNDS):
            tries = [one for search in self._searches.values() for one in search.next_tries()]
            if not tries:
                return
            if not number:
                smallest = min(one.amount_raw for one in tries if one.kind == "sale")
                held_raw = smallest * _PART
                self._part = LimitTry(kind="sale", amount_raw=smallest, sender_raw=held_raw)
                tries.append(self._part)
            outcomes = await self._try(tries)
            for search in self._searches.values():
                search.learn(outcomes)
            if not number and self._part is not None:
                self._part_moved = outcomes[self._part]

    async def _try(self, tries: Sequence[LimitTry]) -> Mapping[LimitTry, bool | None]:
        written = self._write(tries)
        (result,) = await self._stand.simulate([written.simulation])
        return read_tries(written, result)

    def _write(self, tries: Sequence[LimitTry]) -> LimitSimulation:
        stand = self._stand
        return write_tries(
            stand.setup,
            tries,
            stand.blocks(len(tries)),
            slot_index=stand.slot_index,
            pool_raw=stand.pool_raw,
        )

    async def _confirm(self) -> None:
        """Try each limit, and one unit more, alone; sell what holders have; and measure gas."""
        stand = self._stand
        exact = {
            kind: limit
            for kind in LIMIT_KINDS
            if (limit := self._found(kind).exact_raw) is not None
        }
        alone = [
            (kind, LimitTry(kind=kind, amount_raw=limit + above))
            for kind, limit in exact.items()
            if kind != "sale"
            for above in (0, 1)
        ]
        tries = [self._write([one]) for _, one in alone]
        sales = [self._sale(exact["sale"] + above) for above in (0, 1)] if "sale" in exact else []
        of_holders = self._sales_of_holders()
        traded = self._trade()
        results = await stand.simulate(
            [
                *(each.simulation for each in tries),
                *(each.simulation for each in sales),
                *(each.simulation for each in of_holders),
                traded.simulation,
            ]
        )
        moved = [
            next(iter(read_tries(each, result).values()))
            for each, result in zip(tries, results, strict=False)
        ]
        for at, (kind, _) in enumerate(alone[::2]):
            passes, above = moved[2 * at : 2 * at + 2]
            is_known = passes is not None and above is not None
            self._confirmed[kind] = bool(passes and not above) if is_known else None
        rest = results[len(tries) :]
        if sales:
            outcomes = [_can_sell(each, result) for each, result in zip(sales, rest, strict=False)]
            self._confirmed["sale"] = outcomes == [[True], [False]]
        if of_holders:
            self._differs = self._compare(_can_sell(of_holders[0], rest[len(sales)]))
        if not isinstance(result := rest[-1], NotSimulated):
            steps = traded.sale.sell if traded.sale else None
            bought = result[traded.buy.buy]
            sold = None if steps is None else result[steps]
            self._gas = (
                bought.gas_used if bought.ok else None,
                sold.gas_used if sold is not None and sold.ok else None,
            )

    def _sale(self, amount: int) -> holder_sell_census.CensusSimulation:
        stand = self._stand
        seller = stand.setup.trader(f"limit sale {amount}")
        given = balance_override(seller, RawAmount(amount), index=stand.slot_index)
        wallet = Wallet(
            address=seller,
            balance_raw=RawAmount(amount),
            amount_raw=RawAmount(amount),
            slot_index=None,
        )
        return holder_sell_census.write_simulation(
            stand.setup, [wallet], stand.blocks(2), given={stand.token: given}
        )

    def _sales_of_holders(self) -> list[holder_sell_census.CensusSimulation]:
        wallets = [
            msgspec.structs.replace(each.wallet, amount_raw=each.wallet.balance_raw)
            for each in self._holders
        ]
        if not wallets:
            return []
        blocks = self._stand.blocks(len(wallets) + 1)
        return [holder_sell_census.write_simulation(self._stand.setup, wallets, blocks)]

    def _trade(self) -> SizedTradeSimulation:
        stand = self._stand
        quote_raw = max(1, stand.setup.quote_reserve_raw // _TRADE_SHARE)
        amount_raw = max(1, stand.pool_raw // (2 * _TRADE_SHARE))
        timing = Timing(
            block_time_s=stand.context.chain.block_time_s, now_s=int(stand.context.now_s())
        )
        return write_sized_sale(
            stand.setup,
            timing,
            size_usd=0,
            amount_in=RawAmount(quote_raw),
            amount_raw=RawAmount(amount_raw),
            wait_s=0,
        )

    def _compare(self, could: Sequence[bool | None]) -> bool | None:
        """Compare whole sales of holders with the limit of fresh accounts."""
        sale = self._found("sale")
        expected = [sale.passes(each.wallet.balance_raw) for each in self._holders]
        pairs = [
            (one, other)
            for one, other in zip(could, expected, strict=True)
            if one is not None and other is not None
        ]
        return any(one != other for one, other in pairs) if pairs else None

    def _found(self, kind: LimitKind) -> FoundLimit:
        return self._searches[kind].found()

    def _limit(self, kind: LimitKind) -> TokenLimit:
        search, found = self._searches[kind], self._found(kind)
        is_limited = None
        if not search.is_lost and not found.is_odd and found.passes_raw is not None:
            is_limited = found.refused_raw is not None
        return TokenLimit(
            kind=kind,
            is_limited=is_limited,
            limit_raw=found.passes_raw if is_limited else None,
            refused_raw=found.refused_raw if is_limited else None,
            is_confirmed=self._confirmed.get(kind),
            by_code_raw=_cap(self._stand.by_code, kind),
            floor_raw=_cap(self._stand.floors, kind),
        )


def _cap(caps: CapLimits, kind: LimitKind) -> int | None:
    return caps.holding_raw if kind == "holding" else caps.transfer_raw


def _can_sell(
    written: holder_sell_census.CensusSimulation, result: SimulationResult | NotSimulated
) -> list[bool | None]:
    if isinstance(result, NotSimulated):
        return [None] * len(written.sales)
    return [each.can_sell for each in holder_sell_census.read_result(written, result).sellers]


async def _read_code(
    context: ChainContext, first_round: FirstRound, token: Address
) -> tuple[CapLimits, CapLimits, tuple[int, ...]]:
    """Return the caps by the code, their floors, and words that may be limits."""
    reader = context.reader(first_round.pin.hash, memory=first_round.memory)
    code = await analyse_token_code(context, first_round, token)
    words, clock, live = await asyncio.gather(
        read_cap_words(reader, token, code.cap_rules, code.evidence),
        read_clock_state(reader, token, code.clock_limits),
        read_live_setters(reader, token, code.powers),
    )
    caps = CapInput(
        rules=code.cap_rules,
        words=words,
        supply_raw=first_round.admitted.metadata.supply_raw,
        clock=clock.reading,
    )
    limits = cap_limits(with_caps(code.findings, caps), caps)
    floors = CapLimits(
        transfer_raw=_floor(code, live, caps, TRADING_CAP, limits.transfer_raw),
        holding_raw=_floor(code, live, caps, POSITION_CAP, limits.holding_raw),
    )
    return limits, floors, tuple(word for word in words.values() if word)


def _floor(
    code: DeployedCode, live: LiveSetters, caps: CapInput, field: str, today_raw: int | None
) -> int | None:
    """Return the amount below which setters cannot bring a cap. None: no bound is proved."""
    rule = caps.rules.trading if field == TRADING_CAP else caps.rules.position
    least = find_least_cap(code.powers, live, caps, field=field, rule=rule)
    if least is not None:
        return least
    setters = [
        setter for power in code.powers.powers if power.field == field for setter in power.setters
    ]
    is_fixed = code.powers.is_complete and not any(map(live.is_live, setters))
    return today_raw if is_fixed else None


def _untried(
    first_round: FirstRound, by_code: CapLimits, floors: CapLimits, reason: str
) -> LimitFindings:
    return LimitFindings(
        block=first_round.pin,
        supply_raw=first_round.admitted.metadata.supply_raw,
        pool=None,
        limits=tuple(
            TokenLimit(
                kind=kind,
                is_limited=None,
                limit_raw=None,
                refused_raw=None,
                is_confirmed=None,
                by_code_raw=_cap(by_code, kind),
                floor_raw=_cap(floors, kind),
            )
            for kind in LIMIT_KINDS
        ),
        depends_on_balance=None,
        differs_by_holder=None,
        holders_tried=0,
        buy_gas=None,
        sale_gas=None,
        reason=reason,
    )
