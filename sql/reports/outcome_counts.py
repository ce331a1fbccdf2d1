"""Outcomes of tokens after their first trade, counted by what was found before it."""

from collections.abc import Iterable
from typing import Final

import msgspec

from core.evm.primitives import Address
from core.report.finding_outcomes import LEAST_KNOWN, FindingOutcomes, KnownOutcomes
from sql.engine.columns import blob
from sql.engine.database import Transaction
from sql.engine.store import Readable

MOST_SETS: Final = 1_000
"""Sets of findings that are read of a chain, those with the most outcomes."""


class FirstDayOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one token within a day of its first trade."""

    address: Address
    findings: str
    """Key of what was found before the first trade."""
    is_trapped: bool | None
    """True if a buyer was trapped, False if buyers sold and none was. None: unknown."""
    block_number: int
    """Block of the findings."""


class _Stored(msgspec.Struct, frozen=True, kw_only=True):
    findings: str
    is_trapped: bool


def put_outcomes(tx: Transaction, outcomes: Iterable[FirstDayOutcome], *, chain_id: int) -> None:
    """Store outcomes in place of the tokens' earlier ones, and count them. Each token counts once;
    one whose outcome is unknown does not."""
    for one in outcomes:
        _delete(tx, one.address, chain_id=chain_id)
        if one.is_trapped is None:
            continue
        tx.execute(
            "outcomes/insert_outcome",
            chain_id=chain_id,
            address=blob(one.address),
            findings=one.findings,
            is_trapped=int(one.is_trapped),
            block_number=one.block_number,
        )
        _count(tx, chain_id, one.findings, is_trapped=one.is_trapped, step=1)


def list_known_outcomes(store: Readable, *, chain_id: int) -> list[FindingOutcomes]:
    """Return the sets of findings with at least LEAST_KNOWN outcomes, most first; at most
    MOST_SETS. Raises StoreError."""
    return store.fetch(
        "outcomes/list_known",
        FindingOutcomes,
        chain_id=chain_id,
        least=LEAST_KNOWN,
        at_most=MOST_SETS,
    )


def read_known_outcomes(store: Readable, *, chain_id: int) -> KnownOutcomes:
    """Return the same by their findings. Raises StoreError."""
    return {one.findings: one for one in list_known_outcomes(store, chain_id=chain_id)}


def _delete(tx: Transaction, address: Address, *, chain_id: int) -> None:
    key = {"chain_id": chain_id, "address": blob(address)}
    before = tx.fetch_one("outcomes/find_outcome", _Stored, **key)
    if before is not None:
        tx.execute("outcomes/delete_outcome", **key)
        _count(tx, chain_id, before.findings, is_trapped=before.is_trapped, step=-1)


def _count(tx: Transaction, chain_id: int, findings: str, *, is_trapped: bool, step: int) -> None:
    tx.execute(
        "outcomes/add_count",
        chain_id=chain_id,
        findings=findings,
        known=step,
        trapped=step if is_trapped else 0,
    )
