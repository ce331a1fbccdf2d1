"""How long a person at a terminal waits: for help, for completion, and for the scan of one token.

Each run is a process of its own, start and end included, with modules compiled before the first one
that counts. The token is one of the demo's, on a node of this machine.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from assay.demo.anvil import AnvilNode
from assay.demo.overlay import write_overlay
from assay.demo.world import build_world
from benchmarks._cost import run_timed
from benchmarks._machine import ROOT, describe

ROUNDS = 15
TOKEN = "sell_blocked"  # noqa: S105 - a key of the zoo
_LONGEST_S = 60.0


def report(name: str, *arguments: str, env: Mapping[str, str]) -> None:
    """Print the medians of one command."""
    costs = [
        run_timed(
            (sys.executable, "-m", "assay", *arguments), env=env, folder=ROOT, longest_s=_LONGEST_S
        )
        for _ in range(ROUNDS + 1)
    ][1:]
    wall_s = statistics.median(cost.wall_s for cost in costs)
    cpu_s = statistics.median(cost.cpu_s for cost in costs)
    print(f"{name:22} median {1000 * wall_s:5.0f} ms, {1000 * cpu_s:4.0f} ms of a processor")


def main() -> None:
    """Print the table."""
    with (
        AnvilNode() as node,
        tempfile.TemporaryDirectory() as overlay,
        tempfile.TemporaryDirectory() as bytecode,
    ):
        world = build_world(node)
        write_overlay(world, Path(overlay))
        env = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
        env |= {
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": bytecode,
            f"ASSAY_RPC_{node.chain_id}": node.url,
            "ASSAY_CONFIG": overlay,
        }
        asked = {"_ASSAY_COMPLETE": "bash_complete", "COMP_WORDS": "assay scan a"}
        scan = ("scan", "eth", world.token(TOKEN).address)
        print(describe(f"{ROUNDS} runs each"))
        report("assay --help", "--help", env=env)
        report("completion of a chain", env={**env, **asked, "COMP_CWORD": "2"})
        report("assay scan, JSON", *scan, env=env)
        report("assay scan, card", *scan, "--output", "card", env=env)


if __name__ == "__main__":
    main()
