"""A replayed chain in a process of its own: `python -m benchmarks._replay_node SPEC`.

SPEC and the line it prints once it answers are JSON. It ends with SIGTERM, or with its parent's
pipe.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from benchmarks._machine import ROOT
from config.load import load_chains
from tests.harness.replay.block_maker import BlockMaker, ReplayBlock, ReplaySpec
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.http_server import ReplayServer
from tests.harness.replay.log_formats import LogFormatName
from tests.harness.replay.static_node import prepare_node, replay_blocks
from tests.harness.replay.tally import TransferCount, TransferReading, TransferTally


class NodeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What to replay."""

    chain: str
    """Slug."""
    seed: int
    blocks: int
    """That are final; the head is as much higher as the chain file says."""
    logs_per_block: int
    tokens: int
    log_format: LogFormatName


class RunningNode(msgspec.Struct, frozen=True, kw_only=True):
    """A node that answers, and what it holds in its final blocks."""

    url: str
    chain_id: int
    first_block: int
    last_block: int
    logs: int
    log_bytes: int
    """JSON of all logs, those of the blocks that are not final too."""
    expected: dict[TransferReading, TransferCount]
    tracked: dict[str, int]
    """First block by token."""


@contextmanager
def replaying(spec: NodeSpec) -> Iterator[RunningNode]:
    """A node in a child process, stopped at the end."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks._replay_node", msgspec.json.encode(spec).decode()],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        yield msgspec.json.decode(
            child.stdout.readline() if child.stdout else b"", type=RunningNode
        )
    finally:
        child.terminate()
        child.wait(30)


def main() -> None:
    """See the top."""
    asked = msgspec.json.decode(sys.argv[1], type=NodeSpec)
    chain = next(chain for chain in load_chains(None) if chain.slug == asked.chain)
    spec = ReplaySpec(
        chain=chain,
        seed=asked.seed,
        blocks=asked.blocks + chain.finality_blocks,
        logs_per_block=asked.logs_per_block,
        tokens=asked.tokens,
        log_format=asked.log_format,
    )
    last = spec.last_block - chain.finality_blocks
    tally, logs = TransferTally(spec), 0

    def counted() -> Iterator[ReplayBlock]:
        nonlocal logs
        for block in replay_blocks(maker):
            if block.number <= last:
                tally.add(block)
                logs += len(block.events)
            yield block

    with BlockSpool() as spool:
        maker = BlockMaker(spec)
        node = prepare_node(maker, spool, counted())
        with ReplayServer({"/": node}) as server:
            running = RunningNode(
                url=server.url(),
                chain_id=chain.id,
                first_block=spec.first_block,
                last_block=last,
                logs=logs,
                log_bytes=spool.size,
                expected=tally.counts,
                tracked=tally.tracked,
            )
            sys.stdout.buffer.write(msgspec.json.encode(running) + b"\n")
            sys.stdout.flush()
            sys.stdin.read()  # until the parent ends, however it does


if __name__ == "__main__":
    main()
