"""Writer of prediction checks, in the transaction that stores the blocks.

Sends no node requests: uses the logs that were read anyway, plus two look-ups per commit.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from core.evm.primitives import BlockRef, HexBytes
from core.report.accuracy import age_of
from core.report.disagreements import Disagreement
from indexer.accuracy.prediction_checks import (
    PlacedCheck,
    check_failure,
    check_trades,
    check_transfers,
    failures_in,
)
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import LogColumns
from indexer.decode.swap_transactions import swaps_by_place
from indexer.decode.transfer_events import PLAIN_TRANSFER
from indexer.watched.block_reads import BlockReads
from indexer.watched.token_swaps import TradeFacts
from sql.engine.database import Transaction
from sql.reports.accuracy_counts import (
    DAY_S,
    AccuracyCount,
    PredictedPool,
    find_deepest_pool,
    insert_counts,
    list_predicted_pools,
    list_predicted_transfers,
)
from sql.reports.disagreement_tables import write_disagreements


def write_checks(
    tx: Transaction,
    logs: LogColumns,
    blocks: Sequence[BlockRef],
    reads: Sequence[BlockReads],
    *,
    chain_id: int,
    facts: TradeFacts,
    now_s: float,
) -> None:
    """Check the predictions of reports against these blocks; store counts and disagreements.

    `reads`: receipts of watched tokens' trades, where they were read. Raises StoreError.
    """
    swaps = swaps_by_place(logs, blocks)
    traded = {one.pool for one in swaps.values()}
    pools = list_predicted_pools(tx, chain_id=chain_id, pools=traded)
    transfers = list_predicted_transfers(tx, chain_id=chain_id, tokens=_moved(logs))
    checks = [
        *check_trades(logs, swaps, pools, facts),
        *check_transfers(logs, transfers),
        *_failures(tx, reads),
    ]
    if not checks:
        return
    times = {block.number: block.time_s for block in blocks}
    known = [one for one in checks if one.block_number in times]
    insert_counts(tx, count_checks(known, times, chain_id=chain_id))
    differing = [
        to_disagreement(one, time_s=times[one.block_number], chain_id=chain_id)
        for one in known
        if one.check.result in ("disagreed", "open")
    ]
    write_disagreements(tx, differing, now_s=int(now_s))


def count_checks(
    checks: Iterable[PlacedCheck], times: dict[int, int], *, chain_id: int
) -> list[AccuracyCount]:
    """Return the checks as counts by block, exchange, flag and age. `times`: block times, Unix
    seconds."""
    found: dict[tuple[int, str, str, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in checks:
        age = age_of(one.of.report_time_s, times[one.block_number])
        result = "uncounted" if one.check.result == "open" else one.check.result
        found[one.block_number, _dex(one), one.check.flag, age][result] += 1
    return [
        msgspec.convert(
            {
                "chain_id": chain_id,
                "day_s": times[block_number] - times[block_number] % DAY_S,
                "block_number": block_number,
                "dex": dex,
                "flag": flag,
                "age": age,
                "agreed": counts["agreed"],
                "disagreed": counts["disagreed"],
                "explained": 0,
                "uncounted": counts["uncounted"],
            },
            AccuracyCount,
        )
        for (block_number, dex, flag, age), counts in found.items()
    ]


def to_disagreement(one: PlacedCheck, *, time_s: int, chain_id: int) -> Disagreement:
    """Return the stored form of a failed check. `time_s`: time of its block."""
    return Disagreement(
        chain_id=chain_id,
        block_number=one.block_number,
        block_time_s=time_s,
        token_id=one.of.token_id,
        tx_hash=one.tx_hash,
        log_index=one.log_index,
        trader=one.trader,
        pool=_pool_key(one),
        dex=_dex(one),
        flag=one.check.flag,
        age=age_of(one.of.report_time_s, time_s),
        report_block=one.of.report_block,
        predicted=one.check.predicted,
        observed=one.check.observed,
        is_certain=one.check.result == "disagreed",
    )


def _dex(one: PlacedCheck) -> str:
    return one.of.dex if isinstance(one.of, PredictedPool) else ""


def _pool_key(one: PlacedCheck) -> HexBytes | None:
    if not isinstance(one.of, PredictedPool):
        return None
    return HexBytes(one.of.pool_id or one.of.pool)


def _moved(logs: LogColumns) -> set[bytes]:
    return {
        token
        for group in logs.groups
        if group.shape == PLAIN_TRANSFER
        for token in keys_of(group.address)
    }


def _failures(tx: Transaction, reads: Sequence[BlockReads]) -> Iterator[PlacedCheck]:
    for block_number, outcome in failures_in(reads):
        predicted = find_deepest_pool(tx, token_id=outcome.candidate.token.token_id)
        if predicted is not None:
            yield from check_failure(block_number, outcome, predicted)
