"""Protects the feed of a chain: each event of a real chain is a line with its cause.

Readers miss nothing, whatever is killed.
"""

import asyncio
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from api.formats.stored_verdict import make_find_verdict
from assay.demo.anvil import AnvilNode
from assay.demo.npm_packages import NODE_MODULES, find_node
from assay.service.record_report import NextRefresh, record_report
from config.facts.chain import Chain as ChainFacts
from config.settings import AnalysisSettings
from core.evm.primitives import Address, checksum
from core.report.feed_lines import FeedDetail, FeedLine, VerdictLine
from sql.chain.feed_tables import delete_old_lines, find_newest_line, list_lines, write_lines
from sql.engine.store import Store
from tests.harness.api.open_port import on_network
from tests.harness.api.world import World
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.locker_scene import give_lp, lp_balance
from tests.harness.watches.delivery_process import SETTINGS, start_delivering, until
from tests.harness.watches.watched_scene import SLUG, place, watching
from tests.house.sources import ROOT
from tests.watches.conftest import Receiver

BURN = "0xdccd412f0b1252819cb1fd330b93224ca42612892bb3f4f789976e6d81936496"
"""Topic 0 of Burn(address,uint256,uint256,address), as explorers show it."""

LATER = NextRefresh(worth=0, due_s=2**40)


async def test_launch_withdrawal_and_verdict_have_their_cause(
    chain: Chain,
    facts: ChainFacts,
    anvil_node: AnvilNode,
    tmp_path: Path,
    world: World,
    make_receiver: Callable[[], Receiver],
) -> None:
    async with watching(chain, facts, anvil_node.url, tmp_path / "store") as scene:
        await scene.level()
        chain.mine()
        await scene.level()
        before = find_newest_line(scene.store, chain_id=facts.id)
        token = place(chain)
        await scene.level()
        pair, owner = token.pool.address, token.owner
        report = await scene.analyser.refresh(SLUG, token.address)
        find_verdict = make_find_verdict([facts], AnalysisSettings())
        record_report(scene.store, report, LATER, find_verdict(report))
        give_lp(chain, token, pair, lp_balance(chain, token) * 6 // 10)
        burnt = chain.send(owner, pair, "burn(address)", owner)
        assert burnt.success
        await scene.level()
        (log,) = [one for one in burnt.logs if one.topics[0] == BURN]
        amounts = [str(int(log.data[2:66], 16)), str(int(log.data[66:130], 16))]

        client = world.client(store=scene.store, chains=(facts,), watches=SETTINGS)
        headers = {"X-API-Key": world.new_key()}
        feed = {"chain": facts.id, "after": before}
        async with on_network(world, store=scene.store, chains=(facts,)) as base:
            events = await read_events(base, headers, after=before, count=3)
        receiver = make_receiver()
        assert await post_feed(client, headers, receiver, tmp_path / "store", feed) == events
        launch, verdict, withdrawal = events
        assert [one["kind"] for one in events] == ["launch", "verdict", "withdrawal"]
        assert {one["contract_address"] for one in events} == {checksum(token.address)}
        assert launch["launch"]["pool"] == checksum(pair)
        assert launch["tx_hash"] is not None
        assert launch["block_number"] <= report.token.block_number
        assert (verdict["verdict"]["before"], verdict["block_number"]) == (
            None,
            report.token.block_number,
        )
        assert withdrawal["tx_hash"] == burnt.hash
        assert withdrawal["block_number"] == burnt.block_number
        left = withdrawal["withdrawal"]
        assert [left["amount0_raw"], left["amount1_raw"]] == amounts
        assert {left["token0"], left["token1"]} == {
            checksum(token.address),
            checksum(chain.world.venues.wrapped_native.address),
        }
        words = "ne withdrawal took 60 % of the tokens in its Uniswap V2 pool"
        assert (left["left_pct"], left["headline"]) == (pytest.approx(60, abs=0.01), f"O{words}")
        part = (await client.get(f"/feed/{SLUG}/snapshot", headers=headers)).json()
        (known,) = part["tokens"]
        assert known["contract_address"] == checksum(token.address)
        assert known["verdict"] == verdict["verdict"]["after"]
        assert part["cursor"] == withdrawal["cursor"]
        later = find_verdict(await scene.analyser.refresh(SLUG, token.address))
        assert words in msgspec.json.encode(later).decode()


async def post_feed(
    client: httpx.AsyncClient,
    headers: dict[str, str],
    receiver: Receiver,
    path: Path,
    feed: dict[str, int],
) -> object:
    """The lines of the first message to the webhook of a feed, of the store at `path`."""
    hook = {"name": "w", "webhook_url": receiver.url, "feed": feed}
    made = await client.post("/watches", json=hook, headers=headers)
    assert made.status_code == 201, made.text
    receiver.sign_with(made.json()["secret"])
    service = start_delivering(path)  # whose clock is that of the receiver
    try:
        await until(lambda: bool(receiver.taken))
    finally:
        service.kill()
        service.communicate()
    (posted,) = receiver.taken
    data = msgspec.convert(posted.body["data"], dict[str, Any])
    assert (posted.type, data["chain"], data["feed"]["gap"]) == ("feed.lines", SLUG, None)
    return data["feed"]["lines"]


async def read_events(
    base: str, headers: dict[str, str], *, after: int, count: int
) -> list[dict[str, Any]]:
    """The next events behind a cursor."""
    found: list[dict[str, Any]] = []
    async with (
        asyncio.timeout(20),
        httpx.AsyncClient(base_url=base) as client,
        client.stream("GET", f"/feed/{SLUG}?after={after}", headers=headers) as answer,
    ):
        assert answer.status_code == 200
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line[6:]))
            if len(found) == count:
                return found
    pytest.fail("the stream has ended")


