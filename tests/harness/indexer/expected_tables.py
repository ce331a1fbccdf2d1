"""Rows that the tables must hold for a chain, computed plainly block by block."""

from collections.abc import Iterator, Sequence

import msgspec

from config.facts.chain import Chain
from sql.chain.blocks import FOLLOW
from sql.chain.early_tables import EARLY_SUBJECT
from sql.engine.store import Store
from tests.harness.node.chain import (
    CHAIN,
    FACTORY_V2,
    FACTORY_V3,
    NATIVE,
    Block,
    Event,
    LpSent,
    Odd,
    Pair,
    Pool,
    PositionMinted,
    Sent,
    address,
    pool_address,
    token,
)
from tests.harness.store.store_contents import Cells, read_rows, read_transfers, undecoded_in


class Tables(msgspec.Struct, frozen=True):
    """The contents that depend on the chain, in chain order."""

    pools: list[Cells]
    tokens: list[Cells]
    transfers: list[Cells]
    undecoded: list[Cells]
    checkpoint: int | None
    coverage: list[Cells]
    launches: list[Cells] = []
    liquidity: list[Cells] = []
    """Block, log index, key of the pool, topics and data."""


def expect(
    canonical: Sequence[Block],
    *,
    start: int = 0,
    followed_from: int | None = None,
    young_blocks: int = 2**63,
) -> Tables:
    """For a follower that is level with the last block. `start`: where a back-fill below began,
    `followed_from` None: there was none. `young_blocks`: age of a pool up to which it is young."""
    blocks = [block for block in canonical if block.number >= start]
    pools = _pools(blocks)
    tracked: dict[str, int] = {}
    for pool in sorted(pools.values(), key=_place):
        for side in (pool.token0, pool.token1):
            if side != NATIVE:
                tracked.setdefault(side, pool.block_number)
    transfers: list[Cells] = []
    undecoded: list[Cells] = []
    for number, at, event in _events(blocks):
        if (
            not isinstance(event, Sent | Odd)
            or tracked.get(token(event.token), number + 1) > number
        ):
            continue
        own = token(event.token)
        if isinstance(event, Sent):
            recipient = address(f"recipient {event.amount % 3}")
            transfers.append((number, at, own, address("sender"), recipient, hex(event.amount)))
        else:
            undecoded.append((number, at, own, 1))
    last = canonical[-1].number
    since = start if followed_from is None else followed_from
    subjects = (f"pools:{FACTORY_V2}", f"pools:{FACTORY_V3}", "transfers")
    return Tables(
        pools=[msgspec.structs.astuple(pool) for pool in sorted(pools.values(), key=_place)],
        tokens=sorted((own, "pool", first, first) for own, first in tracked.items()),
        transfers=transfers,
        undecoded=undecoded,
        checkpoint=last,
        coverage=sorted(
            [
                *((subject, start, last) for subject in subjects),
                *((subject, since, last) for subject in (EARLY_SUBJECT, CHAIN.liquidity_subject)),
            ]
        ),
        liquidity=[
            cells
            for cells in _liquidity(blocks, pools)
            if since <= pools[str(cells[2])].block_number
            and int(str(cells[0])) - pools[str(cells[2])].block_number <= young_blocks
        ],
    )


def _liquidity(blocks: Sequence[Block], pools: dict[str, "_Pool"]) -> Iterator[Cells]:
    """Yield events of pools that exist by then, of any age: transfers of pairs, positions of
    others."""
    for block in blocks:
        for at, event in enumerate(block.events):
            if not isinstance(event, LpSent | PositionMinted):
                continue
            pool = pools.get(pool_address(event.of))
            kind = "AmmV2" if isinstance(event, LpSent) else "AmmV3"
            if pool is not None and pool.kind == kind and pool.block_number <= block.number:
                log = block.logs[at]
                topics = "0x" + "".join(topic[2:] for topic in log["topics"])
                yield block.number, at, pool.pool, topics, log["data"]


class _Pool(msgspec.Struct, frozen=True):
    kind: str
    pool: str
    factory: str
    token0: str
    token1: str
    block_number: int
    log_index: int


def _pools(blocks: Sequence[Block]) -> dict[str, _Pool]:
    """Return the pools by address; a pool announced twice counts once."""
    found: dict[str, _Pool] = {}
    for number, at, event in _events(blocks):
        if isinstance(event, Pair | Pool):
            v2 = isinstance(event, Pair)
            key = pool_address(event)
            sides = (token(event.one), token(event.other))
            kind, factory = ("AmmV2", FACTORY_V2) if v2 else ("AmmV3", FACTORY_V3)
            found.setdefault(key, _Pool(kind, key, factory, *sides, number, at))
    return found


def _events(blocks: Sequence[Block]) -> Iterator[tuple[int, int, Event]]:
    for block in blocks:
        for at, event in enumerate(block.events):
            yield block.number, at, event


def _place(pool: _Pool) -> tuple[int, int]:
    return pool.block_number, pool.log_index


def without_liquidity(tables: Tables, chain: Chain = CHAIN) -> Tables:
    """Drop liquidity and early events, which a back-fill does not read."""
    followed = (EARLY_SUBJECT, chain.liquidity_subject)
    coverage = [row for row in tables.coverage if row[0] not in followed]
    return msgspec.structs.replace(tables, coverage=coverage, liquidity=[])


def assert_window(
    store: Store, canonical: Sequence[Block], *, highest: int, start: int = 0
) -> None:
    """Assert that the window ends the canonical chain, and reaches the final block."""
    rows = read_rows(store, "select number, hash, parent_hash from block order by number")
    lowest = msgspec.convert(rows[0][0], int)
    assert rows == [(block.number, block.hash, block.parent_hash) for block in canonical[lowest:]]
    assert lowest <= max(start, highest - CHAIN.finality_blocks)


def read(store: Store) -> Tables:
    """Read all stored rows, final or not."""
    checkpoints = read_rows(store, "select number from checkpoint where stream = ?", FOLLOW)
    return Tables(
        pools=read_rows(
            store,
            "select kind, pool, factory, token0, token1, block_number, log_index from pool "
            "order by block_number, log_index",
        ),
        launches=read_rows(
            store,
            "select slug, token, emitter, creator, tx_hash, block_number, log_index "
            "from launch order by block_number, log_index",
        ),
        tokens=read_rows(
            store,
            "select address, tracked_because, first_seen_block, transfers_from_block "
            "from token order by address",
        ),
        transfers=[
            (
                *(row.block_number, row.log_index, row.token, row.sender, row.recipient),
                hex(row.amount_raw),
            )
            for row in read_transfers(store)
        ],
        undecoded=[
            (block_number, log_index, address, topic_count)
            for _, block_number, log_index, address, _, topic_count, _ in undecoded_in(store)
        ],
        checkpoint=next((int(str(row[0])) for row in checkpoints), None),
        coverage=read_rows(
            store,
            "select subject, from_block, to_block from coverage order by subject, from_block",
        ),
        liquidity=read_liquidity(store),
    )


def read_liquidity(store: Store) -> list[Cells]:
    """Return block, log index, key of the pool, topics and data of stored events."""
    return read_rows(
        store,
        "select event.block_number, event.log_index, pool.pool_key, topics, data "
        "from liquidity_event event left join pool on pool.pool_no = event.pool_no "
        "order by event.block_number, event.log_index",
    )


def without_follow(tables: Tables) -> Tables:
    """A back-fill has its own checkpoint, and leaves open from where on transfers are whole."""
    return msgspec.structs.replace(
        without_liquidity(tables),
        checkpoint=None,
        tokens=[(*row[:3], None) for row in tables.tokens],
    )
