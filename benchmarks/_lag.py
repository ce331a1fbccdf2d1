"""How far a follower was behind its node, from what both noted. No I/O."""

import math
import statistics
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from benchmarks._followers import Position
from tests.harness.replay.live_chain import Published


class Lag(msgspec.Struct, frozen=True, kw_only=True):
    """Over all blocks that stayed canonical."""

    blocks: int
    """That the node told of."""
    missing: int
    """That the follower had not stored at the end."""
    level_after_s: float | None
    """From the node's first block to the first moment at which the follower had stored its head.
    None: it never had."""
    seconds: tuple[float, ...]
    """From a block's publication to its commit, for each that was published after that moment and
    was stored."""
    behind: tuple[int, ...]
    """Blocks between our tip and the node's head at each of these commits."""


def measure_lag(published: Sequence[Published], positions: Sequence[Position]) -> Lag:
    """Match publications with commits, both in the order of time."""
    canonical = {block.number: block for block in published}
    times = [position.at_s for position in positions]
    published_at = [block.at_s for block in published]

    def head_at(at_s: float) -> Published:
        return published[max(0, bisect_right(published_at, at_s) - 1)]

    level_at = next(
        (one.at_s for one in positions if one.number >= head_at(one.at_s).number), math.inf
    )
    missing, seconds, behind = 0, [], []
    for block in canonical.values():
        committed = _committed(block, positions, bisect_right(times, block.at_s))
        if committed is None:
            missing += 1
        elif block.at_s >= level_at:
            seconds.append(committed.at_s - block.at_s)
            behind.append(max(0, head_at(committed.at_s).number - committed.number))
    return Lag(
        blocks=len(canonical),
        missing=missing,
        level_after_s=None if math.isinf(level_at) else level_at - published[0].at_s,
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
