"""Protects the backtest: verdicts are of the past block, outcomes are those of real buyers."""

import asyncio
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from click.testing import CliRunner

from assay.cli import cli
from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World, ZooToken
from config.facts.chain import Chain as ChainFacts
from config.load_settings import load_settings
from config.store_address import FileAddress
from core.evm.primitives import Address
from sql.engine.store import Store
from sql.move.move_store import move_store
from tests.harness.chain.transactions import Chain
from tests.harness.parts.empty_databases import EmptyDatabases, address_of
from tests.harness.store.store_contents import read_rows
from tests.harness.watches.watched_scene import SLUG, Scene, place, watching


def bought(chain: Chain, token: ZooToken) -> list[Address]:
    """Three who have bought."""
    buyers = [chain.fresh_account() for _ in range(3)]
    assert all(chain.buy(token, buyer).success for buyer in buyers)
    return buyers


def order(chain: Chain, token: ZooToken, signature: str, *given: object) -> None:
    """Send the owner's transaction after others have bought."""
    assert chain.send(token.owner, token.address, signature, *given).success


def launch_all(chain: Chain, tokens: dict[str, ZooToken]) -> None:
    """Send purchases, the owners' next acts, and sales as far as they pass."""
    buyers = {key: bought(chain, token) for key, token in tokens.items()}
    order(chain, tokens["paused"], "pause()")
    order(chain, tokens["taxed"], "setTax(uint256)", 99)
    order(chain, tokens["cheap"], "setTax(uint256)", 10)
    order(chain, tokens["singled"], "setOwnTax(address,uint256)", buyers["singled"][2], 99)
    for key, token in tokens.items():
        if key != "quiet":
            passed = {chain.sell(token, buyer).success for buyer in buyers[key]}
            assert passed == {key != "paused"}


async def can_sell(scene: Scene, token: ZooToken) -> str | None:
    """Return the service's answer now."""
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


async def records_known_outcomes(
    env: dict[str, str], in_postgres: dict[str, str], blocks: tuple[str, ...]
) -> None:
    """Three tokens have trapped a buyer; the day of the others is not over. A token counts once."""
    code, _, _ = await backtest(env, *blocks, "--record")
    assert code == 2  # an hour of receipts is no day
    for stored in (env, env, in_postgres):
        code, _, _ = await backtest(stored, *blocks, "--receipts", "day", "--record")
        assert code == 0
    for stored in (env, in_postgres):
        address = load_settings(stored).store
        with closing(Store.open(address, must_exist=True)) as opened:
            found = read_rows(opened, "select known, trapped from outcome_count")
            tokens = read_rows(opened, "select findings, is_trapped from token_outcome")
        assert found == [(3, 3)]
        assert len(tokens) == 3
        ((findings, is_trapped),) = set(tokens)
        assert is_trapped == 1
        assert "liquidity" in str(findings)


BUYERS = {"bought": 3, "untried": 0, "sold": 0, "refused": 0, "short": 0}
HOURS = {
    "honest": BUYERS | {"sold": 3, "outcome": "sold"},
    "paused": BUYERS | {"refused": 3, "outcome": "trapped"},
    "taxed": BUYERS | {"short": 3, "outcome": "trapped"},
    "cheap": BUYERS | {"sold": 3, "outcome": "sold"},
    "singled": BUYERS | {"sold": 2, "short": 1, "outcome": "trapped"},
    "quiet": BUYERS | {"untried": 3, "outcome": "untried"},
}
"""Outcome of each token's buyers within an hour."""


async def test_tokens_are_judged_as_of_before_their_trades_and_scored_by_them(
    chain: Chain,
    demo_world: World,
    facts: ChainFacts,
    anvil_node: AnvilNode,
    tmp_path: Path,
    empty_databases: EmptyDatabases,
) -> None:
    store = tmp_path / "store"
    async with watching(chain, facts, anvil_node.url, store) as scene:
        await scene.level()
        keys = ("honest", "paused", "taxed", "cheap", "singled", "quiet")
        tokens = {key: place(chain) for key in keys}
        before = await can_sell(scene, tokens["paused"])
        assert before == "passed"
        first = anvil_node.head_number() + 1
        launch_all(chain, tokens)
        assert await can_sell(scene, tokens["paused"]) == "refused"  # as anybody sees by now
        # The node keeps the state of some blocks only, so it is one long block.
        anvil_node.set_time(anvil_node.head_time() + 4_000)
        chain.mine()
        await scene.level()
        last = anvil_node.head_number()
    env = {
        "ASSAY_STORE": str(store),
        "ASSAY_CONFIG": str(write_overlay(demo_world, tmp_path / "overlay")),
        f"ASSAY_RPC_{facts.id}": anvil_node.url,
    }
    blocks = ("--from", str(first), "--to", str(last))
    code, output, matrix = await backtest(env, *blocks)
    assert code == 0
    moved = empty_databases.create_bare()
    move_store(FileAddress(store), address_of(moved), lambda *_: None)
    in_postgres = env | {"ASSAY_STORE": moved, "ASSAY_LAKE": str(tmp_path / "lake")}
    assert await backtest(in_postgres, *blocks) == (code, output, matrix)
    hours = {
        key: next(one for one in output if one["token"] == token.address)["buyers"]["hour"]
        for key, token in tokens.items()
    }
    assert hours == HOURS
    by_address = {one["token"]: one for one in output}
    days = {key: by_address[token.address]["buyers"]["day"] for key, token in tokens.items()}
    assert days["honest"]["outcome"] == "open"
    assert days["paused"]["outcome"] == "trapped"
    # All have the same code and state before their first trade; what came later is not known then.
    (verdict,) = {by_address[token.address]["verdict"] for token in tokens.values()}
    assert verdict not in ("safe", "danger", "not_judged")
    (hour,) = (row for row in matrix if row["span"] == "hour")
    counts = {"trapped": 3, "sold": 2, "untried": 1, "open": 0}
    assert hour == {"verdict": verdict, "span": "hour"} | counts
    await records_known_outcomes(env, in_postgres, blocks)
    code, output, matrix = await backtest(env, *blocks, "--receipts", "none")
    paused = next(one for one in output if one["token"] == tokens["paused"].address)
    assert paused["buyers"]["hour"]["outcome"] == "untried"  # never: sold

    code, output, _ = await backtest(env, "--from", "0", "--to", str(first - 1))
    assert (code, output) == (0, [])
