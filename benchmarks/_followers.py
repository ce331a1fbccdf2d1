"""Followers of the service, as a separate process: `python -m benchmarks._followers SPEC`.

SPEC is JSON. Prints a line once it runs and, after a line of input, one with the time of every
stored position.
"""

import asyncio
import gc
import logging
import sys
import tempfile
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import IO

import msgspec
import structlog

from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from config.settings import IndexerSettings, RpcSettings
from core.process.allocator import share_one_arena
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from indexer.history.maintenance import keep_up
from sql.engine.store import Store
from tests.harness.measure.child import report


class FollowedChain(msgspec.Struct, frozen=True, kw_only=True):
    """A followed chain: its nodes and its first block."""

    slug: str
    urls: tuple[str, ...]
    first_block: int


class FollowersSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Chains to follow, and their store."""

    store: str
    """Path of the file."""
    chains: tuple[FollowedChain, ...]


class Position(msgspec.Struct, frozen=True, array_like=True):
    """A stored tip."""

    number: int
    hash: str
    at_s: float
    """Time of the machine's monotonic clock."""


class FollowersReport(msgspec.Struct, frozen=True, kw_only=True):
    """Positions and errors of all followers."""

    positions: dict[str, list[Position]]
    """Positions by slug, in order of time."""
    errors: dict[str, list[str]]
    """Distinct errors by slug."""


class _Recorder:
    """Status reports of one follower. Positions go to a file, as memory is measured."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._last: str | None = None
        self.errors: list[str] = []

    def positions(self) -> list[Position]:
        """Return all positions, in order of time."""
        self._file.seek(0)
        return [msgspec.json.decode(line, type=Position) for line in self._file]

    def __call__(self, status: FollowStatus) -> None:
        tip = status.tip
        if tip is not None and tip.hash != self._last:
            self._last = tip.hash
            at = Position(tip.number, tip.hash, time.monotonic())
            self._file.write(msgspec.json.encode(at) + b"\n")
        if status.last_error is not None and status.last_error not in self.errors:
            self.errors.append(status.last_error)


async def _follow_all(spec: FollowersSpec) -> FollowersReport:
    stop = asyncio.Event()
    known: dict[str, Chain] = {chain.slug: chain for chain in load_chains(None)}
    settings = IndexerSettings()
    async with AsyncExitStack() as stack:
        recorders = {
            one.slug: _Recorder(
                stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
            )
            for one in spec.chains
        }
        store = stack.enter_context(closing(Store.open(Path(spec.store))))
        async with asyncio.TaskGroup() as group:
            for one in spec.chains:
                chain = msgspec.structs.replace(known[one.slug], start_block=one.first_block)
                client = await RpcClient.connect(one.urls, chain.id, RpcSettings())
                stack.push_async_callback(client.aclose)
                work = (chain, client, store, settings)
                publish = recorders[one.slug]
                group.create_task(follow(*work, stop=stop, publish=publish))
                group.create_task(keep_up(*work, stop=stop))
            gc.freeze()  # as the service does
            report({})
            await asyncio.to_thread(sys.stdin.readline)
            stop.set()
        return FollowersReport(
            positions={slug: recorder.positions() for slug, recorder in recorders.items()},
            errors={slug: recorder.errors for slug, recorder in recorders.items()},
        )


def main() -> None:
    """Follow the chains of the first argument."""
    # As in the service, but without the lines of every reorg: standard output is for the report.
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )
    share_one_arena()  # as the service does
    spec = msgspec.json.decode(sys.argv[1], type=FollowersSpec)
    report(asyncio.run(_follow_all(spec)))


if __name__ == "__main__":
    main()
