"""Hooks of a token's pools: permissions, code, control, cost of trades, and withdrawals.

Everything is read and simulated on one block: pools in two rounds, then code, control, trades and
withdrawals in parallel.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from analysis.market.pool_ranking import ValuedPool
from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.entry_layout import layout_of
from analysis.market.venues.state.hook_permissions import (
    DYNAMIC_FEE,
    HookPermission,
    permissions_of_address,
    permissions_of_bitmap,
)
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.condition_reads import analyse_hook
from analysis.quotes.hook_trades import MeasuredTrades, measure_trades
from analysis.quotes.hook_withdrawals import LiquidityExit, name_controllers, try_withdrawals
from analysis.quotes.token_market import read_market
from analysis.reads.eth_reads import WORD, NoAnswer, Reply, decode_uint
from analysis.reads.read_batch import ReadBatch
from analysis.static.token_model.conditions.trade_conditions import TradeConditions
from analysis.token import ownership
from analysis.token.deployed_code import DeployedCode
from analysis.token.owner_slots import NO_SLOTS, OwnerSlots, read_owner_slots
from analysis.token.ownership import OwnerReads
from analysis.token.proxy_resolution import ADMIN_SLOT
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address, BlockRef, Hash32, address_of

MOST_POOLS: Final = 3
"""Most pools with hooks that are inspected, deepest first."""

_PARAMETERS: Final = 5
"""Index of `parameters` among the words of an Infinity key."""


class HookGrants(msgspec.Struct, frozen=True, kw_only=True):
    """Permissions that a manager grants a hook."""

    granted: tuple[HookPermission, ...] | None
    """None: not known."""
    reason: str = ""
    """Why it is not known. Empty: it is."""
    is_as_declared: bool | None = None
    """Infinity: True if the hook still declares the same permissions. None: it did not answer, or
    the address itself is the declaration."""


class HookControl(msgspec.Struct, frozen=True, kw_only=True):
    """Accounts that control a hook."""

    owner: Address | None
    """Owner by its getters. None: none answered, which does not prove that no account has
    powers."""
    wallets: tuple[Address, ...] | None
    """Wallets in the storage that its code compares callers with. None: not read."""
    is_renounced: bool | None
    """True: its getters name burn addresses only, and that storage is vacant. None: not known."""
    proxy_admin: Address | None
    """Admin in the slot of EIP-1967. None: there is none, or the code is no proxy."""


class PoolHook(msgspec.Struct, frozen=True, kw_only=True):
    """One pool with a hook."""

    pool: str
    """Candidate.key."""
    dex: str
    quote: Address
    liquidity_usd: float
    hook: Address
    grants: HookGrants
    has_dynamic_fee: bool | None
    """The hook sets the pool's fee. None: the pool's fee is not known."""
    code: DeployedCode
    control: HookControl
    measured: MeasuredTrades
    leaving: LiquidityExit


class HookFindings(msgspec.Struct, frozen=True, kw_only=True):
    """The hooks of a token's pools at one block."""

    block: BlockRef
    pools: tuple[PoolHook, ...]
    """Deepest first."""
    pools_left_out: int
    """Pools with hooks beyond those."""
    pools_without_hooks: int


class _HookFacts(msgspec.Struct, frozen=True, kw_only=True):
    code: DeployedCode
    control: HookControl


async def find_hooks(
    context: ChainContext, token: Address, *, until_s: float | None = None
) -> HookFindings:
    """Return the findings. `until_s`: deadline by the event loop's clock; None: no deadline.

    Trades and withdrawals without an answer by then are reported as not simulated.

    Raises TokenRefusedError, UpstreamError.
    """
    known, first_round, state = await read_market(context, token)
    hooked = [(pool, hook) for pool in state.pools if (hook := pool.candidate.hooks) is not None]
    picked = hooked[:MOST_POOLS]
    pools, block = [pool for pool, _ in picked], first_round.pin.hash
    created = {str(row.pool_id or row.pool): row.block_number for row in known.pools}
    try:
        async with asyncio.TaskGroup() as group:
            granted = group.create_task(
                _read_grants(context, [pool.candidate for pool in pools], block=block)
            )
            facts = group.create_task(
                _read_all_facts(context, [hook for _, hook in picked], block=block)
            )
            measured = group.create_task(
                measure_trades(context, first_round, pools, until_s=until_s)
            )
            leaving = group.create_task(
                try_withdrawals(context, first_round, pools, created=created, until_s=until_s)
            )
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from failed
    by_hook = facts.result()
    leavings = [
        name_controllers(exits, _controllers(by_hook[hook].control, first_round.owners))
        for (_, hook), exits in zip(picked, leaving.result(), strict=True)
    ]
    return HookFindings(
        block=first_round.pin,
        pools=tuple(
            _pool_hook(pool, hook, grants, by_hook[hook], trades, exits)
            for (pool, hook), grants, trades, exits in zip(
                picked, granted.result(), measured.result(), leavings, strict=True
            )
        ),
        pools_left_out=len(hooked) - len(picked),
        pools_without_hooks=len(state.pools) - len(hooked),
    )


