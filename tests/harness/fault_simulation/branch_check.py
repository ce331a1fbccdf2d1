"""A store between two processes, compared with its branch."""

from pathlib import Path

from indexer.events import FOLLOW
from tests.harness.fault_simulation.expected_rows import Differences, Fill, Reading
from tests.harness.fault_simulation.model_chain import ModelBlock, ModelChain
from tests.harness.fault_simulation.stored_rows import StoredRows, read_store


def reading_between(
    stored: StoredRows,
    model: ModelChain,
    *,
    start: int,
    fills: tuple[Fill, ...] = (),
    followed_to: int = 0,
    reported: frozenset[str] = frozenset(),
) -> Reading | None:
    """Build the reading that an idle store must hold.

    It is the branch of the store's newest block, and the back-fills stored so far. Each step is one
    transaction, so this holds wherever a process has ended. None where it is unknown: nothing is
    stored, the newest block is not held, or back-fills were ahead of a following that has yet to
    leave an abandoned branch.
    """
    tip, tip_hash = stored.checkpoints.get(FOLLOW, (0, None))
    if tip_hash is None:
        return None
    filled_to = max((one.last for one in fills), default=0)
    blocks = _joined(model, model.branch_to(tip_hash), filled_to=filled_to)
    if blocks is None:
        return None
    return Reading(
        chain=model.chain,
        canonical=blocks,
        tip=tip,
        start=start,
        highest=model.highest,
        fills=fills,
        followed_to=max(followed_to, tip),
        reported=reported,
        is_done=False,
    )


def _joined(
    model: ModelChain, followed: tuple[ModelBlock, ...], *, filled_to: int
) -> tuple[ModelBlock, ...] | None:
    """The blocks that were followed, and those above that back-fills have stored: up to
    `filled_to`, and from the canonical branch, as they were final. None: that is another branch."""
    common = sum(
        one.hash == other.hash for one, other in zip(followed, model.canonical, strict=False)
    )
    is_abandoned = common < len(followed)
    is_final = model.highest - model.chain.finality_blocks >= common
    if is_abandoned and is_final and filled_to >= common:
        return None
    return followed if is_abandoned else model.canonical[: max(len(followed), filled_to + 1)]


def branch_differences(path: Path, model: ModelChain) -> list[str]:
    """Differences between an idle store, followed from block 0, and the branch of its newest block.

    None where nothing is stored.
    """
    return differences_from(read_store(path), model)


def differences_from(stored: StoredRows, model: ModelChain) -> list[str]:
    """Differences between the rows of such a store and the branch of its newest block."""
    reading = reading_between(stored, model, start=0)
    return [] if reading is None else Differences(reading, stored).compare()
