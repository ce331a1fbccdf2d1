"""State of pools of Uniswap V4 and PancakeSwap Infinity: one manager for all pools, each known by
an id and its creation event.

A pool's tokens lie in the manager with those of all pools, so its reserves are computed: every
position ever added or removed, valued at the current price. Uncollected fees are not in it. Where
the node refuses the logs, the liquidity in range gives a lower bound. Source: v4-core PoolManager,
Pool (storage layout), StateLibrary; infinity-core CLPoolManager, CLPool; v3-core SqrtPriceMath.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import sqrt

import msgspec

from analysis.market.venues.pool import Candidate, PoolState, spot_price
from analysis.market.venues.state.entry_layout import layout_of
from analysis.reads.chain_reads import CallRead
from analysis.reads.eth_reads import WORD, Log, NoAnswer, Reply, decode_logs, decode_uint
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from core.evm.abi import address_word, selector_of, topic_of
from core.evm.keccak import keccak
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32, RawAmount
from core.rpc.messages import RpcRequest

MODIFY_LIQUIDITY = topic_of("ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)")

_LOAD = "extsload(bytes32)"
_LIQUIDITY_OFFSET = 3
_PRICE_BITS = 160
_TICK_BITS = 24
_Q96 = 2**96
_TICK_BASE = 1.0001


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """Liquidity between two ticks."""

    lower: int
    upper: int
    liquidity: int


class CreationReads:
    """Log queries for creation events with the token on either side."""

    def __init__(self, batch: ReadBatch, dex: Dex, token: Address, *, to_block: int | None) -> None:
        """`to_block` None: up to the newest."""
        word = address_word(token)
        self._batch = batch
        self._dex = dex
        self._token = token
        self._logs = [
            batch.request(
                _logs(dex, [layout_of(dex).created, None, *sides], to_block=to_block),
                returns=decode_logs,
            )
            for sides in ([word], [None, word])
        ]

    @cached_property
    def _events(self) -> list[tuple[Log, ...] | None]:
        return [self._batch[logs] for logs in self._logs]

    @property
    def is_refused(self) -> bool:
        """True if the node refused one of the ranges."""
        return None in self._events

    def read(self, quotes: Sequence[Address]) -> tuple[Candidate, ...]:
        """Decode the token's pools against `quotes` and the native coin. Refused ranges contribute
        none."""
        wanted = {*quotes, ZERO_ADDRESS}
        return tuple(
            self._created(log, quote)
            for logs in self._events
            for log in logs or ()
            if (quote := self._quote_in(log)) in wanted
        )

    def _quote_in(self, log: Log) -> Address:
        first, second = (Address("0x" + topic[-40:]) for topic in log.topics[2:4])
        return second if first == self._token else first

    def _created(self, log: Log, quote: Address) -> Candidate:
        key = layout_of(self._dex).read_created(_words(log.data))
        return Candidate(
            dex=self._dex,
            pool=self._dex.factory,
            token=self._token,
            quote=quote,
            pool_id=Hash32(log.topics[1]),
            fee=key.fee,
            tick_spacing=key.tick_spacing,
            hooks=key.hooks if key.hooks != ZERO_ADDRESS else None,
        )


class V4StateReads:
    """Reads of pools' states: the changes of all positions in one, then two words of storage a
    pool."""

    def __init__(
        self, batch: ReadBatch, dex: Dex, pools: Sequence[Candidate], *, to_block: int | None
    ) -> None:
        """`to_block` None: up to the newest."""
        ids = [pool.pool_id for pool in pools]
        self._batch = batch
        self._logs = batch.request(
            _logs(dex, [MODIFY_LIQUIDITY, ids], to_block=to_block), returns=decode_logs
        )
        self._pools = [
            (pool, [batch.call(dex.factory, _LOAD, slot) for slot in state_slots(pool)])
            for pool in pools
        ]

    def read(self) -> list[tuple[Candidate, PoolState | None]]:
        """Decode the state of each pool; where the node refused the logs, a lower bound of it.

        None: the node did not return enough. Raises UpstreamError.
        """
        logs = self._batch[self._logs]
        positions = None if logs is None else _read_positions(logs)
        return [
            (
                pool,
                _read_state(
                    pool,
                    None if positions is None else positions.get(pool.key, ()),
                    [self._batch[word] for word in words],
                ),
            )
            for pool, words in self._pools
        ]

    def read_existing(self) -> frozenset[str]:
        """Return the keys of the pools that have a price, so that they exist. Raises
        UpstreamError."""
        return frozenset(
            pool.key for pool, words in self._pools if decode_uint(self._batch[words[0]])
        )


def held_amounts(positions: Sequence[Position], *, sqrt_price: float) -> tuple[float, float]:
    """Return the smallest units of currency 0 and 1 in these positions at a price.

    `sqrt_price` is the square root of currency 1 per currency 0, in smallest units.
    """
    amount_0 = amount_1 = 0.0
    for position in positions:
        low, high = sqrt(_TICK_BASE**position.lower), sqrt(_TICK_BASE**position.upper)
        at = min(max(sqrt_price, low), high)
        amount_0 += position.liquidity * (1 / at - 1 / high)
        amount_1 += position.liquidity * (at - low)
    return max(0.0, amount_0), max(0.0, amount_1)


def _read_state(
    pool: Candidate, positions: Sequence[Position] | None, replies: Sequence[Reply]
) -> PoolState | None:
    """Decode one pool's state. `positions` None: not known, so the state is bounded by the
    liquidity in range."""
    words = [int.from_bytes(reply, "big") for reply in replies if not isinstance(reply, NoAnswer)]
    if len(words) != len(replies) or (positions is None and not words[1]):
        return None
    return state_of(pool, positions, first=words[0], liquidity=words[1])


def state_of(
    pool: Candidate,
    positions: Sequence[Position] | None,
    *,
    first: int,
    liquidity: int,
    is_swept: bool = False,
) -> PoolState | None:
    """Return the state that these positions add up to. None: there is no such pool.

    `first` is the first word of the pool's state, with price and tick in it; `liquidity` is the
    liquidity in range. `positions` None: a lower bound by that liquidity alone.
    """
    sqrt_price = (first & (1 << _PRICE_BITS) - 1) / _Q96
    if not sqrt_price:
        return None
    is_floor = positions is None
    if positions is None:
        positions = (_least_position(pool, first, liquidity),) if liquidity else ()
    amounts = held_amounts(positions, sqrt_price=sqrt_price)
    token_is_0 = pool.token_is_0
    token, quote = amounts if token_is_0 else amounts[::-1]
    return PoolState(
        token_reserve_raw=RawAmount(int(token)),
        quote_reserve_raw=RawAmount(int(quote)),
        in_range_liquidity=liquidity,
        price=spot_price(sqrt_price, token_is_0=token_is_0),
        is_floor=is_floor,
        is_swept=is_swept,
    )


def _least_position(pool: Candidate, first: int, liquidity: int) -> Position:
    """Return the smallest position that has the liquidity in range.

    It covers the whole tick interval around the price, as liquidity changes at multiples of the
    pool's tick spacing only. Faking depth takes a deposit of this size.
    """
    tick = first >> _PRICE_BITS & (1 << _TICK_BITS) - 1
    tick -= tick >> _TICK_BITS - 1 << _TICK_BITS
    spacing = pool.tick_spacing or 1
    lower = tick // spacing * spacing
    return Position(lower=lower, upper=lower + spacing, liquidity=liquidity)


def _read_positions(logs: Sequence[Log]) -> Mapping[str, list[Position]]:
    positions: dict[str, list[Position]] = {}
    for log in logs:
        lower, upper, delta, _ = _words(log.data)
        change = Position(lower=_signed(lower), upper=_signed(upper), liquidity=_signed(delta))
        positions.setdefault(log.topics[1], []).append(change)
    return positions


def state_slots(pool: Candidate) -> tuple[bytes, bytes]:
    """Return the storage slots of a pool's price and tick, and of its liquidity in range."""
    base = _base_slot(pool.key, pool.dex)
    return base.to_bytes(32, "big"), liquidity_slot(pool.key, pool.dex)


