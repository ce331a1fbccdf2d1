"""Decoder of Swap events of all kinds: log columns in, trade columns out.

Kinds share topics, so an event's form only limits the kinds of pool that it may be of; the table of
pools decides.
"""

from collections.abc import Iterable

import polars as pl

from config.pool_families import FAMILIES, PoolSwap
from core.primitives import BlockRef, Hash32
from indexer.decode.forms import SwapForm, swap_form
from indexer.decode.words import WordPlace, has_shape, to_hash

_DIGITS = 16
_MOST = 2**64 - 1


def _forms() -> tuple[SwapForm, ...]:
    """Return every Swap event once, with all kinds of pool that emit it."""
    events: dict[PoolSwap, list[str]] = {}
    for family in FAMILIES:
        for event in family.swap:
            events.setdefault(event, []).append(family.kind)
    return tuple(swap_form(event, tuple(kinds)) for event, kinds in events.items())


_FORMS = _forms()

SWAP_TOPICS: tuple[Hash32, ...] = tuple(dict.fromkeys(form.topic0 for form in _FORMS))

TRADE_SCHEMA: dict[str, pl.DataType] = {
    "block_number": pl.Int64(),
    "log_index": pl.Int64(),
    "time_s": pl.Int64(),
    "emitter": pl.String(),
    "pool_key": pl.String(),
    "kinds": pl.List(pl.String()),
    "amount0": pl.Float64(),
    "amount1": pl.Float64(),
}
"""Columns of a frame of trades. Amounts are signed from the pool's side: positive was received."""


def decode_trades(logs: pl.DataFrame, blocks: Iterable[BlockRef]) -> pl.DataFrame:
    """Return the swaps as a frame of TRADE_SCHEMA, in chain order.

    The time is that of the block among these `blocks`, else the log's own; swaps without either,
    and logs of another shape, are left out.
    """
    times = pl.DataFrame(
        [(block.number, block.time_s) for block in blocks],
        schema={"block_number": pl.Int64, "own_time_s": pl.Int64},
        orient="row",
    )
    swaps = (
        logs.filter(pl.col("topic0").is_in(SWAP_TOPICS))
        .join(times, on="block_number", how="left")
        .with_columns(time_s=pl.coalesce("own_time_s", "time_s"))
        .filter(pl.col("time_s").is_not_null())
    )
    parts = [
        swaps.filter(
            (pl.col("topic0") == form.topic0) & has_shape(topics=form.topics, words=form.words)
        )
        .select(_columns(form))
        .cast(pl.Schema(TRADE_SCHEMA))
        for form in _FORMS
    ]
    return pl.concat(parts).sort("block_number", "log_index")


def _columns(form: SwapForm) -> list[pl.Expr]:
    amount0, amount1 = (_amount(form, at) for at in range(2))
    pool_key = pl.col("address") if form.pool_id is None else to_hash(form.pool_id)
    return [
        pl.col("block_number"),
        pl.col("log_index"),
        pl.col("time_s"),
        pl.col("address").alias("emitter"),
        pool_key.alias("pool_key"),
        pl.lit(pl.Series([list(form.kinds)])).first().alias("kinds"),
        amount0.alias("amount0"),
        amount1.alias("amount1"),
    ]


def _amount(form: SwapForm, at: int) -> pl.Expr:
    """Return the amount of token0 or token1, positive where the pool received it."""
    received = _signed(form.paid_in[at])
    if form.paid_out is not None:
        return received - _signed(form.paid_out[at])
    return -received if form.is_negated else received


def _signed(place: WordPlace) -> pl.Expr:
    """Return a word in two's complement as a DOUBLE. It is computed from four 64-bit parts, as
    small negative numbers would lose all precision beside 2**256."""
    digits = place.text()
    is_negative = digits.str.slice(0, 1).is_in(list("89abcdef"))
    parts = [
        digits.str.slice(_DIGITS * (3 - at), _DIGITS).str.to_integer(base=16, dtype=pl.UInt64)
        for at in range(4)
    ]
    most = pl.lit(_MOST, dtype=pl.UInt64)
    plain = pl.sum_horizontal(
        *(part.cast(pl.Float64) * 2.0 ** (64 * at) for at, part in enumerate(parts))
    )
    turned = pl.sum_horizontal(
        *((most - part).cast(pl.Float64) * 2.0 ** (64 * at) for at, part in enumerate(parts))
    )
    return pl.when(is_negative).then(-(turned + 1)).otherwise(plain)
