"""Import of what a command works with, which help and completion are shown without."""

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager


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
