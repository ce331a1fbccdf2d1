"""Protects the risk of liquidity in a verdict: young free liquidity counts whole over any number of
accounts.

An unknown is never held.
"""

import pytest

from analysis.liquidity.liquidity_shares import LiquidityShares, LockedShare, Withdrawer
from analysis.liquidity.withdrawal_risk import (
    LiquidityRisk,
    PoolAge,
    WeighedPool,
    combine_risk,
)
from core.evm.primitives import Address

NOW_S = 1_800_000_000
LOCKER = Address("0x" + "10" * 20)


def account(number: int) -> Address:
    return Address(f"0x{number:040x}")


def free(*shares: float) -> LiquidityShares:
    """Held by as many accounts; the rest is burnt."""
    return LiquidityShares(
        burnt_share=1 - sum(shares),
        withdrawable_share=sum(shares),
        withdrawers=tuple(
            Withdrawer(account=account(at + 1), share=share) for at, share in enumerate(shares)
        ),
    )


def locked(days: float) -> LiquidityShares:
    lock = LockedShare(
        share=1.0, until_s=NOW_S + int(days * 86_400), locker=LOCKER, owner=account(1)
    )
    return LiquidityShares(locked_share=1.0, locks=(lock,))


def unsure(share: float) -> LiquidityShares:
    return LiquidityShares(burnt_share=1 - share, unknown_share=share)


def pool(
    ownership: LiquidityShares | None,
    *,
    usd: float = 1_000.0,
    age: PoolAge = "young",
) -> WeighedPool:
    return WeighedPool(liquidity_usd=usd, age=age, ownership=ownership)


def unread(usd: float) -> WeighedPool:
    """A pool that is too old for its holders to be read."""
    return pool(None, usd=usd, age="old")


@pytest.mark.parametrize(
    ("pools", "risk"),
    [
        ([pool(free(1.0))], "withdrawable"),
        # The trap: spread over accounts, none of which has half.
        ([pool(free(*[0.1] * 10))], "withdrawable"),
        ([pool(free(*[0.1] * 10), age="unknown")], "withdrawable"),
        # Its double: a pool that people came into.
        ([pool(free(*[0.1] * 10), age="old")], "held"),
        ([pool(free(0.6, 0.4), age="old")], "withdrawable"),
        ([pool(free(0.4))], "held"),
        ([pool(free())], "held"),
        # A lock that ends tomorrow locks nothing.
        ([pool(locked(1))], "withdrawable"),
        ([pool(locked(31))], "held"),
        ([pool(unsure(0.6))], "unknown"),
        ([pool(unsure(0.4))], "held"),
        ([pool(None)], "unknown"),
        ([], "unknown"),
        # Two pools weigh what they are worth.
        ([pool(free(), usd=900), pool(free(1.0), usd=100)], "held"),
        ([pool(free(), usd=100), pool(free(1.0), usd=900)], "withdrawable"),
        ([pool(free(), usd=100), pool(None, usd=900)], "unknown"),
        # Old pools: their unknown holders count apart.
        ([unread(1_000)], "unknown_old"),
        ([pool(unsure(0.6), age="old")], "unknown_old"),
        ([pool(unsure(0.4), age="old")], "held"),
        ([unread(600), pool(free(1.0), usd=400)], "unknown_old"),
        ([unread(400), pool(free(1.0), usd=600)], "withdrawable"),
        ([unread(400), pool(unsure(1.0), usd=600)], "unknown"),
        ([unread(400), pool(unsure(1.0), usd=600, age="unknown")], "unknown"),
        ([unread(400), pool(free(), usd=600)], "held"),
        ([unread(450), pool(unsure(0.2), usd=550)], "unknown_old"),
        # One holder in two older pools; two holders in two.
        ([pool(free(0.5), age="old"), pool(free(0.6), age="old")], "withdrawable"),
        ([pool(free(0.4), age="old"), pool(free(0.1, 0.7), age="old")], "held"),
    ],
)
def test_what_can_leave(pools: list[WeighedPool], risk: LiquidityRisk) -> None:
    assert combine_risk(pools, now_s=NOW_S) == risk
