"""Cost of launch forensics for a quiet and for the busiest token of a grown store.

Early events of a tenth of all tokens are written directly, twenty each; the hottest token has as
many as are ever stored. Measured are the reads and roles of one launch, without the simulated sale.

python -m benchmarks.launch --transfers 10000000
"""

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from analysis.launch.launch_roles import find_launch
from benchmarks._grown_store import CHAIN_ID, FIRST_BLOCK, grow, token_address
from config.facts.load_chains import load_chains
from config.settings import LaunchSettings
from core.evm.primitives import Address
from core.report.launch_facts import MOST_EARLY, MOST_OF_ACCOUNT
from sql.chain.early_tables import EARLY_SUBJECT
from sql.engine.exact_numbers import to_blob
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.reports.launch_record import read_launch
from tests.harness.measure.machine import describe

_HOT = 1
_QUIET_EVENTS = 20
_SUPPLY = 10**24
_ROUNDS = 200
_TOKENS_SHARE = 10
_KEPT_S = 1e9


def write_early(path: Path, tokens: int) -> int:
    """Add early events to a grown store; return the number of rows."""
    with closing(sqlite3.connect(StoreFiles(prefix=path).serving)) as connection:
        before = connection.total_changes
        connection.execute(
            "insert into coverage values (?, ?, 0, ?)", (CHAIN_ID, EARLY_SUBJECT, FIRST_BLOCK)
        )
        connection.execute("update token set first_seen_block = ? where token_id = ?", (1, _HOT))
        connection.executemany(
            "insert into early_trade values (?, ?, ?, 1, ?, ?, ?, ?, ?)", _trades(tokens)
        )
        connection.executemany(
            "insert into early_transfer values (?, ?, ?, 1, ?, ?, ?, ?, ?)", _transfers(tokens)
        )
        connection.commit()
        return connection.total_changes - before


def _events(tokens: int) -> Iterator[tuple[int, int]]:
    """Yield token and number of each early event."""
    for token in range(1, tokens // _TOKENS_SHARE):
        count = MOST_EARLY if token == _HOT else _QUIET_EVENTS
        yield from ((token, at) for at in range(count))


def _trades(tokens: int) -> Iterator[tuple[object, ...]]:
    for token, at in _events(tokens):
        yield token, 2 + at // 20, at, 100 + at, 0, _account(token, at), bytes(32), 1e21
    for at in range(MOST_EARLY * MOST_OF_ACCOUNT):
        trader = _account(_HOT, at % MOST_EARLY)
        yield _HOT, 10_000 + at, 0, 50_000, at % 2, trader, at.to_bytes(32), 1e20


def _transfers(tokens: int) -> Iterator[tuple[object, ...]]:
    for token, at in _events(tokens):
        sender, recipient = _account(token, at // 2 + 300), _account(token, at + 301)
        yield token, 1, at, sender, recipient, to_blob(10**20), at.to_bytes(32), 1


def _account(token: int, number: int) -> bytes:
    return token.to_bytes(10) + number.to_bytes(10)


def measure(store: Store, token: int) -> tuple[float, float, int]:
    """Return the median and the 95th percentile of one launch, in ms, and its accounts."""
    chain = next(one for one in load_chains(None) if one.id == CHAIN_ID)
    address = Address("0x" + token_address(token).hex())
    creator = Address("0x" + _account(token, 300).hex())
    times, accounts = [], 0
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        record = read_launch(store, chain, address, kept_s=_KEPT_S, creator=creator)
        found = find_launch(record, LaunchSettings(), supply_raw=_SUPPLY)
        times.append(1_000 * (time.perf_counter() - start))
        accounts = len(found.wallets)
    return statistics.median(times), statistics.quantiles(times, n=20)[-1], accounts


def main() -> None:
    """Print the costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transfers", type=int, default=10_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        size = grow(path, options.transfers)
        rows = write_early(path, size.tokens)
        print(describe(f"{rows} early rows"))
        print(f"{size.tokens} tokens, {size.transfers} transfers")
        with closing(Store.open(path)) as store:
            for name, token in (("quiet", 2), ("busiest", _HOT)):
                median, most, wallets = measure(store, token)
                print(f"{name}: median {median:.1f} ms, p95 {most:.1f} ms, {wallets} accounts")


if __name__ == "__main__":
    main()
