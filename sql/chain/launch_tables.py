"""Token launches: tokens issued by launch platforms, from the platforms' creation events."""

from collections.abc import Sequence

from core.evm.primitives import Address
from core.report.rows import LaunchRow
from sql.engine.columns import blob, encode
from sql.engine.database import Transaction
from sql.engine.store import Readable


def insert_launches(tx: Transaction, launches: Sequence[LaunchRow]) -> int:
    """Store launches that are not stored yet; return how many were new, or earlier than known.

    Of repeated announcements of a launch the earliest counts, in whatever order they arrive: a
    reorg of the others leaves it.
    """
    return tx.execute_many("launches/insert_launch", map(encode, launches)) if launches else 0


def list_launches(store: Readable, *, chain_id: int, token: Address) -> list[LaunchRow]:
    """Return the launches of the token in event order; empty if no indexed platform issued it."""
    return store.fetch("launches/list_of_token", LaunchRow, chain_id=chain_id, token=blob(token))
