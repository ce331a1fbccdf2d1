"""Drill: a fleet is upgraded under load without a failed request.

Processes of an earlier commit are replaced by those of this checkout, one after the other, on one
PostgreSQL and a node.

    python -m tests.drills.rolling_upgrade --before 6b7ae378
"""

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.world import build_world
from tests.harness.fleet.rolling_upgrade import FLEET, PROBE_EVERY_S, UpgradeOutcome, running_fleet
from tests.harness.measure.machine import ROOT, describe
from tests.harness.parts.postgres_server import running_postgres

DRAIN_S = 5 * PROBE_EVERY_S
BLOCK_S = 1


def check_out(commit: str, folder: Path) -> Path:
    """Extract a commit into a folder. Ends the program where there is no such commit."""
    packed = subprocess.run(
        (shutil.which("git") or "git", "archive", commit),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=False,
    )
    if packed.returncode:
        sys.exit(f"git has no commit {commit}")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as files:
        files.extractall(folder, filter="data")
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder


def create_key(root: Path, env: Mapping[str, str]) -> str:
    """Return a key with wide limits, created by the version in `root` along with the tables."""
    words = (sys.executable, "-m", "assay", "keys", "create", "--plan", "admin", "--label", "bench")
    created = subprocess.run(words, cwd=root, env=env, capture_output=True, text=True, check=False)
    if created.returncode:
        sys.exit(created.stderr)
    return created.stdout.strip()


def upgrade(before: Path, folder: Path, *, between_s: float) -> UpgradeOutcome:
    """Run the fleet and replace its processes."""
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode())
        world = build_world(node)
        write_overlay(world, folder)
        node.set_interval(BLOCK_S)
        postgres = stack.enter_context(running_postgres())
        env = {
            **os.environ,
            "ASSAY_RPC_1": node.url,
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": postgres.url(),
            "ASSAY_LAKE": str(folder / "lake"),
            "ASSAY_DRAIN_S": f"{DRAIN_S:g}",
        }
        key = create_key(before, env)
        tokens = [world.token(name).address for name in ("honest", "v3_honest", "v4_honest")]
        fleet = stack.enter_context(running_fleet(before, env, folder, tokens=tokens, key=key))
        return fleet.run(ROOT, between_s=between_s)


def main() -> None:
    """Run the drill, and print responses and failures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", default="HEAD", help="commit of the earlier version")
    parser.add_argument("--between-s", type=float, default=5.0)
    options = parser.parse_args()
    print(describe(f"from {options.before}, {len(FLEET)} processes"))
    with tempfile.TemporaryDirectory(prefix="assay-upgrade-") as name:
        folder = Path(name)
        (logs := folder / "fleet").mkdir()
        outcome = upgrade(
            check_out(options.before, folder / "before"), logs, between_s=options.between_s
        )
    show(outcome)
    if outcome.failures:
        sys.exit("\n".join(outcome.failures[:20]))


def show(outcome: UpgradeOutcome) -> None:
    """Print responses by version and status, and the time of each replacement."""
    before, after = outcome.by_version
    print(f"{before + after} answers, {before} of the version before, {after} of the one after")
    print(f"by status: {msgspec.json.encode(outcome.answers).decode()}")
    times = ", ".join(
        f"{role} {took_s:.1f} s" for role, took_s in zip(FLEET, outcome.replaced_s, strict=True)
    )
    print(f"replaced: {times}")
    print(f"{len(outcome.failures)} failures")


if __name__ == "__main__":
    main()
