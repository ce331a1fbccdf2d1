"""Liquidity pools, and the block ranges whose pool creation events are fully ingested."""

from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from core.evm.primitives import Address, HexBytes
from core.report.rows import PoolRow
from sql.engine.columns import blob, encode, encode_all
from sql.engine.database import Reader, Transaction
from sql.engine.store import Readable
from sql.engine.table_rows import CoverageRow

_POOLS_READ = 10_000


class PoolFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a stored pool that its swaps are checked against."""

    pool_key: HexBytes
    pool_no: int
    pool: Address
    """The contract that emits its events."""
    kind: str
    dex: str
    token0: Address
    token1: Address
    block_number: int
    log_index: int
    """Index of the event that announced it."""


class PoolPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Packed data of stored pools that are separate contracts."""

    heads: bytes
    """First eight bytes of each address."""
    blocks: tuple[int, ...]
    """Creation block of each pool."""


class _LaterPool(msgspec.Struct, frozen=True, kw_only=True):
    pool_no: int
    token0: Address
    token1: Address
    block_number: int
    log_index: int


def insert_pools(tx: Transaction, pools: Sequence[PoolRow]) -> int:
    """Store pools of one chain that are not stored yet; return how many were new.

    Of repeated announcements of a pool the earliest counts, in whatever order they arrive: a reorg
    of the others leaves it.
    """
    if not pools:
        return 0
    newest = find_newest_pool_no(tx)
    new = tx.execute_many("pools/insert_pool", encode_all(pools))
    if new:
        added = {"above": newest, "chain_id": pools[0].chain_id}
        tx.execute("pools/insert_first_sides", **added)
        tx.execute("pools/insert_second_sides", **added)
    if new < len(pools):
        for pool in pools:
            _keep_earlier(tx, pool)
    return new


def find_newest_pool_no(store: Readable) -> int:
    """Return the highest number of a pool of any chain; 0 if there is none."""
    ((newest,),) = store.fetch_tuples("pools/find_newest")
    return int(newest)


def read_pools_since(reader: Reader, *, chain_id: int, number: int) -> Iterator[PoolPlaces]:
    """Yield the pools that are separate contracts and were created in a block or later, by block.
    Raises StoreError."""
    pages = reader.stream("pools/list_since", at_once=_POOLS_READ, chain_id=chain_id, number=number)
    for page in pages:
        heads, blocks = zip(*page, strict=True)
        yield PoolPlaces(heads=b"".join(heads), blocks=blocks)


def _keep_earlier(tx: Transaction, pool: PoolRow) -> None:
    """Move a pool that is stored by a later event to this earlier one."""
    later = tx.fetch_one(
        "pools/find_later",
        _LaterPool,
        chain_id=pool.chain_id,
        pool_key=blob(pool.pool_key),
        block_number=pool.block_number,
        log_index=pool.log_index,
    )
    if later is None:
        return
    place = (later.block_number, later.log_index, later.pool_no)
    sides = dict.fromkeys((later.token0, later.token1))
    tx.execute_many("pools/delete_side", ((pool.chain_id, blob(token), *place) for token in sides))
    tx.execute_many("pools/move_pool", [encode(pool)])
    place = (pool.block_number, pool.log_index, later.pool_no)
    token0, token1 = blob(pool.token0), blob(pool.token1)
    own = {token0: token1, token1: token0}
    tx.execute_many(
        "pools/insert_side",
        ((pool.chain_id, token, *place, other) for token, other in own.items()),
    )


def find_pools(
    store: Readable, *, chain_id: int, pool_keys: Collection[HexBytes]
) -> dict[HexBytes, PoolFacts]:
    """Return the stored pools by key."""
    keys = _hex_list(pool_keys)
    found = store.fetch("pools/list_by_key", PoolFacts, chain_id=chain_id, pool_keys=keys)
    return {pool.pool_key: pool for pool in found}


def list_pools(
    store: Readable,
    *,
    chain_id: int,
    token: Address,
    quotes: Sequence[Address] | None = None,
    at_most: int | None = None,
) -> list[PoolRow]:
    """Return the pools with the token on one side, in order of creation.

    `quotes` keeps only pools with one of these on the other side; needed for quote tokens, which
    have innumerable pools. `at_most` bounds the pools per contract (one may hold all): half of them
    the oldest and half the newest.
    """
    return store.fetch(
        "pools/list_of_token",
        PoolRow,
        chain_id=chain_id,
        token=blob(token),
        others=None if quotes is None else _hex_list(quotes),
        at_most=at_most,
    )


def list_other_pools(
    store: Readable, *, chain_id: int, token: Address, quotes: Sequence[Address], at_most: int
) -> list[PoolRow]:
    """Return the token's oldest pools that have none of the quotes on the other side."""
    return store.fetch(
        "pools/list_first_beside",
        PoolRow,
        chain_id=chain_id,
        token=blob(token),
        others=_hex_list(quotes),
        at_most=at_most,
    )


def find_first_pool_block(reader: Reader, *, chain_id: int, token: Address) -> int | None:
    """Return the block of a token's oldest pool, or None without one."""
    ((block_number,),) = reader.fetch_tuples(
        "pools/find_first_block", chain_id=chain_id, token=blob(token)
    )
    return None if block_number is None else int(block_number)


def list_coverage(store: Readable, *, chain_id: int) -> list[CoverageRow]:
    """Return the gapless block ranges of a chain; those of one subject neither touch nor
    overlap."""
    return store.fetch("coverage/list_ranges", CoverageRow, chain_id=chain_id)


def find_newest_coverage(store: Readable, *, chain_id: int, subject: str) -> CoverageRow | None:
    """Return the highest gapless block range of a subject, or None without one."""
    return store.fetch_one(
        "coverage/find_newest_range", CoverageRow, chain_id=chain_id, subject=subject
    )


def find_coverage_start(store: Readable, *, chain_id: int, subject: str, first: int) -> int:
    """Return the first block of the gapless range that a span from block `first` on continues or
    begins."""
    newest = find_newest_coverage(store, chain_id=chain_id, subject=subject)
    return newest.from_block if newest is not None and newest.to_block >= first - 1 else first


def _hex_list(texts: Iterable[HexBytes] | Iterable[Address]) -> str:
    """Return a JSON array of hex, as SQLite has no parameters that are lists."""
    return msgspec.json.encode([text[2:] for text in texts]).decode()
