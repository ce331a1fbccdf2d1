"""Cost per block of comparing predictions with it, by the number of stored reports.

A block has 150 trades and 150 transfers of tokens that all have a report, five times a busy block
of Ethereum. It is written to a real store, commit included.

python -m benchmarks.accuracy --reports 1000,100000
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

import msgspec

from core.evm.primitives import Address, BlockRef, Hash32
from core.report.report import PoolResultRow
from indexer.accuracy.accuracy_ledger import write_checks
from indexer.decode.logs import decode_logs
from indexer.decode.swap_events import SWAP_FORMS
from indexer.decode.transfer_events import TRANSFER_TOPIC
from indexer.watched.token_swaps import TradeFacts
from sql.engine.store import Store
from sql.reports.accuracy_counts import sum_counts
from sql.tokens.tokens import track_tokens
from tests.harness.bare_reports import bare_report
from tests.harness.measure.machine import describe

_BLOCKS = 100
_OF_EACH = 150
_CHAIN_ID = 1
_FIRST = 100
_AMOUNT = 10**18
_QUOTE = Address("0x" + "ff" * 20)
_BATCH = 1_000
_SWAP_V2 = next(form for form in SWAP_FORMS if "AmmV2" in form.kinds and form.pool_id is None)


def main() -> None:
    """Measure each number of reports and print one line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reports", default="1000,100000", help="Reports stored, by commas.")
    arguments = parser.parse_args()
    print(describe(f"{_OF_EACH} trades and {_OF_EACH} transfers a block, all of reported tokens"))
    for reports in map(int, arguments.reports.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            print(_measure(Path(folder) / "store", reports), flush=True)


def _measure(path: Path, reports: int) -> str:
    store = Store.open(path)
    try:
        _fill(store, reports)
        drawn = random.Random(2026)
        taken_ms = sorted(
            _commit(store, number, _block(number, reports, drawn))
            for number in range(_FIRST, _FIRST + _BLOCKS)
        )
        sums = sum_counts(store, chain_id=_CHAIN_ID, from_s=0)
    finally:
        store.close()
    agreed = sum(one.agreed for one in sums)
    return (
        f"reports={reports} p50_ms={statistics.median(taken_ms):.2f} "
        f"p95_ms={taken_ms[int(0.95 * len(taken_ms))]:.2f} agreed={agreed}"
    )


def _commit(store: Store, number: int, logs: list[dict[str, object]]) -> float:
    """Return the milliseconds that the checks of one block take, its commit included."""
    decoded = decode_logs(msgspec.json.encode(logs))
    began_s = time.perf_counter()
    with store.transaction(chain_id=_CHAIN_ID) as tx:
        write_checks(
            tx,
            decoded,
            [_ref(number)],
            (),
            chain_id=_CHAIN_ID,
            facts=TradeFacts(),
            now_s=time.time(),
        )
    return 1e3 * (time.perf_counter() - began_s)


def _fill(store: Store, reports: int) -> None:
    """Store reports, as far as checks read them."""
    for first in range(0, reports, _BATCH):
        numbers = range(first, min(first + _BATCH, reports))
        with store.transaction(chain_id=_CHAIN_ID) as tx:
            seen = dict.fromkeys((_token(number) for number in numbers), 1)
            rows = track_tokens(tx, chain_id=_CHAIN_ID, seen=seen, because="request")
            for row, number in zip(rows, numbers, strict=True):
                head = msgspec.structs.replace(
                    bare_report(row.address).token, transfer_success=True
                )
                tx.insert("report", [head], token_id=row.token_id, pools_resolved=1)
                tx.insert("report_pool", [_pool_row(number)], token_id=row.token_id)


def _block(number: int, reports: int, drawn: random.Random) -> list[dict[str, object]]:
    """Return the logs of one block: sales at no tax, then plain transfers."""
    logs: list[dict[str, object]] = []
    for trade in drawn.sample(range(reports), _OF_EACH):
        sale = _hash(number, trade)
        logs.append(_transfer(number, len(logs), sale, trade, _pool(trade)))
        logs.append(_swap(number, len(logs), sale, trade))
    for moved in drawn.sample(range(reports), _OF_EACH):
        plain = _hash(number, reports + moved)
        logs.append(_transfer(number, len(logs), plain, moved, _account(moved)))
    return logs


def _transfer(
    number: int, log_index: int, tx_hash: Hash32, token: int, recipient: Address
) -> dict[str, object]:
    topics = [TRANSFER_TOPIC, _word(_account(token + 7)), _word(recipient)]
    placed = _placed(number, log_index, tx_hash)
    return {**placed, "address": _token(token), "topics": topics, "data": f"0x{_AMOUNT:064x}"}


def _swap(number: int, log_index: int, tx_hash: Hash32, trade: int) -> dict[str, object]:
    topics = [_SWAP_V2.topic0, _word(_account(1)), _word(_account(trade + 7))]
    data = "".join(f"{amount:064x}" for amount in (_AMOUNT, 0, 0, 5))
    placed = _placed(number, log_index, tx_hash)
    return {**placed, "address": _pool(trade), "topics": topics, "data": "0x" + data}


def _placed(number: int, log_index: int, tx_hash: Hash32) -> dict[str, object]:
    return {
        "blockNumber": hex(number),
        "blockHash": _hash(number, 0),
        "logIndex": hex(log_index),
        "transactionHash": tx_hash,
    }


def _ref(number: int) -> BlockRef:
    return BlockRef(
        number=number,
        hash=_hash(number, 0),
        parent_hash=_hash(number - 1, 0),
        time_s=1_800_000_000 + 12 * number,
    )


def _pool_row(number: int) -> PoolResultRow:
    return PoolResultRow(
        ordinal=0,
        pool=_pool(number),
        pool_id=None,
        kind="AmmV2",
        dex="a dex",
        quote=_QUOTE,
        liquidity_usd=1.0,
        quote_side_usd=1.0,
        buy="passed",
        buy_tax=0.0,
        sell="passed",
        sell_tax=0.0,
        error_code=None,
        error_message=None,
        is_launchpad=None,
        token_usd=None,
    )


def _token(number: int) -> Address:
    return Address(f"0x01{number:038x}")


def _pool(number: int) -> Address:
    return Address(f"0x02{number:038x}")


def _account(number: int) -> Address:
    return Address(f"0x03{number:038x}")


def _word(address: Address) -> str:
    return "0x" + address[2:].rjust(64, "0")


def _hash(number: int, at: int) -> Hash32:
    return Hash32(f"0x{number:032x}{at + 1:032x}")


if __name__ == "__main__":
    main()
