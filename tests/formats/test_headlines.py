"""Protects headline and tiles against the truth: the real effect of the demo's tokens.

`test_zoo.py` measures by real transactions the effect of each token; the headline is made from the
report alone, which never reads the zoo's description. `*` stands for an address or a date.
"""

import re

import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.prose.headline import headline_of
from api.formats.prose.rendered_report import RenderedReport, render_for_people
from api.formats.token_snapshot import take_snapshot
from api.pages.views.finding_view import view_findings
from api.pages.views.tile_view import view_tiles
from assay.demo.layout import World
from assay.demo.zoo import ZOO
from core.errors import TokenRefusedError
from core.evm.primitives import Address
from tests.harness.chain import old_states
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

anvil_node, demo_world, facts = old_states.anvil_node, old_states.demo_world, old_states.facts

MIN_LIQUIDITY_USD = 100.0

CLEAN = "No problems found in 39 of 41 checks. Two could not be answered"
WITHDRAWABLE = (
    "You can buy and sell it, but * can withdraw all the liquidity at any time. "
    "After that, selling pays nothing"
)
UNSELLABLE = "You can buy it, but you can't sell it"
OWNER_SELLS = f"{UNSELLABLE}. The owner can sell it"
TAXED_3 = (
    "You pay 3 % tax on buys, sales and transfers. The owner can change the tax (at most 10 %). "
    "No other problems found"
)
SHORT_OF_TAX = (
    f"{UNSELLABLE}: the pool gets less than it asks for. The owner can sell it. You pay 3 % tax on "
    "buys and transfers"
)
CLOSED = (
    "You can't buy, sell or transfer it: the token answers “trading is not open”. The owner can "
    "change that"
)
TO_HOOK = "to a program of its pool (a hook)"
REPLACEABLE = "You can buy and sell it, but its code can be replaced at any time"

# Obstacles for people by token; every other one of the zoo is CLEAN.
HEADLINES = {
    "buy_tax": "You pay 7 % tax on buys. The owner can change the tax",
    "sell_tax": "You pay 12 % tax on sales. The owner can change the tax",
    "both_tax": "You pay 5 % tax on buys and 9 % tax on sales. The owner can change the tax",
    "transfer_tax": TAXED_3,
    "algebra_transfer_tax": TAXED_3,
    "solid_transfer_tax": TAXED_3,
    "sell_blocked": "You can buy it, but only the owner can sell it",
    "not_opened": CLOSED,
    "v3_not_opened": CLOSED,
    "blacklist": "You can buy it, but you can't sell or transfer it: the token answers “bot”. The "
    "owner can sell it. Single addresses can be blocked from trading",
    "cooldown": "You can't sell right after buying. A sale 5 minutes later works. No other "
    "problems found",
    "max_transaction": "You can buy and sell it, but one transfer can move at most 1 % of the "
    "supply. The owner can change that",
    "tiny_transaction": "You can buy and sell it, but one transfer can move at most 0.01 % of the "
    "supply. You pay 2 % tax on buys, sales and transfers. It is unknown whether you can still "
    "sell it within the next 30 days",
    "max_wallet": "You can buy and sell it, but a wallet can hold at most 2 % of the supply. "
    "The owner can change that",
    "mintable": "You can buy and sell it, but the owner can create tokens",
    "pausable": "You can buy and sell it, but the owner can pause all transfers",
    # The node may have lost the states round its creation.
    "clone_1167": "No problems found in * checks. * could not be answered",
    "proxy_1967": REPLACEABLE,
    "proxy_beacon": REPLACEABLE,
    "timebomb_constant": f"{CLEAN}. Its code names a date, 1 January 2100",
    "timebomb_stored": "You can sell it right away, but not after 30 days: its code has a deadline "
    "on *. The owner can move that date",
    "bypass_universal": "Anyone can take tokens out of your wallet without your approval",
    "bypass_stored": "One address, *, can take tokens out of your wallet without your approval",
    "bypass_constant": "One address, *, can take tokens out of your wallet without your approval",
    "drain_open": "Anyone can take tokens out of your wallet",
    "drain_keeper": "One address, *, can take tokens out of your wallet",
    "silent_refusal": "You can buy it, but you can't sell or transfer it: transfers report success "
    "and move nothing. The owner can sell it",
    "thin": "Its largest pool holds only $90, so no trades were tested",
    "v3_transfer_tax": SHORT_OF_TAX,
    "v4_transfer_tax": SHORT_OF_TAX,
    "v4_hook": f"You pay 2 % tax on buys and 4 % tax on sales, {TO_HOOK}. No other problems found",
    "v4_trap": "You can buy it, but a program of its pool (a hook) blocks every sale. You pay "
    f"1.23 % tax on buys, {TO_HOOK}",
    "v4_usdc_hook": f"You pay 1.23 % tax on buys and sales, {TO_HOOK}. No other problems found",
    "v4_input_hook": f"You pay 3 % tax on buys and sales, {TO_HOOK}. No other problems found",
    "evades_free_gas": OWNER_SELLS,
    "evades_rich": OWNER_SELLS,
    "evades_round": OWNER_SELLS,
    "evades_clock": f"{OWNER_SELLS}. You must wait between two transfers",
    "dumping": "Selling pays you less than 0.01 % of what the tokens are worth. You can sell it "
    "right away, but not after 5 minutes",
    "partial_sale": "Selling pays you only 0.1 % of what the tokens are worth",
    "melting": "Buying gives you only 1 % of what you pay for. After 30 days, sales are taxed 99 %",
    "frozen": "You can buy it, but you can't sell or transfer it: the token answers “frozen”",
    "v4_dynamic_fee": "You can buy and sell it, but each trade costs a 5 % fee, which a program of "
    "its pool (a hook) can change",
    "v4_router_hook": "You can trade it only through one router, *. No other problems found",
    "liquidity_kept": WITHDRAWABLE,
    "decoy": "You can buy it, but you can't sell or transfer it: the token answers “frozen”. It is "
    "not proved that tokens move only with their holder's consent",
}
LAUNCHED = {
    "curve": "It is still on its bonding curve, so no trades were tested. No problems found in 28 "
    "of 41 checks. 13 could not be answered",
    "curve_fresh": "Nobody has bought it yet on its bonding curve at demo-curve, so no trades were "
    "tested",
    "curve_sold_out": "It was launched on demo-curve and has no pool now, so no trades were tested",
    "graduated": "No problems found in 38 of 41 checks. Three could not be answered",
    "seeded": CLEAN,
}
"""Headlines of all tokens of the demo's launch platforms."""

