"""First trades and transfers of tokens, for launch forensics.

Stored for tokens whose first pool was followed, never for back-filled blocks: the subject
`EARLY_SUBJECT` covers the blocks. A token has at most MOST_EARLY trades of its first minutes, as
many transfers that pools do not send, and MOST_OF_ACCOUNT trades of each account among their
traders and recipients. So a token with a million buyers takes no more room and time than one with
hundreds.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from core.evm.primitives import RawAmount
from core.report.launch_facts import (
    MOST_EARLY,
    MOST_OF_ACCOUNT,
    EarlyTradeRow,
    EarlyTransferRow,
)
from sql.engine.database import Reader, Transaction
from sql.engine.exact_numbers import from_blob, to_blob
from sql.engine.small_steps import delete_in_steps
from sql.engine.store import Readable, Store

EARLY_SUBJECT: Final = "early events"
"""Coverage of blocks whose early events are stored."""

EARLY_S: Final = 600
"""Seconds after the first trade in which trades and transfers are early."""

YOUNG_S: Final = 7 * 86_400.0
"""Age of a token's first pool up to which a first trade, or a transfer, is early."""

_MOST_TRADES: Final = MOST_EARLY * (1 + 2 * MOST_OF_ACCOUNT)
"""Bound of one token's trades that follows from the others."""

_MOST_POOLS: Final = 20
"""Pools of one token whose contracts are no holders."""


class EarlyState(msgspec.Struct, frozen=True, kw_only=True):
    """Stored early events of one token."""

    trades: int
    """Counted up to MOST_EARLY."""
    transfers: int
    """Counted up to MOST_EARLY."""
    first_time_s: int | None
    """Unix seconds of the first trade. None: there is none."""


def read_early_states(reader: Reader, token_ids: Sequence[int]) -> dict[int, EarlyState]:
    """Return the state of each token."""
    found = reader.fetch_each(
        "early/find_state",
        [(*(token_id, MOST_EARLY), *(token_id, MOST_EARLY), token_id) for token_id in token_ids],
    )
    return {
        token_id: EarlyState(trades=rows[0][0], transfers=rows[0][1], first_time_s=rows[0][2])
        for token_id, rows in zip(token_ids, found, strict=True)
    }


def insert_early_trades(
    tx: Transaction,
    early: Sequence[EarlyTradeRow],
    others: Sequence[EarlyTradeRow],
    *,
    chain_id: int,
) -> int:
    """Store early trades, and of `others` those of accounts that are known by an early trade or
    transfer; return how many were new. Raises StoreError."""
    new = _insert_trades(tx, early, chain_id=chain_id)
    named = [row for row in others if row.trader is not None]
    if not named:
        return new
    accounts = list(dict.fromkeys((row.token_id, row.trader) for row in named))
    found = tx.fetch_each(
        "early/find_account", [2 * (*account, MOST_OF_ACCOUNT) for account in accounts]
    )
    room: defaultdict[tuple[int, bytes | None], int] = defaultdict(int)
    for account, ((trades, receipts),) in zip(accounts, found, strict=True):
        room[account] = MOST_OF_ACCOUNT - trades if trades or receipts else 0
    kept = []
    for row in named:
        if room[row.token_id, row.trader] > 0:
            room[row.token_id, row.trader] -= 1
            kept.append(row)
    return new + _insert_trades(tx, kept, chain_id=chain_id)


def _insert_trades(tx: Transaction, rows: Sequence[EarlyTradeRow], *, chain_id: int) -> int:
    return (
        tx.execute_many(
            "early/insert_trade",
            (
                (
                    *(chain_id, row.block_number, row.log_index, row.time_s, row.token_id),
                    *(int(row.is_sale), row.trader, row.tx_hash, row.amount),
                )
                for row in rows
            ),
        )
        if rows
        else 0
    )


def insert_early_transfers(
    tx: Transaction, rows: Sequence[EarlyTransferRow], *, chain_id: int
) -> int:
    """Store transfers that are not stored yet; return how many were new. Raises StoreError."""
    if not rows:
        return 0
    return tx.execute_many(
        "early/insert_transfer",
        (
            (
                *(chain_id, row.block_number, row.log_index, row.token_id, row.sender),
                *(row.recipient, to_blob(row.amount_raw), row.tx_hash, row.known_block),
            )
            for row in rows
        ),
    )


def trim_early_transfers(tx: Transaction, *, token_id: int) -> None:
    """Delete all but the first MOST_EARLY transfers of a token, after older ones were added."""
    tx.execute("early/delete_late_transfers", token_id=token_id, kept=MOST_EARLY)


def read_pool_contracts(
    reader: Reader, *, chain_id: int, tokens: Sequence[bytes]
) -> Mapping[bytes, frozenset[bytes]]:
    """Return the contracts of the first pools of each token, by 20 bytes."""
    rows = [(chain_id, token, _MOST_POOLS) for token in tokens]
    found = reader.fetch_each("early/list_pool_contracts", rows)
    return {
        token: frozenset(bytes(pool) for (pool,) in pools)
        for token, pools in zip(tokens, found, strict=True)
    }


def read_early_trades(
    store: Readable, *, token_id: int, at_most: int = _MOST_TRADES
) -> list[EarlyTradeRow]:
    """Return the first stored trades of a token, in chain order. Raises StoreError."""
    return [
        EarlyTradeRow(
            block_number=block_number,
            log_index=log_index,
            time_s=time_s,
            token_id=token_id,
            is_sale=bool(is_sale),
            trader=trader,
            tx_hash=tx_hash,
            amount=amount,
        )
        for block_number, log_index, time_s, _, is_sale, trader, tx_hash, amount in (
            store.fetch_tuples("early/list_trades", token_id=token_id, at_most=at_most)
        )
    ]


def read_early_transfers(store: Readable, *, token_id: int) -> list[EarlyTransferRow]:
    """Return the stored early transfers of a token, in chain order. Raises StoreError."""
    return [
        EarlyTransferRow(
            block_number=block_number,
            log_index=log_index,
            token_id=token_id,
            sender=sender,
            recipient=recipient,
            amount_raw=RawAmount(from_blob(amount)),
            tx_hash=tx_hash,
            known_block=known_block,
        )
        for block_number, log_index, _, sender, recipient, amount, tx_hash, known_block in (
            store.fetch_tuples("early/list_transfers", token_id=token_id, at_most=MOST_EARLY)
        )
    ]


def delete_old_early_events(store: Store, *, chain_id: int, below: int) -> None:
    """Delete the events in blocks below a number, in small steps. Raises StoreError."""
    for query in ("early/delete_old", "early/delete_old_transfers"):
        delete_in_steps(store, query, chain_id=chain_id, below=below)
