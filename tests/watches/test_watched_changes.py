"""Protects that every change of a watched token is noticed and analysed, also after an outage."""

import os
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.compile import Artifacts
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import ZooToken
from assay.demo.world import build_world
from config.facts.chain import Chain as ChainFacts
from core.errors import UpstreamError
from core.evm.abi import call_data
from core.evm.primitives import checksum
from core.report.report import Report
from core.rpc.client import RpcClient
from core.rpc.messages import RpcRequest
from sql.engine.store_files import StoreFiles
from tests.harness.chain.assay_process import run, running, until
from tests.harness.chain.transactions import Chain
from tests.harness.parts.free_ports import free_port
from tests.harness.watches.watched_scene import Scene, place, watching


def sell_tax(report: Report) -> float | None:
    assert report.pools
    return report.pools[0].sell_tax


async def after(
    scene: Scene, token: ZooToken, change: Callable[[], object]
) -> tuple[set[str], Report]:
    """Return kinds of observations of a change, and the report that accounts for it."""
    before = scene.report(token.address).token.block_number
    change()
    head = scene.chain.node.head_number()
    await scene.settle()
    seen = scene.seen(token.address, above=before)
    report = scene.report(token.address)
    assert all(one.block_number <= head for one in seen)
    if seen:
        assert report.token.block_number >= max(one.block_number for one in seen)
    assert not scene.due()
    return {one.kind for one in seen}, report