# --- readers of the documentation ---------------------------------------------------------------


def token(number: int) -> Address:
    return Address(f"0x{number:040x}")


def write_verdict(store: Store, number: int, verdict: str, block_number: int) -> None:
    changed = VerdictLine(before=None, after=verdict, reasons=(), headline=None)
    line = FeedLine(
        kind="verdict",
        token=token(number),
        block_number=block_number,
        seen_at_s=block_number,
        detail=FeedDetail(verdict=changed),
    )
    write(store, line)


def write(store: Store, line: FeedLine) -> None:
    with store.transaction(chain_id=1) as tx:
        write_lines(tx, [line], chain_id=1)


def programs_of_page() -> dict[str, str]:
    page = (ROOT / "docs" / "use" / "feed.md").read_text(encoding="utf-8")
    return dict(re.findall(r"```(python|ts)\n(.*?)```", page, re.DOTALL))


def python_command(folder: Path) -> list[str]:
    path = folder / "reader.py"
    path.write_text(programs_of_page()["python"])
    return [sys.executable, str(path)]


NODE_TYPES = """
declare module "node:fs" {
  export function existsSync(path: string): boolean;
  export function readFileSync(path: string, encoding: "utf8"): string;
  export function renameSync(from: string, to: string): void;
  export function writeFileSync(path: string, text: string): void;
}
declare const process: { env: Record<string, string | undefined> };
"""
"""Part of @types/node that the program uses; the package is not installed."""


def typescript_command(folder: Path) -> list[str]:
    compiler = NODE_MODULES / "typescript" / "bin" / "tsc"
    if not compiler.exists():
        pytest.skip("not installed: typescript (npm ci)")
    (folder / "reader.ts").write_text(programs_of_page()["ts"])
    (folder / "node.d.ts").write_text(NODE_TYPES)
    (folder / "package.json").write_text('{"type": "module"}')
    options = ["--strict", "--target", "es2022", "--module", "nodenext"]
    libraries = ["--lib", "es2022,dom,dom.iterable,dom.asynciterable"]
    files = ["reader.ts", "node.d.ts"]
    subprocess.run([find_node(), compiler, *options, *libraries, *files], cwd=folder, check=True)
    return [str(find_node()), str(folder / "reader.js")]


