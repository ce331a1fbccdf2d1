"""Scripted quotes and checks, with their requests."""

from typing import Any

from analysis.liquidity.liquidity_shares import (
    HolderShare,
    LiquidityShares,
    LockedShare,
    Withdrawer,
)
from analysis.quotes.census.deciding_entries import ListEntry, ListVariable
from analysis.quotes.census.entry_writers import EntryWrite
from analysis.quotes.exit_quote import ExitQuote, LeftOutPool, RequestedSize
from analysis.quotes.exit_reading import ExitLine, ExitPart
from analysis.quotes.hook_inquiry import HookControl, HookFindings, HookGrants, PoolHook
from analysis.quotes.hook_trades import MeasuredTrades
from analysis.quotes.hook_withdrawals import LiquidityExit, TriedWithdrawal
from analysis.quotes.limit_inquiry import LimitFindings, TokenLimit
from analysis.quotes.liquidity_inquiry import (
    LiquidityFindings,
    PoolLiquidity,
    SimulatedSale,
    WithdrawalFindings,
)
from analysis.quotes.opening_inquiry import OpeningFindings
from analysis.quotes.sale_census import CensusSeller, DecidedBy, SaleCensus
from analysis.quotes.trade_check import Approval, TradeCheck
from analysis.quotes.trade_effects import AllowanceChange, SenderChange
from analysis.quotes.unsigned_trade import UnsignedCall, UnsignedTrade
from analysis.reads.indexed_facts import FailedSale, MinedTransaction, SaleHistory
from analysis.replay.evidence_pack import PackFile
from analysis.scenarios.trade.called_trade import AllowanceKey, TradeCall
from analysis.scenarios.trade.limit_probes import LIMIT_KINDS
from analysis.scenarios.trade.opening import OpeningCall, OpeningOutcome
from analysis.scenarios.trade.sized_trades import SizedTrade
from analysis.scenarios.trade.withdrawal import Withdrawn
from analysis.simulation.block_schedule import SimulatedBlock
from analysis.simulation.simulate_v1 import NotSimulated, Passed, Refused
from analysis.token.deployed_code import DeployedCode
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, RawAmount, Selector
from core.report.fields.static_findings import StaticFindings
from core.report.report import Report
from tests.harness.api.sample_reports import TOKEN

_POOL, _WETH = Address("0x" + "a1" * 20), Address("0x" + "a2" * 20)
_ROUTER, _SENDER = Address("0x" + "a3" * 20), Address("0x" + "a4" * 20)
_BLOCK = BlockRef(
    number=21_000_000,
    hash=Hash32("0x" + "b1" * 32),
    parent_hash=Hash32("0x" + "b0" * 32),
    time_s=1_700_000_000,
)


def make_quote(ask: RequestedSize) -> ExitQuote:
    """One size that sells, one that does not, and the caller's own."""
    sold = ExitLine(
        amount_raw=RawAmount(100 * 10**18),
        value_usd=100.0,
        proceeds_usd=96.5,
        net_usd=95.25,
        tax_pct=3.0,
        price_impact_pct=0.5,
        gas_used=190_000,
        gas_wei=RawAmount(19 * 10**13),
        gas_usd=1.25,
        depth_share=0.01,
        left_raw=RawAmount(0),
        parts=(
            ExitPart(
                pool=_POOL,
                dex="Uniswap V2",
                amount_raw=RawAmount(100 * 10**18),
                quote=_WETH,
                proceeds_raw=RawAmount(32 * 10**15),
                proceeds_usd=96.5,
                tax_pct=3.0,
                depth_share=0.01,
            ),
        ),
    )
    refused = ExitLine(
        amount_raw=RawAmount(10**23), value_usd=1e5, reason="sale too large", is_refused=True
    )
    own = (sold,) if ask != RequestedSize() else ()
    return ExitQuote(
        block=_BLOCK,
        decimals=18,
        spot_usd=1.0,
        native_usd=3_000.0,
        gas_price_wei=10**9,
        lines=(sold, refused, *own),
        half_depth=sold,
        pools=(_POOL,),
        left_out=(
            LeftOutPool(pool=_ROUTER, dex="Uniswap V3", liquidity_usd=12.5, reason="too shallow"),
        ),
        simulated_sales=14,
    )


