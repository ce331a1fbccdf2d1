"""Whether any of many made-up calls gets a server fault, or an answer the document does not allow.

Sends what tests/harness/api/fuzz.py makes up. Prints answers by status, ends at the first wrong.
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

from benchmarks._machine import describe
from tests.harness.api.fuzz import CALLERS, Call, Fuzzer


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    asked = parser.parse_args()
    print(describe(f"{asked.calls} calls, seed {asked.seed}"), flush=True)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    with tempfile.TemporaryDirectory() as folder, closing(Fuzzer(Path(folder))) as fuzzer:

        @seed(asked.seed)
        @settings(
            max_examples=asked.calls // CALLERS,
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
