"""Counts of correct and wrong predictions in real trades, by exchange, flag and age."""

from collections.abc import Collection, Sequence

import msgspec

from core.evm.primitives import Address, Hash32
from core.report.accuracy import PredictionFlag, ReportAge
from core.report.report import TradeOutcome
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable, Store

DAY_S = 86_400
_ADDRESS_BYTES = 20
ADDED_UP = -1
"""In place of a block number: the sum of a day's final blocks."""


class AccuracyCount(msgspec.Struct, frozen=True, kw_only=True):
    """Observations of one block or day with the same chain, exchange, flag and age."""

    chain_id: int
    day_s: int
    """First second of the day, UTC."""
    block_number: int
    """ADDED_UP: all final blocks of the day."""
    dex: str
    """Empty: a transfer."""
    flag: PredictionFlag
    age: ReportAge
    agreed: int
    disagreed: int
    explained: int
    """Disagreements that a change of the token explains."""
    uncounted: int
    """Ambiguous observations: neither agreement nor disagreement."""


class AccuracySum(msgspec.Struct, frozen=True, kw_only=True):
    """Observations of one chain; see AccuracyCount."""

    dex: str
    flag: PredictionFlag
    age: ReportAge
    agreed: int
    disagreed: int
    explained: int
    uncounted: int


class PredictedPool(msgspec.Struct, frozen=True, kw_only=True):
    """Predictions of a report for trades in one pool. Taxes in percent; None: not known."""

    token_id: int
    token: Address
    pool: Address
    pool_id: Hash32 | None
    kind: str
    quote: Address
    token0: Address | None
    """First token of the pool. None: the pool is not indexed."""
    hooks: Address | None
    """None: it has none, or the pool is not indexed."""
    dex: str
    buy: TradeOutcome | None
    buy_tax: float | None
    sell: TradeOutcome | None
    sell_tax: float | None
    report_block: int
    report_time_s: int
    """Time of that block, Unix seconds."""
    owner: Address | None
    creator: Address | None


class PredictedTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """Predictions of a report for transfers of its token."""

    token_id: int
    token: Address
    transfer_success: bool
    report_block: int
    report_time_s: int
    owner: Address | None
    creator: Address | None


def list_predicted_pools(
    store: Readable, *, chain_id: int, pools: Collection[bytes]
) -> list[PredictedPool]:
    """Return the predictions for these pools, addresses of 20 bytes or ids of 32; two for a pool
    whose tokens both have a report."""
    if not pools:
        return []
    listed = msgspec.json.encode([pool.hex() for pool in pools if len(pool) == _ADDRESS_BYTES])
    ids = msgspec.json.encode([pool.hex() for pool in pools if len(pool) > _ADDRESS_BYTES])
    where = {"chain_id": chain_id, "pools": listed.decode(), "pool_ids": ids.decode()}
    return store.fetch("accuracy/list_pools", PredictedPool, **where)


def find_deepest_pool(store: Readable, *, token_id: int) -> PredictedPool | None:
    """Return the prediction for the deepest pool of a token. None: there is none, or its contract
    holds many pools."""
    return store.fetch_one("accuracy/find_deepest", PredictedPool, token_id=token_id)


def list_predicted_transfers(
    store: Readable, *, chain_id: int, tokens: Collection[bytes]
) -> list[PredictedTransfer]:
    """Return the predictions for transfers of the tokens at these addresses, 20 bytes each."""
    if not tokens:
        return []
    listed = msgspec.json.encode([token.hex() for token in tokens]).decode()
    return store.fetch(
        "accuracy/list_transfers", PredictedTransfer, chain_id=chain_id, tokens=listed
    )


def insert_counts(tx: Transaction, counts: Sequence[AccuracyCount]) -> None:
    """Store counts of blocks that have none yet. Raises StoreError."""
    tx.insert("accuracy_count", counts)


def sum_counts(store: Readable, *, chain_id: int, from_s: int) -> list[AccuracySum]:
    """Return the sums of a chain since the day of `from_s`, in Unix seconds."""
    day_s = from_s - from_s % DAY_S
    return store.fetch("accuracy/list_counts", AccuracySum, chain_id=chain_id, from_s=day_s)


def add_up_counts(store: Store, *, chain_id: int, final: int) -> None:
    """Add the counts of blocks up to the final block `final` to those of their days."""
    where = {"chain_id": chain_id, "final": final}
    with store.transaction(chain_id=chain_id) as tx:
        tx.execute("accuracy/add_up", **where)
        tx.execute("accuracy/delete_added_up", **where)


def delete_old_counts(store: Store, *, chain_id: int, before_s: float) -> None:
    """Delete the counts of days before a time in Unix seconds."""
    with store.transaction(chain_id=chain_id) as tx:
        tx.execute("accuracy/delete_old_counts", chain_id=chain_id, before_s=int(before_s) - DAY_S)


def address_of(text: Address | None) -> bytes | None:
    """Return the bytes of an address, as in logs."""
    return None if text is None else blob(text)
