"""Cost of a block, a look-up and a schedule as the stored months grow.

One store for each size, written directly and just opened; then blocks of 150 logs through the
follower's writer, and the look-ups of analyses and schedules.

python -m benchmarks.growth --sizes 0.1,10,50
"""

import argparse
import multiprocessing
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from benchmarks._grown_store import (
    CHAIN_ID,
    FIRST_BLOCK,
    GrownSize,
    grow,
    size_of,
    token_address,
)
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32
from core.rpc.headers import Header, LogsBloom
from indexer.block_spans import BlockSpan
from indexer.decode.logs import decode_logs
from indexer.decode.transfer_events import TRANSFER_TOPIC
from indexer.ingest import Ingest
from sql.chain.balances import read_top_holders
from sql.chain.blocks import FOLLOW, prune_blocks
from sql.chain.finalization import finalize_rows
from sql.chain.pool_tables import list_pools
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.tokens.task_queue import take_tasks
from sql.unwind import unwind_from
from tests.harness.measure.machine import describe

_BLOCKS = 300
_LOGS = 150
_LOOK_UPS = 200
_WINDOW = 64
_FINALIZED_EVERY = 20
"""Blocks between two turns of finalization."""


class Growth(msgspec.Struct, kw_only=True):
    """Milliseconds unless named otherwise."""

    transfers: int
    commit_p50_ms: float
    commit_p95_ms: float
    due_ms: float
    top_usual_ms: float
    top_hottest_ms: float
    pools_ms: float
    unwind_ms: float
    finalize_ms: float
    start_ms: float
    memory_mb: float
    bytes_per_transfer: float

    def line(self) -> str:
        """Return all numbers as `name=value`."""
        return " ".join(
            f"{name}={value:.2f}" if isinstance(value, float) else f"{name}={value}"
            for name, value in msgspec.structs.asdict(self).items()
        )


