"""Kills of a following and compacting process, and comparisons of its rows."""

import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from random import Random
from typing import IO

import msgspec

from sql.chain.blocks import FOLLOW
from sql.engine.store_files import StoreFiles
from tests.harness.fault_simulation.expected_rows import branch_differences
from tests.harness.fault_simulation.faulty_wire import NodeView
from tests.harness.fault_simulation.model_chain import ModelChain, world_of
from tests.harness.replay.answers import NodeAnswers
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.http_server import ReplayServer

_FINALITY = 6
_WORLD = 1
_LONGEST_S = 2.0
_LEVEL_WITHIN_S = 60.0


class KillOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of all kills."""

    kills: int
    steps: tuple[str, ...]
    differences: tuple[str, ...]


class FollowedChain(msgspec.Struct, frozen=True, kw_only=True):
    """A model chain behind a node, and room for stores that follow it."""

    model: ModelChain
    url: str
    folder: Path
    errors: IO[str]
    """Error output of the followers."""
    dice: Random


@contextmanager
def followed_chain(seed: int) -> Iterator[FollowedChain]:
    """Yield a chain of 60 blocks and its node."""
    dice = Random(seed)  # noqa: S311 - chance, not secrecy
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-kills-")))
        spool = stack.enter_context(BlockSpool())
        world = world_of(_WORLD)
        chain = msgspec.structs.replace(world.chain, finality_blocks=_FINALITY, start_block=0)
        model = ModelChain(world, chain, dice, "geth", spool)
        model.grow(60)
        server = stack.enter_context(ReplayServer({"/": NodeAnswers(NodeView(model))}))
        errors = stack.enter_context((folder / "errors").open("w+"))
        yield FollowedChain(model=model, url=server.url(), folder=folder, errors=errors, dice=dice)


def kill_followers(kills: int, seed: int) -> KillOutcome:
    """Kill processes one after another on one store, while its chain grows and forks.

    After each kill the store must hold a prefix of a branch that was canonical, each row once.
    """
    output_lines: list[str] = []
    with followed_chain(seed) as world:
        model, url, folder, errors = world.model, world.url, world.folder, world.errors
        for at in range(1, kills + 1):
            _live_and_die(url, folder / "store", model, world.dice, errors)
            found = branch_differences(folder / "store", model)
            output_lines.append(f"kill {at} at block {model.head.number}")
            if found:
                return KillOutcome(
                    kills=at, steps=tuple(output_lines[-5:]), differences=tuple(found)
                )
        come_level(url, folder / "store", model, errors)
        found = branch_differences(folder / "store", model)
    return KillOutcome(kills=kills, steps=tuple(output_lines[-5:]), differences=tuple(found))


def start_follower(url: str, path: Path, errors: IO[str]) -> "subprocess.Popen[bytes]":
    """Start a process that follows and compacts until it is killed."""
    module = "tests.harness.fault_simulation.following_child"
    words = [sys.executable, "-m", module, url, str(path), str(_WORLD), str(_FINALITY)]
    return subprocess.Popen(words, stderr=errors, stdout=subprocess.DEVNULL)


def _live_and_die(url: str, path: Path, model: ModelChain, dice: Random, errors: IO[str]) -> None:
    """A process lives for a moment, while the chain goes on, and gets SIGKILL."""
    process = start_follower(url, path, errors)
    try:
        _wait_for_progress(path, model, process)
        until_s = time.monotonic() + dice.uniform(0.0, _LONGEST_S)
        while time.monotonic() < until_s:
            go_on(model, dice)
            time.sleep(dice.uniform(0.0, 0.1))
    finally:
        process.kill()
        process.wait()


def go_on(model: ModelChain, dice: Random) -> None:
    """Grow the chain, or have it take a part of its window back."""
    if dice.random() < 0.2:
        depth = dice.randint(1, _FINALITY)
        kept = max(len(model.canonical) - depth, model.highest - _FINALITY + 1)
        model.set_canonical(model.fork(kept, dice.randint(1, _FINALITY + 1)))
    else:
        model.grow(dice.randint(1, 3))


def _wait_for_progress(path: Path, model: ModelChain, process: "subprocess.Popen[bytes]") -> None:
    """Until it has taken a block that it had not."""
    model.grow(1)
    wait_until(lambda: tip_of(path) == model.head.hash, process)


def come_level(url: str, path: Path, model: ModelChain, errors: IO[str]) -> None:
    """Follow until the store has the head, then kill."""
    process = start_follower(url, path, errors)
    try:
        model.grow(1)
        wait_until(lambda: tip_of(path) == model.head.hash, process)
    finally:
        process.kill()
        process.wait()


def wait_until(is_done: Callable[[], bool], process: "subprocess.Popen[bytes]") -> None:
    """Wait for a process to do something; it must not end, nor take a minute."""
    until_s = time.monotonic() + _LEVEL_WITHIN_S
    while not is_done():
        is_late = process.poll() is not None or time.monotonic() > until_s
        assert not is_late, f"the process does not come level: {process.poll()}"
        time.sleep(0.02)


def tip_of(path: Path) -> str | None:
    """Return the hash of the block that following has reached. None: there is none."""
    serving = StoreFiles(prefix=path).serving
    if not serving.exists():
        return None
    with closing(sqlite3.connect(f"file:{serving}?mode=ro", uri=True)) as file:
        try:
            found = file.execute(
                "select '0x' || lower(hex(hash)) from checkpoint where stream = ?", (FOLLOW,)
            ).fetchone()
        except sqlite3.OperationalError:
            return None  # its tables are not made yet, or it is being closed
    return None if found is None else str(found[0])
