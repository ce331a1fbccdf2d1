"""Cost of kin as the number of analysed tokens grows, and of the shape of a code.

One store written directly: names, creators and funders by Zipf's law, codes in families of a few
variants, and a few codes that a hundred thousand tokens share. Measured are look-ups, the storing
of a shape and, where CORPUS has real codes, the time of shapes next to that of static analysis.
Precision and recall of kin: `python -m tests.harness.kin.shape_scores`.

python -m benchmarks.kin --tokens 2000000 --codes 200000 --corpus CORPUS
"""

import argparse
import gzip
import random
import secrets
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np

from analysis.static import analyse_code
from benchmarks.search import grow
from config.store_address import FileAddress, PostgresAddress
from core.evm.code_shape import PART_BYTES, PARTS, SHAPE_VERSION, CodeShape, bands_of
from core.evm.primitives import Address
from core.process.secret import Secret
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.move.move_store import move_store
from sql.tokens.code_shapes import KEPT_PLACES, put_shape
from sql.tokens.kin import find_kin
from tests.harness.measure.machine import ROOT, describe
from tests.harness.parts.postgres_server import running_postgres

CHAIN_ID = 1
DEFAULT_CORPUS = ROOT.parent / "shared" / "corpus"
_VARIANTS = 8
"""Codes of one family; each differs from the first in up to two fifths of its features."""
_REPEATS = 300
_SEED = 3
_CODES = 100


class _Token(msgspec.Struct, frozen=True, kw_only=True):
    token_id: int
    address: Address


