"""Pool types: the key of a pool before its state is read, and its state."""

import msgspec

from config.facts.chain import Dex
from core.evm.coin_pairs import pair_id
from core.evm.primitives import Address, Hash32, RawAmount


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A pool that pairs the token with a quote token, before its state is read.

    Like every type with one instance per pool of a token, it is not tracked by the garbage
    collector: repeated traversal of tens of thousands takes longer than the work on them.
    """

    dex: Dex
    pool: Address
    token: Address
    quote: Address
    """The zero address is the native coin."""
    pool_id: Hash32 | None = None
    """None: the pool is a separate contract of these two tokens, or of more that begin with them.
    """
    fee: int | None = None
    """Hundredths of a basis point. None: not part of the pool's key."""
    tick_spacing: int | None = None
    stable: bool | None = None
    hooks: Address | None = None
    """None: the pool has no hooks, or its family has none."""
    coins: tuple[int, int] | None = None
    """Numbers of token and quote among the coins of a pool that may have more than two. None: the
    pool has two, or they are not read yet."""
    vault_id: Hash32 | None = None
    """Id by which a vault knows the pool. None: there is no vault, or it is not read yet."""

    @property
    def key(self) -> str:
        """Key that is unique within a chain."""
        return self.pool_id or self.pool

    @property
    def holder(self) -> Address:
        """Return the contract that holds the pool's tokens."""
        return self.dex.vault or self.pool

    @property
    def token_is_0(self) -> bool:
        """True if the token is the pool's token0: pools sort their tokens by address."""
        return self.token < self.quote  # lower-case hex of one length sorts as its number does


class PoolState(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """State of a pool at the pinned block."""

    token_reserve_raw: RawAmount
    quote_reserve_raw: RawAmount
    in_range_liquidity: int | None
    """Concentrated-liquidity kinds only. 0: a trade begins at the next tick with liquidity, if
    there is one in its direction."""
    is_unknown: bool = False
    """Pools of this kind cannot be read here: the reserves are 0."""
    is_floor: bool = False
    """The reserves are a lower bound; the pool's positions were not summed."""
    is_swept: bool = False
    """One of very many pools of its token, most of them empty: only the positions of the deepest
    were summed."""
    price: float | None = None
    """Spot price before fees: smallest units of quote for one of token. None: not known."""
    coins: tuple[int, int] | None = None
    """As Candidate.coins."""
    vault_id: Hash32 | None = None
    """As Candidate.vault_id."""


UNKNOWN = PoolState(
    token_reserve_raw=RawAmount(0),
    quote_reserve_raw=RawAmount(0),
    in_range_liquidity=None,
    is_unknown=True,
)
"""State of a pool that exists and cannot be read here."""


def placed(pool: Candidate, state: PoolState | None) -> Candidate:
    """Return the pool with the coin numbers, or the vault id, of its state."""
    if state is not None and state.vault_id is not None:
        return msgspec.structs.replace(pool, vault_id=state.vault_id)
    if state is None or state.coins is None:
        return pool
    return msgspec.structs.replace(
        pool, coins=state.coins, pool_id=pair_id(pool.pool, *state.coins)
    )


def spot_price(root: float, *, token_is_0: bool) -> float | None:
    """Return quote per token, in smallest units, from the square root of token1 per token0. None:
    it is 0."""
    if not root:
        return None
    return root * root if token_is_0 else 1 / (root * root)
