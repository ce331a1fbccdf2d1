"""What the tables must hold for a chain: computed plainly, block by block, and read back."""

from collections.abc import Iterator, Sequence

import msgspec

from indexer.ingest import FOLLOW
from sql.store import Store
from tests.indexer.scripted_node import (
    CHAIN,
    FACTORY_V2,
    FACTORY_V3,
    NATIVE,
    Block,
    Event,
    Odd,
    Pair,
    Pool,
    Sent,
    address,
    pool_address,
    token,
)
from tests.sql.stored import Cells, read_rows, read_transfers, undecoded_in


class Tables(msgspec.Struct, frozen=True):
    """The contents that depend on the chain, in chain order."""

    pools: list[Cells]
    tokens: list[Cells]
    transfers: list[Cells]
    undecoded: list[Cells]
    checkpoint: int | None
    coverage: list[Cells]
    launches: list[Cells] = []


def expect(canonical: Sequence[Block], *, start: int = 0) -> Tables:
    """For a follower that is level with the last block."""
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
    subjects = (f"pools:{FACTORY_V2}", f"pools:{FACTORY_V3}", "transfers")
    return Tables(
        pools=[msgspec.structs.astuple(pool) for pool in sorted(pools.values(), key=_place)],
        tokens=sorted((own, "pool", first, first) for own, first in tracked.items()),
        transfers=transfers,
        undecoded=undecoded,
        checkpoint=last,
        coverage=sorted((subject, start, last) for subject in subjects),
    )


class _Pool(msgspec.Struct, frozen=True):
    kind: str
    pool: str
    factory: str
    token0: str
    token1: str
    block_number: int
    log_index: int


def _pools(blocks: Sequence[Block]) -> dict[str, _Pool]:
    """By address; a pool announced twice counts once."""
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


def assert_window(
    store: Store, canonical: Sequence[Block], *, highest: int, start: int = 0
) -> None:
    """The held blocks are the last of the canonical chain, down to what was final at least."""
    rows = read_rows(store, "select number, hash, parent_hash from block order by number")
    lowest = msgspec.convert(rows[0][0], int)
    assert rows == [(block.number, block.hash, block.parent_hash) for block in canonical[lowest:]]
    assert lowest <= max(start, highest - CHAIN.finality_blocks)


def read(store: Store) -> Tables:
    """What is stored, final or not."""
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
    )
