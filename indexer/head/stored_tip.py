"""Newest stored block of a chain, whichever process follows it."""

from core.evm.primitives import BlockRef
from sql.chain.blocks import FOLLOW, list_blocks, read_checkpoint
from sql.engine.store import Store


def read_tip(store: Store, chain_id: int) -> BlockRef | None:
    """Return the newest stored block of a chain. None: there is none. Raises StoreError."""
    checkpoint = read_checkpoint(store, chain_id=chain_id, stream=FOLLOW)
    if checkpoint is None:
        return None
    number = checkpoint.number
    found = list_blocks(store, chain_id=chain_id, first=number, last=number)
    if not found:
        return None
    row = found[0]
    return BlockRef(
        number=row.number, hash=row.hash, parent_hash=row.parent_hash, time_s=row.time_s
    )
