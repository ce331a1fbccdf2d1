"""Drill: no made-up call gets a server fault or a response that the OpenAPI document forbids.

Sends the calls of tests/harness/api/fuzz.py, prints responses by status, and ends at the first
wrong one.
"""

import argparse
import logging
import secrets
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import structlog
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.harness.api.fuzz import CALLERS, Call, Fuzzer
from tests.harness.measure.machine import describe


def main() -> None:
    """Send made-up calls, and print responses by status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    options = parser.parse_args()
    print(describe(f"{options.calls} calls, seed {options.seed}"), flush=True)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory() as folder, closing(Fuzzer(Path(folder))) as fuzzer:

        @seed(options.seed)
        @settings(
            max_examples=options.calls // CALLERS,
            phases=[Phase.generate, Phase.shrink],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(fuzzer.calls())
        def judge(call: Call) -> None:
            fuzzer.judge(call)

        started = time.monotonic()
        try:
            judge()
        finally:
            _print(fuzzer.statuses, time.monotonic() - started)
            print("routes without one good answer:", ", ".join(fuzzer.unanswered()) or "none")
    print("no server fault but those ordered, no answer that the document does not allow")


def _print(statuses: Counter[str], seconds: float) -> None:
    print(f"{sum(statuses.values())} answers in {seconds:.0f} s")
    for answer, count in sorted(statuses.items()):
        print(f"{count:8} {answer}")


if __name__ == "__main__":
    main()