TAKES = "Can take your tokens: *take tokens out of your wallet*"
TAX_POWER = "Can change the tax: Held by the owner"
ONLY_OWNER = "Can block single addresses from trading: Held by *"
NO_REASON = "Blocked: Every simulated sale fails, but the owner can sell"
SHUT = {
    "Buy": "Blocked: The token answers “trading is not open”",
    "Sell": "Blocked: The token answers “trading is not open”, but the owner can sell",
    "Transfer": "Blocked: The token answers “trading is not open”",
    "Owner and powers": "Can pause all transfers: Held by the owner, with one more",
}
SHORT = {
    "Sell": "Blocked: The pool gets less than it asks for, but the owner can sell",
    "Owner and powers": ONLY_OWNER,
}
FEE = "5 % fee: Set by a program of its pool (a hook)"

# Warnings of the tiles by token; all other tiles of the zoo warn of nothing.
TILES: dict[str, dict[str, str]] = {
    "buy_tax": {"Owner and powers": TAX_POWER},
    "sell_tax": {"Sell": "12 % tax: The owner can change the tax", "Owner and powers": TAX_POWER},
    "both_tax": {"Owner and powers": TAX_POWER},
    "sell_blocked": {"Sell": "Blocked: Only the owner can sell it", "Owner and powers": ONLY_OWNER},
    "not_opened": SHUT,
    "v3_not_opened": SHUT,
    "blacklist": {
        "Sell": "Blocked: The token answers “bot”, but the owner can sell",
        "Transfer": "Blocked: The token answers “bot”",
        "Owner and powers": ONLY_OWNER,
    },
    "max_transaction": {
        "Transfer": "Limited: One transfer can move at most 1 % of the supply. *",
        "Owner and powers": "Can limit the size of transfers or holdings: Held by the owner",
    },
    "tiny_transaction": {
        "Transfer": "Limited: One transfer can move at most 0.01 % of the supply",
        "Owner and powers": "Has an owner: *",
    },
    "max_wallet": {
        "Transfer": "Limited: A wallet can hold at most 2 % of the supply. *",
        "Owner and powers": "Can limit the size of transfers or holdings: Held by the owner",
    },
    "mintable": {"Owner and powers": "Can create tokens: Held by the owner"},
    "pausable": {"Owner and powers": "Can pause all transfers: Held by the owner"},
    "proxy_1967": {"Owner and powers": "Can replace its code: Held by *"},
    "proxy_beacon": {"Owner and powers": "Can replace its code: *"},
    "timebomb_stored": {
        "Sell": "Stops later: You can sell it right away, but not after 30 days: *",
        "Owner and powers": "Can pause all transfers: Held by the owner",
    },
    "bypass_universal": {"Owner and powers": TAKES},
    "bypass_stored": {"Owner and powers": TAKES},
    "bypass_constant": {"Owner and powers": TAKES},
    "drain_open": {"Owner and powers": TAKES},
    "drain_keeper": {"Owner and powers": TAKES},
    "silent_refusal": {
        "Sell": "Blocked: *",
        "Transfer": "Blocked: Transfers report success and move nothing",
        "Owner and powers": ONLY_OWNER,
    },
    "thin": {
        "Buy": "Not tested: Its pool holds too little",
        "Sell": "Not tested: Its pool holds too little",
        "Liquidity": "$90, too little: Its largest pool holds only $90",
    },
    "v3_transfer_tax": SHORT,
    "v4_transfer_tax": SHORT | {"Liquidity": "$30*: It is unknown who can withdraw the liquidity"},
    "v4_trap": {"Sell": "Blocked: A program of its pool (a hook) blocks every sale"},
    "v4_dynamic_fee": {
        "Buy": FEE,
        "Sell": FEE,
        "Owner and powers": "Can change the fee: Held by a program of its pool (a hook)",
    },
    "evades_free_gas": {"Sell": NO_REASON, "Owner and powers": ONLY_OWNER},
    "evades_rich": {"Sell": NO_REASON, "Owner and powers": ONLY_OWNER},
    "evades_round": {"Sell": NO_REASON, "Owner and powers": ONLY_OWNER},
    "evades_clock": {"Sell": NO_REASON, "Owner and powers": ONLY_OWNER},
    "dumping": {"Sell": "You lose 99.99 %: of what the tokens are worth"},
    "partial_sale": {"Sell": "You lose 99.9 %: of what the tokens are worth"},
    "melting": {
        "Buy": "You lose 99 %",
        "Sell": "Tax rises later: After 30 days, sales are taxed 99 %",
        "Owner and powers": "Depends on the time: *",
    },
    "frozen": {
        "Sell": "Blocked: The token answers “frozen”",
        "Transfer": "Blocked: The token answers “frozen”",
    },
    "decoy": {
        "Sell": "Blocked: The token answers “frozen”",
        "Transfer": "Blocked: The token answers “frozen”",
        "Owner and powers": "Not proved: It is not proved that tokens move only with their "
        "holder's consent",
    },
    "liquidity_kept": {"Liquidity": "$30k, not locked: * can withdraw 100 % of it"},
}
LAUNCHED_TILES: dict[str, dict[str, str]] = {
    "curve": dict.fromkeys(("Buy", "Sell"), "Not tested: It is still on its bonding curve"),
    "curve_fresh": dict.fromkeys(("Buy", "Sell"), "Not tested: It is still on its bonding curve")
    | {"Liquidity": "$0, too little: Nobody has bought it yet *"},
    "curve_sold_out": dict.fromkeys(("Buy", "Sell"), "Not tested: It has no pool")
    | {"Liquidity": "None: It was launched on demo-curve and has no pool now"},
}

