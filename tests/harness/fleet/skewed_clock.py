"""Run a module with a wrong clock: `time.time` is replaced before the product is imported.

The monotonic clock stays, as it does on a machine with a wrong date.

python -m tests.harness.fleet.skewed_clock SKEW_S MODULE ARGUMENTS...
"""

import runpy
import sys
import time


def skew(skew_s: float) -> None:
    """Have `time.time` and `time.time_ns` of this process be that far ahead; below 0: behind."""
    true_time, true_time_ns = time.time, time.time_ns
    time.time = lambda: true_time() + skew_s
    time.time_ns = lambda: true_time_ns() + int(skew_s * 1_000_000_000)


if __name__ == "__main__":
    skew(float(sys.argv[1]))
    sys.argv = sys.argv[2:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
