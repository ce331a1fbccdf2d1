"""Bulk reads of very many Uniswap V4 pools: price and liquidity in range of each, and a lower bound
of its reserves, by which `pool_bounds` picks those whose positions are summed.

Source: v4-core Extsload (extsload(bytes32[])).
"""

from collections.abc import Iterator, Sequence

from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.state import uniswap_v4_state
from analysis.reads.chain_reads import CallRead
from analysis.reads.eth_reads import WORD, Reply
from analysis.reads.read_batch import ReadBatch
from config.chains import Dex
from core.evm.abi import selector_of

_POOLS_A_CALL = 2_250
"""Two cold slots each (EIP-2929) and their calldata: below 14 million gas."""

_ARRAY_HEAD_BYTES = 64


class SweepReads:
    """Reads of both words of all pools' states, `_POOLS_A_CALL` pools each."""

    def __init__(self, batch: ReadBatch, dex: Dex, pools: Sequence[Candidate]) -> None:
        self._batch = batch
        self._parts = [
            (part, batch.add(CallRead(to=dex.factory, data=_read_all(part)), returns=_words))
            for part in _parts(pools)
        ]

    def read(self) -> list[tuple[Candidate, PoolState | None]]:
        """Decode a lower bound of each pool's reserves. None: there is no such pool, or the node
        returned no data.

        Raises UpstreamError for an answer that cannot be used.
        """
        found: list[tuple[Candidate, PoolState | None]] = []
        for part, answer in self._parts:
            # A node may reject so large a read: then only these pools are unread, not the token.
            words = self._batch.get(answer) or b""
            found += (
                (pool, _floor(pool, words[at : at + 32], words[at + 32 : at + 64]))
                for pool, at in zip(part, range(0, 64 * len(part), 64), strict=True)
            )
        return found


def _floor(pool: Candidate, first: bytes, second: bytes) -> PoolState | None:
    if len(second) != WORD:
        return None
    return uniswap_v4_state.state_of(
        pool,
        None,
        first=int.from_bytes(first),
        liquidity=int.from_bytes(second),
        is_swept=True,
    )


def _words(reply: Reply) -> bytes:
    return reply[_ARRAY_HEAD_BYTES:] if isinstance(reply, bytes) else b""


def _read_all(pools: Sequence[Candidate]) -> bytes:
    """Return calldata, encoded here because a general encoder takes a second for so many words."""
    slots = [slot for pool in pools for slot in uniswap_v4_state.state_slots(pool)]
    head = WORD.to_bytes(WORD) + len(slots).to_bytes(WORD)
    return bytes.fromhex(selector_of("extsload(bytes32[])")[2:]) + head + b"".join(slots)


def _parts(pools: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    return (pools[at : at + _POOLS_A_CALL] for at in range(0, len(pools), _POOLS_A_CALL))
