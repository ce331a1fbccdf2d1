"""What a test has run in a process of its own: tells the length of its time slices."""

import sys

from tests.harness.process.kernel_slices import slice_ns


def main() -> None:
    """Write nanoseconds."""
    sys.stdout.write(f"{slice_ns()}\n")
