"""Protects a machine on which benchmarks are ended early: nothing of them goes on."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from assay.demo.npm_packages import PROJECT_ROOT
from tests.harness.chain.assay_process import until

pytestmark = [pytest.mark.process, pytest.mark.fleet]

MARK = "ASSAY_TEST_ENDED_BENCHMARK"
TERMINATED = 143


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for temporary files; PostgreSQL reads it as another user."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_a_terminated_benchmark_leaves_no_process_and_no_file(folder: Path) -> None:
    """Its PostgreSQL server would go on without it."""
    env = {**os.environ, "TMPDIR": str(folder), MARK: folder.name}
    command = [sys.executable, "-m", "benchmarks.postgres", "--only", "migrate"]
    with subprocess.Popen(command, cwd=PROJECT_ROOT, env=env, stdout=subprocess.DEVNULL) as process:
        until(lambda: any("postgres" in words for words in marked(folder.name)) or None)
        process.terminate()
        process.wait()
    assert process.returncode == TERMINATED
    assert marked(folder.name) == []
    assert list(folder.iterdir()) == []


def marked(value: str) -> list[str]:
    """Return the first words of processes with the mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is another user's
            if f"{MARK}={value}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_bytes().split(b"\0")[0].decode())
    return found
