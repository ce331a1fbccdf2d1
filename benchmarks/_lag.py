"""How far a follower was behind its node, from what both noted. No I/O."""

import statistics
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from benchmarks._followers import Position
from harness.replay.live_chain import Published


class Lag(msgspec.Struct, frozen=True, kw_only=True):
    """Over all blocks that stayed canonical."""

    blocks: int
    """That the node told of."""
    missing: int
    """That the follower had not stored at the end."""
    seconds: tuple[float, ...]
    """From a block's publication to its commit, for each that was stored."""
    behind: tuple[int, ...]
    """Blocks between our tip and the node's head at each of these commits."""


def measure_lag(published: Sequence[Published], positions: Sequence[Position]) -> Lag:
    """Match publications with commits, both in the order of time."""
    canonical = {block.number: block for block in published}
    times = [position.at_s for position in positions]
    published_at = [block.at_s for block in published]
    seconds, behind = [], []
    for block in canonical.values():
        committed = _committed(block, positions, bisect_right(times, block.at_s))
        if committed is None:
            continue
        seconds.append(committed.at_s - block.at_s)
        head = published[bisect_right(published_at, committed.at_s) - 1].number
        behind.append(max(0, head - committed.number))
    return Lag(
        blocks=len(canonical),
        missing=len(canonical) - len(seconds),
        seconds=tuple(seconds),
        behind=tuple(behind),
    )


def _committed(block: Published, positions: Sequence[Position], since: int) -> Position | None:
    """The first position at or above the block, on its branch as far as that can be told."""
    for position in positions[since:]:
        if position.hash == block.hash or position.number > block.number:
            return position
    return None


def percentiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, 99th percentile and maximum; 0 where there is none."""
    if len(values) < 2:
        return (values[0],) * 3 if values else (0.0,) * 3
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return cuts[49], cuts[98], max(values)
