"""Hooks of a token's pools, as an answer."""

from analysis.market.venues.state.hook_permissions import HookPermission
from analysis.quotes.hook_inquiry import HookControl, HookFindings, PoolHook
from analysis.quotes.hook_trades import MeasuredTrades
from analysis.quotes.hook_withdrawals import LiquidityExit, TriedWithdrawal
from analysis.scenarios.trade.sized_trades import SizedTrade, TradeDirection
from analysis.static.token_model.conditions.trade_conditions import OwnedCondition
from analysis.token.deployed_code import DeployedCode
from api.formats.resources.simulated_outcome import (
    OutcomeWord,
    outcome_reason,
    outcome_tax,
    outcome_word,
)
from api.formats.shape_building import Shape
from config.facts.chain import Chain
from core.evm.primitives import Address, checksum
from core.report.fields.field import Pending
from core.report.report import ReportRow


class HookTrade(Shape, frozen=True, kw_only=True):
    """One simulated buy, or the sale in the next block of the amount that such a buy brought."""

    side: TradeDirection
    """Direction of the trade."""
    size_usd: float
    """USD that the buyer pays, within a tenth."""
    wait_s: int
    """Seconds after the next block."""
    block_number: int | None
    """Number of the simulated block. null: not run."""
    blocks_left_out: int | None
    """Blocks by which that number is too low for the wait, as nodes skip a limited number. null:
    not run."""
    outcome: OutcomeWord
    """refused: it reverts, or brings nothing. unknown: not run, or without a result; never
    passed."""
    reason: str
    """Reason why it did not pass. Empty: it did."""
    amount_raw: str | None
    """Paid in, in smallest units: of the quote token, of a sale of the token. null: not run."""
    tax_pct: float | None
    """Percent that the hook and the token together take. null: not known."""
    pool_fee_pct: float | None
    """Percent that the pool keeps as its fee; half or more is also in tax_pct. null: not known."""


class HookTrades(Shape, frozen=True, kw_only=True):
    """Costs of trades by size, moment and direction. null: none differ, and not all are known."""

    trades: tuple[HookTrade, ...]
    """Buys, then sales; by size, then by moment."""
    trades_reason: str
    """Reason why there are none. Empty: there are."""
    varies_by_size: bool | None
    """true: outcome, tax or fee differ by more than 0.1 points with the size alone."""
    varies_by_time: bool | None
    """The same with the moment alone."""
    varies_by_side: bool | None
    """The same between buys and sales."""


def hook_trades(measured: MeasuredTrades) -> HookTrades:
    """Return the answer for one pool."""
    return HookTrades(
        trades=tuple(map(_trade, measured.trades)),
        trades_reason=measured.reason,
        varies_by_size=measured.varies_by_size,
        varies_by_time=measured.varies_by_time,
        varies_by_side=measured.varies_by_side,
    )


def _trade(trade: SizedTrade) -> HookTrade:
    outcome, block = trade.outcome, trade.block
    return HookTrade(
        side=trade.side,
        size_usd=trade.size_usd,
        wait_s=trade.wait_s,
        block_number=None if block is None else block.number,
        blocks_left_out=None if block is None else block.left_out,
        outcome=outcome_word(outcome),
        reason=outcome_reason(outcome),
        amount_raw=None if trade.amount_raw is None else str(trade.amount_raw),
        tax_pct=outcome_tax(outcome),
        pool_fee_pct=trade.pool_fee_pct,
    )


class HookWithdrawal(Shape, frozen=True, kw_only=True):
    """One simulated withdrawal of all positions of a holder, at most ten."""

    holder: str
    """Address of the holder of the positions."""
    share: float
    """Part of the pool's liquidity that the holder has, 0 to 1."""
    is_controller: bool
    """true: the holder is named as controlling the hook or the token."""
    by_stranger: bool
    """true: the positions were handed to a fresh account first, which withdrew."""
    wait_s: int
    """Seconds after the next block."""
    block_number: int
    """Number of the simulated block."""
    blocks_left_out: int
    """Blocks by which it is earlier than its time: without traces nodes skip some 240 at most."""
    outcome: OutcomeWord
    """refused: it reverts. unknown: without a result; never take it for passed."""
    reason: str
    """Reason why it did not pass. Empty: it did."""
    brought_share: float | None
    """Amount received, as a part of the positions' worth at the pool's price. null: it did not
    pass, or is not known."""


class HookLeaving(Shape, frozen=True, kw_only=True):
    """Withdrawals of liquidity from the pool."""

    withdrawals: tuple[HookWithdrawal, ...]
    """Withdrawals of the three largest holders that are accounts, largest first."""
    withdrawals_reason: str
    """Reason why there are none. Empty: there are."""
    is_refused: bool | None
    """true: one is refused, or brings less than half of its worth. false: all bring it, one of
    them by a fresh account, now and a day later, with no block left out between. null: not known,
    never to be read as no."""


def hook_leaving(found: LiquidityExit) -> HookLeaving:
    """Return the answer for one pool."""
    return HookLeaving(
        withdrawals=tuple(map(_withdrawal, found.tried)),
        withdrawals_reason=found.reason,
        is_refused=found.is_refused,
    )


def _withdrawal(one: TriedWithdrawal) -> HookWithdrawal:
    outcome = one.withdrawn.outcome
    return HookWithdrawal(
        holder=checksum(one.holder),
        share=one.share,
        is_controller=one.is_controller,
        by_stranger=one.by_stranger,
        wait_s=one.wait_s,
        block_number=one.block.number,
        blocks_left_out=one.block.left_out,
        outcome=outcome_word(outcome),
        reason=outcome_reason(outcome),
        brought_share=one.brought_share,
    )


