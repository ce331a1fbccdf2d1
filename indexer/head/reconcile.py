"""Reorg handling as a pure function: the next step from our tip towards the node's head."""

import msgspec

from core.evm.primitives import BlockRef


class NoChange(msgspec.Struct, frozen=True):
    """Nothing to do."""


class Append(msgspec.Struct, frozen=True):
    """Append this block as our new tip."""

    block: BlockRef


class CatchUp(msgspec.Struct, frozen=True):
    """Ingest the block at this height first."""

    number: int


class Unwind(msgspec.Struct, frozen=True):
    """Our tip has left the canonical chain: drop it."""

    block: BlockRef


ReconcileStep = NoChange | Append | CatchUp | Unwind


def next_step(tip: BlockRef, head: BlockRef) -> ReconcileStep:
    """Return the step that brings our tip closer to the node's head.

    NoChange: the head is our tip. Append: the head's parent is our tip. CatchUp: the head is
    further on; the next block comes first. Unwind: our tip has left the canonical chain and is
    dropped; then compare again.
    """
    if head.hash == tip.hash:
        return NoChange()
    if head.number == tip.number + 1 and head.parent_hash == tip.hash:
        return Append(head)
    if head.number > tip.number + 1:
        return CatchUp(tip.number + 1)
    return Unwind(tip)
