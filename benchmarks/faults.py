"""Whether any history of faults, or any kill, makes the tables differ from the chain.

Runs the histories of `--seed` and the numbers after it. Ends with 1 at the first difference, and
says the seed, what happened, and the difference.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from rich.progress import track

from benchmarks._machine import describe
from tests.harness.fault_simulation.fault_history import HistoryOutcome, run_history
from tests.harness.fault_simulation.real_kills import KillOutcome, kill_followers

_AT_ONCE = 50


def _run_some(first: int, end: int) -> list[HistoryOutcome]:
    """The outcomes of so many seeds, up to the first that is wrong."""
    found = []
    for seed in range(first, end):
        outcome = run_history(seed)
        if outcome.differences:
            return [outcome]
        found.append(outcome)
    return found


def _run_all(seed: int, histories: int, workers: int) -> Iterator[HistoryOutcome]:
    ends = [min(at + _AT_ONCE, seed + histories) for at in range(seed, seed + histories, _AT_ONCE)]
    with ProcessPoolExecutor(workers, mp_context=get_context("forkserver")) as pool:
        parts = pool.map(_run_some, range(seed, seed + histories, _AT_ONCE), ends)
        for part in track(parts, "histories", len(ends), disable=not sys.stderr.isatty()):
            yield from part
            if any(outcome.differences for outcome in part):
                pool.shutdown(wait=False, cancel_futures=True)
                return


def _print_wrong(outcome: HistoryOutcome | KillOutcome, what: str) -> None:
    print(f"{what}: {'; '.join(outcome.steps)}")
    for difference in outcome.differences:
        print(f"  {difference}")


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    print(describe(f"{asked.histories} histories from seed {asked.seed}"), flush=True)
    started_s = time.monotonic()
    wrong = [
        outcome
        for outcome in _run_all(asked.seed, asked.histories, asked.workers)
        if outcome.differences
    ]
    for outcome in wrong:
        _print_wrong(outcome, f"seed {outcome.seed}")
    seconds = time.monotonic() - started_s
    print(f"{asked.histories} histories, {len(wrong)} differences, {seconds:.0f} s", flush=True)
    if asked.kills and not wrong:
        started_s = time.monotonic()
        killed = kill_followers(asked.kills, asked.seed)
        if killed.differences:
            _print_wrong(killed, f"seed {asked.seed}")
        seconds = time.monotonic() - started_s
        print(f"{killed.kills} kills, {len(killed.differences)} differences, {seconds:.0f} s")
        sys.exit(1 if killed.differences else 0)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