def main() -> None:
    """Measure each size and print one line for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="0.1,10,50", help="Millions of transfers, by commas.")
    parser.add_argument("--folder", type=Path, help="Keep the stores here.")
    arguments = parser.parse_args()
    print(describe("stores written directly, blocks of 150 logs"))
    for text in arguments.sizes.split(","):
        transfers = int(float(text) * 1e6)
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            path = Path(folder) / "store"
            _prepare(path, transfers, arguments.folder)
            print(_measure(path, transfers).line(), flush=True)


def _prepare(path: Path, transfers: int, kept: Path | None) -> None:
    """Write a store, or copy the one that an earlier run has kept."""
    if kept is None:
        _grow_apart(path, transfers)
        return
    grown = kept / f"grown-{transfers}"
    if not StoreFiles(prefix=grown).serving.exists():
        _grow_apart(grown, transfers)
    shutil.copyfile(StoreFiles(prefix=grown).serving, StoreFiles(prefix=path).serving)


def _grow_apart(path: Path, transfers: int) -> None:
    """Write a store in a separate process, whose memory is not measured."""
    process = multiprocessing.get_context("spawn").Process(target=grow, args=(path, transfers))
    process.start()
    process.join()
    if process.exitcode:
        raise SystemExit(process.exitcode)


def _measure(path: Path, transfers: int) -> Growth:
    size = size_of(transfers)
    chain = next(chain for chain in load_chains(None) if chain.id == CHAIN_ID)
    store = Store.open(path)
    ingest = Ingest(chain)
    started_s = time.perf_counter()
    with store.transaction() as tx:
        ingest.warm(tx)
    start_ms = 1e3 * (time.perf_counter() - started_s)
    commits, finalized = _follow(store, ingest, chain, size)
    tip = FIRST_BLOCK + _BLOCKS - 1
    hottest = Address("0x" + token_address(1).hex())
    usual = [
        Address("0x" + token_address(2 + at * 7919 % (size.tokens - 2)).hex())
        for at in range(_LOOK_UPS)
    ]
    growth = Growth(
        transfers=transfers,
        commit_p50_ms=statistics.median(commits),
        commit_p95_ms=_percentile(commits, 95),
        due_ms=_median(
            lambda at: take_tasks(
                store,
                "refresh",
                chain_id=CHAIN_ID,
                now_s=1_800_000_000 + 2 * at,
                again_s=1_800_100_000,
                at_most=16,
            )
        ),
        top_usual_ms=_median(
            lambda at: read_top_holders(store, chain_id=CHAIN_ID, token=usual[at], at_most=25)
        ),
        top_hottest_ms=_median(
            lambda _: read_top_holders(store, chain_id=CHAIN_ID, token=hottest, at_most=25),
            times=20,
        ),
        pools_ms=_median(lambda at: list_pools(store, chain_id=CHAIN_ID, token=usual[at])),
        finalize_ms=statistics.median(finalized),
        unwind_ms=_timed(lambda: _unwind(store, tip - 2)),
        start_ms=start_ms,
        memory_mb=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        bytes_per_transfer=StoreFiles(prefix=path).serving.stat().st_size / transfers,
    )
    store.close()
    return growth


def _follow(
    store: Store, ingest: Ingest, chain: Chain, size: GrownSize
) -> tuple[list[float], list[float]]:
    """Commit blocks as the follower does, with steps of finalization between them; return the
    milliseconds of each commit and of each step."""
    commits, steps = [], []
    for number in range(FIRST_BLOCK, FIRST_BLOCK + _BLOCKS):
        span = _span(number, size)
        started_s = time.perf_counter()
        with store.transaction() as tx:
            ingest.write(tx, span, stream=FOLLOW)
            prune_blocks(tx, chain_id=chain.id, below=number - _WINDOW)
        commits.append(1e3 * (time.perf_counter() - started_s))
        left = 1
        while number % _FINALIZED_EVERY == 0 and left:
            started_s = time.perf_counter()
            left = finalize_rows(store, chain_id=CHAIN_ID, final=number - _WINDOW - 1)
            steps.append(1e3 * (time.perf_counter() - started_s))
    return commits, steps


def _unwind(store: Store, number: int) -> None:
    with store.transaction() as tx:
        unwind_from(tx, chain_id=CHAIN_ID, number=number)


def _span(number: int, size: GrownSize) -> BlockSpan:
    """Return a block of transfers: a fifth of the hottest token, the others of any."""
    logs = [
        {
            "address": "0x" + _token_of(number, at, size).hex(),
            "topics": [
                TRANSFER_TOPIC,
                f"0x{(number * 31 + at) % 99_991:064x}",
                f"0x{(number * 37 + at * 7) % 99_991:064x}",
            ],
            "data": f"0x{number * 10**15 + at:064x}",
            "blockNumber": hex(number),
            "blockHash": _hash(number),
            "logIndex": hex(at),
            "transactionHash": _hash(at),
        }
        for at in range(_LOGS)
    ]
    return BlockSpan(
        first=number,
        last=number,
        parent_hash=_hash(number - 1),
        logs=decode_logs(msgspec.json.encode(logs)),
        headers=(
            Header(
                ref=BlockRef(
                    number=number,
                    hash=_hash(number),
                    parent_hash=_hash(number - 1),
                    time_s=1_800_000_000 + number,
                ),
                logs_bloom=LogsBloom(0),
                proposer=ZERO_ADDRESS,
                base_fee_wei=0,
            ),
        ),
    )


def _token_of(number: int, at: int, size: GrownSize) -> bytes:
    return token_address(1 if at % 5 == 0 else 2 + (number * 977 + at * 7919) % (size.tokens - 2))


def _hash(number: int) -> Hash32:
    return Hash32(f"0x{number:064x}")


def _median(action: Callable[[int], object], *, times: int = _LOOK_UPS) -> float:
    took = []
    for at in range(times):
        took.append(_timed(lambda: action(at)))  # noqa: B023 - called at once
    return statistics.median(took)


def _timed(action: Callable[[], object]) -> float:
    started_s = time.perf_counter()
    action()
    return 1e3 * (time.perf_counter() - started_s)


def _percentile(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


if __name__ == "__main__":
    main()
