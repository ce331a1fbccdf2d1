"""Counts of the accuracy ledger, read back for tests."""

import msgspec

from sql.reports.accuracy_counts import sum_counts
from sql.reports.disagreement_tables import ShownDisagreement, list_newest_disagreements
from tests.harness.watches.watched_scene import Scene


class Tally(msgspec.Struct, frozen=True):
    """Counts of one flag."""

    agreed: int = 0
    disagreed: int = 0
    explained: int = 0
    uncounted: int = 0


def counted(scene: Scene, flag: str) -> Tally:
    sums = [
        one
        for one in sum_counts(scene.store, chain_id=scene.chain_id, from_s=0)
        if one.flag == flag
    ]
    return Tally(
        agreed=sum(one.agreed for one in sums),
        disagreed=sum(one.disagreed for one in sums),
        explained=sum(one.explained for one in sums),
        uncounted=sum(one.uncounted for one in sums),
    )


def newest(scene: Scene, *, is_counted: bool = False) -> list[ShownDisagreement]:
    return list_newest_disagreements(
        scene.store, chain_id=scene.chain_id, at_most=100, is_counted=is_counted
    )
