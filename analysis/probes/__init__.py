"""Probe contracts, placed in calls by code override and never deployed.

Each is committed as source and as runtime code; a test compiles the source and compares.
"""

from functools import cache
from importlib import resources


@cache
def runtime(name: str) -> str:
    """Runtime code of a probe as 0x hex. Raises FileNotFoundError for a name of none."""
    file = resources.files(__name__) / f"{name}.hex"
    return "0x" + file.read_text(encoding="ascii").strip()
