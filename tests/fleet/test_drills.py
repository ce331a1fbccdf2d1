"""Protects a whole fleet from faults of its processes, links and servers, and from upgrades."""

import os
import tomllib
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
import psycopg
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.npm_packages import PROJECT_ROOT
from assay.demo.world import build_world
from tests.harness.chain.assay_process import run
from tests.harness.fleet.fleet_faults import Fault, FaultKind
from tests.harness.fleet.rolling_upgrade import FLEET, PROBE_EVERY_S, running_fleet
from tests.harness.fleet.whole_drill import FOLLOWING_WITHIN_S, whole_drill
from tests.harness.parts.empty_databases import EmptyDatabases

SEED = 1

SHORT_S = 1.5

A_FEW: tuple[FaultKind, ...] = ("two leaders", "postgres killed")

HANDFUL: tuple[FaultKind, ...] = ("kill", "link half-open", "valkey lost", "objects full")

"""With the few one of each sort: the others differ in where and how long."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A fault that has once shown something wrong in the product."""

    what: str
    """Kind of request."""
    fault: Fault


FOUND = msgspec.convert(
    tomllib.loads(Path(__file__).with_name("found_faults.toml").read_text())["found"],
    tuple[Found, ...],
)


@pytest.mark.fleet
@pytest.mark.node
@pytest.mark.parametrize("kinds", [A_FEW, pytest.param(HANDFUL, marks=pytest.mark.exhaustive)])
def test_a_fleet_outlasts_faults(kinds: Sequence[FaultKind]) -> None:
    with whole_drill(SEED) as drill:
        for kind in (kind for kind in kinds if kind in drill.kinds):
            outcome = drill.suffer(drill.draw([kind], longest_s=SHORT_S, with_minutes=False))
            assert not outcome.differences, (outcome.differences, drill.logs())
            assert outcome.following_s < FOLLOWING_WITHIN_S
        assert not (wrong := drill.finish()), (wrong, drill.logs())
        with drill.level():  # neither reorganised nor moved to the lake in between
            spoil(drill.url)
            differences = " ".join(drill.compare())
        assert "transfers are missing: 1" in differences
        assert "calls doubled" in differences


def spoil(url: str) -> None:
    """Take a transfer out of a store, and count calls that nobody made."""
    with psycopg.connect(url) as connection:
        taken = connection.execute(
            "delete from transfer where ctid in "
            "(select ctid from transfer order by block_number desc limit 1)"
        )
        assert taken.rowcount == 1
        connection.execute("update usage set calls = calls + 1000 where period = 'all'")


@pytest.mark.fleet
@pytest.mark.node
@pytest.mark.exhaustive
def test_what_faults_have_found_is_mended() -> None:
    with whole_drill(SEED) as drill:
        for found in FOUND:
            outcome = drill.suffer(found.fault)
            assert not outcome.differences, (found.what, drill.logs())
            assert outcome.following_s < FOLLOWING_WITHIN_S, found.what
        assert not (wrong := drill.finish()), (wrong, drill.logs())


# --- rolling upgrade ----------------------------------------------------------------------------


@pytest.mark.drill
@pytest.mark.process
def test_no_request_fails_while_every_process_is_replaced(
    empty_databases: EmptyDatabases, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode())
        world = build_world(node)
        write_overlay(world, tmp_path)
        env = {
            "ASSAY_RPC_1": node.url,
            "ASSAY_CONFIG": str(tmp_path),
            "ASSAY_STORE": stack.enter_context(empty_databases.lent()),
            "ASSAY_LAKE": str(tmp_path / "lake"),
            "ASSAY_DRAIN_S": f"{15 * PROBE_EVERY_S:g}",
            "TMPDIR": str(tmp_path),
        }
        made = run("keys", "create", "--plan", "admin", "--label", "test", env=env)
        assert made.returncode == 0, made.stderr
        fleet = stack.enter_context(
            running_fleet(
                PROJECT_ROOT,
                {**os.environ, **env},
                tmp_path,
                tokens=[world.token(name).address for name in ("honest", "v3_honest")],
                key=made.stdout.strip(),
            )
        )
        outcome = fleet.run(PROJECT_ROOT, between_s=0.5)
    assert outcome.failures == ()
    assert set(outcome.answers) == {200}
    assert min(outcome.by_version) > 10
    assert len(outcome.replaced_s) == len(FLEET)
