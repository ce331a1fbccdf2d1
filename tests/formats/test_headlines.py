"""Protects the headline against the truth: it describes the real effect of the demo's tokens.

`test_zoo.py` measures by real transactions the effect of each token; the headline is made from the
report alone, which never reads the zoo's description. `*` stands for an address or a date.
"""

import re

import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.prose.headline import headline_of
from api.formats.prose.rendered_report import render_for_people
from api.formats.token_snapshot import take_snapshot
from assay.demo.layout import World
from assay.demo.zoo import ZOO
from core.errors import TokenRefusedError
from core.evm.primitives import Address
from tests.harness.chain import old_states
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

anvil_node, demo_world, facts = old_states.anvil_node, old_states.demo_world, old_states.facts

MIN_LIQUIDITY_USD = 100.0

CLEAN = "Nothing tested stands against it; 2 of 41 checks have no answer"
NOT_LOCKED = "You can buy and sell it, but * can withdraw 100 % of its liquidity"
NO_LIQUIDITY_KNOWN = "it is not known who can withdraw its liquidity"
UNKNOWN_V4 = (
    f"Nothing tested stands against it; {NO_LIQUIDITY_KNOWN}; 3 of 41 checks have no answer"
)
UNSELLABLE = "You can buy it, but you cannot sell it"
TAXED_3 = (
    "Buys, sales and transfers are taxed 3 %, and the owner can change the tax (at most 10 %); "
    "nothing else tested stands against it"
)
CLOSED = (
    "You can neither buy, sell nor transfer it: transfers revert with “trading is not open”; "
    "the owner can change that"
)
REPLACEABLE = "You can buy and sell it, but its code can be replaced at any time, as it is a proxy"

