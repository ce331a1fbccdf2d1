"""Facts of a chain that a reorganisation takes back."""

import msgspec

from core.evm.primitives import HexBytes, RawAmount
from indexer.ingest import extend_all
from sql.chain.blocks import insert_blocks, write_checkpoint
from sql.chain.launch_tables import insert_launches
from sql.chain.pool_tables import insert_pools
from sql.chain.transfer_tables import insert_transfers
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.engine.table_rows import CheckpointRow, TransferRow, UndecodedRow
from sql.tokens.tokens import list_tracked, track_tokens
from tests.harness.store.sample_rows import address, block, hash32, launch, pool

TOKENS = [address(0x100 + at) for at in range(6)]
QUOTE = address(2)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """One block: the tokens of a launch and of a new pool, and the number of transfers of each
    token."""

    new_launch: int | None
    new_pool: int | None
    transfers: int


def take_in(store: Store, history: list[Facts], *, first: int) -> None:
    """Ingest blocks `first` onwards, each in a transaction with its checkpoint."""
    seen = [at for fact in history[:first] for at in (fact.new_launch, fact.new_pool)]
    known = {at for at in seen if at is not None}
    for number, facts in enumerate(history[first:], start=first):
        with store.transaction() as tx:
            if facts.new_launch is not None:
                known.add(facts.new_launch)
                token = TOKENS[facts.new_launch]
                insert_launches(tx, [launch(token, block_number=number)])
                track_tokens(tx, chain_id=1, seen={token: number}, because="launch")
            if facts.new_pool is not None:
                known.add(facts.new_pool)
                token = TOKENS[facts.new_pool]
                insert_pools(tx, [pool(0x500 + number, token, block_number=number)])
                track_tokens(tx, chain_id=1, seen={token: number}, because="pool")
            insert_transfers(
                tx, transfers_at(tx, number, sorted(known), facts.transfers), chain_id=1
            )
            tx.insert("undecoded", [undecoded(number)])
            insert_blocks(tx, [block(number)])
            extend_all(tx, chain_id=1, subjects=["pools"], first=number, last=number)
            write_checkpoint(tx, follow(number))


def follow(number: int) -> CheckpointRow:
    return CheckpointRow(chain_id=1, stream="follow", number=number, hash=hash32(number))


def undecoded(number: int) -> UndecodedRow:
    return UndecodedRow(
        chain_id=1,
        block_number=number,
        log_index=99,
        address=address(3),
        topic0=hash32(3),
        topic_count=1,
        data=HexBytes("0x"),
    )


def transfers_at(tx: Transaction, number: int, known: list[int], count: int) -> list[TransferRow]:
    ids = {row.address: row.token_id for row in list_tracked(tx, chain_id=1)}
    return [
        TransferRow(
            block_number=number,
            log_index=log_index,
            token_id=ids[TOKENS[token]],
            sender=blob(address(at)),
            recipient=blob(address(number * 7 + at)),
            amount_raw=RawAmount(number + at),
        )
        for log_index, (token, at) in enumerate(
            (token, at) for token in known for at in range(count)
        )
    ]
