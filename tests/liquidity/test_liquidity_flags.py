"""Protects the checks of liquidity holders against real transactions."""

from typing import Literal

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.liquidity_inquiry import find_liquidity
from api.formats.resources.liquidity_format import liquidity_answer
from assay.demo.layout import BURN, VenueKey
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.locker_scene import give_lp, lp_balance
from tests.harness.quotes.quote_traps import place

Held = Literal["by its maker", "burnt", "by a contract"]

ALL, NONE = (True, True, False, True), (False, False, False, False)


@pytest.mark.parametrize(
    ("venue", "placement", "expected"),
    [
        ("v2", "by its maker", ALL),
        ("v3", "by its maker", ALL),
        ("v2", "burnt", NONE),
        ("v2", "by a contract", (None, None, None, None)),
    ],
)
async def test_checks_follow_from_where_the_liquidity_was_sent(
    chain: Chain,
    context: ChainContext,
    venue: VenueKey,
    placement: Held,
    expected: tuple[bool | None, ...],
) -> None:
    token = place(chain, venue=venue)
    wrapped = chain.world.venues.wrapped_native.address
    to = {"burnt": BURN, "by a contract": wrapped, "by its maker": None}[placement]
    if to is not None:
        give_lp(chain, token, to, lp_balance(chain, token))
    report = await judge(context, token.address)
    made = msgspec.structs.replace(report.token, creator_address=token.owner)
    report = msgspec.structs.replace(report, token=made)
    found = await find_liquidity(context, token.address, report)
    answer = liquidity_answer(found, context.chain, report.token)
    flags = {flag.key: flag.value for flag in answer.flags}
    assert (
        flags["liquidity_held_by_one"],
        flags["issuer_can_withdraw_liquidity"],
        flags["liquidity_unlocks_soon"],
        flags["sale_fails_after_withdrawal"],
    ) == expected
    shares = {
        "by its maker": answer.withdrawable_share,
        "burnt": answer.protected_share,
        "by a contract": answer.unknown_share,
    }
    assert shares.pop(placement) == pytest.approx(1)
    assert list(shares.values()) == [pytest.approx(0, abs=1e-9)] * 2
