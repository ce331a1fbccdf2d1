"""Watched tokens of one chain in memory, with the pools of their reports, by address."""

from collections.abc import Mapping

import msgspec

from config.facts.chain import Chain
from indexer.watched.token_swaps import TradeFacts, pool_key, trade_facts
from sql.engine.columns import blob
from sql.engine.store import Readable
from sql.tokens.watched_tokens import (
    WatchedPool,
    WatchedToken,
    list_watched_pools,
    list_watched_tokens,
    read_revision,
)


class WatchedSet(msgspec.Struct, frozen=True, kw_only=True):
    """Watched tokens of one chain. Addresses are 20 bytes."""

    tokens: Mapping[bytes, WatchedToken] = {}
    pools: Mapping[bytes, tuple[WatchedPool, ...]] = {}
    """Pools by address, or by id; a pool may be of two watched tokens."""
    facts: TradeFacts = TradeFacts()
    routers: frozenset[bytes] = frozenset()
    """Known routers of the chain."""

    def __bool__(self) -> bool:
        return bool(self.tokens)


class WatchedTokens:
    """Keeps the set equal to the tables: reads one number per block, everything only after a
    change.

    Not for concurrent use.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain_id = chain.id
        permit2 = chain.permit2.router if chain.permit2 else None
        routers = {permit2, *(dex.router for dex in chain.dexes)}
        self._routers = frozenset(blob(router) for router in routers if router is not None)
        self._facts = trade_facts(chain)
        self._revision: int | None = None
        self._now = WatchedSet()

    def refresh(self, store: Readable) -> WatchedSet:
        """Return the set as last committed. Raises StoreError."""
        revision = read_revision(store)
        if revision != self._revision:
            self._now = self._read(store)
            self._revision = revision
        return self._now

    def _read(self, store: Readable) -> WatchedSet:
        tokens = list_watched_tokens(store, chain_id=self._chain_id)
        if not tokens:
            return WatchedSet()
        pools: dict[bytes, tuple[WatchedPool, ...]] = {}
        for pool in list_watched_pools(store, chain_id=self._chain_id):
            key = pool_key(pool)
            pools[key] = (*pools.get(key, ()), pool)
        return WatchedSet(
            tokens={blob(token.address): token for token in tokens},
            pools=pools,
            routers=self._routers,
            facts=self._facts,
        )
