"""A replayed chain from its spec to a node's answers."""

from collections.abc import Iterable, Iterator

from tests.harness.replay.answers import NodeAnswers, StaticBlocks
from tests.harness.replay.block_encoding import encode_block
from tests.harness.replay.block_maker import BlockMaker, ReplayBlock
from tests.harness.replay.block_spool import BlockSpool


def replay_blocks(maker: BlockMaker) -> Iterator[ReplayBlock]:
    """All blocks of the spec's chain, in order."""
    parent_hash = maker.root_hash
    for number in range(maker.spec.first_block, maker.spec.last_block + 1):
        block = maker.make(number, parent_hash=parent_hash)
        parent_hash = block.hash
        yield block


def prepare_node(
    maker: BlockMaker, spool: BlockSpool, blocks: Iterable[ReplayBlock] | None = None
) -> NodeAnswers:
    """Make the whole chain, about ten microseconds a log, and answer for it from the spool.

    `blocks`: those of `replay_blocks`, so that a caller can read them on the way.
    """
    spec = maker.spec
    spooled = [
        spool.add(encode_block(block, spec.log_format, has_transactions=spec.has_transactions))
        for block in (replay_blocks(maker) if blocks is None else blocks)
    ]
    chain = StaticBlocks(
        chain_id=spec.chain.id, spool=spool, blocks=spooled, wallets=maker.people.wallets
    )
    return NodeAnswers(chain)
