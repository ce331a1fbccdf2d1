"""Coverage: the block ranges that have been ingested, by subject of a chain."""

from collections.abc import Sequence

from sql.chain.pool_tables import list_coverage
from sql.engine.database import Transaction
from sql.engine.table_rows import CoverageRow


def extend_all(
    tx: Transaction, *, chain_id: int, subjects: Sequence[str], first: int, last: int
) -> None:
    """Add blocks `first` to `last` to every subject.

    A chain has a few dozen rows: only changed ones are written. Raises StoreError.
    """
    known = list_coverage(tx, chain_id=chain_id)
    joined = join_coverage(known, chain_id=chain_id, subjects=subjects, first=first, last=last)
    for gone in set(known) - set(joined):
        tx.execute(
            "coverage/delete_range",
            chain_id=chain_id,
            subject=gone.subject,
            from_block=gone.from_block,
        )
    tx.insert("coverage", [row for row in joined if row not in set(known)])


def join_coverage(
    known: Sequence[CoverageRow],
    *,
    chain_id: int,
    subjects: Sequence[str],
    first: int,
    last: int,
) -> list[CoverageRow]:
    """Return the ranges of each subject with the new one, joined where they touch or overlap."""
    others = [row for row in known if row.subject not in subjects]
    return others + [
        row
        for subject in subjects
        for row in _joined(
            [row for row in known if row.subject == subject],
            CoverageRow(chain_id=chain_id, subject=subject, from_block=first, to_block=last),
        )
    ]


def _joined(known: Sequence[CoverageRow], new: CoverageRow) -> list[CoverageRow]:
    touching = [
        row
        for row in known
        if row.from_block <= new.to_block + 1 and row.to_block >= new.from_block - 1
    ]
    whole = CoverageRow(
        chain_id=new.chain_id,
        subject=new.subject,
        from_block=min(row.from_block for row in (new, *touching)),
        to_block=max(row.to_block for row in (new, *touching)),
    )
    return [row for row in known if row not in touching] + [whole]
