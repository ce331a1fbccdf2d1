"""The service's followers in a process of their own: `python -m benchmarks._followers SPEC`.

SPEC is JSON. It prints a line once it runs and, after a line of input, one with every position that
it had stored, and when.
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

from config.chains import Chain
from config.load import load_chains
from config.settings_model import IndexerSettings, RpcSettings
from core.process.allocator import share_one_arena
from core.rpc.client import RpcClient
from indexer.follow import follow
from indexer.follower_status import FollowStatus
from indexer.maintenance import keep_up
from sql.engine.store import Store


class FollowedChain(msgspec.Struct, frozen=True, kw_only=True):
    """A chain, where its nodes are, and where to begin."""

    slug: str
    urls: tuple[str, ...]
    first_block: int


class FollowersSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What to follow, and into which store."""

    store: str
    """Path of the file."""
    chains: tuple[FollowedChain, ...]


class Position(msgspec.Struct, frozen=True, array_like=True):
    """A stored tip."""

    number: int
    hash: str
    at_s: float
    """As the monotonic clock of the machine had it."""


class FollowersReport(msgspec.Struct, frozen=True, kw_only=True):
    """What became of it."""

    positions: dict[str, list[Position]]
    """By slug, in the order of time."""
    errors: dict[str, list[str]]
    """By slug: each trouble that there was, once."""


class _Recorder:
    """What one chain's follower publishes. Positions go to a file: this process's memory is what
    is measured."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._last: str | None = None
        self.errors: list[str] = []

    def positions(self) -> list[Position]:
        """All of them, in the order of time."""
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
            _tell(b"{}")
            await asyncio.to_thread(sys.stdin.readline)
            stop.set()
        return FollowersReport(
            positions={slug: recorder.positions() for slug, recorder in recorders.items()},
            errors={slug: recorder.errors for slug, recorder in recorders.items()},
        )


def _tell(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()


def main() -> None:
    """See the top."""
    # As the service's, but what is told in every reorg: standard output is for the report.
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
    )
    share_one_arena()  # as the service does
    spec = msgspec.json.decode(sys.argv[1], type=FollowersSpec)
    _tell(msgspec.json.encode(asyncio.run(_follow_all(spec))))


if __name__ == "__main__":
    main()
