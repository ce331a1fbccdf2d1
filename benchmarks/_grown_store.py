"""Stores of a given size, as after months of a busy chain, written directly.

Half of all transfers are of usual tokens, Zipf-distributed; a fifth are of the hottest token. All
rows that a look-up reads are there: tokens, pools and their sides, balances with their totals and
lists, tasks. The transfers are not: final ones are in the lake, which no look-up reads.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from sql.chain.balances import MANY_OWNERS
from sql.engine.exact_numbers import to_blob
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles

CHAIN_ID = 1
FIRST_BLOCK = 1_000_000
_HOT_SHARE = 0.2
_OWNERS_PER_TRANSFER = 0.34
"""Owners with a balance per transfer of a usual token; half of that for the hottest."""
_LISTED = 1_000
_STEP = 200_000


class GrownSize(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of a store."""

    transfers: int
    tokens: int
    pools: int


def size_of(transfers: int) -> GrownSize:
    """Return the rows for a number of transfers: 1 k tokens at 0.1 M, 2 M at 50 M."""
    tokens = int(np.interp(np.log10(transfers), [5, 7, 7.7, 8.7], [1e3, 1e5, 2e6, 4e6]))
    return GrownSize(transfers=transfers, tokens=tokens, pools=int(2.5 * tokens))


def token_address(number: int) -> bytes:
    """Return the address of the token with this id, from 1 on."""
    return _scattered(number, salt=1)


def grow(path: Path, transfers: int, *, is_followed: bool = True) -> GrownSize:
    """Write a new store of this size at a path that does not exist.

    `is_followed`: followed up to the block before FIRST_BLOCK; else following has not begun.
    """
    size = size_of(transfers)
    Store.open(path).close()
    with sqlite3.connect(StoreFiles(prefix=path).serving) as connection:
        for setting in ("journal_mode = off", "synchronous = off", "cache_size = -1000000"):
            connection.execute(f"pragma {setting}").fetchall()
        _write_tokens(connection, size)
        _write_pools(connection, size)
        _write_balances(connection, size)
        if is_followed:
            _write_progress(connection)
        connection.commit()
        connection.execute("pragma journal_mode = wal").fetchall()
    connection.close()
    return size


def _write_tokens(connection: sqlite3.Connection, size: GrownSize) -> None:
    rng = np.random.default_rng(1)
    worth = rng.integers(0, 60_000, size.tokens).tolist()
    due_s = (1_800_000_000 + rng.integers(0, 86_400, size.tokens)).tolist()
    connection.executemany(
        "insert into token values (?, ?, ?, 'pool', ?, ?, null)",
        (
            (number, CHAIN_ID, token_address(number), _block_of(number), _block_of(number))
            for number in range(1, size.tokens + 1)
        ),
    )
    connection.executemany(
        "insert into task values ('refresh', ?, ?, ?, ?, ?)",
        (
            (number, CHAIN_ID, worth[number - 1], due_s[number - 1], int(number % 100 == 0))
            for number in range(1, size.tokens + 1)
        ),
    )


def _write_pools(connection: sqlite3.Connection, size: GrownSize) -> None:
    quote, factory = _scattered(1, salt=9), _scattered(2, salt=9)
    rows = []
    for number in range(1, size.pools + 1):
        token = token_address(1 + number % size.tokens)
        pool = _scattered(number, salt=2)
        rows.append((number, token, pool))
        if len(rows) == _STEP or number == size.pools:
            connection.executemany(
                "insert into pool values (?, 1, ?, ?, null, 'uniswap_v2', 'AmmV2', null, ?, ?, ?,"
                " 30, null, null, null, ?, 1)",
                ((at, key, key, factory, one, quote, _block_of(at)) for at, one, key in rows),
            )
            connection.executemany(
                "insert into pool_side values (1, ?, ?, 1, ?, ?)",
                (
                    side
                    for at, one, _ in rows
                    for side in (
                        (one, _block_of(at), at, quote),
                        (quote, _block_of(at), at, one),
                    )
                ),
            )
            rows = []


def _write_balances(connection: sqlite3.Connection, size: GrownSize) -> None:
    for token_id, owners in _owners(size):
        rng = np.random.default_rng(token_id)
        joined = rng.bytes(20 * owners)
        addresses = sorted(joined[at : at + 20] for at in range(0, len(joined), 20))
        values = np.exp(rng.normal(40, 6, owners)).astype(float).tolist()
        numbers = [int(value) + 1 for value in values]
        prefix = token_id.to_bytes(4, "big")
        connection.executemany(
            "insert into balance values (?, ?)",
            (
                (prefix + owner, to_blob(number))
                for owner, number in zip(addresses, numbers, strict=True)
            ),
        )
        bound = None
        if owners > MANY_OWNERS:
            ranked = sorted(
                (-number, owner) for number, owner in zip(numbers, addresses, strict=True)
            )
            top = [(-negative, owner) for negative, owner in ranked[:_LISTED]]
            bound = top[-1][1] + to_blob(top[-1][0])
            connection.executemany(
                "insert into largest values (?, ?, ?)",
                ((token_id, owner, to_blob(number)) for number, owner in top),
            )
        connection.execute(
            "insert into token_balance values (?, ?, 0, ?, ?)",
            (token_id, owners, to_blob(sum(numbers)), bound),
        )


def _owners(size: GrownSize) -> Iterator[tuple[int, int]]:
    """Yield each token with the number of its owners; token 1 is the hottest."""
    yield 1, int(size.transfers * _HOT_SHARE * _OWNERS_PER_TRANSFER / 2) + 10
    rest = size.transfers * (1 - _HOT_SHARE)
    ranks = np.arange(1, size.tokens)
    shares = 1 / (ranks + 100.0)
    counts = rest * shares / shares.sum() * _OWNERS_PER_TRANSFER
    for token_id, count in enumerate(counts.tolist(), start=2):
        yield token_id, int(count) + 1


def _write_progress(connection: sqlite3.Connection) -> None:
    connection.execute(
        "insert into checkpoint values (?, 'follow', ?, zeroblob(32))", (CHAIN_ID, FIRST_BLOCK - 1)
    )


def _block_of(number: int) -> int:
    """Return the block in which the token or pool of this number was created."""
    return FIRST_BLOCK - 1 - number % (FIRST_BLOCK - 1)


def _scattered(number: int, *, salt: int) -> bytes:
    """Return 20 pseudo-random bytes, from two rounds of a 64-bit mixer."""
    words = []
    state = number * 0x9E3779B97F4A7C15 + salt
    for _ in range(3):
        state = (state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & (2**64 - 1)
        mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & (2**64 - 1)
        words.append((mixed ^ (mixed >> 31)).to_bytes(8, "big"))
    return b"".join(words)[:20]
