"""Creators of tokens: the accounts that sent the creation transactions, each looked up once."""

import msgspec

from core.evm.primitives import Address, Hash32
from sql.engine.columns import blob
from sql.engine.store import Readable, Store
from sql.engine.table_rows import CreatorRow
from sql.tokens.task_queue import drop_task
from sql.tokens.tokens import read_token


class Creatorless(msgspec.Struct, frozen=True, kw_only=True):
    """A token whose report has no creator."""

    address: Address
    block_hash: Hash32
    """Block hash of the report."""


def read_creatorless(store: Readable, *, token_id: int) -> Creatorless | None:
    """Return the parts of the token's report that a creator is added to. None: it has a creator, or
    there is no report."""
    return store.fetch_one("creators/find_creatorless", Creatorless, token_id=token_id)


def read_creator(store: Readable, *, chain_id: int, token: Address) -> CreatorRow | None:
    """Return the creator row, or None if it was not looked up yet."""
    return store.fetch_one(
        "creators/find_creator", CreatorRow, chain_id=chain_id, token=blob(token)
    )


def write_creator(store: Store, row: CreatorRow) -> None:
    """Store a creator row, replacing an earlier one; it need not be looked up again.

    Raises StoreError.
    """
    with store.transaction(chain_id=row.chain_id) as tx:
        tx.insert("creator", [row], on_conflict="replace")
        token = read_token(tx, chain_id=row.chain_id, address=row.token)
        if token is not None:
            drop_task(tx, "creator", token_id=token.token_id)