REFUSED = {"symbol_burns_gas", "symbol_reverts"}
"""No analysis: they do not answer symbol()."""


@pytest.mark.parametrize("key", [animal.key for animal in ZOO])
async def test_headline_and_tiles_say_what_the_token_does(
    chain: Chain, context: ChainContext, key: str
) -> None:
    token = chain.world.token(key).address
    if key in REFUSED:
        with pytest.raises(TokenRefusedError, match=r"symbol\(\)"):
            await judge(context, token)
        return
    shown = await show(context, token)
    assert matches(HEADLINES.get(key, CLEAN), headline_of(shown)), headline_of(shown)
    assert_tiles(TILES.get(key, {}), shown)


@pytest.mark.parametrize("key", LAUNCHED)
async def test_headline_and_tiles_say_where_a_launched_token_is_sold(
    chain: Chain, context: ChainContext, key: str
) -> None:
    shown = await show(context, chain.world.issued(key).address)
    assert headline_of(shown) == LAUNCHED[key]
    assert_tiles(LAUNCHED_TILES.get(key, {}), shown)


def test_every_launched_token_has_its_headline(demo_world: World) -> None:
    assert set(LAUNCHED) == {issued.key for issued in demo_world.launched}


def assert_tiles(wanted: dict[str, str], shown: RenderedReport) -> None:
    """Compare the tiles that warn; all five are there, and the page counts as the API does."""
    tiles = view_tiles(shown)
    assert [tile.name for tile in tiles] == [
        *("Buy", "Sell", "Transfer", "Liquidity", "Owner and powers")
    ]
    texts = {
        tile.name: f"{tile.answer}{f': {tile.detail}' if tile.detail else ''}"
        for tile in tiles
        if tile.tone in ("warn", "bad", "unknown")
    }
    assert set(texts) == set(wanted), texts
    for name, text in wanted.items():
        assert matches(text, texts[name]), texts[name]
    groups, summary = view_findings(shown), shown.summary
    assert sum(line.checks for line in groups.wrong) == (
        summary.danger_flag_count + summary.warning_flag_count
    )
    assert sum(line.checks for line in groups.unknown) == summary.unknown_flag_count
    assert sum(line.checks for line in groups.fine) == summary.passed_flag_count


def matches(wanted: str, text: str) -> bool:
    return re.fullmatch(re.escape(wanted).replace(r"\*", ".*"), text) is not None


async def show(context: ChainContext, token: Address) -> RenderedReport:
    report = await judge(context, token)
    snapshot = take_snapshot(
        report,
        context.chain,
        now_s=report.token.scanned_at_s,
        liquid_above_usd=MIN_LIQUIDITY_USD,
    )
    return render_for_people(snapshot)


def test_every_headline_and_tile_is_of_a_token_of_the_zoo() -> None:
    assert {*HEADLINES, *TILES} <= {animal.key for animal in ZOO}
    assert set(LAUNCHED_TILES) <= set(LAUNCHED)
