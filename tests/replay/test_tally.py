"""Figures that benchmarks compare with equal the ledger of a replayed chain."""

from tests.harness.replay.answers import replay_blocks
from tests.harness.replay.block_maker import BlockMaker
from tests.harness.replay.expected_replay import TransferTally, expect
from tests.harness.replay.small_chains import small


def test_the_tally_is_that_of_the_ledger() -> None:
    spec = small()
    blocks = list(replay_blocks(BlockMaker(spec)))
    tally = TransferTally(spec)
    for block in blocks:
        tally.add(block)
    tables = expect(spec, blocks)
    exact = tally.counts["exact"]
    assert exact.rows == len(tables.transfers)
    assert exact.blocks == sum(int(str(row[0])) for row in tables.transfers)
    assert exact.indices == sum(int(str(row[1])) for row in tables.transfers)
    assert sorted(tally.tracked.items()) == [(row[0], row[2]) for row in tables.tokens]
    four, one = tally.counts["four_words"], tally.counts["one_word"]
    assert exact.rows < one.rows < four.rows, "others count what is no transfer"