def _ownership(withdrawer: Withdrawer) -> LiquidityShares:
    return LiquidityShares(
        burnt_share=0.1,
        locked_share=0.5,
        withdrawable_share=0.2,
        unknown_share=0.15,
        unaccounted_share=0.05,
        gap="not every holder is known",
        holders=(
            HolderShare(
                holder=_ROUTER,
                kind="locker",
                name="UNCX",
                share=0.5,
                locked_share=0.5,
                withdrawable_share=0.0,
            ),
            HolderShare(
                holder=_SENDER,
                kind="creator",
                name="",
                share=0.2,
                locked_share=0.0,
                withdrawable_share=0.2,
            ),
        ),
        locks=(LockedShare(share=0.5, until_s=1_800_000_000, locker=_ROUTER, owner=_SENDER),),
        withdrawers=(withdrawer,),
    )


def make_liquidity() -> LiquidityFindings:
    """Half of a pool is locked, a fifth can be withdrawn, and a sale then fails."""
    by = Withdrawer(account=_SENDER, share=0.2)
    return LiquidityFindings(
        block=_BLOCK,
        pools=(
            PoolLiquidity(
                pool=_POOL,
                dex="Uniswap V2",
                kind="AmmV2",
                quote=_WETH,
                liquidity_usd=12_500.0,
                ownership=_ownership(by),
                withdrawal=WithdrawalFindings(
                    by=by,
                    withdrawn=Withdrawn(
                        outcome=Passed(tax=None),
                        token_raw=RawAmount(5 * 10**18),
                        quote_raw=RawAmount(10**17),
                    ),
                    is_part=False,
                    sale_before=SimulatedSale(
                        outcome=Passed(tax=0.0), proceeds_raw=RawAmount(10**16), proceeds_usd=99.0
                    ),
                    sale_after=SimulatedSale(outcome=Refused(reason="no liquidity left")),
                ),
                reason="",
            ),
        ),
        pools_left_out=2,
    )


def make_measured() -> MeasuredTrades:
    """A buy, the refusal of its sale an hour later, and a size that was not run."""
    bought = SizedTrade(
        side="buy",
        size_usd=100.0,
        amount_raw=RawAmount(33 * 10**15),
        wait_s=0,
        block=SimulatedBlock(number=21_000_001, time_s=1_700_000_012, left_out=0),
        outcome=Passed(tax=2.0),
        pool_fee_pct=0.3,
    )
    sold = SizedTrade(
        side="sell",
        size_usd=100.0,
        amount_raw=RawAmount(98 * 10**18),
        wait_s=3_600,
        block=SimulatedBlock(number=21_000_239, time_s=1_700_003_612, left_out=62),
        outcome=Refused(reason="closed"),
    )
    unrun = SizedTrade(
        side="buy",
        size_usd=10_000.0,
        amount_raw=None,
        wait_s=0,
        block=None,
        outcome=NotSimulated(missing="LIQUIDITY", reason="the size is more than the pool holds"),
    )
    return MeasuredTrades(trades=(bought, unrun, sold))


def make_leaving() -> LiquidityExit:
    """The controller's withdrawal, which passes."""
    passed = TriedWithdrawal(
        holder=_SENDER,
        share=0.5,
        is_controller=True,
        by_stranger=False,
        wait_s=0,
        block=SimulatedBlock(number=21_000_001, time_s=1_700_000_012, left_out=0),
        withdrawn=Withdrawn(
            outcome=Passed(tax=None), token_raw=RawAmount(5), quote_raw=RawAmount(10**17)
        ),
        brought_share=1.0,
    )
    return LiquidityExit(tried=(passed,))


