"""Cost of a search by name as the number of analysed tokens grows.

One store for each size, written directly: names of one to three words by Zipf's law, most tokens
without money in their pools. Then typical searches, and the lists of the front page.

python -m benchmarks.search --sizes 2000,200000,2000000
"""

import argparse
import json
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from core.evm.primitives import Address, Hash32, RawAmount
from core.report.report import ReportRow
from sql.engine.columns import encode
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.tokens.search_entries import search_rows
from sql.tokens.token_search import find_richest_namesakes, find_tokens, list_newest, list_richest
from tests.harness.measure.machine import describe

_CHAIN_IDS = (1, 56, 8453, 42161, 43114, 4663)
_WORDS = 20_000
_REPEATS = 200
_AT_ONCE = 100_000

_WORD_ROOTS = ("pepe", "doge", "inu", "moon", "cat", "baby", "elon", "usd", "ai", "trump", "shiba")


def _words() -> list[str]:
    """Return words by frequency: the fashionable ones, then made-up ones."""
    rng = np.random.default_rng(1)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    made_up = ("".join(rng.choice(letters, rng.integers(3, 9))) for _ in range(_WORDS))
    return [*_WORD_ROOTS, *made_up]


def grow(path: Path, tokens: int) -> None:
    """Write a new store with a number of reports at a path that does not exist."""
    Store.open(path).close()
    rng = np.random.default_rng(2)
    words = _words()
    with sqlite3.connect(StoreFiles(prefix=path).serving) as connection:
        for setting in ("journal_mode = off", "synchronous = off", "cache_size = -1000000"):
            connection.execute(f"pragma {setting}").fetchall()
        places = ", ".join("?" * (2 + len(ReportRow.__struct_fields__)))
        columns = ", ".join(("token_id", "pools_resolved", *ReportRow.__struct_fields__))
        for first in range(1, tokens + 1, _AT_ONCE):
            ids = range(first, min(first + _AT_ONCE, tokens + 1))
            picked = np.minimum(rng.zipf(1.3, (len(ids), 3)) - 1, len(words) - 1).tolist()
            counts = rng.integers(1, 4, len(ids)).tolist()
            money = np.where(rng.random(len(ids)) < 0.9, 0, rng.lognormal(8, 3, len(ids))).tolist()
            rows = [
                (token_id, " ".join(words[at].title() for at in some[:count]), words[some[0]], usd)
                for token_id, some, count, usd in zip(ids, picked, counts, money, strict=True)
            ]
            connection.executemany(
                f"insert into report ({columns}) values ({places})",  # noqa: S608
                (
                    (token_id, 1, *encode(_head(token_id, name, word)))
                    for token_id, name, word, _ in rows
                ),
            )
            _enter(connection, rows)
        connection.commit()
        connection.execute("pragma journal_mode = wal").fetchall()
    connection.close()


def _enter(connection: sqlite3.Connection, rows: list[tuple[int, str, str, float]]) -> None:
    entries = [
        (token_id, _chain_of(token_id), usd, *search_rows(name, word.upper(), usd))
        for token_id, name, word, usd in rows
    ]
    connection.executemany("insert into search_entry values (?, ?, ?, ?, ?)", entries)
    connection.executemany("insert into search_term values (?, ?, ?, ?)", _terms_of(entries))


def _terms_of(
    entries: list[tuple[int, int, float, int, str]],
) -> Iterator[tuple[int, int, str, int]]:
    for token_id, chain_id, _, tier, terms in entries:
        for term in terms.splitlines():
            yield chain_id, tier, term, token_id


def _chain_of(token_id: int) -> int:
    return _CHAIN_IDS[token_id % len(_CHAIN_IDS)]


def _head(token_id: int, name: str, word: str) -> ReportRow:
    unknown = dict.fromkeys(ReportRow.__struct_fields__)
    known = {
        "chain_id": _chain_of(token_id),
        "address": Address(f"0x{token_id:040x}"),
        "block_number": token_id,
        "block_hash": Hash32(f"0x{token_id:064x}"),
        "block_time_s": token_id,
        "scanned_at_s": token_id,
        "is_settled": True,
        "name": name,
        "symbol": word.upper(),
        "decimals": 18,
        "supply_raw": RawAmount(10**24),
        "burned_raw": RawAmount(0),
        "privileged_spenders": (),
    }
    return ReportRow(**{**unknown, **known})  # type: ignore[arg-type]  # the rest is unknown


def _timed(call: Callable[[], object]) -> dict[str, float]:
    call()
    times_ms = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        call()
        times_ms.append(1_000 * (time.perf_counter() - started))
    return {
        "p50_ms": round(statistics.median(times_ms), 2),
        "p95_ms": round(statistics.quantiles(times_ms, n=20)[-1], 2),
    }


def measure(path: Path) -> dict[str, dict[str, float]]:
    """Return the times of each search."""
    store = Store.open(path)
    try:
        typed = ("pepe", "p", "inu", "baby elon", "zzzz", "USD\u0422")
        times = {
            f"find {text}": _timed(
                partial(find_tokens, store, text, chain_ids=_CHAIN_IDS, at_most=20)
            )
            for text in typed
        }
        times["namesake of PEPE"] = _timed(lambda: find_richest_namesakes(store, [(1, "PEPE")]))
        times["newest"] = _timed(lambda: list_newest(store, at_most=200))
        times["richest"] = _timed(lambda: list_richest(store, above_usd=0, at_most=20))
        return times
    finally:
        store.close()


def main() -> None:
    """Print the times of each size as one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="2000,200000,2000000")
    print(describe("names by Zipf's law, seeds 1 and 2"))
    for tokens in map(int, parser.parse_args().sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="assay-search-") as folder:
            path = Path(folder) / "store"
            grow(path, tokens)
            size_mb = StoreFiles(prefix=path).serving.stat().st_size / 2**20
            print(json.dumps({"tokens": tokens, "file_mb": round(size_mb), **measure(path)}))


if __name__ == "__main__":
    main()
