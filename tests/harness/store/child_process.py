"""Starts one function of tests/harness/store/child_functions.py in a separate process."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def start(work: str, *arguments: object) -> "subprocess.Popen[str]":
    """Standard input and output are pipes of text; the caller ends it."""
    return subprocess.Popen(
        [sys.executable, "-c", f"from tests.harness.store import child_functions as f; f.{work}()"]
        + [str(argument) for argument in arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_line(child: "subprocess.Popen[str]") -> str:
    """Read the next line of a child."""
    assert child.stdout
    return child.stdout.readline().strip()
