"""Drill: every change of watched tokens is delivered once, through kills of service and receiver.

Ends with 1 where a change is lost, delivered twice or unexplained. Prints its seed.
"""

import argparse
import secrets
import sys
import time

from tests.harness.measure.machine import describe
from tests.harness.watches.watching_drill import BLOCK_S, Drill


def main() -> None:
    """Run the drill, and print lost and late changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=20)
    parser.add_argument("--changes", type=int, default=60)
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    options = parser.parse_args()
    print(describe(f"{options.changes} changes, seed {options.seed}"), flush=True)
    started_s = time.monotonic()
    found = Drill(
        tokens=options.tokens, changes=options.changes, kills=options.kills, seed=options.seed
    ).run()
    late = sorted(found.blocks_late)
    print(
        f"{len(found.changes)} changes of {found.tokens} tokens on blocks of {BLOCK_S} s in "
        f"{time.monotonic() - started_s:.0f} s, {found.service_kills} kills of the service and "
        f"{found.receiver_kills} of the receiver: {len(found.lost)} lost, {len(found.doubled)} "
        f"delivered twice, {len(found.unexplained)} unexplained, {found.repeated} messages repeated"
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
