"""The service's followers in a process of their own: `python -m benchmarks._followers SPEC`.

SPEC is JSON. It prints a line once it runs and, after a line of input, one with every position that
it had stored, and when.
"""

import asyncio
import logging
import sys
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path

import msgspec
import structlog

from config.chains import Chain
from config.load import load_chains
from config.settings_model import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from indexer.follow import follow
from indexer.follower_status import FollowStatus
from indexer.maintenance import keep_up
from sql.store import Store


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
    """What one chain's follower publishes."""

    def __init__(self) -> None:
        self.positions: list[Position] = []
        self.errors: list[str] = []

    def __call__(self, status: FollowStatus) -> None:
        tip = status.tip
        if tip is not None and (not self.positions or self.positions[-1].hash != tip.hash):
            self.positions.append(Position(tip.number, tip.hash, time.monotonic()))
        if status.last_error is not None and status.last_error not in self.errors:
            self.errors.append(status.last_error)


async def _follow_all(spec: FollowersSpec) -> FollowersReport:
    stop = asyncio.Event()
    known: dict[str, Chain] = {chain.slug: chain for chain in load_chains(None)}
    recorders = {one.slug: _Recorder() for one in spec.chains}
    settings = IndexerSettings()
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        store = stack.enter_context(closing(Store.open(Path(spec.store))))
        for one in spec.chains:
            chain = msgspec.structs.replace(known[one.slug], start_block=one.first_block)
            client = await RpcClient.connect(one.urls, chain.id, RpcSettings())
            stack.push_async_callback(client.aclose)
            publish = recorders[one.slug]
            group.create_task(follow(chain, client, store, settings, stop=stop, publish=publish))
            group.create_task(keep_up(chain, client, store, settings, stop=stop))
        _tell(b"{}")
        await asyncio.to_thread(sys.stdin.readline)
        stop.set()
    return FollowersReport(
        positions={slug: recorder.positions for slug, recorder in recorders.items()},
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
    spec = msgspec.json.decode(sys.argv[1], type=FollowersSpec)
    _tell(msgspec.json.encode(asyncio.run(_follow_all(spec))))


if __name__ == "__main__":
    main()
