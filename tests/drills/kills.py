"""Drill: kills of two counting processes lose, double and admit no call beyond a limit.

Real processes with the counting layer of the API, on a ledger in a file or on PostgreSQL with its
windows in Valkey, each killed at random moments. Prints its seed.
"""

import argparse
import secrets
import sys
import time
from contextlib import ExitStack

from tests.harness.api.counting_kills import NODES, KillsSpec, Outcome, kill_counters
from tests.harness.measure.machine import describe
from tests.harness.parts.postgres_server import running_postgres
from tests.harness.parts.valkey_server import running_valkey

NOTE_EVERY_S = 30.0


class Progress:
    """Periodic lines of progress."""

    def __init__(self) -> None:
        self.began_s = time.monotonic()
        self._due_s = self.began_s + NOTE_EVERY_S

    def note(self, found: Outcome) -> None:
        """Print a line if the last one is older than NOTE_EVERY_S."""
        if time.monotonic() >= self._due_s:
            self._due_s += NOTE_EVERY_S
            print(f"  {self.format_rate(found)}; {format_wrong(found)}", flush=True)

    def format_rate(self, found: Outcome) -> str:
        """Format counts and rate."""
        taken_s = time.monotonic() - self.began_s
        return (
            f"{found.calls} calls and {found.kills} kills in {taken_s:.0f} s"
            f" ({found.calls / taken_s:.0f} calls/s)"
        )


def format_wrong(found: Outcome) -> str:
    """Format the counts that must all be zero."""
    return (
        f"{found.lost} lost, {found.doubled} doubled, {found.beyond} beyond a lifetime, "
        f"{found.beyond_window} beyond a window"
    )


def main() -> None:
    """Kill counting processes, and print lost and doubled calls."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    options = parser.parse_args()
    with ExitStack() as stack:
        url = redis_url = None
        if options.store == "postgres":
            url = stack.enter_context(running_postgres(is_durable=True)).url()
            redis_url = stack.enter_context(running_valkey()).url
        spec = KillsSpec(
            calls=options.calls,
            kills=options.kills,
            seed=options.seed,
            url=url,
            redis_url=redis_url,
        )
        print(describe(f"{NODES} nodes on {options.store}, seed {options.seed}"), flush=True)
        progress = Progress()
        found = kill_counters(spec, progress.note)
    print(progress.format_rate(found))
    print(
        f"{found.lifetime_calls} calls of lifetimes, {found.spent_keys} of which were used up; "
        f"{found.window_calls} of windows, {found.full_windows} of which were filled "
        f"({found.not_shared} not looked at); without a limit a kill lost at most the last "
        f"{found.longest_unwritten_s:.2f} s; {found.failed} answered 503, as the ledger was slow"
    )
    print(format_wrong(found))
    is_wrong = found.lost or found.doubled or found.beyond or found.beyond_window
    sys.exit(1 if is_wrong else 0)


if __name__ == "__main__":
    main()
