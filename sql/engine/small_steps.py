"""Deletion of many rows in small transactions, so that other writers wait for none of them long."""

from typing import Final

from sql.engine.store import Store

DELETED_AT_ONCE: Final = 1_000


def delete_in_steps(store: Store, query: str, *, chain_id: int, **params: object) -> None:
    """Repeat a statement that deletes up to `$at_most` rows of a chain until none are left.

    Raises StoreError.
    """
    deleted = DELETED_AT_ONCE
    while deleted == DELETED_AT_ONCE:
        with store.transaction(chain_id=chain_id) as tx:
            deleted = tx.execute(query, chain_id=chain_id, at_most=DELETED_AT_ONCE, **params)
