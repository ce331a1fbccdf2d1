"""Adds the transfers of back-filled ranges to the balances of the serving state.

In small steps, each one transaction with how far it has come: stopped anywhere, no change is lost
or added twice.
"""

from collections import defaultdict
from typing import Final

import msgspec

from sql.chain.balances import BalanceWriter
from sql.engine.store import Store
from sql.lake.bulk_append import list_bulks
from sql.lake.bulk_deltas import BalanceDelta, iterate_deltas
from sql.lake.lake_file import Lake

STEP: Final = 500
"""Balances changed in one transaction: it holds the write lock for about 10 ms."""

_TOKEN_BYTES = 4


class _Folded(msgspec.Struct, frozen=True, kw_only=True):
    batch: int
    after_key: bytes | None
    """Last key of the range that is in the balances. None: all of them are."""


def fold_bulks(lake: Lake, store: Store, *, step: int = STEP) -> int:
    """Add what the balances lack of the ranges that the lake has; return how many balances changed.

    Raises StoreError.
    """
    folded = store.fetch_one("bulks/find_folded", _Folded) or _Folded(batch=0, after_key=None)
    changed = 0
    for note in list_bulks(lake, above=folded.batch - (folded.after_key is not None)):
        after = folded.after_key if note.batch == folded.batch else None
        for deltas in iterate_deltas(lake, note.batch, after=after):
            for at in range(0, len(deltas), step):
                _add(store, note.batch, deltas[at : at + step])
            changed += len(deltas)
        with store.transaction() as tx:
            tx.execute("bulks/put_folded", batch=note.batch, after_key=None)
    return changed


def _add(store: Store, batch: int, deltas: list[BalanceDelta]) -> None:
    by_token: defaultdict[int, dict[bytes, int]] = defaultdict(dict)
    for delta in deltas:
        token_id = int.from_bytes(delta.key[:_TOKEN_BYTES])
        by_token[token_id][delta.key[_TOKEN_BYTES:]] = delta.amount_raw
    with store.transaction() as tx:
        BalanceWriter(tx).add(by_token)
        tx.execute("bulks/put_folded", batch=batch, after_key=deltas[-1].key)
