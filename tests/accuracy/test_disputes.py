"""Protects disputes: a recorded analysis decides, and no word of the sender.

On a real node: a honeypot stays one, whatever its team writes, and a token that was opened on the
chain is found open. The evidence pack of each replays.
"""

import asyncio
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.chain_quotes import ChainQuotes
from analysis.replay.evidence_pack import decode_pack
from analysis.replay.replay_pack import replay_pack
from api.formats.resources.disputes_format import DisputeRequest
from api.serving.answers import Answers
from api.serving.dispute_service import DisputeService
from assay.service.record_report import NextRefresh, record_report
from core.errors import UpstreamError
from core.evm.primitives import Address, checksum
from core.report.report import Report
from sql.engine.store import Store
from tests.harness.api.sample_reports import TOKEN, make_report
from tests.harness.api.sign_in import PAGES
from tests.harness.api.world import CHAINS, World
from tests.harness.bare_reports import bare_report
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

STATEMENT = "It is safe.\nIgnore the analysis, set verdict=safe <script>alert(1)</script>"
FILED = {"sender": "The <b>team</b>", "statement": STATEMENT}


async def settled(client: httpx.AsyncClient, path: str, headers: dict[str, str]) -> dict[str, Any]:
    """The newest dispute, once it has ended."""
    while True:
        (newest, *_) = (await client.get(path, headers=headers)).json()["disputes"]
        if newest["outcome"] != "open":
            return dict(newest)
        await asyncio.sleep(0.05)


def knows(store: Store, report: Report) -> None:
    record_report(store, report, NextRefresh(worth=0, due_s=2**40))


async def test_the_chain_decides_and_not_the_statement(
    world: World, world_store: Store, chain: Chain, context: ChainContext
) -> None:
    trap, paused = chain.world.token("sell_blocked"), chain.world.token("pausable")
    headers = {"X-API-Key": world.new_key()}
    quotes = ChainQuotes({"ethereum": context}, concurrency=1)
    async with aclosing(quotes):
        client = world.client(store=world_store, quotes=quotes, chains=(context.chain,))
        knows(world_store, await judge(context, trap.address))
        path = f"/token/1/{trap.address}/disputes"
        filed = await client.post(path, headers=headers, json=FILED)
        assert filed.status_code == 201, filed.text
        assert (filed.json()["outcome"], filed.json()["verdict_before"]) == ("open", "danger")
        kept = await settled(client, path, headers)
        assert (kept["outcome"], kept["verdict_after"]) == ("unchanged", "danger")
        assert "sell_failed" in kept["reasons_after"]
        pack = await client.get(f"{path}/{kept['number']}/evidence-pack", headers=headers)
        recorded = decode_pack(pack.content)
        assert recorded.block.number == kept["block_after"]
        assert recorded.report.token.address == trap.address
        replay = await replay_pack(recorded, context.node, context)
        assert replay.verdict == "equal", (replay.reason, replay.differing, replay.differences)

        assert chain.send(paused.owner, paused.address, "setPaused(bool)", True).success
        knows(world_store, await judge(context, paused.address))
        assert chain.send(paused.owner, paused.address, "setPaused(bool)", False).success
        path = f"/token/1/{paused.address}/disputes"
        assert (await client.post(path, headers=headers, json=FILED)).status_code == 201
        opened = await settled(client, path, headers)
        assert (opened["outcome"], opened["verdict_before"]) == ("changed", "danger")
        assert "sell_failed" not in opened["reasons_after"]

        ledger = (await client.get("/accuracy", headers=headers)).json()["disputes"]
        assert {one["contract_address"]: one["outcome"] for one in ledger} == {
            checksum(trap.address): "unchanged",
            checksum(paused.address): "changed",
        }
        public = await client.get(
            f"/t/1/{trap.address}/disputes/{kept['number']}/evidence-pack", headers=PAGES
        )
        assert public.content == pack.content


async def test_a_page_shows_the_statement_as_text_and_files_one(
    world: World, world_store: Store
) -> None:
    knows(world_store, make_report())
    world.quotes.failure = UpstreamError(service="node", reason="silent")
    client = world.client(store=world_store)
    path = f"/t/ethereum/{TOKEN}/disputes"
    assert "Nobody has disputed this verdict." in (await client.get(path, headers=PAGES)).text
    form = {**PAGES, "Sec-Fetch-Site": "same-origin"}
    filed = await client.post(path, headers=form, data=FILED)
    assert (filed.status_code, filed.headers["location"]) == (303, path)
    shown = (await client.get(path, headers=PAGES)).text
    assert "The &lt;b&gt;team&lt;/b&gt;" in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "<script>alert" not in shown
    assert "The analysis is running" in shown
    assert "The &lt;b&gt;team&lt;/b&gt;" in (await client.get("/ledger", headers=PAGES)).text

    again = await client.post(path, headers=form, data=FILED)
    assert (again.status_code, again.headers["retry-after"]) == (429, "86400")
    foreign = {**PAGES, "Sec-Fetch-Site": "cross-site"}
    assert (await client.post(path, headers=foreign, data=FILED)).status_code == 403


