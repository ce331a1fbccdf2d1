"""Decoder of `eth_getLogs` answers into columns, on which every later step works."""

from collections.abc import Sequence

import msgspec
import polars as pl

from core.rpc.failures import IllFormedError

LOG_SCHEMA = {
    "block_number": pl.Int64,
    "block_hash": pl.String,
    "log_index": pl.Int64,
    "address": pl.String,
    "topic_count": pl.UInt8,
    "topic0": pl.String,
    "topic1": pl.String,
    "topic2": pl.String,
    "topic3": pl.String,
    "data": pl.String,
    "tx_hash": pl.String,
    "time_s": pl.Int64,
}
"""Columns of a log frame. Hex is lower case with 0x; a missing topic is an empty string. `tx_hash`
alone is unchecked, as the node sent it: few logs need it, so its users check it. `time_s` is that
of the block, null where the node does not send it with the log."""

_TEXTS = ("block_hash", "address", "topic0", "topic1", "topic2", "topic3", "data")
_ADDRESS = r"^0x[0-9a-f]{40}$"
_HASH = r"^0x[0-9a-f]{64}$"
_TOPIC = r"^(0x[0-9a-f]{64})?$"
_DATA = r"^0x([0-9a-f]{2})*$"


class _WireLog(msgspec.Struct, rename="camel", gc=False):
    address: str
    topics: tuple[str, ...]
    data: str
    block_number: str
    block_hash: str
    log_index: str
    transaction_hash: str = ""
    block_timestamp: str | float | None = None
    """Geth, Erigon, Reth and anvil send it; execution-apis has it since 2025."""
    removed: bool = False


_decoder = msgspec.json.Decoder(list[_WireLog])


def decode_logs(body: bytes | msgspec.Raw) -> pl.DataFrame:
    """Decode the answer's logs in the order sent, as a frame of LOG_SCHEMA.

    Raises ValueError (msgspec's errors are among them) for anything that is not a list of mined
    logs with well-formed hex, `removed` ones included.
    """
    logs = _decoder.decode(body)
    if not logs:
        return pl.DataFrame(schema=LOG_SCHEMA)
    topics = [log.topics for log in logs]
    frame = pl.DataFrame(
        {
            "block_number": [log.block_number for log in logs],
            "block_hash": [log.block_hash for log in logs],
            "log_index": [log.log_index for log in logs],
            "address": [log.address for log in logs],
            "topic_count": pl.Series([len(some) for some in topics], dtype=pl.UInt8),
            **{f"topic{at}": _nth(topics, at) for at in range(4)},
            "data": [log.data for log in logs],
            "tx_hash": [log.transaction_hash for log in logs],
            "time_s": pl.Series(
                [log.block_timestamp for log in logs], dtype=pl.String, strict=False
            ),
        }
    )
    if any(log.removed for log in logs):
        raise IllFormedError(part="log: it was removed by a reorganisation")
    return _checked(frame)


def _nth(topics: Sequence[tuple[str, ...]], at: int) -> list[str]:
    return [some[at] if len(some) > at else "" for some in topics]


def _integer(name: str, dtype: type[pl.Int32 | pl.Int64]) -> pl.Expr:
    return pl.col(name).str.strip_prefix("0x").str.to_integer(base=16, dtype=dtype)


def _checked(frame: pl.DataFrame) -> pl.DataFrame:
    try:
        frame = frame.with_columns(
            pl.col(*_TEXTS).str.to_lowercase(),
            _integer("block_number", pl.Int64),
            # Stored as 32 bits; no block has two thousand million logs.
            _integer("log_index", pl.Int32).cast(pl.Int64),
            pl.col("time_s").str.strip_prefix("0x").str.to_integer(base=16, strict=False),
        )
    except pl.exceptions.ComputeError:
        raise IllFormedError(part="block number or log index of a log") from None
    formed = frame.select(
        address=pl.col("address").str.contains(_ADDRESS).all(),
        block_hash=pl.col("block_hash").str.contains(_HASH).all(),
        topics=pl.all_horizontal(pl.col("^topic[0-3]$").str.contains(_TOPIC)).all(),
        data=pl.col("data").str.contains(_DATA).all(),
    )
    for column, is_formed in formed.row(0, named=True).items():
        if not is_formed:
            raise IllFormedError(part=f"{column} of a log")
    return frame
