"""Sale census: the sales of up to fifty real holders, simulated at the state of one block.

One simulation of all sales; where some fail or pay another tax, one more round in which the entries
of lists get the values of other sellers: a sale that passes only then is decided by that entry.
Then the transactions that wrote those entries are searched. Nothing of it is a verdict.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from statistics import median
from typing import Final, Literal

import msgspec

from analysis.market.pool_ranking import pick_traded
from analysis.market.venues.pool import Candidate
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.condition_reads import analyse_token_code, read_token_conditions
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.pool_setups import trade_setups
from analysis.pipeline.second_round import MarketState
from analysis.pipeline.trade_rounds import simulation_job
from analysis.quotes.census.deciding_entries import (
    ListEntry,
    balances_of,
    differing,
    lists_in_code,
    lists_in_sales,
    overridden,
    read_entries,
)
from analysis.quotes.census.entry_writers import EntryWrite, StoredEntry, find_writers
from analysis.quotes.census.sellers import CensusHolder, FoundSellers, find_sellers
from analysis.quotes.token_market import read_market
from analysis.reads.indexed_facts import IndexedFacts, MinedTransaction, SaleHistory
from analysis.scenarios.later import holder_sell_census
from analysis.scenarios.later.holder_sell_census import CensusSale, CensusSimulation
from analysis.scenarios.trade.trade_setup import TradeSetup
from analysis.simulation.backends import perform
from analysis.simulation.block_schedule import next_blocks
from analysis.simulation.simulate_v1 import NotSimulated, SimulationResult
from config.burn import BURN_ADDRESSES
from core.errors import StoreError, UpstreamError
from core.evm.primitives import Address, BlockRef, Hash32, RawAmount
from core.report.report import Report

TAX_POINTS: Final = 1.0
"""Percentage points above the usual tax from which a seller pays another one."""

_MOST_TRACED: Final = 10
"""Sellers where the node simulates by traces, which take a round trip for each transaction."""

_MOST_SALES: Final = 20
"""Most real failed sales that are reported."""

_Overrides = Mapping[Address, Mapping[Hash32, Hash32]]
"""Words of slots, by contract."""

SellerOutcome = Literal["sold", "failed", "other_tax", "unknown"]


class DecidedBy(msgspec.Struct, frozen=True, kw_only=True):
    """The entry of a list that decides on a seller's sale, and its writer."""

    entry: ListEntry
    write: EntryWrite | None
    """None: the transaction was not found."""


class CensusSeller(msgspec.Struct, frozen=True, kw_only=True):
    """One holder and its simulated sale."""

    holder: Address
    balance_raw: RawAmount
    amount_raw: RawAmount
    """Amount of the sale: no more than an ordinary one."""
    bought: MinedTransaction | None
    """Last purchase. None: not known."""
    outcome: SellerOutcome
    tax: float | None
    """Percent. None: not sold, or not computable."""
    reason: str
    """Reason of a sale that did not pass. Empty: it did."""
    decided_by: tuple[DecidedBy, ...] = ()
    """Entries without which the sale passes at the usual tax; several if it takes all of them."""


class SaleCensus(msgspec.Struct, frozen=True, kw_only=True):
    """Sales of real holders at one block."""

    block: BlockRef
    pool: str | None
    """Candidate.key of the pool they sell in. None: no sale was simulated."""
    dex: str
    usual_tax: float | None
    """Percent that other accounts pay on a sale. None: not known."""
    sellers: tuple[CensusSeller, ...]
    """Latest buyers first."""
    possible: int
    """Receivers and holders among which the sellers were chosen."""
    reason: str
    """Reason why there is no seller. Empty: there is one."""
    has_lists_searched: bool
    """False: the node did not answer the search for lists, or there was nothing to search for."""
    sales: SaleHistory


