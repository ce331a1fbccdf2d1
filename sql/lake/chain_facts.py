"""Copies final pools and launches to the lake, so that its events can be read without the store."""

import msgspec

from sql.lake.final_batches import FinalBatches
from sql.lake.lake_file import Lake
from sql.lake.lake_statements import scan_text

_LAST_BLOCK = 2**62
"""Above every block."""


class _Pool(msgspec.Struct, frozen=True, kw_only=True):
    pool_no: int


class _Launches(msgspec.Struct, frozen=True, kw_only=True):
    block_number: int
    launches: int


def copy_facts(batches: FinalBatches, lake: Lake, chain_id: int) -> None:
    """Copy what is new and final of a chain. Raises StoreError."""
    _copy_pools(batches, lake, chain_id)
    _copy_launches(batches, lake, chain_id)


def _copy_pools(batches: FinalBatches, lake: Lake, chain_id: int) -> None:
    to = batches.last_final_pool(chain_id)
    (last,) = lake.fetch("find_last_pool", _Pool, chain_id=chain_id)
    if to > last.pool_no:
        scan = scan_text(
            "new_pools", lake.place.engine, chain_id=chain_id, above=last.pool_no, to=to
        )
        lake.execute("copy_pools", chain_id=chain_id, scan=scan)


def _copy_launches(batches: FinalBatches, lake: Lake, chain_id: int) -> None:
    moving = batches.first_moving_block(chain_id)
    to_block = _LAST_BLOCK if moving is None else moving - 1
    wanted = batches.count_launches(chain_id, below=moving)
    # Usually all that are missing are newer than those here; a back-fill brings older ones.
    for from_block in (None, 0):
        (here,) = lake.fetch("find_last_launch", _Launches, chain_id=chain_id)
        if here.launches >= wanted:
            return
        first = here.block_number if from_block is None else from_block
        scan = scan_text(
            "launches",
            lake.place.engine,
            chain_id=chain_id,
            from_block=max(0, first),
            to_block=to_block,
        )
        lake.execute("copy_launches", chain_id=chain_id, scan=scan)
