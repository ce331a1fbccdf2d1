"""States of PancakeSwap Infinity's pools of bins.

One call adds up a pool's bins from the current price outwards. If it runs out of gas, the sum is a
lower bound.

Source: infinity-core IBinPoolManager; probes/BinReader.sol.
"""

from collections.abc import Iterator, Sequence

import msgspec

from analysis import probes
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.state.bin_price import bin_price
from analysis.reads.chain_reads import CallRead, Handle, call_of
from analysis.reads.eth_reads import WORD, Reply
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from core.evm.abi import topic_of
from core.evm.primitives import RawAmount, low_address

_READER = low_address(int(topic_of("BinReader"), 16))
"""Address of the probe contract. Constant, so that recorded analyses replay."""
_GAS = 15_000_000
"""Gas of one call: nodes with EIP-7825 refuse more than 2**24. Some hundred bins fit."""
_POOLS_A_CALL = 200
"""Pools whose lower bounds are read together: of each the current bin alone fits."""

_HEAD_BYTES = 2 * WORD
"""Offset and length of the returned array."""
_POOL_WORDS = 5


class BinStateReads:
    """Reads of all bins of pools, one call a pool."""

    def __init__(
        self, batch: ReadBatch, dex: Dex, pools: Sequence[Candidate], *, to_block: int | None
    ) -> None:
        """`to_block` is not used: a call is of the batch's block."""
        self._batch = batch
        self._pools = [(pool, _request(batch, dex, [pool])) for pool in pools]

    def read(self) -> list[tuple[Candidate, PoolState | None]]:
        """Decode the state of each pool; a lower bound where its bins are too many for one call.

        None: there is no such pool, or the node refused the call. Raises UpstreamError.
        """
        return [
            (pool, _state_of(pool, self._batch.get(answer) or b"")) for pool, answer in self._pools
        ]

    def read_existing(self) -> frozenset[str]:
        """Return the keys of the pools that have a price, so that they exist. Raises
        UpstreamError."""
        return frozenset(pool.key for pool, state in self.read() if state is not None)


class BinFloorReads:
    """Reads of lower bounds of very many pools, `_POOLS_A_CALL` pools each."""

    def __init__(self, batch: ReadBatch, dex: Dex, pools: Sequence[Candidate]) -> None:
        self._batch = batch
        self._parts = [(part, _request(batch, dex, part)) for part in _parts(pools)]

    def read(self) -> list[tuple[Candidate, PoolState | None]]:
        """Decode a lower bound of each pool's reserves. None: there is no such pool, or the node
        refused the call. Raises UpstreamError."""
        found: list[tuple[Candidate, PoolState | None]] = []
        size = _POOL_WORDS * WORD
        for part, answer in self._parts:
            data = self._batch.get(answer) or b""
            states = (_state_of(pool, data[at * size :]) for at, pool in enumerate(part))
            found += zip(part, map(_swept, states), strict=True)
        return found


def _request(batch: ReadBatch, dex: Dex, pools: Sequence[Candidate]) -> Handle[bytes]:
    read: CallRead = call_of(
        _READER,
        "read(address,bytes32[])",
        dex.factory,
        [bytes.fromhex(pool.key[2:]) for pool in pools],
    )
    read = msgspec.structs.replace(read, gas=_GAS, code=probes.runtime("BinReader"))
    return batch.add(read, returns=_words)


def _words(reply: Reply) -> bytes:
    return reply[_HEAD_BYTES:] if isinstance(reply, bytes) else b""


def _state_of(pool: Candidate, data: bytes) -> PoolState | None:
    """Decode the words of one pool at the beginning of `data`. None: there is no such pool, or
    there are too few."""
    if len(data) < _POOL_WORDS * WORD:
        return None
    active_id, active, amount_0, amount_1, is_whole = (
        int.from_bytes(data[at : at + WORD]) for at in range(0, _POOL_WORDS * WORD, WORD)
    )
    if not active_id:
        return None
    token, quote = (amount_0, amount_1) if pool.token_is_0 else (amount_1, amount_0)
    return PoolState(
        token_reserve_raw=RawAmount(token),
        quote_reserve_raw=RawAmount(quote),
        in_range_liquidity=active,
        price=bin_price(active_id, pool.tick_spacing, token_is_x=pool.token_is_0),
        is_floor=not is_whole,
    )


def _swept(state: PoolState | None) -> PoolState | None:
    return None if state is None else msgspec.structs.replace(state, is_swept=True)


def _parts(pools: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    return (pools[at : at + _POOLS_A_CALL] for at in range(0, len(pools), _POOLS_A_CALL))
