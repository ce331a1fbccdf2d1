"""Protects the backtest: verdicts are of the past block, outcomes of what real buyers could do."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner

from assay import cli
from config.chains import Chain as ChainFacts
from config.store_address import FileAddress
from demo.anvil import AnvilNode
from demo.layout import World, ZooToken
from demo.overlay import write_overlay
from harness.chain.verbs import Chain
from harness.parts.empty_databases import EmptyDatabases
from harness.parts.postgres_store import address_of
from sql.postgres.moving.move_store import move_store
from tests.chain.watched_scene import SLUG, Scene, place, watching


def trade(chain: Chain, token: ZooToken, *, is_trap: bool) -> None:
    """Three buy; then they sell, or try to."""
    buyers = [chain.fresh_account() for _ in range(3)]
    assert all(chain.buy(token, buyer).success for buyer in buyers)
    if is_trap:
        assert chain.send(token.owner, token.address, "pause()").success
    assert {chain.sell(token, buyer).success for buyer in buyers} == {not is_trap}


async def can_sell(scene: Scene, token: ZooToken) -> str | None:
    """What the service says now."""
    await scene.level()
    report = await scene.analyser.refresh(SLUG, token.address)
    return report.pools[0].sell if report.pools else None


async def backtest(
    env: dict[str, str], *options: str
) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Exit code, tokens and rows of the matrix."""
    command = ["backtest", "ethereum", *options, "--output", "json"]
    ended = await asyncio.to_thread(CliRunner().invoke, cli, command, env=env)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.output
    lines = [msgspec.json.decode(line) for line in ended.stdout.splitlines()]
    tokens = [line for line in lines if "token" in line]
    return ended.exit_code, tokens, [line for line in lines if "span" in line]


async def test_tokens_are_judged_as_of_before_their_trades_and_scored_by_them(
    chain: Chain,
    world: World,
    facts: ChainFacts,
    anvil_node: AnvilNode,
    tmp_path: Path,
    empty_databases: EmptyDatabases,
) -> None:
    store = tmp_path / "store"
    async with watching(chain, facts, anvil_node.url, store) as scene:
        await scene.level()
        honest, trap, quiet = place(chain), place(chain), place(chain)
        before = {token.address: await can_sell(scene, token) for token in (honest, trap)}
        assert set(before.values()) == {"passed"}
        first = anvil_node.head_number() + 1
        trade(chain, honest, is_trap=False)
        trade(chain, trap, is_trap=True)
        assert chain.buy(quiet, chain.fresh_account()).success
        assert await can_sell(scene, trap) == "refused"  # as anybody sees by now
        # The node keeps the state of some blocks only, so it is one long block.
        anvil_node.set_time(anvil_node.head_time() + 4_000)
        chain.mine()
        await scene.level()
        last = anvil_node.head_number()
    env = {
        "ASSAY_STORE": str(store),
        "ASSAY_CONFIG": str(write_overlay(world, tmp_path / "overlay")),
        f"ASSAY_RPC_{facts.id}": anvil_node.url,
    }
    code, tokens, matrix = await backtest(env, "--from", str(first), "--to", str(last))
    assert code == 0
    moved = empty_databases.create_bare()
    move_store(FileAddress(store), address_of(moved), lambda *_: None)
    in_postgres = env | {"ASSAY_STORE": moved, "ASSAY_LAKE": str(tmp_path / "lake")}
    again = await backtest(in_postgres, "--from", str(first), "--to", str(last))
    assert again == (code, tokens, matrix)
    outcomes = {one["token"]: one["outcomes"] for one in tokens}
    assert outcomes[honest.address] == {"hour": "sold", "day": "sold", "week": "sold"}
    assert outcomes[trap.address] == {"hour": "trapped", "day": "open", "week": "open"}
    assert outcomes[quiet.address]["hour"] == "few"
    verdicts = {one["token"]: one["verdict"] for one in tokens}
    # Both have the same code and state before their first trade; what came later is not known then.
    assert verdicts[trap.address] == verdicts[honest.address]
    assert verdicts[trap.address] not in ("safe", "danger", "not_judged")
    hour = {row["verdict"]: row for row in matrix if row["span"] == "hour"}
    assert hour[verdicts[trap.address]]["trapped"] == 1
    assert sum(row["sold"] for row in hour.values()) == 1

    code, tokens, _ = await backtest(env, "--from", "0", "--to", str(first - 1))
    assert (code, [one["token"] for one in tokens]) == (0, [])
