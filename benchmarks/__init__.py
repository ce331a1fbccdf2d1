"""Benchmarks: one file per published question; each prints its figures and their conditions.

SIGTERM ends one as Ctrl-C does: services, nodes and temporary files that it started go with it.
"""

import signal
import sys
from types import FrameType
from typing import Final

_TERMINATED: Final = 128 + signal.SIGTERM


def _unwind(number: int, _: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # a second one would interrupt the clean-up
    sys.exit(_TERMINATED)


if sys.argv[0] == "-m":  # so it is while `python -m` looks for a module of this package
    signal.signal(signal.SIGTERM, _unwind)
