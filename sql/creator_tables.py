"""Who made which token, looked up once and for ever."""

import msgspec

from config.primitives import Address, Hash32
from sql.rows import CreatorRow
from sql.store import Readable, Store


class Creatorless(msgspec.Struct, frozen=True, kw_only=True):
    """A report without creator."""

    address: Address
    block_hash: Hash32
    """Of the report."""


def read_creator(store: Readable, *, chain_id: int, token: Address) -> CreatorRow | None:
    """None: nobody has looked it up yet."""
    return store.fetch_one("creators/find_creator", CreatorRow, chain_id=chain_id, token=token)


def write_creator(store: Store, row: CreatorRow) -> None:
    """Keep what was found, in the place of what was there. Raises StoreError."""
    with store.transaction() as tx:
        tx.execute("creators/delete_creator", chain_id=row.chain_id, token=row.token)
        tx.insert("creator", [row])


def list_creatorless(store: Readable, *, chain_id: int, at_most: int) -> list[Creatorless]:
    """Tokens with a settled report whose making is still to be looked up, newest report first."""
    return store.fetch("creators/list_unknown", Creatorless, chain_id=chain_id, at_most=at_most)
