"""Fast imports for a command's work, which help and completion do not need."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import cast


@contextmanager
def loading() -> Iterator[None]:
    """Import fast inside: module contents live as long as the process, so the garbage collector
    skips them, now and later."""
    # numpy's linear algebra, which is not used, would start a thread for each core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def load_structlog() -> None:
    """Import structlog without rich, which takes 0.04 s and would only format tracebacks.

    The log writes tracebacks in one line or as JSON.
    """
    if "rich" in sys.modules:
        return
    cast("dict[str, ModuleType | None]", sys.modules)["rich"] = None  # its import fails
    try:
        import structlog  # noqa: F401, PLC0415 - not for help and completion
    finally:
        del sys.modules["rich"]