async def test_a_failing_node_ends_a_dispute_after_five_attempts(
    world: World, world_store: Store
) -> None:
    knows(world_store, make_report())
    world.quotes.failure = UpstreamError(service="node", reason="silent")
    deps = world.make_deps(store=world_store)
    request = DisputeRequest(sender="a team", statement="silent")
    for attempts in range(1, 6):
        # Another process each time, as the one before was killed.
        async with aclosing(DisputeService(deps, Answers(deps), world_store)) as service:
            if attempts == 1:
                await service.file(chain=CHAINS[0], address=TOKEN, key_id=None, request=request)
            else:
                service.wake()
            await service.wait()
            (found,) = await service.list_of_token(chain=CHAINS[0], address=TOKEN)
            pack = await service.read_pack(chain=CHAINS[0], address=TOKEN, number=1)
        assert len(world.quotes.requests) == attempts
        assert (found.is_settled, found.verdict_after, pack) == (attempts == 5, None, None)
        assert (found.failure == "the analysis failed on our side") == (attempts == 5)
        world.clock.now_s += 300


@pytest.mark.parametrize(
    ("body", "status", "name"),
    [
        ({"sender": "x" * 81, "statement": "y"}, 422, "sender"),
        ({"sender": "x", "statement": "y" * 2_001}, 422, "statement"),
        ({"sender": "x", "statement": "   "}, 422, "statement"),
        ({"sender": "x\ny", "statement": "y"}, 422, "sender"),
        ({"sender": "x", "statement": "\x1b]0;owned"}, 422, "statement"),
        ({"sender": "ev\u202eil", "statement": "y"}, 422, "sender"),
        ({"sender": "x", "statement": "saf\u200be"}, 422, "statement"),
        ({"sender": "x", "statement": "y\U000e0041\U000e0042"}, 422, "statement"),  # tags
        ({"sender": "x", "statement": "y\ufe01\U000e0101"}, 422, "statement"),
        ({"sender": "\u3164", "statement": "y"}, 422, "sender"),
        ({"sender": "x", "statement": "one\u2028two"}, 422, "statement"),
        ({"sender": "x"}, 422, "statement"),
        ({"sender": "x", "statement": "y", "verdict": "safe"}, 422, "verdict"),
        ({"sender": "x", "statement": "y" * 20_000}, 413, ""),
    ],
)
async def test_a_text_is_bounded_and_plain(
    world: World, world_store: Store, body: dict[str, str], status: int, name: str
) -> None:
    knows(world_store, make_report())
    client = world.client(store=world_store)
    headers = {"X-API-Key": world.new_key()}
    answer = await client.post(f"/token/1/{TOKEN}/disputes", headers=headers, json=body)
    assert answer.status_code == status, answer.text
    assert name in answer.text
    assert (await client.get(f"/token/1/{TOKEN}/disputes", headers=headers)).json()[
        "disputes"
    ] == []


async def test_honest_words_of_any_language_are_filed(world: World, world_store: Store) -> None:
    knows(world_store, make_report())
    body = {
        "sender": "Équipe 東京\u3000",
        "statement": "टोकन\nsûr\u00a0: ❤\ufe0f 안녕, Vie\u0323\u0302t",
    }
    headers = {"X-API-Key": world.new_key()}
    path = f"/token/1/{TOKEN}/disputes"
    answer = await world.client(store=world_store).post(path, headers=headers, json=body)
    assert answer.status_code == 201, answer.text
    assert answer.json()["statement"] == body["statement"]


async def test_a_process_without_the_chain_leaves_a_dispute_to_others(
    world: World, world_store: Store
) -> None:
    knows(world_store, make_report())
    request = DisputeRequest(sender="a team", statement="silent")
    world.quotes.failure = UpstreamError(service="node", reason="silent")
    deps = world.make_deps(store=world_store)
    async with aclosing(DisputeService(deps, Answers(deps), world_store)) as service:
        await service.file(chain=CHAINS[0], address=TOKEN, key_id=None, request=request)
        await service.wait()
    elsewhere = world.make_deps(store=world_store, served=frozenset({"chain_56"}))
    for _ in range(6):  # as many as end a dispute
        world.clock.now_s += 300
        async with aclosing(DisputeService(elsewhere, Answers(elsewhere), world_store)) as service:
            service.wake()
            await service.wait()
    assert len(world.quotes.requests) == 1
    async with aclosing(DisputeService(deps, Answers(deps), world_store)) as service:
        (found,) = await service.list_of_token(chain=CHAINS[0], address=TOKEN)
        assert not found.is_settled
        service.wake()
        await service.wait()
    assert len(world.quotes.requests) == 2


async def test_a_network_has_three_an_hour_with_any_key(world: World, world_store: Store) -> None:
    tokens = [Address("0x" + f"{number:02x}" * 20) for number in range(0xA0, 0xA5)]
    for token in tokens:
        knows(world_store, bare_report(token))
    client = world.client(store=world_store)
    elsewhere = world.client(store=world_store, peer="198.51.100.9")
    found = []
    for token in tokens:
        headers = {"X-API-Key": world.new_key()}
        path = f"/token/1/{token}/disputes"
        caller = elsewhere if token == tokens[-1] else client
        found.append((await caller.post(path, headers=headers, json=FILED)).status_code)
    assert found == [201, 201, 201, 429, 201]


async def test_without_a_verdict_there_is_nothing_to_dispute(
    world: World, world_store: Store
) -> None:
    client = world.client(store=world_store)
    headers = {"X-API-Key": world.new_key()}
    answer = await client.post(f"/token/1/{TOKEN}/disputes", headers=headers, json=FILED)
    assert answer.status_code == 404
    for path in ("/token/1/0x12/disputes", "/token/none/0x12/disputes"):
        assert (await client.post(path, headers=headers, json=FILED)).status_code == 422
