"""Block schedule: numbers and times of simulated blocks.

Geth simulates at most 256 blocks beyond the pinned one, the skipped ones included; so a long wait
is cut short, or its number lags behind its time. Where no code that runs can count blocks, none is
skipped: the next block has the late time. Source: go-ethereum internal/ethapi/simulate.go.
"""

from collections.abc import Sequence

import msgspec

from core.evm.primitives import BlockRef


class SimulatedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """Number and time of one simulated block."""

    number: int
    time_s: int
    left_out: int
    """Blocks by which the number is lower than at the chain's pace, because nodes do not skip as
    many. A contract that counts blocks has not waited as long as one that reads the time."""


def blocks_after(
    pin: BlockRef,
    *,
    block_time_s: float,
    now_s: int,
    waits_s: Sequence[float],
    is_bounded: bool = True,
    counts_blocks: bool = True,
) -> tuple[SimulatedBlock, ...]:
    """Return the next block, then one after each wait, however long. Times are kept, and numbers
    are as near to the chain's pace as nodes allow over all waits together. A wait of 0 is one
    block. `is_bounded` False: for traces, which run in a block of any number. `counts_blocks`
    False: no code that runs can read a block's number."""
    step_s = max(1, round(block_time_s))
    number, time_s, left_out = pin.number + 1, max(pin.time_s + step_s, now_s), 0
    blocks = [SimulatedBlock(number=number, time_s=time_s, left_out=0)]
    allowance = _MOST_BLOCKS_SKIPPED - len(waits_s)
    longest = sum(wait_s > block_time_s for wait_s in waits_s)
    for wait_s in waits_s:
        due = max(1, int(wait_s / block_time_s))
        taken = min(due, 1 + allowance // max(1, longest)) if is_bounded else due
        if wait_s > block_time_s:
            longest -= 1
            allowance -= taken - 1
        time_s += max(taken, round(due * block_time_s))
        if counts_blocks:
            number, left_out = number + taken, left_out + due - taken
        else:
            number += 1
        blocks.append(SimulatedBlock(number=number, time_s=time_s, left_out=left_out))
    return tuple(blocks)


def next_blocks(
    pin: BlockRef,
    *,
    block_time_s: float,
    now_s: int,
    waits_s: Sequence[int],
    counts_blocks: bool = True,
) -> list[tuple[int, int]]:
    """Return numbers and times of simulated blocks: the next block, then one after each wait.

    The first is dated no earlier than now, as a real trade would be. Time and number advance
    together at the chain's pace, because a contract can compare them; so a wait is cut short where
    the chain makes more blocks in it than nodes let a simulation skip. `counts_blocks` False: no
    code that runs can read a block's number, so each wait is whole, and one block.
    """
    step_s = max(1, round(block_time_s))
    number, time_s = pin.number + 1, max(pin.time_s + step_s, now_s)
    blocks = [(number, time_s)]
    for wait_s in waits_s:
        most = _MOST_BLOCKS_SKIPPED if counts_blocks else wait_s
        skipped = max(1, min(int(wait_s / block_time_s), most))
        number += skipped if counts_blocks else 1
        # Simulated blocks all have different times, unlike some blocks of very fast chains.
        time_s += max(skipped, round(skipped * block_time_s))
        blocks.append((number, time_s))
    return blocks


_MOST_BLOCKS_SKIPPED = 239
"""Most blocks skipped in one wait. Geth simulates at most 256 blocks, the skipped ones included;
odd, because a token may block trades in every other block."""
