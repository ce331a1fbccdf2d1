"""Layouts of the events of pool families, as places in groups of logs."""

import msgspec

from config.pool_families import PoolCreation, PoolSwap
from core.event_signatures import EventForm, EventPlace
from core.primitives import Hash32
from indexer.decode.log_columns import WORD_BYTES, LogShape
from indexer.decode.words import WordPlace

_HALF_BITS = 128


class PoolForm(msgspec.Struct, frozen=True, kw_only=True):
    """One pool creation event, and the places of the arguments of a PoolRow.

    A place that is None: the event does not contain it.
    """

    topic0: Hash32
    shape: LogShape
    """Exact shape of its logs."""
    token0: WordPlace
    token1: WordPlace
    pool: WordPlace | None = None
    """None: the emitter holds all pools."""
    pool_id: WordPlace | None = None
    fee: WordPlace | None = None
    tick_spacing: WordPlace | None = None
    stable: WordPlace | None = None
    hooks: WordPlace | None = None


class SwapForm(msgspec.Struct, frozen=True, kw_only=True):
    """One Swap event, and the kinds of pool that emit it."""

    topic0: Hash32
    kinds: tuple[str, ...]
    shape: LogShape
    pool_id: WordPlace | None
    """None: the emitter is the pool."""
    paid_in: tuple[WordPlace, WordPlace]
    """Of token0 and token1: what the pool received; with a sign where `paid_out` is None."""
    paid_out: tuple[WordPlace, WordPlace] | None
    kept: tuple[WordPlace, WordPlace] | None = None
    """Of token0 and token1: what the pool received beside `paid_in`."""
    is_negated: bool
    """True if a signed amount above 0 is what the pool paid out."""


def pool_form(event: PoolCreation) -> PoolForm:
    """Return the layout of a creation event."""
    form = event.form
    places = {name: _place(at) for name, at in form.places.items() if not name.startswith("_")}
    if event.tick_spacing_bit is not None:
        packed = places["tick_spacing"]
        places["tick_spacing"] = WordPlace(packed.source, packed.index, event.tick_spacing_bit)
    return PoolForm(topic0=form.topic0, shape=_shape(form), **places)


def swap_form(event: PoolSwap, kinds: tuple[str, ...]) -> SwapForm:
    """Return the layout of a Swap event that pools of these kinds emit."""
    form = event.form
    places = {name: _place(at) for name, at in form.places.items()}
    if event.is_packed:
        return _packed_form(event, kinds, places)
    by_side = event.is_by_side
    first, second = ("amount0_in", "amount1_in") if by_side else ("amount0", "amount1")
    return SwapForm(
        topic0=form.topic0,
        kinds=kinds,
        shape=_shape(form),
        pool_id=places.get("pool_id"),
        paid_in=(places[first], places[second]),
        paid_out=(places["amount0_out"], places["amount1_out"]) if by_side else None,
        is_negated=event.positive_is == "paid_out",
    )


def _packed_form(event: PoolSwap, kinds: tuple[str, ...], places: dict[str, WordPlace]) -> SwapForm:
    paid_in, paid_out, kept = (
        _halves(places[name]) for name in ("amounts_in", "amounts_out", "amounts_kept")
    )
    return SwapForm(
        topic0=event.form.topic0,
        kinds=kinds,
        shape=_shape(event.form),
        pool_id=places.get("pool_id"),
        paid_in=paid_in,
        paid_out=paid_out,
        kept=kept,
        is_negated=False,
    )


def _halves(place: WordPlace) -> tuple[WordPlace, WordPlace]:
    return (
        WordPlace(place.source, place.index, low_bit=0),
        WordPlace(place.source, place.index, low_bit=_HALF_BITS),
    )


def _shape(form: EventForm) -> LogShape:
    return LogShape(bytes.fromhex(form.topic0[2:]), form.topics, WORD_BYTES * form.words)


def _place(at: EventPlace) -> WordPlace:
    return WordPlace(at.source, at.index)
