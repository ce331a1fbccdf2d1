"""What a store holds, read back plainly: by SQL of the tests' own, final rows and others alike."""

import sqlite3
from contextlib import closing

import msgspec

from core.primitives import Address
from sql.store import Store
from sql.store_files import StoreFiles

Cells = tuple[object, ...]

_TRANSFERS = """
    select token_id, block_number, log_index, sender, recipient, amount from transfer
    union all
    select token_id, block_number, log_index, sender, recipient, amount from final_transfer
"""
_UNDECODED = """
    select chain_id, block_number, log_index, address, topic0, topic_count, data from undecoded
    union all
    select chain_id, block_number, log_index, address, topic0, topic_count, data
    from final_undecoded join batch using (batch)
"""
_TRADES = """
    select chain_id, block_number, log_index, pool_no, time_s, amount0, amount1 from trade
    union all
    select chain_id, block_number, log_index, pool_no, time_s, amount0, amount1
    from final_trade join batch using (batch)
"""


class Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """One stored transfer."""

    chain_id: int
    block_number: int
    log_index: int
    token: Address
    sender: Address
    recipient: Address
    amount_raw: int


def read_rows(store: Store, query: str, *parameters: object) -> list[Cells]:
    """Rows of any SELECT over what is committed; blobs are 0x text."""
    uri = f"file:{StoreFiles(prefix=store.path).serving}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as file:
        return [tuple(map(_plain, row)) for row in file.execute(query, parameters).fetchall()]


def read_transfers(store: Store) -> list[Transfer]:
    """All of all tokens, in chain order."""
    rows = read_rows(
        store,
        "select token.chain_id, block_number, log_index, token.address, sender, recipient, amount"  # noqa: S608
        f" from ({_TRANSFERS}) join token using (token_id) order by 1, 2, 3",
    )
    fields = Transfer.__struct_fields__
    exact = [(*row[:6], exact_number(str(row[6]))) for row in rows]
    return [msgspec.convert(dict(zip(fields, row, strict=True)), Transfer) for row in exact]


def transfers_of(store: Store, token: Address) -> list[Transfer]:
    """All of a token, in chain order."""
    return [row for row in read_transfers(store) if row.token == token]


def undecoded_in(store: Store) -> list[Cells]:
    """All undecoded logs, in chain order."""
    return read_rows(store, f"select * from ({_UNDECODED}) order by 1, 2, 3")  # noqa: S608


def trades_in(store: Store) -> list[Cells]:
    """All trades in chain order: pool key, block, log, Unix seconds, amounts of both tokens."""
    return read_rows(
        store,
        "select pool_key, t.block_number, t.log_index, time_s, amount0, amount1"  # noqa: S608
        f" from ({_TRADES}) t join pool using (pool_no) order by t.chain_id, 2, 3",
    )


def exact_number(stored: str) -> int:
    """The number that 0x text of a signed big-endian blob is."""
    return int.from_bytes(bytes.fromhex(stored[2:]), "big", signed=True)


def _plain(value: object) -> object:
    return "0x" + value.hex() if isinstance(value, bytes) else value
