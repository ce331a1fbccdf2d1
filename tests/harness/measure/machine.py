"""Machine, commit and date of a measurement, printed above its figures."""

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def describe(data_set: str) -> str:
    """Return one line with data set, commit, machine and date."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],  # noqa: S607 - git from the PATH, as make has it
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        f"{data_set}; commit {commit or 'unknown'}; {os.cpu_count()} cores, "
        f"{platform.machine()}, Python {python}; {datetime.now(UTC):%Y-%m-%d}"
    )
