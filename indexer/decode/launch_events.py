"""Decoder of the creation events of launch platforms: log columns in, launch columns out.

A log counts only by its emitter, as forks of a platform emit identical events. The shapes of the
events are configuration (`[[launchpad.event]]`), so a new platform needs no new code.
"""

from collections.abc import Sequence

import msgspec
import polars as pl

from config.launchpads import CreationEvent, Launchpad
from core.event_signatures import EventPlace
from core.primitives import Hash32
from indexer.decode.undecoded import undecoded_columns
from indexer.decode.words import WordPlace, has_words, is_address, to_address

LAUNCH_SCHEMA = {
    "token": pl.String,
    "slug": pl.String,
    "emitter": pl.String,
    "creator": pl.String,
    "tx_hash": pl.String,
    "block_number": pl.Int64,
    "log_index": pl.Int64,
}
"""Columns of a frame of launches: LaunchRow without its chain."""

_HASH = r"^0x[0-9a-f]{64}$"


class DecodedLaunches(msgspec.Struct, frozen=True, kw_only=True):
    """Decoded logs of known launch platforms."""

    launches: pl.DataFrame
    """Frame of LAUNCH_SCHEMA, in chain order; if two platforms claim one log, both rows."""
    undecoded: pl.DataFrame
    """Creation events of known platforms that do not have their shape, in chain order."""


class LaunchDecoder:
    """Decoder for the launch platforms of one chain."""

    def __init__(self, launchpads: Sequence[Launchpad]) -> None:
        told = [
            (pad, event, contract)
            for pad in launchpads
            for event in pad.event
            for contract in pad.contracts
        ]
        self._events = list(dict.fromkeys(event for _, event, _ in told))
        self._emitters = pl.DataFrame(
            {
                "address": [contract for _, _, contract in told],
                "topic0": [event.topic for _, event, _ in told],
                "slug": [pad.slug for pad, _, _ in told],
                "form": [self._events.index(event) for _, event, _ in told],
            },
            schema={
                "address": pl.String,
                "topic0": pl.String,
                "slug": pl.String,
                "form": pl.Int64,
            },
        ).unique(maintain_order=True)
        self.topics: tuple[Hash32, ...] = tuple(sorted({event.topic for event in self._events}))

    def decode(self, logs: pl.DataFrame) -> DecodedLaunches:
        """Return the launches among these logs. Logs of other contracts are ignored."""
        created = logs.filter(pl.col("topic0").is_in(self.topics)).join(
            self._emitters, on=["address", "topic0"], how="inner", maintain_order="left"
        )
        parts: list[pl.DataFrame] = []
        for (form,), group in created.group_by("form"):
            event = self._events[int(str(form))]
            parts.append(group.filter(_is_well_formed(event)).select(_launch_columns(event)))
        launches = pl.concat([pl.DataFrame(schema=LAUNCH_SCHEMA), *parts]).sort(
            "block_number", "log_index", "slug"
        )
        where = ["block_number", "log_index"]
        strays = created.join(launches, on=where, how="anti").unique(where, maintain_order=True)
        return DecodedLaunches(launches=launches, undecoded=undecoded_columns(strays))


def _is_well_formed(event: CreationEvent) -> pl.Expr:
    form = event.form
    checks = [is_address(_place(event.token_place))]
    if form is None:
        checks.append(pl.col("topic_count") > event.token_place.index)
    else:
        checks.append(pl.col("topic_count") == form.topics)
        checks.append(has_words(form.words, is_open=form.is_open))
    if event.creator_place is not None:
        checks.append(is_address(_place(event.creator_place)))
    return pl.all_horizontal(checks)


def _launch_columns(event: CreationEvent) -> list[pl.Expr]:
    creator = event.creator_place
    tx_hash = pl.col("tx_hash").str.to_lowercase()
    columns = {
        "token": to_address(_place(event.token_place)),
        "slug": pl.col("slug"),
        "emitter": pl.col("address"),
        "creator": pl.lit(None) if creator is None else to_address(_place(creator)),
        "tx_hash": pl.when(tx_hash.str.contains(_HASH)).then(tx_hash),
        "block_number": pl.col("block_number"),
        "log_index": pl.col("log_index"),
    }
    return [
        expression.cast(LAUNCH_SCHEMA[name]).alias(name) for name, expression in columns.items()
    ]


def _place(place: EventPlace) -> WordPlace:
    return WordPlace(place.source, place.index)
