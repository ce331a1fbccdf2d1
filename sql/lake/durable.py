"""Sync of files to disk before a catalogue refers to them."""

import os
from collections.abc import Iterable
from pathlib import Path


def put_on_disk(paths: Iterable[Path]) -> None:
    """Sync files and their folders to disk. Raises OSError."""
    for path in paths:
        for each in (path, path.parent):
            descriptor = os.open(each, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
