"""Watched tokens, with the parts of their reports that new blocks are compared with."""

from collections.abc import Sequence
from typing import Final

import msgspec

from core.evm.primitives import Address, Hash32
from core.report.report import TradeOutcome
from sql.engine.database import Transaction
from sql.engine.store import Readable

MOST_POOLS: Final = 8
"""Deepest pools of a token that are watched: those that analyses trade in, and a few more."""


class WatchedToken(msgspec.Struct, frozen=True, kw_only=True):
    """One watched token. None: there is no report, or the value is unknown."""

    token_id: int
    address: Address
    report_block: int | None
    scanned_at_s: int | None
    is_settled: bool | None
    owner: Address | None


class WatchedPool(msgspec.Struct, frozen=True, kw_only=True):
    """One pool in the report of a watched token. Taxes in percent; None: not known."""

    token_id: int
    pool: Address
    pool_id: Hash32 | None
    kind: str
    dex: str
    quote: Address
    token0: Address | None
    """First token of the pool. None: the pool is not indexed."""
    hooks: Address | None
    """None: it has none, or the pool is not indexed."""
    buy: TradeOutcome | None
    buy_tax: float | None
    sell: TradeOutcome | None
    sell_tax: float | None


class Reserve(msgspec.Struct, frozen=True, kw_only=True):
    """Reserve of one pool, if a single number describes it."""

    pool: Address
    """The pool, or the contract that holds all pools."""
    pool_id: Hash32 | None
    quote: Address
    word: Hash32 = msgspec.field(name="held")
    """The pool's balance of the quote, as a word; for Uniswap V4 its liquidity in range."""


class _Reserves(msgspec.Struct, frozen=True, kw_only=True):
    reserves: str


class _Revision(msgspec.Struct, frozen=True, kw_only=True):
    revision: int


def read_revision(store: Readable) -> int:
    """Return a number that changes with the watched tokens and their reports."""
    found = store.fetch_one("watched/find_revision", _Revision)
    return 0 if found is None else found.revision


def list_watched_tokens(store: Readable, *, chain_id: int) -> list[WatchedToken]:
    """Return the watched tokens of a chain."""
    return store.fetch("watched/list_tokens", WatchedToken, chain_id=chain_id)


def list_watched_pools(store: Readable, *, chain_id: int) -> list[WatchedPool]:
    """Return the deepest pools of the watched tokens of a chain."""
    return store.fetch("watched/list_pools", WatchedPool, chain_id=chain_id, at_most=MOST_POOLS)


def read_reserves(
    store: Readable, token_id: int, *, report_block: int
) -> tuple[Reserve, ...] | None:
    """Return the pools' reserves at the block of a token's report. None: not read yet."""
    where = {"token_id": token_id, "report_block": report_block}
    found = store.fetch_one("watched/find_reserves", _Reserves, **where)
    if found is None:
        return None
    return msgspec.json.decode(found.reserves, type=tuple[Reserve, ...])


def write_reserves(
    tx: Transaction, token_id: int, *, report_block: int, reserves: Sequence[Reserve]
) -> None:
    """Store the pools' reserves at the block of a token's report."""
    tx.execute(
        "watched/put_reserves",
        token_id=token_id,
        report_block=report_block,
        reserves=msgspec.json.encode(reserves).decode(),
    )
