"""Protects callers of a fleet whose processes are replaced one after the other: none notices.

Both sides are this version here; `tests.drills.rolling_upgrade` has an earlier commit on one.
"""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.npm_packages import PROJECT_ROOT
from assay.demo.world import build_world
from tests.harness.chain.assay_process import run
from tests.harness.fleet.rolling_upgrade import FLEET, PROBE_EVERY_S, running_fleet
from tests.harness.parts.empty_databases import EmptyDatabases

pytestmark = [pytest.mark.drill, pytest.mark.process]


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
