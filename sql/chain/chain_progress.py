"""Ingestion progress of each chain."""

import time

import msgspec

from sql.engine.store import Readable


class ChainCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Row counts of one chain that has been followed."""

    chain_id: int
    tip: int
    """Newest block ingested."""
    pools: int
    transfers: int
    """Transfers that are not in the lake yet."""
    queue: int
    """Tokens that are due for an analysis."""
    whole_histories: int
    """Tokens whose transfers are stored from the first one on."""


def read_counts(store: Readable) -> dict[int, ChainCounts]:
    """Return counts by chain id. Raises StoreError."""
    found = store.fetch("status/list_chains", ChainCounts, now_s=int(time.time()))
    return {row.chain_id: row for row in found}