def make_hooks() -> HookFindings:
    """One hook behind a proxy whose code was not found."""
    return HookFindings(
        block=_BLOCK,
        pools=(
            PoolHook(
                pool="0x" + "c1" * 32,
                dex="Uniswap V4",
                quote=ZERO_ADDRESS,
                liquidity_usd=12_500.0,
                hook=_ROUTER,
                grants=HookGrants(granted=("before_swap",)),
                has_dynamic_fee=True,
                code=DeployedCode(
                    implementation=None,
                    findings=StaticFindings(timebomb=None, is_proxy=True),
                    owner_slots=(),
                    is_replaceable=None,
                    evidence=(),
                ),
                control=HookControl(
                    owner=_SENDER, wallets=None, is_renounced=False, proxy_admin=_WETH
                ),
                measured=make_measured(),
                leaving=make_leaving(),
            ),
        ),
        pools_left_out=1,
        pools_without_hooks=2,
    )


def make_census() -> SaleCensus:
    """Two holders; a list holds one back, and its real sale failed too."""
    tx_hash = Hash32("0x" + "d1" * 32)
    variable = ListVariable(contract=TOKEN, slot=Hash32("0x" + "00" * 31 + "07"))
    decided = DecidedBy(
        entry=ListEntry(variable=variable, word=1, passing_word=0),
        write=EntryWrite(
            block_number=20_999_000,
            tx_hash=tx_hash,
            sender=_WETH,
            to=TOKEN,
            function=Selector("0x12345678"),
            is_traced=True,
        ),
    )
    sold = CensusSeller(
        holder=_ROUTER,
        balance_raw=RawAmount(5 * 10**18),
        amount_raw=RawAmount(10**18),
        bought=MinedTransaction(tx_hash=tx_hash, block_number=20_999_999),
        outcome="sold",
        tax=3.0,
        reason="",
    )
    held_back = CensusSeller(
        holder=_SENDER,
        balance_raw=RawAmount(2 * 10**18),
        amount_raw=RawAmount(10**18),
        bought=None,
        outcome="failed",
        tax=None,
        reason="named",
        decided_by=(decided,),
    )
    failed = FailedSale(
        trader=_SENDER,
        tx_hash=Hash32("0x" + "d2" * 32),
        block_number=20_999_500,
        block_time_s=1_699_999_000,
        reason="named",
    )
    return SaleCensus(
        block=_BLOCK,
        pool=_POOL,
        dex="Uniswap V2",
        usual_tax=3.0,
        sellers=(sold, held_back),
        possible=4,
        reason="",
        has_lists_searched=True,
        sales=SaleHistory(is_watched=True, failed=(failed,), call_blocks=(20_999_000,)),
    )


def make_limits() -> LimitFindings:
    """Sales of at most a hundredth of the supply, which can be set to a thousandth."""
    supply_raw = 10**24
    is_sale = [kind == "sale" for kind in LIMIT_KINDS]
    return LimitFindings(
        block=_BLOCK,
        supply_raw=RawAmount(supply_raw),
        pool=_POOL,
        limits=tuple(
            TokenLimit(
                kind=kind,
                is_limited=limited,
                limit_raw=supply_raw // 100 if limited else None,
                refused_raw=supply_raw // 100 + 1 if limited else None,
                is_confirmed=True if limited else None,
                by_code_raw=supply_raw // 100 if limited else None,
                floor_raw=supply_raw // 1000 if limited else None,
            )
            for kind, limited in zip(LIMIT_KINDS, is_sale, strict=True)
        ),
        depends_on_balance=False,
        differs_by_holder=False,
        holders_tried=3,
        buy_gas=120_000,
        sale_gas=110_000,
        reason="",
    )


