"""A store between two blocks, compared with the branch that it has come to."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from harness.fault_simulation.expected_rows import Differences, Reading
from harness.fault_simulation.model_chain import ModelBlock, ModelChain
from harness.fault_simulation.stored_rows import read_store
from indexer.ingest import FOLLOW


def branch_differences(
    path: Path, model: ModelChain, reading_of: Callable[[tuple[ModelBlock, ...]], Reading]
) -> list[str]:
    """How a store that nobody writes differs from the branch of its newest block.

    Each step of following is one transaction, so this holds wherever a process has ended. None
    where nothing is stored, or the newest block is not held: the one above it was the first.
    """
    stored = read_store(path)
    _, tip_hash = stored.checkpoints.get(FOLLOW, (0, None))
    if tip_hash is None:
        return []
    reading = msgspec.structs.replace(reading_of(model.branch_to(tip_hash)), is_done=False)
    return Differences(reading, stored).compare()
