"""Protects the verdict where a deployment asks who can withdraw the liquidity: nothing is `safe`
whose liquidity its maker can take out, in one account or spread over many; burnt and locked is."""

from typing import Literal

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.native import render_native
from api.formats.summary import Summary, render_summary
from core.primitives import Address
from demo.layout import VenueKey, ZooToken
from harness.api.samples import CLOCK, LIQUID_USD
from harness.chain.verbs import Chain
from tests.chain.judging import judge
from tests.chain.quote_traps import place
from tests.chain.test_liquidity_holders import (
    DEAD,
    YEAR_S,
    chain,
    give_lp,
    lock,
    lp_balance,
    now_s,
    with_locker,
)

__all__ = ["chain"]

Placed = Literal["kept", "spread", "burnt", "locked", "locked for a week"]
WEEK_S = 7 * 86_400


@pytest.fixture
def asking(context: ChainContext) -> ChainContext:
    """A deployment that asks."""
    settings = msgspec.structs.replace(context.settings, liquidity_holders=True)
    return msgspec.structs.replace(context, settings=settings)


async def verdict(context: ChainContext, token: Address) -> Summary:
    report = await judge(context, token)
    native = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    return render_summary(
        report, native, chain="ethereum", address=token, liquid_above_usd=LIQUID_USD
    )


def put(chain: Chain, context: ChainContext, token: ZooToken, placed: Placed) -> ChainContext:
    """Move the LP tokens from their maker; return what knows the locker."""
    held = lp_balance(chain, token)
    if placed == "spread":
        for number in range(1, 10):
            give_lp(chain, token, Address(f"0x{0xACC0 + number:040x}"), held // 10)
    elif placed == "burnt":
        give_lp(chain, token, DEAD, held)
    elif placed != "kept":
        until_s = now_s(chain) + (YEAR_S if placed == "locked" else WEEK_S)
        return with_locker(context, lock(chain, token, "DatedLocker", held, until_s))
    return context


@pytest.mark.parametrize(
    ("placed", "reasons"),
    [
        ("kept", ("warning_flags", "liquidity_can_leave")),
        ("spread", ("warning_flags", "liquidity_can_leave")),
        ("locked for a week", ("warning_flags", "liquidity_can_leave")),
        ("burnt", ()),
        ("locked", ()),
    ],
)
async def test_what_its_maker_can_take_is_not_safe(
    chain: Chain, asking: ChainContext, placed: Placed, reasons: tuple[str, ...]
) -> None:
    token = place(chain)
    told = await verdict(put(chain, asking, token, placed), token.address)
    assert told.verdict_reasons == reasons
    assert told.verdict == ("warning" if reasons else "safe")


@pytest.mark.parametrize("venue", ["v3", "v4"])
async def test_positions_are_looked_into_too(
    chain: Chain, asking: ChainContext, venue: VenueKey
) -> None:
    told = await verdict(asking, place(chain, venue=venue).address)
    assert told.verdict == "warning"
    assert told.verdict_reasons[-1] in ("liquidity_can_leave", "unanswered_danger_checks")


async def test_who_does_not_ask_is_not_told(chain: Chain, context: ChainContext) -> None:
    told = await verdict(context, place(chain).address)
    assert (told.verdict, told.verdict_reasons) == ("safe", ())
    assert "liquidity_can_leave" not in {flag.key for flag in told.flags}
