"""Creators of tokens: the accounts that sent the creation transactions, each looked up once."""

import msgspec

from core.primitives import Address, Hash32
from sql.rows import CreatorRow
from sql.store import Readable, Store


class Creatorless(msgspec.Struct, frozen=True, kw_only=True):
    """A token whose report has no creator."""

    address: Address
    block_hash: Hash32
    """Block hash of the report."""


def read_creator(store: Readable, *, chain_id: int, token: Address) -> CreatorRow | None:
    """Return the creator row, or None if it was not looked up yet."""
    return store.fetch_one("creators/find_creator", CreatorRow, chain_id=chain_id, token=token)


def write_creator(store: Store, row: CreatorRow) -> None:
    """Store a creator row, replacing an earlier one. Raises StoreError."""
    with store.transaction() as tx:
        tx.execute("creators/delete_creator", chain_id=row.chain_id, token=row.token)
        tx.insert("creator", [row])


def list_creatorless(store: Readable, *, chain_id: int, at_most: int) -> list[Creatorless]:
    """Return tokens with a settled report whose creator is not looked up yet, newest report
    first."""
    return store.fetch("creators/list_unknown", Creatorless, chain_id=chain_id, at_most=at_most)