def write_kin(path: Path, tokens: int, codes: int) -> int:
    """Add creators, funders and shapes to a grown store; return the bytes that shapes take."""
    rng = np.random.default_rng(_SEED)
    with closing(sqlite3.connect(StoreFiles(prefix=path).serving)) as connection:
        for setting in ("journal_mode = off", "synchronous = off", "cache_size = -1000000"):
            connection.execute(f"pragma {setting}").fetchall()
        ids = [
            (row[0], row[1]) for row in connection.execute("select token_id, chain_id from report")
        ]
        creators = np.minimum(rng.zipf(1.5, len(ids)), tokens // 2).tolist()
        connection.executemany(
            "update report set creator_address = ? where token_id = ?",
            ((_account(one), token_id) for one, (token_id, _) in zip(creators, ids, strict=True)),
        )
        made = connection.execute(
            "select distinct chain_id, creator_address from report"
        ).fetchall()
        connection.executemany(
            "insert into funder values (?, ?, ?, 1, zeroblob(32))",
            ((chain_id, account, bytes(18) + account[18:]) for chain_id, account in made),
        )
        connection.execute(
            "insert into token select token_id, chain_id, address, 'pool', 1, 1, null from report"
        )
        before = _pages(connection)
        shapes = _write_shapes(connection, codes)
        connection.executemany("insert into token_shape values (?, ?)", _chosen(rng, ids, shapes))
        connection.commit()
        taken = _pages(connection) - before
        connection.execute("pragma journal_mode = wal").fetchall()
    return taken


def _pages(connection: sqlite3.Connection) -> int:
    """Return the bytes of the file."""
    pages, size = (
        int(connection.execute(f"pragma {name}").fetchone()[0])
        for name in ("page_count", "page_size")
    )
    return pages * size


def _account(number: int) -> bytes:
    return number.to_bytes(20)


def _write_shapes(connection: sqlite3.Connection, codes: int) -> int:
    """Write shapes for each chain of the store; return the number per chain."""
    chains = [
        row[0] for row in connection.execute("select distinct chain_id from report order by 1")
    ]
    each = codes // len(chains)
    places = Counter[tuple[int, int]]()
    shape_id = 0
    for chain_id in chains:
        for shape in made_up(each, seed=chain_id):
            shape_id += 1
            connection.execute(
                "insert into code_shape values (?, ?, ?, ?, ?)",
                (shape_id, chain_id, SHAPE_VERSION, shape.digest, shape.sketch),
            )
            for band in bands_of(shape.sketch):
                taken = places[chain_id, band]
                place = taken if taken < KEPT_PLACES else KEPT_PLACES + shape_id % KEPT_PLACES
                places[chain_id, band] += 1
                connection.execute(
                    "insert or replace into shape_band values (?, ?, ?, ?, ?)",
                    (chain_id, SHAPE_VERSION, band, place, shape_id),
                )
    return each


def made_up(count: int, *, seed: int) -> Iterator[CodeShape]:
    """Yield shapes in families."""
    rng = random.Random(seed)
    size = PARTS * PART_BYTES
    first = b""
    for at in range(count):
        if at % _VARIANTS == 0:
            first = rng.randbytes(size)
        parts = bytearray(first)
        for part in rng.sample(
            range(PARTS), rng.randrange(PARTS * 2 // 5) if at % _VARIANTS else 0
        ):
            parts[part * PART_BYTES : (part + 1) * PART_BYTES] = rng.randbytes(PART_BYTES)
        yield CodeShape(digest=rng.randbytes(16), sketch=bytes(parts))


def _chosen(
    rng: np.random.Generator, ids: list[tuple[int, int]], each: int
) -> Iterator[tuple[int, int]]:
    chains = {chain_id: at for at, chain_id in enumerate(sorted({chain_id for _, chain_id in ids}))}
    ranks = np.minimum(rng.zipf(1.3, len(ids)) - 1, each - 1).tolist()
    # Half of the tokens have a code that few others have.
    plain = rng.integers(0, each, len(ids)).tolist()
    for (token_id, chain_id), rank, other in zip(ids, ranks, plain, strict=True):
        yield token_id, 1 + chains[chain_id] * each + (other if token_id % 2 else rank)


def timed(calls: list[Callable[[], object]]) -> str:
    """Run each once, and return median and p95 in milliseconds."""
    took_ms = []
    for call in calls:
        started = time.perf_counter()
        call()
        took_ms.append(1_000 * (time.perf_counter() - started))
    p95 = statistics.quantiles(took_ms, n=20)[-1]
    return f"p50 {statistics.median(took_ms):.2f} ms, p95 {p95:.2f} ms"


def measure(store: Store, tokens: int, name: str) -> None:
    """Print the times of one store."""
    rng = random.Random(_SEED)
    picked = [6 * rng.randrange(1, tokens // 6) for _ in range(_REPEATS)]  # of chain 1

    def look_up(token_id: int) -> Callable[[], object]:
        return lambda: find_kin(store, chain_id=CHAIN_ID, address=Address(f"0x{token_id:040x}"))

    timed([look_up(token_id) for token_id in picked[:20]])
    print(f"{name}: one look-up, {timed([look_up(token_id) for token_id in picked[20:]])}")
    hottest = max(picked, key=lambda token_id: _kin_of(store, token_id))
    print(f"{name}: of a token with kin of every sort, {timed([look_up(hottest)] * 50)}")
    new = list(made_up(_REPEATS, seed=secrets.randbits(32)))
    print(f"{name}: storing a shape that is new, {timed([_storing(store, one) for one in new])}")
    print(f"{name}: one that is known, {timed([_storing(store, one) for one in new])}")
    flood = list(made_up(1, seed=99)) * 1_000
    varied = [
        CodeShape(digest=secrets.token_bytes(16), sketch=one.sketch[:-16] + secrets.token_bytes(16))
        for one in flood
    ]
    for one in varied:
        _storing(store, one)()
    print(f"{name}: in a band that 1,000 alike codes flood, {timed([look_up(6)] * 50)}")


def _kin_of(store: Store, token_id: int) -> int:
    found = find_kin(store, chain_id=CHAIN_ID, address=Address(f"0x{token_id:040x}"))
    if found is None or found.code is None:
        return 0
    return len(found.code.same) + len(found.code.similar) + len(found.same_creator or ())


def _storing(store: Store, shape: CodeShape) -> Callable[[], None]:
    def write() -> None:
        with store.transaction(chain_id=CHAIN_ID) as tx:
            put_shape(tx, token_id=6, chain_id=CHAIN_ID, shape=shape)

    return write


def print_share(corpus: Path) -> None:
    """Print the time of shapes as a share of the analyses that contain them."""
    lines = gzip.decompress((corpus / "unlabelled.jsonl.gz").read_bytes()).splitlines()
    drawn = random.Random(_SEED).sample(lines, min(_CODES, len(lines)))
    codes = [
        bytes.fromhex(msgspec.json.decode(line)["runtime"].removeprefix("0x")) for line in drawn
    ]
    spent_s: list[float] = []
    name = "find_shape"
    find = getattr(analyse_code, name)

    def watched(*given: object) -> CodeShape | None:
        started = time.process_time()
        shape: CodeShape | None = find(*given)
        spent_s.append(time.process_time() - started)
        return shape

    setattr(analyse_code, name, watched)
    started = time.process_time()
    found = [analyse_code.analyse_code(code) for code in codes]
    whole_s = time.process_time() - started
    setattr(analyse_code, name, find)
    print(
        f"shapes of {len(codes)} codes: {1_000 * sum(spent_s) / len(codes):.2f} ms each, longest "
        f"{1_000 * max(spent_s):.0f} ms; {100 * sum(spent_s) / whole_s:.1f} % of the analysis; "
        f"{sum(one.shape is None for one in found)} without one"
    )


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--codes", type=int, default=200_000)
    parser.add_argument("--corpus", type=Path, default=DEFAULT_CORPUS)
    parser.add_argument("--postgres", action="store_true", help="the same in PostgreSQL as well")
    options = parser.parse_args()
    print(describe(f"{options.tokens} tokens, {options.codes} codes, seed {_SEED}"))
    if (options.corpus / "unlabelled.jsonl.gz").is_file():
        print_share(options.corpus)
    with tempfile.TemporaryDirectory(prefix="assay-kin-") as folder:
        path = Path(folder) / "store"
        grow(path, options.tokens)
        taken = write_kin(path, options.tokens, options.codes)
        print(f"bytes: {taken / options.codes:.0f} for each code, its tokens' rows included")
        with closing(Store.open(path)) as store:
            measure(store, options.tokens, "SQLite")
        if options.postgres:
            with running_postgres() as server:
                target = PostgresAddress(
                    url=Secret(server.url()),
                    lake=str(Path(folder) / "lake"),
                    prefix=Path(folder) / "here",
                )
                move_store(FileAddress(path), target, lambda *_: None, with_lake=False)
                with closing(Store.open(target)) as store:
                    measure(store, options.tokens, "PostgreSQL")


if __name__ == "__main__":
    main()
