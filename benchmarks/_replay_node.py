"""Node of a replayed chain, as a separate process: `python -m benchmarks._replay_node SPEC`.

SPEC and the line printed once it listens are JSON. The process ends with SIGTERM, or with the pipe
of its parent.
"""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from config.facts.load_chains import load_chains
from tests.harness.measure.machine import ROOT
from tests.harness.replay.answers import prepare_node, replay_blocks
from tests.harness.replay.block_maker import BlockMaker, ReplayBlock, ReplaySpec
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.expected_replay import TransferCount, TransferReading, TransferTally
from tests.harness.replay.http_server import ReplayServer
from tests.harness.replay.log_formats import LogFormatName


class NodeSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of the replayed chain."""

    chain: str
    """Chain slug."""
    seed: int
    blocks: int
    """Number of final blocks; the head is higher by the finality depth of the chain file."""
    logs_per_block: int
    tokens: int
    log_format: LogFormatName


class RunningNode(msgspec.Struct, frozen=True, kw_only=True):
    """A listening node, with the contents of its final blocks."""

    url: str
    chain_id: int
    first_block: int
    last_block: int
    logs: int
    log_bytes: int
    """Size of all logs as JSON, those of unfinalized blocks included."""
    expected: dict[TransferReading, TransferCount]
    tracked: dict[str, int]
    """First block by token."""


@contextmanager
def replaying(spec: NodeSpec) -> Iterator[RunningNode]:
    """Run the node in a child process, stopped at the end."""
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
    """Serve the chain of the first argument."""
    options = msgspec.json.decode(sys.argv[1], type=NodeSpec)
    chain = next(chain for chain in load_chains(None) if chain.slug == options.chain)
    spec = ReplaySpec(
        chain=chain,
        seed=options.seed,
        blocks=options.blocks + chain.finality_blocks,
        logs_per_block=options.logs_per_block,
        tokens=options.tokens,
        log_format=options.log_format,
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
