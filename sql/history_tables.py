"""How much of each token's past has been fetched, and whose is to be fetched next."""

import msgspec

from config.primitives import Address, RawAmount
from sql.rows import HistoryRow
from sql.store import Readable, Transaction


class DueHistory(msgspec.Struct, frozen=True, kw_only=True):
    """A token with a report whose past is not all there."""

    token_id: int
    address: Address
    transfers_from_block: int
    """Transfers are stored from this block on: the next to fetch are those right below."""
    supply_raw: RawAmount
    """Of the report."""
    requests: int
    """Log queries that its past has cost so far."""
    logs: int
    """Transfer events of the past gone through so far."""


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
    """Tokens whose past ends below what is final, by what `stream` has come to.

    Those that somebody asked for come first, then those that cost the least so far. A token that
    has cost one of the bounds is left out: it is a giant.
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
    """None: nothing of the token's past has been fetched."""
    return store.fetch_one("histories/find_history", HistoryRow, token_id=token_id)


def write_history(tx: Transaction, row: HistoryRow, *, token_id: int) -> None:
    """Put it in the place of what was there: in the transaction of the rows it speaks for."""
    tx.execute("histories/delete_history", token_id=token_id)
    tx.insert("history", [row], token_id=token_id)
