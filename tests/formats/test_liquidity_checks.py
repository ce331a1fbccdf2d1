"""Protects the checks of liquidity holders: an unknown is never a pass."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.liquidity.liquidity_shares import LiquidityShares, LockedShare, Withdrawer
from analysis.quotes.liquidity_inquiry import LiquidityFindings, SimulatedSale
from analysis.simulation.simulate_v1 import Passed, Refused
from api.formats.resources.liquidity_format import SOON_S, liquidity_flags, total_shares
from core.evm.primitives import Address, RawAmount
from tests.harness.api.scripted_quotes import make_liquidity

MAKER, OTHER = Address("0x" + "c1" * 20), Address("0x" + "c2" * 20)
WHOLE = make_liquidity()
NOW_S = WHOLE.block.time_s
KEYS = (
    "liquidity_held_by_one",
    "issuer_can_withdraw_liquidity",
    "liquidity_unlocks_soon",
    "sale_fails_after_withdrawal",
)


def owned(
    *,
    burnt: float = 0,
    locked: float = 0,
    until_s: int = NOW_S + 2 * SOON_S,
    unknown: float = 0,
    **withdrawable: float,
) -> LiquidityShares:
    """Shares of one pool. `withdrawable`: by `maker` and `other`."""
    accounts = {"maker": MAKER, "other": OTHER}
    free = sum(withdrawable.values())
    return LiquidityShares(
        burnt_share=burnt,
        locked_share=locked,
        withdrawable_share=free,
        unknown_share=unknown,
        unaccounted_share=max(0.0, 1 - burnt - locked - unknown - free),
        gap="",
        holders=(),
        locks=(LockedShare(share=locked, until_s=until_s, locker=OTHER, owner=MAKER),)
        if locked
        else (),
        withdrawers=tuple(
            Withdrawer(account=accounts[name], share=share) for name, share in withdrawable.items()
        ),
    )


def findings(*pools: tuple[float, LiquidityShares]) -> LiquidityFindings:
    """Pools with their worth, without a simulated withdrawal."""
    (pool,) = WHOLE.pools
    made = tuple(
        msgspec.structs.replace(pool, liquidity_usd=usd, ownership=shares, withdrawal=None)
        for usd, shares in pools
    )
    return msgspec.structs.replace(WHOLE, pools=made)


def values(found: LiquidityFindings, *, creator: Address | None = MAKER) -> tuple[bool | None, ...]:
    flags = {flag.key: flag for flag in liquidity_flags(found, creator=creator, owner=None)}
    assert tuple(sorted(flags)) == tuple(sorted(KEYS))
    for flag in flags.values():
        assert flag.status == {True: "warning", False: "safe", None: "unknown"}[flag.value]
    return tuple(flags[key].value for key in KEYS)


CASES: dict[str, tuple[LiquidityFindings, tuple[bool | None, ...]]] = {
    "the creator holds all": (findings((10, owned(maker=1))), (True, True, False, None)),
    "burnt": (findings((10, owned(burnt=1))), (False, False, False, False)),
    "locked for long": (findings((10, owned(locked=1))), (False, False, False, False)),
    "locked for a week": (
        findings((10, owned(locked=1, until_s=NOW_S + 7 * 86_400))),
        (False, False, True, False),
    ),
    "of many": (findings((10, owned(other=0.4, burnt=0.6))), (False, False, False, None)),
    "held by contracts": (findings((10, owned(unknown=1))), (None, None, None, None)),
    "a little is not known": (
        findings((10, owned(burnt=0.9, unknown=0.1))),
        (False, None, False, False),
    ),
    "a small pool of the creator": (
        findings((99, owned(burnt=1)), (1, owned(maker=1))),
        (False, False, False, False),
    ),
    "one holder of two pools": (
        findings((50, owned(other=0.6, burnt=0.4)), (50, owned(other=0.5, burnt=0.5))),
        (True, False, False, None),
    ),
    "no pool": (findings(), (None, None, None, None)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_check_is_answered_only_where_it_is_known(name: str) -> None:
    found, expected = CASES[name]
    assert values(found) == expected


def test_whoever_can_withdraw_may_be_a_creator_who_is_not_known() -> None:
    found = findings((10, owned(other=0.1, burnt=0.9)))
    assert [values(found, creator=one)[1] for one in (MAKER, OTHER, None)] == [False, True, None]


@given(st.lists(st.tuples(st.floats(1, 1e9), st.floats(0, 1), st.floats(0, 1)), max_size=3))
def test_more_that_is_not_known_never_turns_a_check_to_a_pass(
    pools: list[tuple[float, float, float]],
) -> None:
    """A part of each pool is free, and a part of the rest is burnt, or else unknown."""
    sure = [(usd, owned(maker=free, burnt=1 - free)) for usd, free, _ in pools]
    vague = [
        (usd, owned(maker=free, burnt=(1 - free) * part, unknown=(1 - free) * (1 - part)))
        for usd, free, part in pools
    ]
    before, after = values(findings(*sure)), values(findings(*vague))
    assert all(new is not False or old is False for old, new in zip(before, after, strict=True))
    totals = total_shares(findings(*vague))
    if totals is not None:
        assert totals.protected + totals.withdrawable + totals.unknown == pytest.approx(1)


@pytest.mark.parametrize(
    ("before_raw", "after", "expected"),
    [
        (100, SimulatedSale(outcome=Refused(reason="no liquidity")), True),
        (100, SimulatedSale(outcome=Passed(tax=0.0), proceeds_raw=RawAmount(49)), True),
        (100, SimulatedSale(outcome=Passed(tax=0.0), proceeds_raw=RawAmount(51)), False),
        (None, SimulatedSale(outcome=Refused(reason="no liquidity")), None),
    ],
)
def test_a_withdrawal_that_takes_the_sale_is_told(
    before_raw: int | None, after: SimulatedSale, *, expected: bool | None
) -> None:
    (pool,) = WHOLE.pools
    assert pool.withdrawal is not None
    before = SimulatedSale(outcome=Refused(reason="honeypot"))
    if before_raw is not None:
        before = SimulatedSale(outcome=Passed(tax=0.0), proceeds_raw=RawAmount(before_raw))
    made = msgspec.structs.replace(pool.withdrawal, sale_before=before, sale_after=after)
    found = msgspec.structs.replace(WHOLE, pools=(msgspec.structs.replace(pool, withdrawal=made),))
    assert values(found)[3] is expected
