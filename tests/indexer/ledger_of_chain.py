"""What the tables must hold for a chain: computed plainly, block by block, and read back."""

from collections.abc import Sequence

import msgspec

from indexer.ingest import FOLLOW
from sql.store import Store
from tests.indexer.scripted_node import (
    CHAIN,
    FACTORY_V2,
    FACTORY_V3,
    NATIVE,
    Block,
    Odd,
    Pair,
    Pool,
    Sent,
    address,
    pool_address,
    token,
)

Cells = tuple[object, ...]


class Tables(msgspec.Struct, frozen=True):
    """The contents that depend on the chain, in chain order."""

    pools: list[Cells]
    tokens: list[Cells]
    transfers: list[Cells]
    undecoded: list[Cells]
    checkpoint: int | None
    window: list[Cells]
    coverage: list[Cells]


def expect(canonical: Sequence[Block], *, start: int = 0) -> Tables:
    """For a follower that is level with the last block."""
    blocks = [block for block in canonical if block.number >= start]
    pools: dict[str, Cells] = {}
    tracked: dict[str, int] = {}
    for block in blocks:
        for at, event in enumerate(block.events):
            if isinstance(event, Pair | Pool):
                kind, factory = (
                    ("AmmV2", FACTORY_V2) if isinstance(event, Pair) else ("AmmV3", FACTORY_V3)
                )
                key = pool_address(event)
                row = (kind, key, factory, token(event.one), token(event.other), block.number, at)
                pools.setdefault(key, row)
                for side in (event.one, event.other):
                    if token(side) != NATIVE:
                        tracked.setdefault(token(side), block.number)
    transfers: list[Cells] = []
    undecoded: list[Cells] = []
    for block in blocks:
        for at, event in enumerate(block.events):
            if not isinstance(event, Sent | Odd):
                continue
            own = token(event.token)
            if tracked.get(own, block.number + 1) > block.number:
                continue
            if isinstance(event, Sent):
                recipient = address(f"recipient {event.amount % 3}")
                amount = hex(event.amount)
                transfers.append((block.number, at, own, address("sender"), recipient, amount))
            else:
                undecoded.append((block.number, at, own, 1))
    last = canonical[-1].number
    return Tables(
        pools=sorted(pools.values(), key=lambda row: row[5:]),  # type: ignore[arg-type,return-value]
        tokens=sorted((own, "pool", first, first) for own, first in tracked.items()),
        transfers=transfers,
        undecoded=undecoded,
        checkpoint=last,
        window=[
            (block.number, block.hash, block.parent_hash)
            for block in blocks
            if block.number >= last - CHAIN.finality_blocks
        ],
        coverage=sorted(
            (subject, start, last)
            for subject in (f"pools:{FACTORY_V2}", f"pools:{FACTORY_V3}", "transfers")
        ),
    )


def read(store: Store) -> Tables:
    """What is stored, window blocks below finality left out where there are more."""
    with store.cursor() as cursor:

        def rows(query: str) -> list[Cells]:
            return [tuple(row) for row in cursor.execute(query).fetchall()]

        checkpoints = rows(f"select number from checkpoint where stream = '{FOLLOW}'")  # noqa: S608
        return Tables(
            pools=rows(
                "select kind, pool, factory, token0, token1, block_number, log_index from pool "
                "order by block_number, log_index"
            ),
            tokens=rows(
                "select address, tracked_because, first_seen_block, transfers_from_block "
                "from token order by address"
            ),
            transfers=[
                (*row[:5], hex(int(str(row[5]), 16)))
                for row in rows(
                    "select block_number, log_index, token.address, s.address, r.address, "
                    "format('{:016x}{:016x}{:016x}{:016x}', word3, word2, word1, word0) "
                    "from transfer join token using (token_id) "
                    "join address s on s.address_id = sender_id "
                    "join address r on r.address_id = recipient_id "
                    "order by block_number, log_index"
                )
            ],
            undecoded=rows(
                "select block_number, log_index, address, topic_count from undecoded "
                "order by block_number, log_index"
            ),
            checkpoint=next((int(str(row[0])) for row in checkpoints), None),
            window=rows("select number, hash, parent_hash from block order by number"),
            coverage=rows(
                "select subject, from_block, to_block from coverage order by subject, from_block"
            ),
        )
