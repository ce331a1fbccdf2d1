"""Permissions of a pool's hook: at which steps its manager calls it, and where it may take amounts.

Uniswap V4 takes them from the hook's address. PancakeSwap Infinity takes them from the pool's key,
and compares them with the hook's own declaration when the pool is created. Source: v4-core Hooks;
infinity-core ICLHooks, IBinHooks, Hooks. Pure.
"""

from typing import Final, Literal

from core.evm.primitives import Address

HookPermission = Literal[
    "before_initialize",
    "after_initialize",
    "before_add_liquidity",
    "after_add_liquidity",
    "before_remove_liquidity",
    "after_remove_liquidity",
    "before_swap",
    "after_swap",
    "before_donate",
    "after_donate",
    "before_swap_returns_delta",
    "after_swap_returns_delta",
    "after_add_liquidity_returns_delta",
    "after_remove_liquidity_returns_delta",
]
"""`returns_delta`: the hook may take, or add, amounts at that step. Mint and burn of bins are
adding and removing liquidity."""

PERMISSIONS: Final[tuple[HookPermission, ...]] = HookPermission.__args__  # type: ignore[attr-defined]
"""Infinity's bits, lowest first; those of V4's addresses are the same, highest first."""

DYNAMIC_FEE: Final = 0x800000
"""Stands in a key for a fee that the hook sets. Source: v4-core and infinity-core LPFeeLibrary."""


def permissions_of_address(hook: Address) -> tuple[HookPermission, ...]:
    """Return what Uniswap V4's manager grants a hook at this address."""
    bits, highest = int(hook, 16), len(PERMISSIONS) - 1
    return tuple(name for at, name in enumerate(PERMISSIONS) if bits >> highest - at & 1)


def permissions_of_bitmap(bitmap: int) -> tuple[HookPermission, ...]:
    """Return what the low bits of an Infinity key's `parameters`, or a hook's bitmap, grant."""
    return tuple(name for at, name in enumerate(PERMISSIONS) if bitmap >> at & 1)