class _Stand(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the sales are simulated with."""

    context: ChainContext
    round: FirstRound
    known: IndexedFacts
    token: Address
    setup: TradeSetup
    usual_tax: float | None
    """Percent on a sale of fresh buyers, by the report. None: not known."""
    until_s: float | None


async def take_census(
    context: ChainContext, token: Address, report: Report, *, until_s: float | None = None
) -> SaleCensus:
    """Return the census. `report`: the token's, for its parties and the tax of other sellers.

    `until_s`: a time of the event loop's clock; what is not found by then is left out. Raises
    TokenRefusedError, UpstreamError.
    """
    known, first_round, state = await read_market(context, token)
    sales = SaleHistory()
    with suppress(StoreError):
        sales = await context.index.sale_history(context.chain, token, first_round.pin)
    sales = msgspec.structs.replace(sales, failed=sales.failed[:_MOST_SALES])
    picked = pick_traded(
        state.pools, at_most=3, min_liquidity_usd=context.settings.min_liquidity_usd
    )
    setups, _ = trade_setups(context, first_round, picked)
    if not setups:
        return _empty(first_round.pin, sales, "the token has no pool that can be sold in")
    found = await find_sellers(
        context,
        first_round,
        token,
        pools=[pool.candidate.holder for pool in state.pools],
        indexed=[holder.address for holder in first_round.holders],
        special=_special(context, first_round, state, report),
    )
    if not found.sellers:
        return _empty(first_round.pin, sales, "no holder is known that could sell")
    stand = _Stand(
        context=context,
        round=first_round,
        known=known,
        token=token,
        setup=setups[0],
        usual_tax=_usual_tax(setups[0].candidate, report),
        until_s=until_s,
    )
    return await _Census(stand, found, sales).take()


class _Census:
    """One census in the making."""

    def __init__(self, stand: _Stand, found: FoundSellers, sales: SaleHistory) -> None:
        self._stand = stand
        self._found = found
        self._sales = sales
        can_simulate = stand.context.capabilities.simulation.is_worth_trying
        self._holders = found.sellers[: None if can_simulate else _MOST_TRACED]
        self._usual = stand.usual_tax
        self._has_searched = False

    async def take(self) -> SaleCensus:
        """Return the census. Raises UpstreamError."""
        (sold,) = await self._simulate([(self._holders, {})])
        if self._usual is None:
            taxes = [each.tax for each in sold.values() if each.tax is not None]
            self._usual = median(taxes) if taxes else None
        hindered = [each for each in self._holders if self._is_held_back(sold[each.wallet.address])]
        decided: dict[Address, tuple[DecidedBy, ...]] = {}
        if hindered:
            with suppress(TimeoutError, UpstreamError):
                async with asyncio.timeout_at(self._stand.until_s):
                    sold, decided = await self._find_causes(sold, hindered)
        return SaleCensus(
            block=self._stand.round.pin,
            pool=self._stand.setup.candidate.key,
            dex=self._stand.setup.candidate.dex.name,
            usual_tax=self._usual,
            sellers=tuple(
                self._seller(each, sold[each.wallet.address], decided) for each in self._holders
            ),
            possible=self._found.possible,
            reason="",
            has_lists_searched=self._has_searched,
            sales=self._sales,
        )

    async def _find_causes(
        self, sold: Mapping[Address, CensusSale], hindered: Sequence[CensusHolder]
    ) -> tuple[dict[Address, CensusSale], dict[Address, tuple[DecidedBy, ...]]]:
        """Return the sales, those held back without the others before them, and what decides."""
        lists = await self._lists(sold, hindered)
        tried: list[tuple[Sequence[CensusHolder], _Overrides]] = [
            (hindered, {}),
            *((hindered, overridden([entries])) for entries in lists),
        ]
        if len(lists) > 1:
            tried.append((hindered, overridden(lists)))
        control, *results = await self._simulate(tried)
        self._has_searched = True
        proofs: dict[Address, tuple[ListEntry, ...]] = {}
        for entries, result in zip([*([one] for one in lists), lists], results, strict=False):
            for account in (each.wallet.address for each in hindered):
                of_account = tuple(one[account] for one in entries if account in one)
                if (
                    of_account
                    and account not in proofs
                    and self._is_held_back(control[account])
                    and result[account].can_sell
                    and not self._is_held_back(result[account])
                ):
                    proofs[account] = of_account
        writes = await self._writers(proofs)
        decided = {
            account: tuple(
                DecidedBy(entry=entry, write=writes.get(_stored(entry, account)))
                for entry in entries
            )
            for account, entries in proofs.items()
        }
        return {**sold, **control}, decided

    async def _lists(
        self, sold: Mapping[Address, CensusSale], hindered: Sequence[CensusHolder]
    ) -> list[Mapping[Address, ListEntry]]:
        """Return the entries of those held back that differ from others', by list."""
        stand, pin = self._stand, self._stand.round.pin.hash
        context, token = stand.context, stand.token
        free = [
            each.wallet
            for each in self._holders
            if sold[each.wallet.address].can_sell
            and not self._is_held_back(sold[each.wallet.address])
        ]
        code = await analyse_token_code(context, stand.round, token)
        conditions = await read_token_conditions(context, token, code, block=pin)
        in_code = lists_in_code(token, conditions.conditions)
        in_sales = await lists_in_sales(
            context.node,
            token,
            held_back=[each.wallet for each in hindered],
            free=next(iter(free), None),
            pool=stand.setup.candidate.holder,
            known=in_code,
            block=pin,
        )
        balances = balances_of(token, stand.round.token_slot_index)
        variables = [each for each in dict.fromkeys((*in_sales, *in_code)) if each != balances]
        accounts = [each.wallet.address for each in hindered]
        others = [each.address for each in free]
        words = await read_entries(context.node, variables, [*accounts, *others], block=pin)
        return list(differing(variables, words, accounts, others).values())

    async def _writers(
        self, proofs: Mapping[Address, Sequence[ListEntry]]
    ) -> Mapping[StoredEntry, EntryWrite]:
        entries = dict.fromkeys(
            _stored(entry, account) for account, of in proofs.items() for entry in of
        )
        if not entries:
            return {}
        first = self._stand.known.first_transaction
        return await find_writers(
            self._stand.context.node,
            list(entries),
            since=0 if first is None else max(0, first.block_number - 1),
            until=self._stand.round.pin.number,
            hints=self._sales.call_blocks,
            until_s=self._stand.until_s,
        )

    async def _simulate(
        self, tried: Sequence[tuple[Sequence[CensusHolder], _Overrides]]
    ) -> list[dict[Address, CensusSale]]:
        """Return the sales of each simulation by holder; they are sent together."""
        stand, context = self._stand, self._stand.context
        written: list[CensusSimulation] = []
        for holders, given in tried:
            blocks = next_blocks(
                stand.round.pin,
                block_time_s=context.chain.block_time_s,
                now_s=int(context.now_s()),
                waits_s=[0] * len(holders),
            )
            wallets = [each.wallet for each in holders]
            written.append(
                holder_sell_census.write_simulation(stand.setup, wallets, blocks, given=given)
            )
        jobs = [simulation_job(stand.setup.candidate, each.simulation) for each in written]
        results = await perform(context.node, context.capabilities, jobs, codes=stand.round.codes)
        return [_read(each, result) for each, result in zip(written, results, strict=True)]

    def _is_held_back(self, sale: CensusSale) -> bool:
        """True if the sale fails, or pays clearly more than others do."""
        is_taxed = (
            sale.tax is not None and self._usual is not None and sale.tax > self._usual + TAX_POINTS
        )
        return sale.can_sell is False or is_taxed

    def _seller(
        self,
        one: CensusHolder,
        sale: CensusSale,
        decided: Mapping[Address, tuple[DecidedBy, ...]],
    ) -> CensusSeller:
        outcome: SellerOutcome = "unknown"
        if sale.can_sell is False:
            outcome = "failed"
        elif sale.can_sell:
            outcome = "other_tax" if self._is_held_back(sale) else "sold"
        return CensusSeller(
            holder=sale.holder,
            balance_raw=one.wallet.balance_raw,
            amount_raw=sale.amount_raw,
            bought=one.bought,
            outcome=outcome,
            tax=sale.tax,
            reason=sale.reason,
            decided_by=decided.get(sale.holder, ()),
        )


def _read(
    written: CensusSimulation, result: SimulationResult | NotSimulated
) -> dict[Address, CensusSale]:
    if not isinstance(result, NotSimulated):
        return {
            each.holder: each for each in holder_sell_census.read_result(written, result).sellers
        }
    return {
        holder: CensusSale(
            holder=holder,
            amount_raw=steps.order.amount,
            can_sell=None,
            tax=None,
            reason=result.reason,
        )
        for holder, steps in written.sales
    }


def _stored(entry: ListEntry, account: Address) -> StoredEntry:
    variable = entry.variable
    return StoredEntry(contract=variable.contract, slot=variable.entry(account), word=entry.word)


def _usual_tax(candidate: Candidate, report: Report) -> float | None:
    """Return the tax on a sale of fresh buyers in a pool, by the report. None: not known."""
    rows = (row for row in report.pools or () if (row.pool_id or row.pool) == candidate.key)
    row = next(rows, None)
    return None if row is None or row.sell != "passed" else row.sell_tax


def _special(
    context: ChainContext, first_round: FirstRound, state: MarketState, report: Report
) -> frozenset[Address]:
    """Return addresses that are no ordinary holders."""
    parties = (
        report.token.creator_address,
        report.token.owner_address,
        first_round.holdings.creator,
    )
    return frozenset(
        (
            *BURN_ADDRESSES,
            *context.chain.custodians,
            *first_round.owners,
            *(pool.candidate.holder for pool in state.pools),
            *(one for one in parties if one is not None),
        )
    )


def _empty(block: BlockRef, sales: SaleHistory, reason: str) -> SaleCensus:
    return SaleCensus(
        block=block,
        pool=None,
        dex="",
        usual_tax=None,
        sellers=(),
        possible=0,
        reason=reason,
        has_lists_searched=False,
        sales=sales,
    )
