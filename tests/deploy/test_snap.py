"""Protects the MetaMask Snap: its insight into real transactions, in MetaMask's own sandbox.

Behind it are a real server and a real node. `make test-nodes` installs the sandbox.
"""

import asyncio
import json
import os
import time
from contextlib import aclosing
from typing import Any

import pytest

from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.quotes.chain_quotes import ChainQuotes
from assay.demo.anvil import ETHER
from assay.demo.npm_packages import find_node
from assay.demo.trader import Call, buy_call, sell_call
from assay.service.record_report import NextRefresh, record_report
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from core.evm.abi import call_data
from core.evm.primitives import Address
from sql.engine.store import Store
from tests.harness.api.open_port import on_network
from tests.harness.api.world import World
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.house.sources import ROOT

pytestmark = pytest.mark.other_nodes

SNAP = ROOT / "deploy" / "integrations" / "snap"
JEST = SNAP / "node_modules" / "jest" / "bin" / "jest.js"


def case(name: str, sender: Address, call: Call, *words: str, is_bad: bool) -> dict[str, Any]:
    """A transaction, and the words of its insight."""
    sent = {"from": sender, "to": call.to, "data": call.data, "value": hex(call.value_wei)}
    return {
        "name": name,
        "transaction": {"chainId": "eip155:1", **sent},
        "words": words,
        "severity": "critical" if is_bad else None,
    }


def cases_of(chain: Chain) -> list[dict[str, Any]]:
    venues, honest = chain.world.venues, chain.world.token("honest")
    trap, taxed = chain.world.token("sell_blocked"), chain.world.token("sell_tax")
    trader = chain.fresh_account()
    buy = buy_call(venues, honest, trader=trader, quote_raw=ETHER // 100)
    bait = buy_call(venues, trap, trader=trader, quote_raw=ETHER // 100)
    sale = sell_call(venues, trap, trader=trader, token_raw=ETHER)
    fair = sell_call(venues, taxed, trader=trader, token_raw=ETHER)
    allow = Call(to=trap.address, data=str(call_data("approve(address,uint256)", sale.to, ETHER)))
    pay = Call(to=chain.fresh_account(), data="0x", value_wei=1)
    through = "In a simulation on the newest block it goes through."
    return [
        case("buys an honest token", trader, buy, "Token: No problem found", through, is_bad=False),
        case("buys a trap", trader, bait, "Token: Danger", through, is_bad=True),
        case("sells a trap", trader, sale, "Token: Danger", "it fails", is_bad=True),
        case("sells at a tax", trader, fair, through, "The token takes", is_bad=False),
        case("allows a trap", trader, allow, ": Danger", is_bad=True),
        case("sends coins", trader, pay, "Not checked: no token was recognised", is_bad=False),
    ]


@pytest.mark.skipif(not JEST.exists(), reason="not installed: make test-nodes")
async def test_a_transaction_is_checked_before_it_is_signed(
    world: World, world_store: Store, chain: Chain, context: ChainContext
) -> None:
    for key in ("honest", "sell_blocked", "sell_tax"):
        report = await judge(context, chain.world.token(key).address)
        record_report(world_store, report, NextRefresh(worth=0, due_s=2**40))
    quotes = ChainQuotes({"ethereum": context}, concurrency=1)
    analyser = Analyser(
        {"ethereum": ChainScanner(context)},
        ReportStore(world_store, AnalysisSettings()),
        AnalysisSettings(),
        time.time,
    )
    parts = {"store": world_store, "quotes": quotes, "analysis": analyser}
    env = {**os.environ, "ASSAY_KEY": world.new_key("pro"), "CASES": json.dumps(cases_of(chain))}
    async with (
        aclosing(quotes),
        on_network(world, **parts, chains=(context.chain,)) as base,
    ):
        env["ASSAY_URL"] = base
        await run("build.cjs", env)
        assert "sells a trap" in await run(str(JEST), env)


async def run(program: str, env: dict[str, str]) -> str:
    """Run a program of the Snap; return its output."""
    process = await asyncio.create_subprocess_exec(
        *(str(find_node()), program),
        cwd=SNAP,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    shown, _ = await process.communicate()
    assert process.returncode == 0, shown.decode()
    return shown.decode()
