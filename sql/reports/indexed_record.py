"""Part of a token's track record that the store has: real trades, the accuracy ledger, watches.

Each look-up reads a bounded number of rows, however old or popular the token is.
"""

from typing import Final

import msgspec

from core.evm.primitives import Address, BlockRef
from core.report.track_record import DAY_S, IndexedRecord, TradeCounts
from sql.chain.cliff_tables import find_newest_cliff
from sql.chain.launch_tables import list_launches
from sql.chain.pool_tables import find_first_pool_block
from sql.chain.trade_records import count_last_day, count_spread, read_sums
from sql.engine.database import Reader
from sql.tokens.creator_tables import read_creator
from sql.tokens.tokens import read_token

_MOST_READ: Final = 1_000
"""Newest disagreements, and newest observations, of a token that are counted."""

_NO_BLOCK: Final = 2**62
"""Above all blocks."""


class _BadSales(msgspec.Struct, frozen=True, kw_only=True):
    failed: int
    failed_last_day: int
    taxed_otherwise: int
    taxed_otherwise_last_day: int


class _PowersUsed(msgspec.Struct, frozen=True, kw_only=True):
    is_watched: int
    used: int


class _ReportBlock(msgspec.Struct, frozen=True, kw_only=True):
    block_number: int


def read_indexed_record(
    reader: Reader, *, chain_id: int, token: Address, block: BlockRef | None, per_day: int
) -> IndexedRecord | None:
    """Return the record of a token at a block. None: the token is not tracked.

    `block` None: it is not known yet, and neither is the last day. `per_day`: most sellers of one
    day that count towards the spread ones. Raises StoreError.
    """
    tracked = read_token(reader, chain_id=chain_id, address=token)
    if tracked is None:
        return None
    token_id = tracked.token_id
    sums = read_sums(reader, token_id=token_id)
    bad = _read_bad_sales(reader, token_id, block)
    powers = reader.fetch_one(
        "observations/count_powers_used",
        _PowersUsed,
        token_id=token_id,
        up_to=_number(block),
        at_most=_MOST_READ,
    )
    is_watched = powers is not None and bool(powers.is_watched)
    has_report = reader.fetch_one("observations/find_report_block", _ReportBlock, token_id=token_id)
    return IndexedRecord(
        created_block=_find_first_block(reader, chain_id, token),
        first_trade_block=None if sums is None else sums.first_block,
        first_trade_time_s=None if sums is None else sums.first_time_s,
        spread_sellers=None
        if sums is None
        else count_spread(reader, token_id=token_id, per_day=per_day),
        whole=TradeCounts(
            sellers=None if sums is None else sums.sellers,
            buyers=None if sums is None else sums.buyers,
            sales=None if sums is None else sums.sales,
            sales_failed=bad.failed if is_watched or bad.failed else None,
            sales_taxed_otherwise=bad.taxed_otherwise
            if has_report or bad.taxed_otherwise
            else None,
        ),
        last_day=_last_day(reader, token_id, block, bad, is_watched, has_report is not None),
        powers_used=powers.used if powers is not None and is_watched else None,
        cliff=find_newest_cliff(reader, chain_id=chain_id, token=token, up_to=_number(block)),
    )


def _last_day(
    reader: Reader,
    token_id: int,
    block: BlockRef | None,
    bad: _BadSales,
    is_watched: bool,
    has_report: bool,
) -> TradeCounts:
    if block is None:
        return TradeCounts()
    found = count_last_day(reader, token_id=token_id, up_to=block.number, time_s=block.time_s)
    failed, taxed = bad.failed_last_day, bad.taxed_otherwise_last_day
    return TradeCounts(
        sellers=None if found is None else found.sellers,
        buyers=None if found is None else found.buyers,
        sales=None if found is None else found.sales,
        sales_failed=failed if is_watched or failed else None,
        sales_taxed_otherwise=taxed if has_report or taxed else None,
    )


def _read_bad_sales(reader: Reader, token_id: int, block: BlockRef | None) -> _BadSales:
    found = reader.fetch_one(
        "accuracy/count_sales",
        _BadSales,
        token_id=token_id,
        since_s=_NO_BLOCK if block is None else block.time_s - DAY_S,
        up_to=_number(block),
        at_most=_MOST_READ,
    )
    return found or _BadSales(
        failed=0, failed_last_day=0, taxed_otherwise=0, taxed_otherwise_last_day=0
    )


def _find_first_block(reader: Reader, chain_id: int, token: Address) -> int | None:
    """Return the first block that shows the token: its creation, a launch or a pool."""
    made = read_creator(reader, chain_id=chain_id, token=token)
    first_pool = find_first_pool_block(reader, chain_id=chain_id, token=token)
    blocks = [
        launch.block_number for launch in list_launches(reader, chain_id=chain_id, token=token)
    ]
    if made is not None:
        blocks.append(made.block_number)
    if first_pool is not None:
        blocks.append(first_pool)
    return min(blocks, default=None)


def _number(block: BlockRef | None) -> int:
    return _NO_BLOCK if block is None else block.number
