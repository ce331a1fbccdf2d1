"""Events of a replayed chain, and the log of each.

An event is a struct of its meaning; `encode_event` gives the log that a contract would emit. The
layouts of pools, swaps and launches are those of the declarations in `config/`.
"""

from collections.abc import Mapping

import msgspec

from config.facts.chain import Dex
from config.facts.launchpad import CreationEvent
from config.facts.pool_family import PoolCreation, PoolSwap
from core.evm.abi import topic_of
from core.evm.event_signatures import EventForm
from core.evm.primitives import ADDRESS_BITS, Address, Hash32

TRANSFER = topic_of("Transfer(address,address,uint256)")
APPROVAL = topic_of("Approval(address,address,uint256)")

_WORD = 1 << 256
_PAD = "0x" + "0" * 24
_EMPTY_TAIL = 1
"""Words behind the head of a log with dynamic data: one empty text."""


class EventLog(msgspec.Struct, frozen=True):
    """Log of a contract, without its place."""

    address: Address
    topics: tuple[str, ...]
    """Topic 0 first; a log may have none."""
    data: str
    """0x hex."""


class ReplayPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool of a real exchange of the chain file, with made-up addresses."""

    dex: Dex
    creation: PoolCreation
    swap: PoolSwap
    token0: Address
    token1: Address
    address: Address
    """The contract that emits its swaps: the exchange's own where that holds all pools."""
    pool_id: Hash32 | None
    """None: the pool is a contract."""

    @property
    def key(self) -> str:
        """Return its key: the id, else the address."""
        return self.pool_id or self.address


class Sent(msgspec.Struct, frozen=True):
    """An ERC-20 transfer."""

    token: Address
    sender: Address
    recipient: Address
    amount_raw: int


class PoolMade(msgspec.Struct, frozen=True):
    """An exchange's factory announces a pool."""

    pool: ReplayPool
    number: int
    """Number of pools, which most declarations have."""


class Swapped(msgspec.Struct, frozen=True):
    """A swap. Amounts are signed from the pool's side: positive was received."""

    pool: ReplayPool
    trader: Address
    amount0_raw: int
    amount1_raw: int


class Launched(msgspec.Struct, frozen=True):
    """A launch platform issues a token."""

    slug: str
    emitter: Address
    event: CreationEvent
    token: Address
    creator: Address


class OddTransfer(msgspec.Struct, frozen=True):
    """A log with the topic of a transfer that is none of ERC-20's shape."""

    log: EventLog


class Malformed(msgspec.Struct, frozen=True):
    """A creation event of a real factory that does not have its declared shape."""

    log: EventLog


class Unrelated(msgspec.Struct, frozen=True):
    """Log that no table contains."""

    log: EventLog


ChainEvent = Sent | PoolMade | Swapped | Launched | OddTransfer | Malformed | Unrelated


def encode_event(event: ChainEvent) -> EventLog:
    """The log of an event."""
    match event:
        case Sent(token, sender, recipient, amount_raw):
            topics = (TRANSFER, address_word(sender), address_word(recipient))
            return EventLog(token, topics, f"0x{amount_raw:064x}")
        case Swapped():
            return _encode_swap(event)
        case PoolMade():
            return _encode_creation(event)
        case Launched():
            return _encode_launch(event)
        case OddTransfer(log) | Malformed(log) | Unrelated(log):
            return log


def address_word(address: Address) -> str:
    """An address as a topic."""
    return _PAD + address[2:]


def encode_form(form: EventForm, values: Mapping[str, int], *, emitter: Address) -> EventLog:
    """A log of a declared event; arguments without a value are 0, negative ones are in two's
    complement."""
    topics = [form.topic0, *["0x" + "0" * 64] * (form.topics - 1)]
    words = [0] * (form.words + (_EMPTY_TAIL if form.is_open else 0))
    for name, place in form.places.items():
        value = values.get(name, 0) % _WORD
        if place.source == "topic":
            topics[place.index] = f"0x{value:064x}"
        else:
            words[place.index] = value
    return EventLog(emitter, tuple(topics), "0x" + "".join(f"{word:064x}" for word in words))


def _encode_creation(event: PoolMade) -> EventLog:
    pool = event.pool
    spacing = 60 << (pool.creation.tick_spacing_bit or 0)
    values = {
        "token0": int(pool.token0, 16),
        "token1": int(pool.token1, 16),
        "pool": int(pool.address, 16),
        "pool_id": int(pool.pool_id or "0x0", 16),
        "fee": 3000,
        "tick_spacing": spacing,
        "stable": event.number % 2,
        "_pairs": event.number,
        "_pools": event.number,
        "_tick": -887_220,
        "_price": 1 << 96,
    }
    return encode_form(pool.creation.form, values, emitter=pool.dex.factory)


def _encode_swap(event: Swapped) -> EventLog:
    paid = (event.amount0_raw, event.amount1_raw)
    values = {
        "_sender": int(event.trader, 16),
        "recipient": int(event.trader, 16),
        "_price": 1 << 96,
        "_liquidity": 10**18,
        "_tick": -42,
        "pool_id": int(event.pool.pool_id or "0x0", 16),
    }
    if event.pool.swap.is_by_side:
        for at, amount in enumerate(paid):
            values |= {f"amount{at}_in": max(amount, 0), f"amount{at}_out": max(-amount, 0)}
    elif event.pool.swap.is_packed:
        into, out = ([max(sign * amount, 0) for amount in paid] for sign in (1, -1))
        values |= {"amounts_in": into[0] | into[1] << 128, "amounts_out": out[0] | out[1] << 128}
        values["amounts_kept"] = 0
    elif event.pool.swap.is_by_token:
        sides = [int(event.pool.token0, 16), int(event.pool.token1, 16)]
        sold = 0 if event.amount0_raw > 0 else 1
        values |= {"token_in": sides[sold], "token_out": sides[1 - sold]}
        values |= {"amount_in": paid[sold], "amount_out": -paid[1 - sold]}
    else:
        sign = -1 if event.pool.swap.positive_is == "paid_out" else 1
        values |= {f"amount{at}": sign * amount for at, amount in enumerate(paid)}
    return encode_form(event.pool.swap.form, values, emitter=event.pool.address)


def _encode_launch(event: Launched) -> EventLog:
    form = event.event.form
    if form is None:
        place = event.event.token_place
        topics = [event.event.topic, *["0x" + "0" * 64] * place.index]
        topics[place.index] = address_word(event.token)
        return EventLog(event.emitter, tuple(topics), "0x")
    values = {event.event.token or "": int(event.token, 16)}
    if event.event.creator is not None:
        values[event.event.creator] = int(event.creator, 16)
    return encode_form(form, values, emitter=event.emitter)


def dirty_word(address: Address) -> str:
    """A topic whose upper twelve bytes are not zero, as an address's must be."""
    return f"0x{(1 << ADDRESS_BITS) + int(address, 16):064x}"
