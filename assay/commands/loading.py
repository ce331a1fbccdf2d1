"""Import of what a command works with, which help and completion are shown without."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import cast


@contextmanager
def loading() -> Iterator[None]:
    """Import fast inside: what modules define lives as long as the process, so it is not searched
    for garbage, neither now nor later."""
    # numpy's linear algebra, which nobody uses, would start a thread for each core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def load_structlog() -> None:
    """Import structlog without rich, which it would load, for 0.04 s, to format the tracebacks that
    our log has in a line or as JSON."""
    if "rich" in sys.modules:
        return
    cast("dict[str, ModuleType | None]", sys.modules)["rich"] = None  # its import fails
    try:
        import structlog  # noqa: F401, PLC0415 - not for help and completion
    finally:
        del sys.modules["rich"]
