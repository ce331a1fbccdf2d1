"""Drill: after every history of faults and every kill, the tables equal the chain.

Runs the histories of `--seed` and the numbers after it. Ends with 1 at the first difference, and
prints its seed and its steps.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from rich.progress import track

from tests.harness.fault_simulation.fault_history import HistoryOutcome, run_history
from tests.harness.fault_simulation.real_kills import KillOutcome, kill_followers
from tests.harness.measure.machine import describe

_BATCH = 50


def _run_some(first: int, end: int) -> list[HistoryOutcome]:
    """Run a range of seeds, up to the first difference; a difference is returned alone."""
    found = []
    for seed in range(first, end):
        outcome = run_history(seed)
        if outcome.differences:
            return [outcome]
        found.append(outcome)
    return found


def _run_all(seed: int, histories: int, workers: int) -> Iterator[HistoryOutcome]:
    ends = [min(at + _BATCH, seed + histories) for at in range(seed, seed + histories, _BATCH)]
    with ProcessPoolExecutor(workers, mp_context=get_context("forkserver")) as pool:
        batches = pool.map(_run_some, range(seed, seed + histories, _BATCH), ends)
        for batch in track(batches, "histories", len(ends), disable=not sys.stderr.isatty()):
            yield from batch
            if any(outcome.differences for outcome in batch):
                pool.shutdown(wait=False, cancel_futures=True)
                return


def _print_wrong(outcome: HistoryOutcome | KillOutcome, what: str) -> None:
    print(f"{what}: {'; '.join(outcome.steps)}")
    for difference in outcome.differences:
        print(f"  {difference}")


def main() -> None:
    """Run histories, then kills, and print differences."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=1_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(describe(f"{options.histories} histories from seed {options.seed}"), flush=True)
    started_s = time.monotonic()
    wrong = [
        outcome
        for outcome in _run_all(options.seed, options.histories, options.workers)
        if outcome.differences
    ]
    for outcome in wrong:
        _print_wrong(outcome, f"seed {outcome.seed}")
    seconds = time.monotonic() - started_s
    print(f"{options.histories} histories, {len(wrong)} differences, {seconds:.0f} s", flush=True)
    if options.kills and not wrong:
        started_s = time.monotonic()
        killed = kill_followers(options.kills, options.seed)
        if killed.differences:
            _print_wrong(killed, f"seed {options.seed}")
        seconds = time.monotonic() - started_s
        print(f"{killed.kills} kills, {len(killed.differences)} differences, {seconds:.0f} s")
        sys.exit(1 if killed.differences else 0)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
