"""ERC-20 transfers of tracked tokens that are not in the balances yet, and undecoded logs."""

from collections import defaultdict
from collections.abc import Sequence

from sql.engine.database import Transaction
from sql.engine.exact_numbers import from_blob, to_blob
from sql.engine.store import Readable
from sql.engine.table_rows import TransferRow, UndecodedRow


def insert_transfers(tx: Transaction, rows: Sequence[TransferRow], *, chain_id: int) -> int:
    """Store transfers that are not stored yet; return how many were new."""
    if not rows:
        return 0
    return tx.execute_many(
        "transfers/insert_transfer",
        (
            (
                chain_id,
                row.block_number,
                row.log_index,
                row.token_id,
                row.sender,
                row.recipient,
                to_blob(row.amount_raw),
                row.time_s,
            )
            for row in rows
        ),
    )


def insert_undecoded(tx: Transaction, rows: Sequence[UndecodedRow]) -> int:
    """Store undecoded logs that are not stored yet; return how many were new."""
    return tx.insert("undecoded", rows, on_conflict="ignore")


def read_recent_changes(store: Readable, *, token_id: int) -> dict[bytes, int]:
    """Return the changes of balances by transfers that are not in the balances yet, by the owner's
    20 bytes."""
    changes: defaultdict[bytes, int] = defaultdict(int)
    for sender, recipient, amount in store.fetch_tuples(
        "transfers/list_of_token", token_id=token_id
    ):
        add_transfer(changes, sender, recipient, from_blob(amount))
    return changes


def add_transfer(
    changes: defaultdict[bytes, int], sender: bytes, recipient: bytes, amount: int
) -> None:
    """Add one transfer to the changes of its two owners' balances."""
    changes[recipient] += amount
    changes[sender] -= amount
