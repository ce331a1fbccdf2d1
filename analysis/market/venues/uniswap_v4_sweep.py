"""Bulk reads of very many Uniswap V4 pools: price and liquidity in range of each, and a lower bound
of its reserves, which picks the pools whose positions are summed.

A lower bound cannot exceed what was deposited, so a deep pool cannot be crowded out by empty ones.
Source: v4-core Extsload (extsload(bytes32[])).
"""

from collections.abc import Iterator, Sequence

from analysis.market.venues import uniswap_v4
from analysis.market.venues.pool import Candidate, PoolState
from analysis.reads.chain_reads import CallRead
from analysis.reads.eth_reads import WORD, Reply
from analysis.reads.read_batch import ReadBatch
from config.chains import Dex
from core.abi import selector_of

MOST_SWEPT = 30_000
"""Most pools of one token and manager that are read; of more, the first made and the newest."""

_POOLS_A_CALL = 2_250
"""Two cold slots each (EIP-2929) and their calldata: below 14 million gas."""

_ARRAY_HEAD_BYTES = 64


def within_bound(pools: Sequence[Candidate]) -> Sequence[Candidate]:
    """Return at most MOST_SWEPT pools. The first made stay: no later ones can crowd them out."""
    if len(pools) <= MOST_SWEPT:
        return pools
    half = MOST_SWEPT // 2
    return (*pools[:half], *pools[-half:])


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


def pick(
    swept: Sequence[tuple[Candidate, PoolState | None]], *, at_most: int
) -> tuple[Candidate, ...]:
    """Return the pools whose positions are worth summing: for each quote token those with most of
    it by the lower bound."""
    by_quote: dict[str, list[tuple[int, Candidate]]] = {}
    for pool, state in swept:
        if state is not None and state.in_range_liquidity:
            by_quote.setdefault(pool.quote, []).append((state.quote_reserve_raw, pool))
    if not by_quote:
        return ()
    each = max(1, at_most // len(by_quote))
    return tuple(
        pool
        for pools in by_quote.values()
        for _, pool in sorted(pools, key=lambda one: -one[0])[:each]
    )


def _floor(pool: Candidate, first: bytes, second: bytes) -> PoolState | None:
    if len(second) != WORD:
        return None
    return uniswap_v4.state_of(
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
    slots = [slot for pool in pools for slot in uniswap_v4.state_slots(pool)]
    head = WORD.to_bytes(WORD) + len(slots).to_bytes(WORD)
    return bytes.fromhex(selector_of("extsload(bytes32[])")[2:]) + head + b"".join(slots)


def _parts(pools: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    return (pools[at : at + _POOLS_A_CALL] for at in range(0, len(pools), _POOLS_A_CALL))
