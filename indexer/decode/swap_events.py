"""Decoder of Swap events of all kinds: log columns in, trade columns out.

Kinds share topics, so an event's form only limits the kinds of pool that it may be of; the table of
pools decides. Sources: the pool interfaces of Uniswap V2, V3 and V4 (core), Solidly, Aerodrome,
PancakeSwap V3 and Algebra Integral.
"""

from collections.abc import Iterable

import msgspec
import polars as pl

from config.chains import DexKind
from core.primitives import BlockRef, Hash32
from indexer.decode.forms import event_topic
from indexer.decode.words import WordPlace, has_shape, to_hash, topic, word

_TOPICS = 3
_DIGITS = 16
_MOST = 2**64 - 1


class _SwapForm(msgspec.Struct, frozen=True, kw_only=True):
    """One Swap event: its signature, the kinds of pool that emit it, and its words of data."""

    signature: str
    kinds: tuple[DexKind, ...]
    words: int

    @property
    def topic0(self) -> Hash32:
        return event_topic(self.signature)


_PAIRS: tuple[DexKind, ...] = ("AmmV2", "Solid")
_RANGES: tuple[DexKind, ...] = ("AmmV3", "SolidV3")
_FORMS = (
    _SwapForm(
        signature="Swap(address,uint256,uint256,uint256,uint256,address)", kinds=_PAIRS, words=4
    ),
    _SwapForm(
        signature="Swap(address,address,uint256,uint256,uint256,uint256)", kinds=_PAIRS, words=4
    ),
    *(
        _SwapForm(
            signature=f"Swap(address,address,int256,int256,uint160,uint128,int24{rest})",
            kinds=_RANGES,
            words=words,
        )
        for rest, words in (("", 5), (",uint128,uint128", 7), (",uint24,uint24", 7))
    ),
    _SwapForm(
        signature="Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)",
        kinds=("AmmV4",),
        words=6,
    ),
)

SWAP_TOPICS: tuple[Hash32, ...] = tuple(form.topic0 for form in _FORMS)

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
            (pl.col("topic0") == form.topic0) & has_shape(topics=_TOPICS, words=form.words)
        )
        .select(_columns(form))
        .cast(pl.Schema(TRADE_SCHEMA))
        for form in _FORMS
    ]
    return pl.concat(parts).sort("block_number", "log_index")


def _columns(form: _SwapForm) -> list[pl.Expr]:
    is_v4 = form.kinds == ("AmmV4",)
    if form.kinds == _PAIRS:
        amounts = [_signed(word(at)) - _signed(word(at + 2)) for at in range(2)]
    else:
        # V4's amounts are signed from the trader's side.
        amounts = [-_signed(word(at)) if is_v4 else _signed(word(at)) for at in range(2)]
    return [
        pl.col("block_number"),
        pl.col("log_index"),
        pl.col("time_s"),
        pl.col("address").alias("emitter"),
        (to_hash(topic(1)) if is_v4 else pl.col("address")).alias("pool_key"),
        pl.lit(pl.Series([list(form.kinds)])).first().alias("kinds"),
        amounts[0].alias("amount0"),
        amounts[1].alias("amount1"),
    ]


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