class HookCode(Shape, frozen=True, kw_only=True):
    """Abilities of a hook's code, *inferred* from its bytecode, behind a proxy too. null: not
    known."""

    is_proxy: bool | None
    """true: it delegates to another contract."""
    implementation: str | None
    """Address of the analysed code. null: the hook itself, or not found."""
    is_replaceable: bool | None
    """true: the code can be replaced, as the proxy takes its target from storage or a beacon. null:
    not known, never to be read as no."""
    can_selfdestruct: bool | None
    """true: a selfdestruct can be reached."""
    has_owner_functionality: bool | None
    """true: functions check that the owner is the caller."""
    external_call: bool | None
    """true: it calls other contracts."""
    timebomb: bool | None
    """true: its swap functions depend on the clock."""
    owner_set_conditions: int
    """Conditions of swaps that a privileged account sets."""
    refuses_by_owner: bool | None
    """true: one of them can refuse a swap. null: not every condition is known."""


class HookController(Shape, frozen=True, kw_only=True):
    """Accounts that control a hook. Powers that another contract decides are left out."""

    owner: str | None
    """Owner by its getters. null: none answered, which does not mean that nobody has powers."""
    wallets: tuple[str, ...] | None
    """Wallets in the storage that the code compares callers with. null: not read."""
    is_renounced: bool | None
    """true: its getters name burn addresses only, and that storage is vacant. null: not known."""
    proxy_admin: str | None
    """Account that may replace the code, by EIP-1967's slot. null: the slot is empty."""


class HookedPool(Shape, frozen=True, kw_only=True):
    """One pool with a hook."""

    pool: str
    """Its id in its manager."""
    dex: str
    """Name of the exchange."""
    quote: str
    """Address of the other token; the zero address is the native coin."""
    liquidity_usd: float
    """USD of its reserves, both sides."""
    hook: str
    """Address of the hook."""
    permissions: tuple[HookPermission, ...] | None
    """Permissions: the moments when the manager calls the hook, and where it may take amounts.
    null: not known."""
    permissions_reason: str
    """Reason why they are not known. Empty: they are."""
    permissions_as_declared: bool | None
    """Infinity: true if the hook declares the same permissions itself. null: it declares none, or
    it is a hook of Uniswap V4, whose address is the declaration."""
    has_dynamic_fee: bool | None
    """true: the hook sets the pool's fee. null: not known."""
    code: HookCode
    """Abilities of its code."""
    control: HookController
    """Accounts that control it."""
    trading: HookTrades
    """Costs of simulated trades in the pool."""
    leaving: HookLeaving
    """Simulated withdrawals of its liquidity."""


class HooksAnswer(Shape, frozen=True, kw_only=True):
    """The hooks of a token's deepest pools. No hook is called safe by it."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55."""
    block_number: int
    """Block that everything was read on."""
    block_hash: str
    """Hash of that block."""
    pools: tuple[HookedPool, ...]
    """Pools with hooks, deepest first, at most three."""
    pools_left_out: int
    """Further pools with hooks."""
    pools_without_hooks: int
    """Pools without a hook, of any exchange."""


def hooks_answer(found: HookFindings, chain: Chain, token: ReportRow) -> HooksAnswer:
    """Return the answer for one token."""
    return HooksAnswer(
        chain=chain.slug,
        contract_address=checksum(token.address),
        block_number=found.block.number,
        block_hash=found.block.hash,
        pools=tuple(map(_pool, found.pools)),
        pools_left_out=found.pools_left_out,
        pools_without_hooks=found.pools_without_hooks,
    )


def _pool(pool: PoolHook) -> HookedPool:
    return HookedPool(
        pool=pool.pool,
        dex=pool.dex,
        quote=pool.quote,
        liquidity_usd=pool.liquidity_usd,
        hook=checksum(pool.hook),
        permissions=pool.grants.granted,
        permissions_reason=pool.grants.reason,
        permissions_as_declared=pool.grants.is_as_declared,
        has_dynamic_fee=pool.has_dynamic_fee,
        code=_code(pool.code),
        control=_control(pool.control),
        trading=hook_trades(pool.measured),
        leaving=hook_leaving(pool.leaving),
    )


def _code(code: DeployedCode) -> HookCode:
    found, owned = code.findings, code.conditions.owned
    return HookCode(
        is_proxy=_settled(found.is_proxy),
        implementation=_shown(code.implementation),
        is_replaceable=code.is_replaceable,
        can_selfdestruct=_settled(found.can_selfdestruct),
        has_owner_functionality=_settled(found.has_owner_functionality),
        external_call=_settled(found.external_call),
        timebomb=_settled(found.timebomb),
        owner_set_conditions=len(owned),
        refuses_by_owner=_refuses(owned, is_complete=code.conditions.is_complete),
    )


def _refuses(owned: tuple[OwnedCondition, ...], *, is_complete: bool) -> bool | None:
    if any(each.effect in ("refuses", "overruns") for each in owned):
        return True
    return False if is_complete else None


def _settled(value: bool | Pending | None) -> bool | None:
    return value if isinstance(value, bool) else None


def _control(control: HookControl) -> HookController:
    wallets = control.wallets
    return HookController(
        owner=_shown(control.owner),
        wallets=None if wallets is None else tuple(map(checksum, wallets)),
        is_renounced=control.is_renounced,
        proxy_admin=_shown(control.proxy_admin),
    )


def _shown(address: Address | None) -> str | None:
    return None if address is None else checksum(address)