def make_opening() -> OpeningFindings:
    """A token that an account opens; sales are then taxed, and refused a day later."""
    closed = Refused(reason="closed")
    before = OpeningOutcome(
        call=None, has_called=False, has_pool=True, buy=closed, sale=closed, later_sale=closed
    )
    call = OpeningCall(selector=Selector("0x8a8c523c"), sender=_SENDER, data="0x8a8c523c")
    opening = OpeningOutcome(
        call=call,
        has_called=True,
        has_pool=True,
        buy=Passed(tax=0.0),
        sale=Passed(tax=3.0),
        later_sale=closed,
    )
    return OpeningFindings(
        block=_BLOCK,
        dex="Uniswap V2",
        needs_call=True,
        opening=opening,
        before=before,
        tried=4,
        reason="",
    )


def make_check(ask: UnsignedTrade) -> TradeCheck:
    """A sale that passes, and leaves an allowance."""
    call = TradeCall(
        to=_ROUTER,
        data=ask.data or "0x",
        value_wei=0,
        pays_with=ask.token,
        amount_raw=ask.amount_raw,
        spender=_ROUTER,
    )
    return TradeCheck(
        block=_BLOCK,
        call=UnsignedCall(call=call, dex="Uniswap V2", is_ours=ask.data is None),
        outcome="passed",
        reason="",
        approval=Approval(token=ask.token, spender=_ROUTER, amount_raw=ask.amount_raw, passed=True),
        has_given_coins=False,
        has_given_tokens=True,
        gas_used=190_000,
        gas_price_wei=10**9,
        changes=(
            SenderChange(
                token=ZERO_ADDRESS, before_raw=RawAmount(10**18), after_raw=RawAmount(2 * 10**18)
            ),
        ),
        allowances=(
            AllowanceChange(
                key=AllowanceKey(token=TOKEN, spender=_ROUTER), before_raw=0, after_raw=5
            ),
        ),
        tax_pct=3.0,
        warnings=("allowance_left", "hypothetical"),
    )


class ScriptedQuotes:
    """Scripted answers, or a scripted error."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.failure: Exception | None = None

    async def quote_exit(self, chain: str, report: Report, ask: RequestedSize, /) -> ExitQuote:
        self.requests.append((chain, report.token.address, ask))
        if self.failure is not None:
            raise self.failure
        return make_quote(ask)

    async def find_liquidity(self, chain: str, report: Report, /) -> LiquidityFindings:
        self.requests.append((chain, report.token.address, None))
        if self.failure is not None:
            raise self.failure
        return make_liquidity()

    async def find_hooks(self, chain: str, report: Report, /) -> HookFindings:
        self.requests.append((chain, report.token.address, "hooks"))
        if self.failure is not None:
            raise self.failure
        return make_hooks()

    async def take_census(self, chain: str, report: Report, /) -> SaleCensus:
        self.requests.append((chain, report.token.address, "census"))
        if self.failure is not None:
            raise self.failure
        return make_census()

    async def find_limits(self, chain: str, report: Report, /) -> LimitFindings:
        self.requests.append((chain, report.token.address, "limits"))
        if self.failure is not None:
            raise self.failure
        return make_limits()

    async def find_opening(self, chain: str, report: Report, /) -> OpeningFindings:
        self.requests.append((chain, report.token.address, "opening"))
        if self.failure is not None:
            raise self.failure
        return make_opening()

    async def record_pack(self, chain: str, token: Address, /) -> PackFile:
        self.requests.append((chain, token, "pack"))
        if self.failure is not None:
            raise self.failure
        return PackFile(body=b"a pack", block=_BLOCK, signer=_ROUTER)

    async def check_trade(
        self, chain: str, report: Report | None, ask: UnsignedTrade, /
    ) -> TradeCheck:
        self.requests.append((chain, None if report is None else report.token.address, ask))
        if self.failure is not None:
            raise self.failure
        return make_check(ask)
