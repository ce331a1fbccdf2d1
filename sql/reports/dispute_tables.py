"""Disputes of verdicts: statements, and the recorded analyses that they caused."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from core.evm.primitives import Address
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.small_steps import delete_in_steps
from sql.engine.store import Readable, Store

DISPUTE_SPAN_S: Final = 86_400
"""Span of the limits of disputes."""


MOST_DISPUTES_SHOWN: Final = 50
"""Disputes in one answer, the newest."""


class NewDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute to be filed."""

    chain_id: int
    address: Address
    key_id: int | None
    """None: it was filed without a key."""
    filed_at_s: int
    sender: str
    statement: str
    verdict_before: str
    reasons_before: tuple[str, ...]
    block_before: int


class DisputeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Most disputes within DISPUTE_SPAN_S."""

    of_token: int
    of_key: int
    of_chain: int


class StoredDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute with its outcome. All but `is_settled` of it is None before the end."""

    dispute_id: int
    address: Address
    filed_at_s: int
    sender: str
    statement: str
    verdict_before: str
    reasons_before: tuple[str, ...]
    block_before: int
    is_settled: bool
    settled_at_s: int | None
    verdict_after: str | None
    """None: the analysis has not ended, or it failed."""
    reasons_after: tuple[str, ...] | None
    block_after: int | None
    signer: Address | None
    """Signer of the evidence pack. None: it is not signed."""
    failure: str | None


class DueDispute(msgspec.Struct, frozen=True, kw_only=True):
    """A dispute whose analysis is due."""

    dispute_id: int
    chain_id: int
    address: Address
    attempts: int
    """Earlier attempts."""
    due_s: int
    """Unix seconds since when it is due."""


class SettledDispute(msgspec.Struct, frozen=True, kw_only=True):
    """End of a dispute: an analysis, or the reason why there is none."""

    settled_at_s: int
    verdict_after: str | None = None
    reasons_after: tuple[str, ...] = ()
    block_after: int | None = None
    signer: Address | None = None
    pack: bytes | None = None
    failure: str | None = None


class _Filed(msgspec.Struct, frozen=True, kw_only=True):
    filed: int
    first_s: int | None


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    dispute_id: int


class _Pack(msgspec.Struct, frozen=True, kw_only=True):
    pack: bytes


def find_dispute_wait(tx: Transaction, dispute: NewDispute, limits: DisputeLimits) -> int | None:
    """Return the seconds until one more dispute of its token, key and chain may be filed.

    None: it may be filed now.
    """
    since_s = dispute.filed_at_s - DISPUTE_SPAN_S
    of_token = tx.fetch_one(
        "disputes/count_of_token",
        _Filed,
        chain_id=dispute.chain_id,
        address=blob(dispute.address),
        since_s=since_s,
        at_most=limits.of_token,
    )
    of_chain = tx.fetch_one(
        "disputes/count_of_chain",
        _Filed,
        chain_id=dispute.chain_id,
        since_s=since_s,
        at_most=limits.of_chain,
    )
    of_key = None
    if dispute.key_id is not None:
        of_key = tx.fetch_one(
            "disputes/count_of_key",
            _Filed,
            key_id=dispute.key_id,
            since_s=since_s,
            at_most=limits.of_key,
        )
    waits = [
        DISPUTE_SPAN_S if found.first_s is None else found.first_s - since_s
        for found, most in (
            (of_token, limits.of_token),
            (of_chain, limits.of_chain),
            (of_key, limits.of_key),
        )
        if found is not None and found.filed >= most
    ]
    return max(waits, default=None)


def write_dispute(tx: Transaction, dispute: NewDispute) -> int:
    """Store a dispute, whose analysis is due immediately; return its number."""
    (made,) = tx.fetch(
        "disputes/insert_dispute",
        _Number,
        chain_id=dispute.chain_id,
        address=blob(dispute.address),
        key_id=dispute.key_id,
        filed_at_s=dispute.filed_at_s,
        sender=dispute.sender,
        statement=dispute.statement,
        verdict_before=dispute.verdict_before,
        reasons_before=" ".join(dispute.reasons_before),
        block_before=dispute.block_before,
    )
    return made.dispute_id


def take_due_dispute(
    store: Store, *, chain_ids: Iterable[int], now_s: int, until_s: int
) -> DueDispute | None:
    """Begin the analysis on these chains that has been due for longest; no other process begins it
    until `until_s`.

    None: nothing is due there. Raises StoreError.
    """
    chosen = tuple(chain_ids)
    if _find_due(store, chosen, now_s) is None:
        return None
    with store.transaction() as tx:
        due = _find_due(tx, chosen, now_s)
        if due is not None:
            tx.execute("disputes/take", dispute_id=due.dispute_id, until_s=until_s)
        return due


def _find_due(reader: Readable, chain_ids: Sequence[int], now_s: int) -> DueDispute | None:
    found = (
        reader.fetch_one("disputes/find_due", DueDispute, chain_id=chain_id, now_s=now_s)
        for chain_id in chain_ids
    )
    return min((one for one in found if one is not None), key=lambda due: due.due_s, default=None)


def settle_dispute(store: Store, dispute: DueDispute, end: SettledDispute) -> None:
    """End a dispute, unless another process has. Raises StoreError."""
    with store.transaction(chain_id=dispute.chain_id) as tx:
        tx.execute(
            "disputes/settle",
            dispute_id=dispute.dispute_id,
            settled_at_s=end.settled_at_s,
            verdict_after=end.verdict_after,
            reasons_after=None if end.verdict_after is None else " ".join(end.reasons_after),
            block_after=end.block_after,
            signer=None if end.signer is None else blob(end.signer),
            pack=end.pack,
            failure=end.failure,
        )


def list_token_disputes(
    store: Readable, *, chain_id: int, address: Address, at_most: int
) -> list[StoredDispute]:
    """Return the newest disputes of a token, newest first. Raises StoreError."""
    return store.fetch(
        "disputes/list_of_token",
        StoredDispute,
        chain_id=chain_id,
        address=blob(address),
        at_most=at_most,
    )


def list_newest_disputes(store: Readable, *, chain_id: int, at_most: int) -> list[StoredDispute]:
    """Return the newest disputes of a chain, newest first. Raises StoreError."""
    return store.fetch("disputes/list_newest", StoredDispute, chain_id=chain_id, at_most=at_most)


def read_dispute_pack(
    store: Readable, *, chain_id: int, address: Address, dispute_id: int
) -> bytes | None:
    """Return the evidence pack of a token's dispute as a file. None: there is none."""
    found = store.fetch_one(
        "disputes/find_pack",
        _Pack,
        dispute_id=dispute_id,
        chain_id=chain_id,
        address=blob(address),
    )
    return None if found is None else found.pack


def delete_old_disputes(store: Store, *, chain_id: int, before_s: float) -> None:
    """Delete disputes filed before a time in Unix seconds, in small steps. Raises StoreError."""
    delete_in_steps(store, "disputes/delete_old", chain_id=chain_id, before_s=int(before_s))
