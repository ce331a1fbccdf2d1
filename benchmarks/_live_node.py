"""Nodes of live chains, as a separate process: `python -m benchmarks._live_node SPEC`.

Prints a line of JSON once it listens. On a line of input the chains stop growing, and a second line
has the time at which each block was published. The process ends with its input.
"""

import select
import sys
import time
from contextlib import ExitStack

import msgspec

from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from tests.harness.measure.child import report
from tests.harness.replay.answers import NodeAnswers
from tests.harness.replay.block_maker import ReplaySpec
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.head_socket import HeadSocket
from tests.harness.replay.http_server import ReplayServer
from tests.harness.replay.live_chain import LiveChain, LivePlan, PlannedReorg

_BEFORE = 60
"""Blocks before the start, in which all tokens get their pools."""
_LONGEST_WAIT_S = 0.2


class LiveNodeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the live chains."""

    seed: int
    intervals_s: dict[str, float]
    """Seconds between blocks by slug of the chain."""
    transfers_per_s: float
    """Rate over all chains, divided equally."""
    tokens: int
    minutes: float
    reorg_every_s: float
    reorg_depth: int
    """Depth of a reorg, at most the finality depth of the chain."""


class LiveEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Addresses of one chain's node."""

    slug: str
    urls: tuple[str, str]
    """Addresses of HTTP and of WebSocket."""
    first_block: int


def _reorgs(spec: LiveNodeSpec, chain: Chain) -> tuple[PlannedReorg, ...]:
    count = int(spec.minutes * 60 / spec.reorg_every_s)
    depth = min(spec.reorg_depth, chain.finality_blocks)
    return tuple(
        PlannedReorg(at_s=(at + 1) * spec.reorg_every_s + 0.01, depth=depth) for at in range(count)
    )


def _grow(spec: LiveNodeSpec, chain: Chain, spool: BlockSpool) -> LiveChain:
    interval_s = spec.intervals_s[chain.slug]
    replay = ReplaySpec(
        chain=chain,
        seed=spec.seed,
        blocks=_BEFORE,
        logs_per_block=20,
        tokens=spec.tokens,
        first_time_s=int(time.time() - _BEFORE * interval_s),
        block_time_s=interval_s,
    )
    plan = LivePlan(
        interval_s=interval_s,
        transfers_per_s=spec.transfers_per_s / len(spec.intervals_s),
        reorgs=_reorgs(spec, chain),
    )
    return LiveChain(replay, plan, spool)


def _pace(chains: list[LiveChain]) -> None:
    """Advance all chains by the clock until a line or the end of the input."""
    started_s = time.monotonic()
    while True:
        now_s = time.monotonic()
        for chain in chains:
            chain.advance(now_s - started_s, read_clock=time.monotonic)
        due_s = started_s + min(chain.next_s for chain in chains)
        wait_s = max(0.0, min(_LONGEST_WAIT_S, due_s - time.monotonic()))
        if select.select([sys.stdin], [], [], wait_s)[0]:
            sys.stdin.readline()
            return


def main() -> None:
    """Serve the chains of the first argument."""
    spec = msgspec.json.decode(sys.argv[1], type=LiveNodeSpec)
    served = [chain for chain in load_chains(None) if chain.slug in spec.intervals_s]
    with ExitStack() as stack:
        # One spool per chain: while one thread writes, others read.
        grown = {
            f"/{chain.slug}": _grow(spec, chain, stack.enter_context(BlockSpool()))
            for chain in served
        }
        nodes = {path: NodeAnswers(chain) for path, chain in grown.items()}
        server = stack.enter_context(ReplayServer(nodes))
        socket = stack.enter_context(HeadSocket(grown))
        endpoints = [
            LiveEndpoint(
                slug=path[1:],
                urls=(server.url(path), socket.url(path)),
                first_block=chain.first,
            )
            for path, chain in grown.items()
        ]
        report(endpoints)
        _pace(list(grown.values()))
        report({path[1:]: chain.published for path, chain in grown.items()})
        sys.stdin.read()


if __name__ == "__main__":
    main()
