"""Liquidity cliffs: withdrawals that took more than half of a pool's tokens."""

from collections.abc import Iterable

from core.evm.primitives import Address
from core.report.liquidity_cliff import LiquidityCliff
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.small_steps import delete_in_steps
from sql.engine.store import Readable, Store


def insert_cliffs(
    tx: Transaction, cliffs: Iterable[tuple[Address, LiquidityCliff]], *, chain_id: int
) -> None:
    """Store cliffs, each with its token; known ones are unchanged."""
    rows = [
        (
            chain_id,
            cliff.block_number,
            cliff.log_index,
            blob(token),
            blob(cliff.pool),
            cliff.source,
            cliff.time_s,
            None if cliff.tx_hash is None else blob(cliff.tx_hash),
            cliff.left_pct,
        )
        for token, cliff in cliffs
    ]
    if rows:
        tx.execute_many("cliffs/insert_cliff", rows)


def find_newest_cliff(
    reader: Readable, *, chain_id: int, token: Address, up_to: int
) -> LiquidityCliff | None:
    """Return a token's newest cliff up to a block. None: none is stored."""
    return reader.fetch_one(
        "cliffs/find_newest",
        LiquidityCliff,
        chain_id=chain_id,
        address=blob(token),
        up_to=up_to,
    )


def delete_old_cliffs(store: Store, *, chain_id: int, before_s: float) -> None:
    """Delete cliffs before a time in Unix seconds, in small steps. Raises StoreError."""
    delete_in_steps(store, "cliffs/delete_old", chain_id=chain_id, before_s=int(before_s))
