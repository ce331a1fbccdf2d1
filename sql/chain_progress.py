"""Ingestion progress of each chain, read through the process that owns the store."""

from pathlib import Path

import msgspec

from sql.console import run_sql
from sql.statements import load_statement


class ChainCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Row counts of one chain that has been followed."""

    chain_id: int
    tip: int
    """Newest block ingested."""
    pools: int
    transfers: int
    queue: int
    """Tokens with a pool that have neither a report nor a refusal yet."""
    whole_histories: int
    """Tokens whose transfers are stored from the first one on."""


def read_counts(path: Path) -> dict[int, ChainCounts]:
    """Return counts by chain id, also while another process owns the file.

    Raises StoreError when the file does not exist or cannot be read.
    """
    found = run_sql(path, load_statement("status/list_chains"))
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    return {row.chain_id: row for row in msgspec.convert(rows, list[ChainCounts])}
