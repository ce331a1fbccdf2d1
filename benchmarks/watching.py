"""Whether every change of twenty watched tokens is told once, within two blocks, through kills of
the service and of the receiver. Prints its seed."""

import argparse
import secrets
import sys
import time

from benchmarks._machine import describe
from tests.harness.watches.watching_drill import BLOCK_S, Drill


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--changes", type=int, default=60)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    asked = parser.parse_args()
    print(describe(f"{asked.changes} changes, seed {asked.seed}"), flush=True)
    started_s = time.monotonic()
    found = Drill(
        tokens=asked.tokens, changes=asked.changes, kills=asked.kills, seed=asked.seed
    ).run()
    late = sorted(found.blocks_late)
    print(
        f"{len(found.changes)} changes of {found.tokens} tokens on blocks of {BLOCK_S} s in "
        f"{time.monotonic() - started_s:.0f} s, {found.service_kills} kills of the service and "
        f"{found.receiver_kills} of the receiver: {len(found.lost)} lost, {len(found.doubled)} "
        f"told twice, {len(found.unexplained)} unexplained, {found.repeated} messages repeated"
    )
    if late:
        within = sum(each <= 2 for each in late)
        print(
            f"while the service was up: {within} of {len(late)} in a report within two blocks, "
            f"median {late[len(late) // 2]}, worst {late[-1]}; {found.caused} with their cause"
        )
    for wrong in (*found.lost, *found.doubled, *found.unexplained):
        print(f"  {wrong}")
    sys.exit(1 if found.lost or found.doubled or found.unexplained else 0)


if __name__ == "__main__":
    main()
