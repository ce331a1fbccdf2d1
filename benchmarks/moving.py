"""How long `assay move-store` takes for a store of a given size, its lake included.

A grown store and a back-filled lake are moved to a PostgreSQL of the benchmark's own, which writes
its log through as in production.

    python -m benchmarks.moving --transfers 10
"""

import argparse
import resource
import tempfile
import time
from contextlib import closing
from pathlib import Path

import numpy as np

from benchmarks._grown_store import FIRST_BLOCK, grow
from benchmarks._machine import describe
from config.store_address import FileAddress, PostgresAddress
from core.process.secret import Secret
from sql.engine.store_files import StoreFiles
from sql.lake.bulk_append import BulkRange, LakeColumns, append_transfers
from sql.lake.lake_file import Lake
from sql.move.move_store import move_store
from tests.harness.parts.postgres_server import running_postgres

_AT_ONCE = 2_000_000
_TOKENS = 10_000
_MILLION = 1_000_000


def main() -> None:
    """Print the figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--transfers", type=float, default=10, help="millions")
    parser.add_argument("--folder", type=Path, help="with store.serving.sqlite; it gets a lake")
    arguments = parser.parse_args()
    transfers = int(arguments.transfers * _MILLION)
    with tempfile.TemporaryDirectory(prefix="assay-moving-") as made:
        folder = arguments.folder or Path(made)
        source = FileAddress(folder / "store")
        if arguments.folder is None:
            grow(source.path, transfers)
        if not StoreFiles(prefix=source.path).lake.exists():
            _fill_lake(source, transfers)
        print(describe(f"{arguments.transfers:g} million transfers"))
        with running_postgres(is_durable=True) as server:
            target = PostgresAddress(
                url=Secret(server.url()), lake=str(Path(made) / "lake"), prefix=Path(made) / "here"
            )
            _move(source, target)


def _move(source: FileAddress, target: PostgresAddress) -> None:
    steps: dict[str, float] = {}
    last_s = begun_s = time.monotonic()

    def show(what: str, *_: int) -> None:
        nonlocal last_s
        now_s = time.monotonic()
        kind = "moving tables" if what.startswith("moving ") and "lake" not in what else what
        steps[kind] = steps.get(kind, 0.0) + now_s - last_s
        last_s = now_s

    moved = move_store(source, target, show)
    took_s = time.monotonic() - begun_s
    size = sum(path.stat().st_size for path in source.path.parent.rglob("*") if path.is_file())
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{moved.rows / _MILLION:.1f} million rows of {moved.tables} tables, and "
        f"{moved.lake.rows / _MILLION:.1f} million of the lake in {moved.lake.files} files; "
        f"{size / 1e9:.2f} GB; {took_s:.0f} s, at most {memory_mb:.0f} MB"
    )
    print("; ".join(f"{what} {seconds:.0f} s" for what, seconds in steps.items()))


def _fill_lake(source: FileAddress, transfers: int) -> None:
    with closing(Lake.open(source, sees_serving=False)) as lake:
        for at in range(0, transfers, _AT_ONCE):
            rows = min(_AT_ONCE, transfers - at)
            first = FIRST_BLOCK // 2 + at // 10
            append_transfers(
                lake,
                BulkRange(
                    chain_id=1, stream="back-fill", from_block=first, to_block=first + rows // 10
                ),
                transfers=_transfers(rows, first, seed=at),
                tokens=_tokens(),
                stored=None,
            )


def _transfers(rows: int, first: int, *, seed: int) -> LakeColumns:
    rng = np.random.default_rng(seed)
    token_ids = np.sort(rng.integers(1, _TOKENS + 1, rows, np.int32))
    words = {
        name: rng.integers(0, 1 << 63, rows, np.uint64)
        for name in ("sender_mid", "sender_low", "recipient_mid", "recipient_low", "word0")
    }
    zeros = np.zeros(rows, np.uint64)
    numbers = np.arange(rows)
    return {
        "block_number": first + numbers // 10,
        "log_index": (numbers % 10).astype(np.int32),
        "token_id": token_ids,
        "sender_high": rng.integers(0, 1 << 32, rows, np.uint32),
        "recipient_high": rng.integers(0, 1 << 32, rows, np.uint32),
        **words,
        **dict.fromkeys(("word1", "word2", "word3"), zeros),
        "time_s": 1_700_000_000 + numbers // 10,
    }


def _tokens() -> LakeColumns:
    ids = np.arange(1, _TOKENS + 1)
    return {
        "token_id": ids.astype(np.int32),
        "high": ids.astype(np.uint32),
        "mid": ids.astype(np.uint64),
        "low": ids.astype(np.uint64),
    }


if __name__ == "__main__":
    main()
