"""Starts one function of tests/sql/children.py in a process of its own."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start(work: str, *arguments: object) -> "subprocess.Popen[str]":
    """Standard input and output are pipes of text; the caller ends it."""
    return subprocess.Popen(
        [sys.executable, "-c", f"from tests.sql import children; children.{work}()"]
        + [str(argument) for argument in arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_line(child: "subprocess.Popen[str]") -> str:
    """The next line a child tells."""
    assert child.stdout
    return child.stdout.readline().strip()
