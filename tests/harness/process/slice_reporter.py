"""Program that a test runs in a separate process: prints the length of its time slices."""

import sys

from tests.harness.process.kernel_slices import slice_ns


def main() -> None:
    """Write nanoseconds."""
    sys.stdout.write(f"{slice_ns()}\n")
