"""Whether liquidity can leave a pool with a hook, as an answer."""

from typing import Literal

from analysis.quotes.hook_withdrawals import LiquidityExit, TriedWithdrawal
from analysis.simulation.simulate_v1 import Passed, Refused
from api.formats.shape_building import Shape
from core.evm.primitives import checksum


class HookWithdrawal(Shape, frozen=True, kw_only=True):
    """One simulated withdrawal of all positions of a holder, at most ten."""

    holder: str
    """Whose positions they are."""
    share: float
    """Part of the pool's liquidity that the holder has, 0 to 1."""
    is_controller: bool
    """Whether the holder is named as controlling the hook or the token."""
    by_stranger: bool
    """Whether a fresh account withdrew, to which the positions were handed first."""
    wait_s: int
    """Seconds after the next block."""
    block_number: int
    """Number of the simulated block."""
    blocks_left_out: int
    """By how many blocks it is earlier than its time: without traces nodes skip some 240 at most.
    """
    outcome: Literal["passed", "refused", "unknown"]
    """refused: it reverts. unknown: not learnt; never take it for passed."""
    reason: str
    """Why it did not pass. Empty: it did."""
    brought_share: float | None
    """What arrived, as a part of what the positions are worth at the pool's price. null: it did
    not pass, or is not known."""


class HookLeaving(Shape, frozen=True, kw_only=True):
    """Whether liquidity can leave the pool."""

    withdrawals: tuple[HookWithdrawal, ...]
    """By the three largest holders that are accounts, largest first."""
    withdrawals_reason: str
    """Why there are none. Empty: there are."""
    is_refused: bool | None
    """true: one is refused, or brings less than half of its worth. false: all bring it, one of
    them by a fresh account, now and a day later, with no block left out between. null: not known,
    never to be read as no."""


def hook_leaving(found: LiquidityExit) -> HookLeaving:
    """Return the answer for one pool."""
    return HookLeaving(
        withdrawals=tuple(map(_withdrawal, found.tried)),
        withdrawals_reason=found.reason,
        is_refused=found.is_refused,
    )


def _withdrawal(one: TriedWithdrawal) -> HookWithdrawal:
    outcome = one.withdrawn.outcome
    passed = isinstance(outcome, Passed)
    return HookWithdrawal(
        holder=checksum(one.holder),
        share=one.share,
        is_controller=one.is_controller,
        by_stranger=one.by_stranger,
        wait_s=one.wait_s,
        block_number=one.block.number,
        blocks_left_out=one.block.left_out,
        outcome="passed" if passed else "refused" if isinstance(outcome, Refused) else "unknown",
        reason="" if isinstance(outcome, Passed) else outcome.reason,
        brought_share=one.brought_share,
    )
