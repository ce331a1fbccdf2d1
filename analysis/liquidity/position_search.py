"""Tokens of a position manager that may be a pool's, found without events.

Only a few are searched: the newest of the accounts that matter, and the newest of all, since a
young pool's positions are among them. Source: v3-periphery NonfungiblePositionManager, which is
ERC721Enumerable; v4-periphery PositionManager and PositionInfoLibrary, infinity-periphery's too.
"""

from collections.abc import Sequence
from typing import Final

from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.uniswap_v4_state import Position
from analysis.reads.chain_reads import Handle
from analysis.reads.eth_reads import NoAnswer, Reply, decode_uint, words_of
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import Address

MOST_ACCOUNTS: Final = 16
MOST_OF_ACCOUNT: Final = 6
"""Newest tokens of one account."""

MOST_NEWEST: Final = 32
"""Newest tokens of all accounts."""

_OUTERMOST_TICK: Final = 887_272
_TICK_BITS: Final = 24
_UPPER_AT, _LOWER_AT, _POOL_AT = 32, 8, 56
"""First bits of the parts of a PositionInfo."""


class EnumeratedTokens:
    """Reads of token ids of a manager that lists its tokens."""

    def __init__(self, manager: Address, accounts: Sequence[Address]) -> None:
        """`accounts`: those that matter, the likeliest first."""
        self._manager, self._accounts = manager, tuple(dict.fromkeys(accounts))[:MOST_ACCOUNTS]
        self._counts: tuple[ReadBatch, list[Handle[int | None]]] | None = None
        self._ids: tuple[ReadBatch, list[Handle[int | None]]] | None = None

    def request_counts(self, batch: ReadBatch) -> None:
        """Add the numbers of tokens, of each account and in all."""
        handles = [
            batch.call(self._manager, "balanceOf(address)", account, returns=decode_uint)
            for account in self._accounts
        ]
        handles.append(batch.call(self._manager, "totalSupply()", returns=decode_uint))
        self._counts = batch, handles

    def request_ids(self, batch: ReadBatch) -> None:
        """Add the ids of the newest tokens, once the numbers are read. Raises UpstreamError."""
        if self._counts is None:
            return
        before, handles = self._counts
        *counts, total = (before[handle] or 0 for handle in handles)
        ids = [
            batch.call(
                self._manager,
                "tokenOfOwnerByIndex(address,uint256)",
                *(account, at),
                returns=decode_uint,
            )
            for account, count in zip(self._accounts, counts, strict=True)
            for at in _last(count, MOST_OF_ACCOUNT)
        ]
        ids += [
            batch.call(self._manager, "tokenByIndex(uint256)", at, returns=decode_uint)
            for at in _last(total, MOST_NEWEST)
        ]
        self._ids = batch, ids

    def read(self) -> tuple[int, ...]:
        """Return the ids, each once. Raises UpstreamError."""
        if self._ids is None:
            return ()
        batch, handles = self._ids
        found = (batch[handle] for handle in handles)
        return tuple(dict.fromkeys(token_id for token_id in found if token_id is not None))


def newest_ids(next_id: int | None) -> range:
    """Return the newest ids of a manager whose next one is known. None: it is not."""
    return _last(next_id or 0, MOST_NEWEST, first=1)


def decode_listed(reply: Reply, pool: Candidate) -> Position | None:
    """Return the position in a reply of `positions(uint256)`. None: of another pool.

    The two tokens are adjacent, followed by the pool's key, the ticks and the liquidity.
    """
    keys = {pool.fee, pool.tick_spacing} - {None}
    tokens = sorted((int(pool.token, 16), int(pool.quote, 16)))
    words = () if isinstance(reply, NoAnswer) else words_of(reply)
    for at in range(len(words) - 5):
        if list(words[at : at + 2]) != tokens or words[at + 2] not in keys:
            continue
        lower, upper = (_signed(word, 256) for word in words[at + 3 : at + 5])
        if -_OUTERMOST_TICK <= lower < upper <= _OUTERMOST_TICK:
            return Position(lower=lower, upper=upper, liquidity=words[at + 5])
    return None


def decode_packed(info: int | None, pool_id: str) -> tuple[int, int] | None:
    """Return the ticks in a PositionInfo. None: it is of another pool, or there is none."""
    if not info or info >> _POOL_AT != int(pool_id, 16) >> _POOL_AT:
        return None
    lower, upper = (
        _signed((info >> at) % 2**_TICK_BITS, _TICK_BITS) for at in (_LOWER_AT, _UPPER_AT)
    )
    return lower, upper


def _last(count: int, most: int, *, first: int = 0) -> range:
    return range(max(first, count - most), count)


def _signed(word: int, bits: int) -> int:
    return word - 2**bits if word >> (bits - 1) else word
