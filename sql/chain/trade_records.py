"""Real trades of tokens with their traders, and what is counted of them for track records.

Trades wait in `real_trade` until they are final, so that a reorg takes them back. Then they are
added to the sums of their token, in whatever order back-fills deliver them. Each day counts the
first traders that no other day has counted, up to a bound, and so does each token. So one owner of
many addresses makes no crowd in a day, and a popular token takes no more room than others.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from core.report.track_record import DAY_S
from sql.engine.database import Reader, Transaction
from sql.engine.small_steps import delete_in_steps
from sql.engine.store import Readable, Store
from sql.engine.table_rows import RealTradeRow

MOST_PER_DAY: Final = 50
"""Sellers, and buyers, that one day of a token counts."""

MOST_COUNTED: Final = 2_500
"""Sellers, and buyers, that one token counts."""

MOST_OF_LAST_DAY: Final = 2_000
"""Newest trades of the last day that are counted, final ones and others each."""

_TRADER_BYTES: Final = 8


class TradeSums(msgspec.Struct, kw_only=True):
    """Sums over the final trades of a token."""

    first_block: int
    first_time_s: int
    sales: int = 0
    buys: int = 0
    sellers: int = 0
    """Distinct ones, as the days have counted them."""
    buyers: int = 0


class DaySums(msgspec.Struct, frozen=True, kw_only=True):
    """Trades of the last day."""

    sales: int
    buys: int
    sellers: int
    """Distinct ones."""
    buyers: int


class _Spread(msgspec.Struct, frozen=True, kw_only=True):
    sellers: int


class _Day(msgspec.Struct):
    sellers: int = 0
    buyers: int = 0


class _Party(msgspec.Struct):
    seller_day: int | None = None
    buyer_day: int | None = None


class _NewestBlock(msgspec.Struct, frozen=True, kw_only=True):
    time_s: int


def insert_real_trades(tx: Transaction, rows: Sequence[RealTradeRow], *, chain_id: int) -> int:
    """Store trades that are not stored yet; return how many were new. Raises StoreError."""
    if not rows:
        return 0
    return tx.execute_many(
        "trade_records/insert_trade",
        (
            (
                chain_id,
                row.block_number,
                row.log_index,
                row.token_id,
                int(row.is_sale),
                None if row.trader is None else row.trader[-_TRADER_BYTES:],
                row.time_s,
            )
            for row in rows
        ),
    )


def finalize_real_trades(tx: Transaction, *, chain_id: int, final: int, at_most: int) -> int:
    """Add the first trades up to block `final`, `at_most` of them, to the sums of their tokens;
    return their number. Raises StoreError."""
    where = {"chain_id": chain_id, "final": final, "at_most": at_most}
    rows = tx.fetch_tuples("trade_records/list_final", **where)
    if not rows:
        return 0
    _Sums(tx, rows).add()
    newest = tx.fetch_one("trade_records/find_newest_time", _NewestBlock, chain_id=chain_id)
    since_s = 0 if newest is None else newest.time_s - DAY_S
    recent = ((chain_id, *row) for row in rows if row[5] > since_s)
    tx.execute_many("trade_records/insert_last", recent)
    tx.execute_many("trade_records/delete_hot", ((chain_id, row[0], row[1]) for row in rows))
    return len(rows)


def read_sums(store: Readable, *, token_id: int) -> TradeSums | None:
    """Return the sums over the final trades of a token. None: there is none."""
    return store.fetch_one("trade_records/find_record", TradeSums, token_id=token_id)


def count_spread(store: Readable, *, token_id: int, per_day: int) -> int:
    """Return the distinct sellers of final trades, at most `per_day` of each day."""
    found = store.fetch_one(
        "trade_records/count_spread", _Spread, token_id=token_id, per_day=per_day
    )
    return 0 if found is None else found.sellers


def count_last_day(store: Readable, *, token_id: int, up_to: int, time_s: int) -> DaySums | None:
    """Return the trades of the day that ends with block `up_to`, of `time_s`, final or not."""
    return store.fetch_one(
        "trade_records/count_last_day",
        DaySums,
        token_id=token_id,
        since_s=time_s - DAY_S,
        up_to=up_to,
        at_most=MOST_OF_LAST_DAY,
    )


def delete_old_real_trades(store: Store, *, chain_id: int) -> None:
    """Delete final trades that are two days older than the newest block, in small steps: they are
    in the sums. Raises StoreError."""
    delete_in_steps(store, "trade_records/delete_old", chain_id=chain_id, kept_s=2 * DAY_S)


class _Sums:
    """Sums of the tokens in one step, as read; changed in memory and written at once."""

    def __init__(self, tx: Transaction, rows: Sequence[tuple[Any, ...]]) -> None:
        """`rows`: as `trade_records/list_final` returns them."""
        self._tx = tx
        self._rows = rows
        self._of_token = _read_sums(tx, rows)
        self._days = _read_days(tx, rows)
        self._parties = _read_parties(
            tx,
            (
                (token_id, trader)
                for _, _, token_id, _, trader, time_s in rows
                if trader is not None and not self._is_full(token_id, time_s // DAY_S)
            ),
        )
        self._changed_days: set[tuple[int, int]] = set()
        self._changed_parties: set[tuple[int, bytes]] = set()

    def add(self) -> None:
        """Add all rows, and write what has changed."""
        for block_number, _, token_id, is_sale, trader, time_s in self._rows:
            sums = self._of_token[token_id]
            sums.first_block = min(sums.first_block, block_number)
            sums.first_time_s = min(sums.first_time_s, time_s)
            sums.sales += is_sale
            sums.buys += 1 - is_sale
            party = self._parties.get((token_id, trader))
            if party is not None:
                day = time_s // DAY_S
                if self._count(sums, self._days[token_id, day], party, day, is_sale=bool(is_sale)):
                    self._changed_days.add((token_id, day))
                    self._changed_parties.add((token_id, trader))
        self._write()

    def _is_full(self, token_id: int, day: int) -> bool:
        """True if neither a seller nor a buyer can be counted on that day."""
        sums, of_day = self._of_token[token_id], self._days[token_id, day]
        return (sums.sellers >= MOST_COUNTED or of_day.sellers >= MOST_PER_DAY) and (
            sums.buyers >= MOST_COUNTED or of_day.buyers >= MOST_PER_DAY
        )

    @staticmethod
    def _count(sums: TradeSums, of_day: _Day, party: _Party, day: int, *, is_sale: bool) -> bool:
        """Count a trader on a day; False if another day has, or the day or the token is full."""
        if is_sale:
            if (
                party.seller_day is not None
                or of_day.sellers >= MOST_PER_DAY
                or sums.sellers >= MOST_COUNTED
            ):
                return False
            party.seller_day = day
            of_day.sellers += 1
            sums.sellers += 1
            return True
        if (
            party.buyer_day is not None
            or of_day.buyers >= MOST_PER_DAY
            or sums.buyers >= MOST_COUNTED
        ):
            return False
        party.buyer_day = day
        of_day.buyers += 1
        sums.buyers += 1
        return True

    def _write(self) -> None:
        self._tx.execute_many(
            "trade_records/put_sums",
            (
                (token_id, *msgspec.structs.astuple(sums))
                for token_id, sums in self._of_token.items()
            ),
        )
        self._tx.execute_many(
            "trade_records/put_day",
            (
                (*key, self._days[key].sellers, self._days[key].buyers)
                for key in sorted(self._changed_days)
            ),
        )
        self._tx.execute_many(
            "trade_records/put_party",
            (
                (*key, self._parties[key].seller_day, self._parties[key].buyer_day)
                for key in sorted(self._changed_parties)
            ),
        )


def _read_sums(reader: Reader, rows: Sequence[tuple[Any, ...]]) -> dict[int, TradeSums]:
    token_ids = sorted({row[2] for row in rows})
    found = reader.fetch_each("trade_records/find_sums", [(token_id,) for token_id in token_ids])
    first = {row[2]: TradeSums(first_block=row[0], first_time_s=row[5]) for row in reversed(rows)}
    return {
        token_id: TradeSums(**dict(zip(TradeSums.__struct_fields__, stored[0], strict=True)))
        if stored
        else first[token_id]
        for token_id, stored in zip(token_ids, found, strict=True)
    }


def _read_days(reader: Reader, rows: Sequence[tuple[Any, ...]]) -> dict[tuple[int, int], _Day]:
    keys = sorted({(row[2], row[5] // DAY_S) for row in rows})
    found = reader.fetch_each("trade_records/find_day", keys)
    return {
        key: _Day(*stored[0]) if stored else _Day() for key, stored in zip(keys, found, strict=True)
    }


def _read_parties(
    reader: Reader, parties: Iterable[tuple[int, bytes]]
) -> dict[tuple[int, bytes], _Party]:
    keys = sorted(set(parties))
    found = reader.fetch_each("trade_records/find_party", keys)
    return {
        key: _Party(*stored[0]) if stored else _Party()
        for key, stored in zip(keys, found, strict=True)
    }