async def test_every_way_to_change_a_token_is_noticed(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    token = place(chain)
    at, owner = token.address, token.owner
    holder, other = token.holders[:2]
    purse = chain.deploy("Purse")
    rates = chain.deploy("Rates")
    assert chain.send(owner, at, "setRates(address)", rates).success

    def by_purse(signature: str, *values: object) -> object:
        data = bytes.fromhex(call_data(signature, *values)[2:])
        return chain.send(holder, purse, "execute(address,bytes)", at, data)

    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([at])
        assert sell_tax(scene.report(at)) == 0

        kinds, _ = await after(scene, token, lambda: chain.transfer(at, holder, other, ETHER))
        assert kinds == set()  # what holders do among themselves is no change

        called = {"owner_call", "state"}
        for change, expected, tax in (
            (lambda: chain.send(owner, at, "setTax(uint256)", 5), called, 5),
            (
                lambda: chain.send(owner, at, "announceTax(uint256)", 7),
                called | {"parameter_event"},
                7,
            ),
            # neither an event nor a call of the token
            (lambda: chain.send(holder, rates, "push(address,uint256)", at, 9), {"state"}, 9),
            # the trap: a transfer like any other
            (lambda: chain.transfer(at, holder, holder, 4242), {"state"}, 60),
        ):
            kinds, report = await after(scene, token, change)
            assert kinds == expected
            assert sell_tax(report) == pytest.approx(tax, abs=0.1)

        kinds, report = await after(
            scene, token, lambda: chain.send(owner, at, "transferOwnership(address)", purse)
        )
        assert kinds == {"owner_call", "ownership_event", "state"}
        assert report.token.owner_address == purse

        kinds, report = await after(scene, token, lambda: by_purse("setTax(uint256)", 11))
        assert kinds == {"state"}
        assert sell_tax(report) == pytest.approx(11, abs=0.1)

        kinds, _ = await after(scene, token, lambda: by_purse("pause()"))
        assert kinds == {"parameter_event", "state"}
        newest = next(one for one in scene.seen(at) if one.kind == "parameter_event")
        assert newest.what == "Paused"

        kinds, report = await after(scene, token, lambda: by_purse("renounceOwnership()"))
        assert kinds == {"ownership_event", "state"}
        assert report.token.ownership_renounced
        assert len(scene.noticed) == 8


async def test_liquidity_failed_trades_and_other_taxes_are_noticed(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    token = place(chain)
    at, owner, pair = token.address, token.owner, token.pool.address
    plain, marked = token.holders[:2]
    assert chain.send(owner, at, "setOwnTax(address,uint256)", marked, 30).success
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([at])

        kinds, _ = await after(scene, token, lambda: chain.sell(token, plain, 10 * ETHER))
        assert kinds == set()  # as predicted, and little: the counter of trades decides nothing

        kinds, _ = await after(scene, token, lambda: chain.sell(token, marked, 10 * ETHER))
        assert kinds == {"other_tax"}  # the trap: the tax is that of a few, in a mapping
        (seen,) = [one for one in scene.seen(at) if one.kind == "other_tax"]
        assert (seen.what, seen.sender) == (pair, marked)
        assert seen.detail == "sell paid 30.00 %, predicted 0.00 %"

        buyer = chain.fresh_account()
        kinds, _ = await after(scene, token, lambda: chain.buy(token, buyer))
        assert kinds == set()

        kinds, report = await after(scene, token, lambda: chain.buy(token, buyer, ETHER))
        assert kinds == {"liquidity"}
        deep = report.pools and report.pools[0].quote_side_usd

        share = chain.balance(pair, owner)
        assert chain.send(owner, pair, "transfer(address,uint256)", pair, share).success
        kinds, report = await after(
            scene, token, lambda: chain.send(owner, pair, "burn(address)", owner)
        )
        assert "liquidity" in kinds
        assert deep
        assert not report.pools or report.pools[0].quote_side_usd < deep / 100


async def test_a_failed_trade_is_told_with_what_it_failed_with(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    token = place(chain)
    at, seller = token.address, token.holders[0]
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([at])
        assert chain.send(token.owner, at, "pause()").success
        await scene.settle()
        moved = chain.sell(token, seller, ETHER)
        assert not moved.success
        await scene.level()
        newest = scene.seen(at)[0]
        assert (newest.kind, newest.what, newest.sender) == ("failed_trade", "sell", seller)
        assert newest.tx_hash == moved.sent.hash
        assert "TRANSFER_FROM_FAILED" in (newest.detail or "")
        await scene.settle()
        assert not scene.due()


async def test_a_deadline_that_passes_is_a_cause_by_itself(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    opens_at = anvil_node.head_time() + 5_000
    token = place(chain, opens_at=opens_at)
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([token.address])
        report = scene.report(token.address)
        assert report.pools
        assert report.pools[0].buy == "refused"
        assert await after(scene, token, chain.mine) == (set(), report)
        chain.node.set_time(opens_at + 1)
        kinds, report = await after(scene, token, lambda: None)
        assert kinds == {"deadline"}
        assert report.pools
        assert report.pools[0].buy == "passed"


async def test_a_reorg_takes_back_what_was_seen_and_a_kill_loses_nothing(
    chain: Chain, facts: ChainFacts, anvil_node: AnvilNode, tmp_path: Path
) -> None:
    token = place(chain)
    at = token.address
    chain.mine(3)
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([at])
        chain.mine()
        kinds, report = await after(
            scene, token, lambda: chain.send(token.owner, at, "setTax(uint256)", 20)
        )
        assert kinds == {"owner_call", "state"}
        assert sell_tax(report) == pytest.approx(20, abs=0.1)
        chain.reorg(2)
        await scene.level()
        assert not scene.seen(at)
        await scene.settle()
        assert sell_tax(scene.report(at)) == 0
        # As if killed between what was seen and its analysis: only what is stored is left.
        assert chain.send(token.owner, at, "setTax(uint256)", 30).success
        await scene.look()
        seen = scene.seen(at)
        assert scene.due()
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.look()
        assert scene.seen(at) == seen  # nothing is reported twice
        await scene.settle()
        assert sell_tax(scene.report(at)) == pytest.approx(30, abs=0.1)
        assert not scene.due()


async def test_without_a_watched_token_nothing_more_is_asked(
    chain: Chain,
    facts: ChainFacts,
    anvil_node: AnvilNode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = place(chain)
    request_counts = count_requests(monkeypatch)
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.level()
        await scene.analyser.refresh("ethereum", token.address)
        request_counts.clear()
        assert chain.send(token.owner, token.address, "setTax(uint256)", 5).success
        await scene.look()
        unwatched = set(request_counts)
        await scene.begin_watching([token.address])
        request_counts.clear()
        assert chain.send(token.owner, token.address, "setTax(uint256)", 6).success
        await scene.look()
        # The request for the head may precede the block, and its answer follow it.
        following = {"eth_getBlockByNumber False", "eth_getLogs topics"}
        assert unwatched | {"eth_getBlockByNumber False"} == following
        assert set(request_counts) - following == {
            "eth_getBlockByHash True",  # which may be turned off
            "eth_getTransactionReceipt",
            "eth_call",
        }
        assert request_counts["eth_call"] == 2  # words, and balances of pools


async def test_a_node_that_does_not_answer_all_holds_nothing_up(
    chain: Chain,
    facts: ChainFacts,
    anvil_node: AnvilNode,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = place(chain)
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.begin_watching([token.address])
        ask = RpcClient.ask

        async def refuse(
            client: RpcClient, requests: Sequence[RpcRequest], *rest: Any, **more: Any
        ) -> object:
            if any(name_of(request) in REFUSED for request in requests):
                raise UpstreamError(service="node", reason="not today")
            return await ask(client, requests, *rest, **more)

        monkeypatch.setattr(RpcClient, "ask", refuse)
        kinds, report = await after(
            scene, token, lambda: chain.send(token.owner, token.address, "announceTax(uint256)", 5)
        )
        assert kinds == {"state"}  # what needs neither logs nor transactions
        assert sell_tax(report) == pytest.approx(5, abs=0.1)
        assert scene.statuses[scene.chain_id].totals.watched.missing_reads == 2


REFUSED = {"eth_getBlockByHash True", "eth_getLogs address"}


def name_of(request: RpcRequest) -> str:
    """Name a request by its method and its kind."""
    match request.params:
        case ({"address": _}, *_):
            return f"{request.method} address"
        case ({"topics": _}, *_):
            return f"{request.method} topics"
        case (_, bool(flag)):
            return f"{request.method} {flag}"
    return request.method


def count_requests(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the requests from now on, by kind."""
    request_counts: Counter[str] = Counter()
    ask = RpcClient.ask

    async def counted(
        client: RpcClient, requests: Sequence[RpcRequest], *rest: Any, **more: Any
    ) -> object:
        request_counts.update(name_of(request) for request in requests)
        return await ask(client, requests, *rest, **more)

    monkeypatch.setattr(RpcClient, "ask", counted)
    return request_counts


# --- watched kill -------------------------------------------------------------------------------

SETTINGS = """
[indexer]
poll_s = 0.1
changed_every_blocks = 1

[analysis]
rounds_every_s = 3600.0
"""


@contextmanager
def serving(env: dict[str, str], key: str) -> Iterator[httpx.Client]:
    """The service until it is killed with -9 at the end."""
    port = free_port()
    with (
        running("serve", "--port", str(port), env=env) as process,
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": key}, timeout=60
        ) as client,
    ):

        def ready() -> bool | None:
            assert process.poll() is None, process.stdout and process.stdout.read()
            try:
                return client.get("/ready").status_code == 200 or None
            except httpx.TransportError:
                return None

        until(ready)
        yield client
        os.killpg(process.pid, signal.SIGKILL)


def rows(store: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(StoreFiles(prefix=store).serving)) as opened:
        found = opened.execute(query).fetchall()
        opened.commit()
        return found


@pytest.mark.process
def test_a_kill_loses_no_change_and_doubles_none(artifacts: Artifacts, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with AnvilNode() as node:
        world = build_world(node)
        chain = Chain(node, world, artifacts)
        write_overlay(world, tmp_path, more=SETTINGS)
        token = place(chain)
        rates = chain.deploy("Rates")
        assert chain.send(token.owner, token.address, "setRates(address)", rates).success
        env = {
            "ASSAY_RPC_1": node.url,
            "ASSAY_CONFIG": str(tmp_path),
            "ASSAY_STORE": str(store),
        }
        key = run("keys", "create", "--plan", "admin", "--label", "x", env=env).stdout.strip()
        with serving(env, key) as client:
            answer = client.get(f"/token/ethereum/{checksum(token.address)}")
            assert answer.json()["features"]["dex"][0]["sell_tax"] == 0
            until(lambda: rows(store, "select 1 from report where is_settled = 1") or None)
            rows(store, "insert into watch (id, is_paused) values (1, 0)")
            rows(
                store, "insert into watch_token (watch_id, token_id) select 1, token_id from report"
            )
            chain.mine()
            until(lambda: rows(store, "select 1 from watched_reserves") or None)
            chain.send(token.owner, token.address, "setTax(uint256)", 8)
            until(lambda: rows(store, "select 1 from observation") or None)
        chain.send(token.holders[0], rates, "push(address,uint256)", token.address, 9)
        head = node.head_number()
        with serving(env, key):
            report = "select block_number from report where is_settled = 1"
            until(lambda: max(rows(store, report), default=(0,)) >= (head,) or None)
            due = "select 1 from task where kind = 'changed'"
            until(lambda: not rows(store, due) or None)
        seen = rows(
            store, "select kind, count(*), count(distinct what) from observation group by 1"
        )
        kinds = {str(kind): (count, different) for kind, count, different in seen}
        assert kinds["owner_call"] == (1, 1)
        assert set(kinds) == {"owner_call", "state"}
        words = rows(store, "select detail from observation where kind = 'state' order by 1 desc")
        assert len({str(word[0]).split()[1] for word in words}) == len(words)  # each value once
        (tax,) = rows(store, "select sell_tax from report_pool")
        assert tax[0] == pytest.approx(9, abs=0.1)