def python_state(path: Path) -> dict[str, str]:
    with closing(sqlite3.connect(path)) as db:
        rows = db.execute("select token, verdict from verdict order by cursor").fetchall()
    return dict(rows)


def typescript_state(path: Path) -> dict[str, str]:
    verdicts = json.loads(path.read_text())["verdicts"]
    return {key: lines[-1]["verdict"] for key, lines in verdicts.items() if lines}


READERS = {"python": (python_command, python_state), "ts": (typescript_command, typescript_state)}


@asynccontextmanager
async def reading(command: list[str], env: dict[str, str], log: Path) -> AsyncIterator[None]:
    """Run a reader, and kill it without a warning."""
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *command, env={**os.environ, **env}, stdout=output, stderr=output
        )
        try:
            yield
            assert process.returncode is None
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGKILL)
            await process.wait()


async def until_equal(find: Callable[[Path], dict[str, str]], path: Path, wanted: object) -> None:
    """Wait until a reader keeps these verdicts."""
    found: object = None
    try:
        async with asyncio.timeout(30):
            while found != wanted:
                try:
                    found = find(path)
                except (OSError, sqlite3.Error, ValueError):
                    found = None
                await asyncio.sleep(0.05)
    except TimeoutError:
        assert found == wanted


@pytest.mark.process
@pytest.mark.parametrize("language", READERS)
async def test_a_reader_of_the_page_misses_nothing_whatever_is_killed(
    language: str, world: World, world_store: Store, tmp_path: Path
) -> None:
    make_command, find_state = READERS[language]
    command, state = make_command(tmp_path), tmp_path / "state"
    shown = [checksum(token(number)) for number in range(6)]
    env = {"ASSAY_KEY": world.new_key(), "ASSAY_CHAIN": "eth", "FEED_FILE": str(state)}
    async with on_network(world, store=world_store) as base:
        env["ASSAY_URL"] = base
        write_verdict(world_store, 1, "safe", 10)
        async with reading(command, env, tmp_path / "log"):
            # The snapshot is empty and its cursor is that line, which has no report.
            await until_equal(find_state, state, {})
            write_verdict(world_store, 2, "safe", 11)
            write_verdict(world_store, 1, "danger", 12)
            await until_equal(find_state, state, {shown[2]: "safe", shown[1]: "danger"})
        write_verdict(world_store, 3, "safe", 13)  # while it is dead
        write_verdict(world_store, 1, "warning", 14)
        async with reading(command, env, tmp_path / "log"):
            wanted = {shown[2]: "safe", shown[1]: "warning", shown[3]: "safe"}
            await until_equal(find_state, state, wanted)
            write(world_store, FeedLine(kind="reorg", token=None, block_number=14, seen_at_s=14))
            await until_equal(find_state, state, {**wanted, shown[1]: "danger"})
    async with on_network(world, store=world_store) as base:  # the service was restarted, too
        env["ASSAY_URL"] = base
        write_verdict(world_store, 4, "safe", 14)
        async with reading(command, env, tmp_path / "log"):
            wanted = {**wanted, shown[1]: "danger", shown[4]: "safe"}
            await until_equal(find_state, state, wanted)
        write_verdict(
            world_store, 5, "safe", 15
        )  # deleted before it is read: a gap, so a new snapshot
        delete_old_lines(world_store, chain_id=1, before_s=100)
        async with reading(command, env, tmp_path / "log"):
            await until_equal(find_state, state, {})
            write_verdict(world_store, 2, "danger", 16)
            await until_equal(find_state, state, {shown[2]: "danger"})
    assert [line.sequence for line in list_lines(world_store, chain_id=1, after=0, at_most=9)] == [
        find_newest_line(world_store, chain_id=1)
    ]