def _pool_hook(
    pool: ValuedPool,
    hook: Address,
    grants: HookGrants,
    facts: _HookFacts,
    measured: MeasuredTrades,
    leaving: LiquidityExit,
) -> PoolHook:
    candidate = pool.candidate
    return PoolHook(
        pool=candidate.key,
        dex=candidate.dex.name,
        quote=candidate.quote,
        liquidity_usd=pool.value.liquidity_usd,
        hook=hook,
        grants=grants,
        has_dynamic_fee=None if candidate.fee is None else candidate.fee == DYNAMIC_FEE,
        code=facts.code,
        control=facts.control,
        measured=measured,
        leaving=leaving,
    )


def _controllers(control: HookControl, owners: Collection[Address]) -> frozenset[Address]:
    """Return the accounts that control the hook or the token."""
    named = (control.owner, control.proxy_admin)
    return frozenset(
        (*owners, *(control.wallets or ()), *(each for each in named if each is not None))
    )


async def _read_grants(
    context: ChainContext, pools: list[Candidate], *, block: Hash32
) -> list[HookGrants]:
    """Return the permissions of each pool's hook. Raises UpstreamError."""
    batch = ReadBatch(block)
    reads = {
        pool.key: (
            batch.call(pool.dex.factory, "poolIdToPoolKey(bytes32)", bytes.fromhex(pool.key[2:])),
            batch.call(pool.hooks, "getHooksRegistrationBitmap()", returns=decode_uint),
        )
        for pool in pools
        if pool.hooks is not None and layout_of(pool.dex).has_vault
    }
    if reads:
        await batch.send(context.node, context.capabilities)
    return [
        _grants_of_key(batch[reads[pool.key][0]], batch[reads[pool.key][1]], pool)
        if pool.key in reads
        else HookGrants(granted=permissions_of_address(pool.hooks or pool.pool))
        for pool in pools
    ]


def _grants_of_key(key: Reply, declared: int | None, pool: Candidate) -> HookGrants:
    parameters = None if isinstance(key, NoAnswer) else decode_uint(key[WORD * _PARAMETERS :])
    if isinstance(key, NoAnswer) or parameters is None:
        return HookGrants(granted=None, reason="the manager does not tell the pool's key")
    if decode_uint(key[WORD * 2 :]) != int(pool.hooks or pool.pool, 16):
        return HookGrants(granted=None, reason="the manager tells a key of another hook")
    granted = permissions_of_bitmap(parameters)
    return HookGrants(
        granted=granted,
        is_as_declared=None if declared is None else permissions_of_bitmap(declared) == granted,
    )


async def _read_all_facts(
    context: ChainContext, hooks: Sequence[Address], *, block: Hash32
) -> dict[Address, _HookFacts]:
    """Return the facts of each hook, by its address. Raises UpstreamError."""
    each = list(dict.fromkeys(hooks))
    facts = await asyncio.gather(*(_read_facts(context, hook, block=block) for hook in each))
    return dict(zip(each, facts, strict=True))


async def _read_facts(context: ChainContext, hook: Address, *, block: Hash32) -> _HookFacts:
    """Return the code and the control of one hook. Raises UpstreamError."""
    code = await analyse_hook(context, hook, block=block)
    batch = ReadBatch(block)
    getters = OwnerReads(batch, hook)
    admin = batch.slot(hook, ADMIN_SLOT)
    await batch.send(context.node, context.capabilities)
    slots = NO_SLOTS
    if code.owner_slots or code.packed_owners:
        slots = await read_owner_slots(
            context.reader(block), hook, code.owner_slots, packed=code.packed_owners
        )
    proxy_admin = address_of(batch[admin])
    return _HookFacts(
        code=code,
        control=HookControl(
            owner=ownership.find_ownership(getters.read(), slots.wallets).owner_address,
            wallets=slots.wallets if slots is not NO_SLOTS else _without_slots(code),
            is_renounced=_is_renounced(getters.read(), slots),
            proxy_admin=None
            if code.findings.is_proxy is False or proxy_admin in BURN_ADDRESSES
            else proxy_admin,
        ),
    )


def _without_slots(code: DeployedCode) -> tuple[Address, ...] | None:
    """Return no wallets where the code was read, None where it was not found."""
    return None if code.conditions == TradeConditions() else ()


def _is_renounced(owners: tuple[Address, ...], slots: OwnerSlots) -> bool | None:
    if any(owner not in BURN_ADDRESSES for owner in owners) or slots.are_vacant is False:
        return False
    return True if owners and slots.are_vacant else None
