"""Rollback of ingested data after a reorg, at a cost proportional to the removed data."""

import time
from collections.abc import Iterable

import msgspec

from core.errors import StoreError
from core.evm.primitives import Address
from sql.chain.blocks import FINAL, read_checkpoint
from sql.chain.feed_tables import note_reorg
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.reports.disagreement_tables import delete_disagreements, undo_disagreements_from
from sql.reports.report_history import delete_history, undo_history_from
from sql.reports.report_tables import delete_reports
from sql.tokens.observations import delete_observations, undo_observations_from
from sql.tokens.task_queue import drop_task
from sql.tokens.tokens import Because


class _Seen(msgspec.Struct, frozen=True, kw_only=True):
    address: Address


class _Launched(msgspec.Struct, frozen=True, kw_only=True):
    token: Address


class _PoolSides(msgspec.Struct, frozen=True, kw_only=True):
    pool_no: int
    token0: Address
    token1: Address
    block_number: int
    log_index: int


class _Reasons(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    tracked_because: Because
    is_requested: bool
    has_pool: bool
    has_launch: bool
    has_final_transfers: bool


def unwind_from(tx: Transaction, *, chain_id: int, number: int) -> None:
    """Roll back everything stored from the blocks from `number` on.

    Deletes pools, launches, transfers, trades, early and liquidity events, cliffs, undecoded logs
    and blocks; also tokens left without pool and launch, with their reports, unless they were
    requested or have final transfers. Reverts history, observations and accuracy counts of those
    blocks.
    The feed gets a line. Coverage and checkpoints end right below `number`. Raises StoreError for
    finalized blocks.
    """
    final = read_checkpoint(tx, chain_id=chain_id, stream=FINAL)
    if final is not None and number <= final.number:
        reason = f"block {number} of chain {chain_id} is final, so it cannot be unwound"
        raise StoreError(path="block", reason=reason)
    where = {"chain_id": chain_id, "number": number}
    pools = tx.fetch("pools/list_from", _PoolSides, **where)
    launched = tx.fetch("launches/list_from", _Launched, **where)
    seen = tx.fetch("tokens/list_seen_from", _Seen, **where)
    tx.execute_many(
        "pools/delete_side",
        (
            (chain_id, blob(token), pool.block_number, pool.log_index, pool.pool_no)
            for pool in pools
            for token in (pool.token0, pool.token1)
        ),
    )
    tx.execute("pools/delete_from", **where)
    tx.execute("launches/delete_from", **where)
    tx.execute("transfers/delete_from", **where)
    tx.execute("trades/delete_from", **where)
    tx.execute("trade_records/delete_from", **where)
    tx.execute("transfers/delete_undecoded_from", **where)
    tx.execute("liquidity/delete_from", **where)
    tx.execute("cliffs/delete_from", **where)
    tx.execute("early/delete_from", **where)
    tx.execute("early/delete_transfers_from", **where)
    undo_history_from(tx, chain_id=chain_id, number=number)
    undo_observations_from(tx, chain_id=chain_id, number=number)
    undo_disagreements_from(tx, chain_id=chain_id, number=number)
    note_reorg(tx, chain_id=chain_id, number=number, now_s=int(time.time()))
    _review_tokens(
        tx,
        chain_id=chain_id,
        addresses=[
            *(token for pool in pools for token in (pool.token0, pool.token1)),
            *(launch.token for launch in launched),
            *(one.address for one in seen),
        ],
    )
    tx.execute("blocks/delete_from", **where)
    tx.execute("blocks/delete_times_from", **where)
    tx.execute("coverage/delete_from", **where)
    tx.execute("coverage/trim_from", **where)
    tx.execute("blocks/reset_checkpoints", **where)


def _review_tokens(tx: Transaction, *, chain_id: int, addresses: Iterable[Address]) -> None:
    """Update the reason why each of these tokens is tracked, or delete it without one."""
    for address in dict.fromkeys(addresses):
        reasons = tx.fetch_one(
            "tokens/find_reasons", _Reasons, chain_id=chain_id, address=blob(address)
        )
        if reasons is None or reasons.tracked_because == "request":
            continue
        because = _because(reasons)
        if because is None:
            _delete_token(tx, token_id=reasons.token_id)
        elif because != reasons.tracked_because:
            tx.execute("tokens/set_reason", token_id=reasons.token_id, because=because)
            if because == "request":
                drop_task(tx, "refresh", token_id=reasons.token_id)


def _because(reasons: _Reasons) -> Because | None:
    if reasons.has_pool:
        return "pool"
    if reasons.has_launch:
        return "launch"
    return "request" if reasons.is_requested or reasons.has_final_transfers else None


def _delete_token(tx: Transaction, *, token_id: int) -> None:
    delete_reports(tx, token_id)
    delete_history(tx, token_id)
    delete_observations(tx, token_id)
    delete_disagreements(tx, token_id)
    tx.execute("transfers/delete_of_token", token_id=token_id)
    tx.execute("trade_records/delete_of_token", token_id=token_id)
    tx.execute("early/delete_of_token", token_id=token_id)
    tx.execute("early/delete_transfers_of_token", token_id=token_id)
    tx.execute("filled/delete_of_token", token_id=token_id)
    tx.execute("histories/delete_history", token_id=token_id)
    drop_task(tx, "refresh", token_id=token_id)
    drop_task(tx, "creator", token_id=token_id)
    drop_task(tx, "funder", token_id=token_id)
    drop_task(tx, "buyers", token_id=token_id)
    drop_task(tx, "history", token_id=token_id)
    tx.execute("tokens/delete_token", token_id=token_id)
