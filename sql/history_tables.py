"""Backward fetching of transfer histories: progress per token, and the tokens to fetch next."""

import msgspec

from core.primitives import Address, RawAmount
from sql.rows import HistoryRow
from sql.store import Readable, Transaction


class DueHistory(msgspec.Struct, frozen=True, kw_only=True):
    """A token with a report whose transfer history is incomplete."""

    token_id: int
    address: Address
    transfers_from_block: int
    """Transfers are stored from this block on; the next to fetch are right below."""
    supply_raw: RawAmount
    """Supply of the report."""
    requests: int
    """Log queries spent on its history so far."""
    logs: int
    """Transfer events of its history processed so far."""


def list_due_histories(
    store: Readable,
    *,
    chain_id: int,
    stream: str,
    finality_blocks: int,
    most_logs: int,
    most_requests: int,
    at_most: int,
) -> list[DueHistory]:
    """Return tokens whose missing history ends in final blocks, by the checkpoint of `stream`.

    Requested tokens come first, then those with the lowest cost so far. A token that has reached
    `most_logs` or `most_requests` is left out as too large.
    """
    return store.fetch(
        "histories/list_due",
        DueHistory,
        chain_id=chain_id,
        stream=stream,
        finality_blocks=finality_blocks,
        most_logs=most_logs,
        most_requests=most_requests,
        at_most=at_most,
    )


def read_history(store: Readable, *, token_id: int) -> HistoryRow | None:
    """Return the progress of the token's history, or None if nothing was fetched."""
    return store.fetch_one("histories/find_history", HistoryRow, token_id=token_id)


def write_history(tx: Transaction, row: HistoryRow, *, token_id: int) -> None:
    """Replace the progress row, in the same transaction as the transfers it covers."""
    tx.execute("histories/delete_history", token_id=token_id)
    tx.insert("history", [row], token_id=token_id)