def liquidity_slot(pool_id: str, dex: Dex) -> bytes:
    """Return the storage slot of a pool's liquidity in range, in the contract of all pools."""
    return ((_base_slot(pool_id, dex) + _LIQUIDITY_OFFSET) % 2**256).to_bytes(32, "big")


def _base_slot(pool_id: str, dex: Dex) -> int:
    key = bytes.fromhex(pool_id[2:]) + layout_of(dex).pools_slot.to_bytes(32, "big")
    return int.from_bytes(keccak(key), "big")


def _logs(dex: Dex, topics: list[object], *, to_block: int | None) -> RpcRequest:
    query = {
        "address": dex.factory,
        "topics": topics,
        "fromBlock": hex(dex.from_block or 0),
        "toBlock": "latest" if to_block is None else hex(to_block),
    }
    return RpcRequest("eth_getLogs", (query,))


def _words(data: str) -> list[int]:
    return [int(data[at : at + 64], 16) for at in range(2, len(data), 64)]


def _signed(word: int) -> int:
    return word - 2**256 if word >> 255 else word


_POOLS_A_CALL = 2_250
"""Two cold slots each (EIP-2929) and their calldata: below 14 million gas."""

_ARRAY_HEAD_BYTES = 64


class SweepReads:
    """Reads of both words of all pools' states, `_POOLS_A_CALL` pools each."""

    def __init__(self, batch: ReadBatch, dex: Dex, pools: Sequence[Candidate]) -> None:
        self._batch = batch
        self._swept_parts = [
            (part, batch.add(CallRead(to=dex.factory, data=_read_all(part)), returns=_swept_words))
            for part in _swept_parts(pools)
        ]

    def read(self) -> list[tuple[Candidate, PoolState | None]]:
        """Decode a lower bound of each pool's reserves. None: there is no such pool, or the node
        returned no data.

        Raises UpstreamError for an answer that cannot be used.
        """
        found: list[tuple[Candidate, PoolState | None]] = []
        for part, answer in self._swept_parts:
            # A node may reject a read of this size. Then only these pools are unread.
            words = self._batch.get(answer) or b""
            found += (
                (pool, _swept_state(pool, words[at : at + 32], words[at + 32 : at + 64]))
                for pool, at in zip(part, range(0, 64 * len(part), 64), strict=True)
            )
        return found


def _swept_state(pool: Candidate, first: bytes, second: bytes) -> PoolState | None:
    if len(second) != WORD:
        return None
    return state_of(
        pool,
        None,
        first=int.from_bytes(first),
        liquidity=int.from_bytes(second),
        is_swept=True,
    )


def _swept_words(reply: Reply) -> bytes:
    return reply[_ARRAY_HEAD_BYTES:] if isinstance(reply, bytes) else b""


def _read_all(pools: Sequence[Candidate]) -> bytes:
    """Return calldata. A general encoder takes a second for this number of words."""
    slots = [slot for pool in pools for slot in state_slots(pool)]
    head = WORD.to_bytes(WORD) + len(slots).to_bytes(WORD)
    return bytes.fromhex(selector_of("extsload(bytes32[])")[2:]) + head + b"".join(slots)


def _swept_parts(pools: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    return (pools[at : at + _POOLS_A_CALL] for at in range(0, len(pools), _POOLS_A_CALL))
