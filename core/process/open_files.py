"""Open files of this process: their number, and the limit that the system sets."""

import os
import resource
from typing import Final

FOLDER: Final = "/dev/fd"
"""Folder in which Linux, macOS and the BSDs list the open files of the reading process."""

_ENOUGH: Final = 65_536
"""Limit that is requested. Some systems allow a billion, and libraries reserve memory for each."""


def raise_file_limit() -> int:
    """Raise the limit of open files as far as the system allows; return the limit in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _ENOUGH if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def list_open_files() -> list[int]:
    """Return the numbers of the open files, that of the list itself included."""
    return [int(name) for name in os.listdir(FOLDER)]  # noqa: PTH208 - called ten times a second
