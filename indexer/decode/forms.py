"""Layouts of the events of pool families, as places in groups of logs."""

import msgspec

from config.facts.pool_family import PoolCreation, PoolSwap
from core.evm.event_signatures import EventForm, EventPlace, ListPlace
from core.evm.primitives import Hash32
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
    is_unsorted: bool = False
    """True if token0 of the event need not be the lower address, by which pools are kept."""


class TokenListForm(msgspec.Struct, frozen=True, kw_only=True):
    """One pool creation event with a list of the pool's tokens."""

    topic0: Hash32
    topics: int
    words: int
    """32-byte words of its data; the minimum where `is_open`."""
    is_open: bool
    """True if dynamic data follows the words."""
    tokens: ListPlace
    pool: WordPlace | None
    """None: the pool announced itself as an ERC-20 before the event, or lies in a vault."""
    pool_id: WordPlace | None
    """Id of the pool in the vault that emits the event. None: it has none, or there is no vault."""
    vault_pool: WordPlace | None
    """Address of the pool, in the vault that emits the event. None: as for `pool_id`."""

    def fits(self, shape: LogShape) -> bool:
        """Return whether logs of this shape can be of the event."""
        words, rest = divmod(shape.data_size, WORD_BYTES)
        has_words = words >= self.words if self.is_open else words == self.words
        return shape.topics == self.topics and has_words and not rest


class CoinPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Places of the coins (numbers or addresses) and amounts of a swap."""

    coin_in: WordPlace
    amount_in: WordPlace
    coin_out: WordPlace
    amount_out: WordPlace


class SwapForm(msgspec.Struct, frozen=True, kw_only=True):
    """One Swap event, and the kinds of pool that emit it."""

    topic0: Hash32
    kinds: tuple[str, ...]
    shape: LogShape
    pool_id: WordPlace | None
    """None: the emitter is the pool, or `vault_pool` names it."""
    vault_pool: WordPlace | None = None
    """Address of a pool whose tokens the emitter holds. None: `pool_id` names it, or nothing
    does."""
    paid_in: tuple[WordPlace, WordPlace] | None = None
    """Received amounts of token0 and token1; signed where `paid_out` is None. None: see `coins`."""
    paid_out: tuple[WordPlace, WordPlace] | None = None
    kept: tuple[WordPlace, WordPlace] | None = None
    """Amounts of token0 and token1 that the pool received in addition to `paid_in`."""
    coins: CoinPlaces | None = None
    """None: there are two tokens, with their amounts in `paid_in`."""
    is_by_token: bool = False
    """True if `coins` are addresses, not numbers."""
    recipient: WordPlace | None = None
    """Recipient of the output, as requested of the pool. None: not in the event."""
    payer: WordPlace | None = None
    """Caller of the pool, which paid. None: not in the event."""
    is_negated: bool = False
    """True if positive signed amounts are those that the pool paid out."""


def pool_form(event: PoolCreation) -> PoolForm:
    """Return the layout of a creation event."""
    form = event.form
    places = {name: _place(at) for name, at in form.places.items() if not name.startswith("_")}
    if event.tick_spacing_bit is not None:
        packed = places["tick_spacing"]
        places["tick_spacing"] = WordPlace(packed.source, packed.index, event.tick_spacing_bit)
    return PoolForm(topic0=form.topic0, shape=_shape(form), is_unsorted=event.is_unsorted, **places)


def token_list_form(event: PoolCreation) -> TokenListForm:
    """Return the layout of a creation event that lists tokens."""
    form = event.form
    return TokenListForm(
        topic0=form.topic0,
        topics=form.topics,
        words=form.words,
        is_open=form.is_open,
        tokens=form.lists["tokens"],
        pool=_place(form.places["pool"]) if "pool" in form.places else None,
        pool_id=_place(form.places["pool_id"]) if "pool_id" in form.places else None,
        vault_pool=_place(form.places["vault_pool"]) if "vault_pool" in form.places else None,
    )


def swap_form(event: PoolSwap, kinds: tuple[str, ...]) -> SwapForm:
    """Return the layout of a Swap event that pools of these kinds emit."""
    form = event.form
    places = {name: _place(at) for name, at in form.places.items()}
    if event.is_packed:
        return _packed_form(event, kinds, places)
    if event.is_by_coin or event.is_by_token:
        coin = "coin" if event.is_by_coin else "token"
        return SwapForm(
            topic0=form.topic0,
            kinds=kinds,
            shape=_shape(form),
            pool_id=places.get("pool_id"),
            vault_pool=places.get("vault_pool"),
            recipient=places.get("recipient"),
            payer=places.get("payer"),
            is_by_token=event.is_by_token,
            coins=CoinPlaces(
                coin_in=places[f"{coin}_in"],
                amount_in=places["amount_in"],
                coin_out=places[f"{coin}_out"],
                amount_out=places["amount_out"],
            ),
        )
    by_side = event.is_by_side
    first, second = ("amount0_in", "amount1_in") if by_side else ("amount0", "amount1")
    return SwapForm(
        topic0=form.topic0,
        kinds=kinds,
        shape=_shape(form),
        pool_id=places.get("pool_id"),
        recipient=places.get("recipient"),
        payer=places.get("payer"),
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
        recipient=places.get("recipient"),
        payer=places.get("payer"),
        paid_in=paid_in,
        paid_out=paid_out,
        kept=kept,
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