# What stands in the way of people, token by token; every other one of the zoo is CLEAN.
HEADLINES = {
    "buy_tax": "Buys are taxed 7 %, and the owner can change the tax",
    "sell_tax": "Sales are taxed 12 %, and the owner can change the tax",
    "both_tax": "Buys are taxed 5 %, sales 9 %, and the owner can change the tax",
    "transfer_tax": TAXED_3,
    "algebra_transfer_tax": TAXED_3,
    "solid_transfer_tax": TAXED_3,
    "sell_blocked": "You can buy it; only the owner can sell",
    "not_opened": CLOSED,
    "v3_not_opened": CLOSED,
    "blacklist": "You can buy it, but you can neither sell nor transfer it: transfers revert with "
    "“bot”; its owner can; single addresses can be blocked from trading",
    "cooldown": "You can buy and sell it, but a sale right after the buy is refused, one after "
    "5 minutes passes",
    "max_transaction": "You can buy and sell it, but a single transfer can move at most 1 % of the "
    "supply, and the owner can change that",
    "tiny_transaction": "You can buy and sell it, but a single transfer can move at most 0.01 % of "
    "the supply; buys, sales and transfers are taxed 2 %; it is not known whether sales still pass "
    "within the next 30 days",
    "max_wallet": "You can buy and sell it, but a wallet can hold at most 2 % of the supply, and "
    "the owner can change that",
    "mintable": "You can buy and sell it, but the owner can create new tokens",
    "pausable": "You can buy and sell it, but the owner can stop transfers for everybody",
    # The node may have lost the states round its creation.
    "clone_1167": "Nothing tested stands against it; * of 41 checks have no answer",
    "proxy_1967": REPLACEABLE,
    "proxy_beacon": REPLACEABLE,
    "timebomb_constant": "Nothing tested stands against it before 1 January 2100, a date in its "
    "code; 2 of 41 checks have no answer",
    "timebomb_stored": "Sales that pass today are refused after 30 days, by a deadline on *; the "
    "owner can move that date",
    "bypass_universal": "Anybody can take tokens out of your wallet without approval",
    "bypass_stored": "* can take tokens out of your wallet without approval",
    "bypass_constant": "* can take tokens out of your wallet without approval",
    "drain_open": "Anybody can take tokens out of your wallet",
    "drain_keeper": "* can take tokens out of your wallet",
    "silent_refusal": "You can buy it, but you can neither sell nor transfer it: a transfer "
    "succeeds and moves nothing; its owner can",
    "thin": "Its deepest pool holds only $90; no trade was tested",
    "v3_transfer_tax": f"{UNSELLABLE}: it reverts with “IIA”; its owner can; buys and transfers "
    "are taxed 3 %",
    "v4_transfer_tax": f"{UNSELLABLE}: it reverts with “CurrencyNotSettled()”; its owner can; buys "
    "and transfers are taxed 3 %",
    "v4_hook": "Buys are taxed 2 %, sales 4 %; " + NO_LIQUIDITY_KNOWN,
    "v4_trap": "You can buy it, but the hook of its pool refuses every sale; buys are taxed 1.23 %",
    "v4_usdc_hook": "Buys and sales are taxed 1.23 %; " + NO_LIQUIDITY_KNOWN,
    "v4_input_hook": "Buys and sales are taxed 3 %; " + NO_LIQUIDITY_KNOWN,
    "evades_free_gas": f"{UNSELLABLE}; its owner can",
    "evades_rich": f"{UNSELLABLE}; its owner can",
    "evades_round": f"{UNSELLABLE}; its owner can",
    "evades_clock": f"{UNSELLABLE}; its owner can; an address must wait between its transfers",
    "dumping": "A seller loses 99.99 % of the sale; sales that pass today are refused after "
    "5 minutes",
    "partial_sale": "A seller loses 99.9 % of the sale",
    "melting": "A buyer loses 99 % of what was bought; sales are taxed 99 % after 30 days",
    "frozen": "You can buy it, but you can neither sell nor transfer it: transfers revert with "
    "“frozen”",
    "v4_honest": UNKNOWN_V4,
    "v4_usdc": UNKNOWN_V4,
    "v4_dynamic_fee": "You can buy and sell it, but somebody can change the tax; "
    + NO_LIQUIDITY_KNOWN,
    "v4_router_hook": UNKNOWN_V4,
    "pancake_honest": NOT_LOCKED,
    "slipstream_honest": NOT_LOCKED,
    "liquidity_kept": NOT_LOCKED,
    "decoy": "You can buy it, but you can neither sell nor transfer it: transfers revert with "
    "“frozen”; the code can move or approve tokens and is not proved to ask their holder",
}
LAUNCHED = {
    "curve": "No trade was tested, as it still trades on the curve of demo-curve; otherwise "
    "nothing tested stands against it; 13 of 41 checks have no answer",
    "curve_fresh": "Nobody has bought it yet on the curve of demo-curve; no trade was tested",
    "curve_sold_out": "It was launched on demo-curve and has no pool now; no trade was tested",
    "graduated": "Nothing tested stands against it; 3 of 41 checks have no answer",
    "seeded": CLEAN,
}
"""Headlines of all tokens of the demo's launch platforms."""

REFUSED = {"symbol_burns_gas", "symbol_reverts"}
"""No analysis: they do not answer symbol()."""


@pytest.mark.parametrize("key", [animal.key for animal in ZOO])
async def test_a_headline_says_what_the_token_does(
    chain: Chain, context: ChainContext, key: str
) -> None:
    token = chain.world.token(key).address
    if key in REFUSED:
        with pytest.raises(TokenRefusedError, match=r"symbol\(\)"):
            await judge(context, token)
        return
    sentence = await headline(context, token)
    wanted = re.escape(HEADLINES.get(key, CLEAN)).replace(r"\*", r"[^;]+")
    assert re.fullmatch(wanted, sentence), sentence


@pytest.mark.parametrize("key", LAUNCHED)
async def test_a_headline_says_where_a_launched_token_is_sold(
    chain: Chain, context: ChainContext, key: str
) -> None:
    assert await headline(context, chain.world.issued(key).address) == LAUNCHED[key]


def test_every_launched_token_has_its_headline(demo_world: World) -> None:
    assert set(LAUNCHED) == {issued.key for issued in demo_world.launched}


async def headline(context: ChainContext, token: Address) -> str:
    report = await judge(context, token)
    snapshot = take_snapshot(
        report,
        context.chain,
        now_s=report.token.scanned_at_s,
        liquid_above_usd=MIN_LIQUIDITY_USD,
    )
    return headline_of(render_for_people(snapshot))


def test_every_headline_is_of_a_token_of_the_zoo() -> None:
    assert set(HEADLINES) <= {animal.key for animal in ZOO}
