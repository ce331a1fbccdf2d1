"""The hooks of a token's pools, as an answer."""

from analysis.market.venues.state.hook_permissions import HookPermission
from analysis.quotes.hook_inquiry import HookControl, HookFindings, PoolHook
from analysis.static.token_model.conditions.trade_conditions import OwnedCondition
from analysis.token.deployed_code import DeployedCode
from api.formats.resources.hook_leaving_format import HookLeaving, hook_leaving
from api.formats.resources.hook_trades_format import HookTrades, hook_trades
from api.formats.shape_building import Shape
from config.chains import Chain
from core.evm.primitives import Address, checksum
from core.report.fields.field import Pending
from core.report.report import ReportRow


class HookCode(Shape, frozen=True, kw_only=True):
    """What a hook's code can do, *inferred* from its bytecode, behind a proxy too. null: not
    known."""

    is_proxy: bool | None
    """Whether it delegates to another contract."""
    implementation: str | None
    """Address of the analysed code. null: the hook itself, or not found."""
    is_replaceable: bool | None
    """Whether the code can be replaced: the proxy takes its target from storage or a beacon. null:
    not known, never to be read as no."""
    can_selfdestruct: bool | None
    """Whether a selfdestruct can be reached."""
    has_owner_functionality: bool | None
    """Whether functions check that an owner calls."""
    external_call: bool | None
    """Whether it calls other contracts."""
    timebomb: bool | None
    """Whether its swap functions depend on the clock."""
    owner_set_conditions: int
    """Conditions of swaps that somebody with powers sets."""
    refuses_by_owner: bool | None
    """Whether one of them can refuse a swap. null: not every condition is known."""


class HookController(Shape, frozen=True, kw_only=True):
    """Who controls a hook. Powers that another contract decides about are not told."""

    owner: str | None
    """By its getters. null: none answered, which does not mean that nobody has powers."""
    wallets: tuple[str, ...] | None
    """Wallets in the storage that the code compares callers with. null: not read."""
    is_renounced: bool | None
    """Whether its getters name burn addresses only, with that storage vacant. null: not known."""
    proxy_admin: str | None
    """Who may replace the code, by EIP-1967's slot. null: nobody is named there."""


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
    """When the manager calls the hook, and where it may take amounts. null: not known."""
    permissions_reason: str
    """Why they are not known. Empty: they are."""
    permissions_as_declared: bool | None
    """Infinity: whether the hook says the same of itself. null: it does not say, or it is a hook of
    Uniswap V4, whose address is the declaration."""
    has_dynamic_fee: bool | None
    """Whether the hook sets the pool's fee. null: not known."""
    code: HookCode
    """What its code can do."""
    control: HookController
    """Who controls it."""
    trading: HookTrades
    """What simulated trades in the pool cost."""
    leaving: HookLeaving
    """Whether liquidity can leave it."""


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
    """Pools that have none, of whatever exchange."""


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
