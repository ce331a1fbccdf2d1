"""How many counted calls a thousand kills lose or double. Prints its seed."""

import argparse
import secrets
import sys
import time

from benchmarks._machine import describe
from harness.api.kills import PROCESSES, kill_counters


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    asked = parser.parse_args()
    print(describe(f"{asked.kills} kills of {PROCESSES} processes, seed {asked.seed}"), flush=True)
    started = time.monotonic()
    found = kill_counters(asked.kills, asked.seed)
    print(
        f"{found.calls} calls told in {time.monotonic() - started:.0f} s: {found.lost} lost that "
        f"had to be kept, {found.doubled} doubled; of a day's count at most the last "
        f"{found.longest_unwritten_s:.2f} s"
    )
    sys.exit(1 if found.lost or found.doubled else 0)


if __name__ == "__main__":
    main()
