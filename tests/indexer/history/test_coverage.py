"""Joined coverage holds exactly the blocks that were added, in ranges that do not touch."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from indexer.ingest import join_coverage
from sql.engine.table_rows import CoverageRow

RANGES = st.tuples(st.integers(0, 30), st.integers(0, 6)).map(
    lambda pair: (pair[0], pair[0] + pair[1])
)


@given(st.lists(st.tuples(RANGES, st.sets(st.sampled_from("abc"), min_size=1)), max_size=12))
def test_it_equals_the_set_of_blocks(added: list[tuple[tuple[int, int], set[str]]]) -> None:
    rows: list[CoverageRow] = []
    blocks: dict[str, set[int]] = {"a": set(), "b": set(), "c": set()}
    for (first, last), subjects in added:
        rows = join_coverage(rows, chain_id=1, subjects=sorted(subjects), first=first, last=last)
        for subject in subjects:
            blocks[subject] |= set(range(first, last + 1))
    for subject, expected in blocks.items():
        ranges = sorted((row.from_block, row.to_block) for row in rows if row.subject == subject)
        assert {at for first, last in ranges for at in range(first, last + 1)} == expected
        gaps = [after[0] - before[1] for before, after in itertools.pairwise(ranges)]
        assert all(gap > 1 for gap in gaps)
