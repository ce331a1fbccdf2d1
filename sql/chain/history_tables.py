"""Backward fetching of transfer histories: progress per token, and the tokens to fetch next."""

import msgspec

from core.evm.primitives import Address, RawAmount
from sql.engine.database import Transaction
from sql.engine.store import Readable
from sql.engine.table_rows import HistoryRow


class DueHistory(msgspec.Struct, frozen=True, kw_only=True):
    """A token with a report whose transfer history is incomplete."""

    token_id: int
    address: Address
    transfers_from_block: int
    """Transfers are stored from this block on; the next to fetch are right below. Above all blocks
    if the follower has not stored the token yet."""
    supply_raw: RawAmount
    """Supply of the report."""
    requests: int
    """Log queries spent on its history so far."""
    logs: int
    """Transfer events of its history processed so far."""


def read_due_history(store: Readable, *, token_id: int) -> DueHistory | None:
    """Return the missing part of a token's history. None: it is complete, or the token has no
    report."""
    return store.fetch_one("histories/find_due", DueHistory, token_id=token_id)


def read_history(store: Readable, *, token_id: int) -> HistoryRow | None:
    """Return the progress of the token's history, or None if nothing was fetched."""
    return store.fetch_one("histories/find_history", HistoryRow, token_id=token_id)


def write_history(tx: Transaction, row: HistoryRow, *, token_id: int) -> None:
    """Replace the progress row, in the same transaction as the transfers it covers."""
    tx.insert("history", [row], token_id=token_id, on_conflict="replace")
