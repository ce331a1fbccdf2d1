"""Undecoded logs: those with a known topic but not the shape of its event. They are stored, too."""

import polars as pl

_KEPT_CHARS = 2 + 2 * 1024

UNDECODED_SCHEMA = {
    "block_number": pl.Int64,
    "log_index": pl.Int64,
    "address": pl.String,
    "topic0": pl.String,
    "topic_count": pl.UInt8,
    "data": pl.String,
}
"""Columns of a frame of undecoded logs: UndecodedRow without its chain."""


def undecoded_columns(logs: pl.DataFrame) -> pl.DataFrame:
    """Return the logs as a frame of UNDECODED_SCHEMA in chain order, data cut at 1,024 bytes."""
    return (
        logs.with_columns(pl.col("data").str.slice(0, _KEPT_CHARS))
        .select(*UNDECODED_SCHEMA)
        .sort("block_number", "log_index")
    )
