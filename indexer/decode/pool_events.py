"""Decoder of pool creation events of all kinds: log columns in, pool columns out.

The emitting factory decides the kind; the topic only chooses among that kind's forms, because kinds
share topics.
"""

from collections.abc import Sequence

import msgspec
import polars as pl

from config.chains import Dex
from config.pool_families import FAMILIES
from core.primitives import ZERO_ADDRESS, Hash32
from indexer.decode.forms import PoolForm, pool_form
from indexer.decode.undecoded import undecoded_columns
from indexer.decode.words import (
    has_shape,
    is_address,
    is_flag,
    is_small,
    is_tick,
    to_address,
    to_flag,
    to_hash,
    to_small,
    to_tick,
)

FORMS: dict[tuple[str, str], PoolForm] = {
    (family.kind, event.form.topic0): pool_form(event)
    for family in FAMILIES
    for event in family.creation
}
"""Every supported creation event, by kind and topic 0."""

CREATION_TOPICS: tuple[Hash32, ...] = tuple(sorted({form.topic0 for form in FORMS.values()}))

POOL_SCHEMA = {
    "pool_key": pl.String,
    "pool": pl.String,
    "pool_id": pl.String,
    "dex": pl.String,
    "kind": pl.String,
    "variant": pl.String,
    "factory": pl.String,
    "token0": pl.String,
    "token1": pl.String,
    "fee": pl.Int64,
    "tick_spacing": pl.Int64,
    "stable": pl.Boolean,
    "hooks": pl.String,
    "block_number": pl.Int64,
    "log_index": pl.Int64,
}
"""Columns of a frame of pools: PoolRow without its chain."""


class DecodedPools(msgspec.Struct, frozen=True, kw_only=True):
    """Decoded logs of known factories."""

    pools: pl.DataFrame
    """Frame of POOL_SCHEMA, in chain order."""
    undecoded: pl.DataFrame
    """Creation events of known factories that do not have their shape, in chain order."""


class PoolDecoder:
    """Decoder for the factories of one chain."""

    def __init__(self, dexes: Sequence[Dex]) -> None:
        self._factories = pl.DataFrame(
            {
                "address": [dex.factory for dex in dexes],
                "dex": [dex.name for dex in dexes],
                "kind": [dex.kind for dex in dexes],
                "variant": [dex.variant for dex in dexes],
            },
            schema={
                "address": pl.String,
                "dex": pl.String,
                "kind": pl.String,
                "variant": pl.String,
            },
        )

    def decode(self, logs: pl.DataFrame) -> DecodedPools:
        """Return the pools among these logs. Logs of other contracts are ignored."""
        created = logs.filter(pl.col("topic0").is_in(CREATION_TOPICS)).join(
            self._factories, on="address", how="inner", maintain_order="left"
        )
        parts: list[pl.DataFrame] = []
        for (kind, topic0), group in created.group_by("kind", "topic0"):
            # A factory that emits another kind's event is configured wrongly: undecoded.
            form = FORMS.get((str(kind), str(topic0)))
            if form is not None:
                parts.append(group.filter(_is_well_formed(form)).select(_pool_columns(form)))
        pools = pl.concat([pl.DataFrame(schema=POOL_SCHEMA), *parts]).sort(
            "block_number", "log_index"
        )
        strays = created.join(pools, on=["block_number", "log_index"], how="anti")
        return DecodedPools(pools=pools, undecoded=undecoded_columns(strays))


def _is_well_formed(form: PoolForm) -> pl.Expr:
    checks = [has_shape(topics=form.topics, words=form.words)]
    checks += [
        is_address(place)
        for place in (form.token0, form.token1, form.pool, form.hooks)
        if place is not None
    ]
    if form.fee is not None:
        checks.append(is_small(form.fee))
    if form.tick_spacing is not None:
        checks.append(is_tick(form.tick_spacing))
    if form.stable is not None:
        checks.append(is_flag(form.stable))
    return pl.all_horizontal(checks)


def _pool_columns(form: PoolForm) -> list[pl.Expr]:
    nothing = pl.lit(None)
    pool = to_address(form.pool) if form.pool is not None else pl.col("address")
    pool_id = to_hash(form.pool_id) if form.pool_id is not None else nothing
    hooks = to_address(form.hooks).replace(ZERO_ADDRESS, None) if form.hooks else nothing
    columns = {
        "pool_key": pool_id if form.pool_id is not None else pool,
        "pool": pool,
        "pool_id": pool_id,
        "dex": pl.col("dex"),
        "kind": pl.col("kind"),
        "variant": pl.col("variant"),
        "factory": pl.col("address"),
        "token0": to_address(form.token0),
        "token1": to_address(form.token1),
        "fee": to_small(form.fee) if form.fee is not None else nothing,
        "tick_spacing": to_tick(form.tick_spacing) if form.tick_spacing is not None else nothing,
        "stable": to_flag(form.stable) if form.stable is not None else nothing,
        "hooks": hooks,
        "block_number": pl.col("block_number"),
        "log_index": pl.col("log_index"),
    }
    return [expression.cast(POOL_SCHEMA[name]).alias(name) for name, expression in columns.items()]
