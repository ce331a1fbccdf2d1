"""Addition of back-filled transfers to the balances of the serving state.

Runs in small steps, each one transaction that records its progress: after an interruption no change
is lost or added twice.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

import msgspec

from sql.chain.balances import BalanceWriter
from sql.engine.store import Store
from sql.lake.bulk_append import list_bulks
from sql.lake.lake_file import Lake

DELTAS_AT_ONCE: Final = 5_000
"""Changes in one chunk."""

KEY_BYTES: Final = 24

_OWNER_BITS = 160


class BalanceDelta(msgspec.Struct, frozen=True, kw_only=True):
    """Change of one balance, which may be 0."""

    key: bytes
    """Key of `balance`: the token's number in four bytes, the owner in twenty."""
    amount_raw: int
    """Exact amount in smallest units; negative if more went out than in."""


def iterate_deltas(
    lake: Lake, batch: int, *, after: bytes | None = None
) -> Iterator[list[BalanceDelta]]:
    """Yield the changes of balances by the transfers of a range, by key, in chunks.

    `after` is the last key that has been added; None: none has. Order and amounts are the same each
    time, so an interrupted run continues after its last key. Raises StoreError.
    """
    token_id, owner = _split(after)
    rows = lake.stream(
        "list_deltas",
        at_once=DELTAS_AT_ONCE,
        batch=batch,
        token_id=token_id,
        high=owner >> 128,
        mid=(owner >> 64) & (2**64 - 1),
        low=owner & (2**64 - 1),
    )
    for chunk in rows:
        yield [_delta(*row) for row in chunk]


def _split(key: bytes | None) -> tuple[int, int]:
    """Return token number and owner of a key; below all keys if it is None."""
    if key is None:
        return -1, 0
    return int.from_bytes(key[:4]), int.from_bytes(key[4:KEY_BYTES])


def _delta(*words: int) -> BalanceDelta:
    token_id, high, mid, low, word0, word1, word2, word3 = words
    key = (token_id << _OWNER_BITS | high << 128 | mid << 64 | low).to_bytes(KEY_BYTES)
    return BalanceDelta(key=key, amount_raw=word0 + (word1 << 64) + (word2 << 128) + (word3 << 192))


STEP: Final = 500
"""Balances changed in one transaction: it holds the write lock for about 10 ms."""

_TOKEN_BYTES = 4


class _Folded(msgspec.Struct, frozen=True, kw_only=True):
    batch: int
    after_key: bytes | None
    """Last key of the range that is in the balances. None: all are."""


def fold_bulks(lake: Lake, store: Store, *, step: int = STEP) -> int:
    """Add the missing changes of the lake's ranges; return the number of changed balances.

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
