"""Programs that read a range of blocks from a node and store it: ours and others."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import polars as pl

from benchmarks._cost import Cost, run_timed
from benchmarks._machine import ROOT
from benchmarks._optional_tools import CRYO, ETHEREUM_ETL
from benchmarks._replay_node import RunningNode
from tests.harness.replay.chain_events import TRANSFER
from tests.harness.replay.tally import TransferCount, TransferReading

_LONGEST_S = 900.0
# Ended at once: while the interpreter winds down, cryo's threads now and then crash it.
_CRYO_SCRIPT = (
    "import cryo, json, os, sys; asked = json.loads(sys.argv[1]); "
    "cryo.freeze(asked.pop('dataset'), **asked); os._exit(0)"
)
_CRYO_CHUNK, _CRYO_REQUEST = 500, 100
"""Blocks a file and a request: the fastest of those tried (500/100, 2,000/100, 2,000/500)."""
_COUNT_SQL = "select count(*), sum(block_number), sum(log_index) from v_transfers"

_COLUMNS = {"token": pl.String, "block_number": pl.Int64, "log_index": pl.Int64}


class Backfiller(msgspec.Struct, frozen=True, kw_only=True):
    """A program: how to run it, and what it has stored of transfers of tracked tokens."""

    name: str
    run: Callable[[RunningNode, Path], Cost]
    """Back-fills into an empty folder. Raises RunFailedError."""
    count: Callable[[RunningNode, Path], TransferCount]
    """Of transfers that it stored of tokens that we track, from where on we do."""
    reading: TransferReading
    """What it takes for a transfer."""
    missing: Callable[[], str | None]
    """Why it cannot run here, after trying to install it. None: it can."""


def _ours(node: RunningNode, folder: Path) -> Cost:
    ends = ("--from", str(node.first_block), "--to", str(node.last_block))
    command = (sys.executable, "-m", "assay", "index", str(node.chain_id), *ends)
    return run_timed(command, env=_our_env(node, folder), folder=ROOT, longest_s=_LONGEST_S)


def _count_ours(node: RunningNode, folder: Path) -> TransferCount:
    answer = folder / "count"
    script = (
        f"import sys; from assay import cli; sys.stdout = open({str(answer)!r}, 'w'); cli.main()"
    )
    command = (sys.executable, "-c", script, "sql", _COUNT_SQL)
    run_timed(command, env=_our_env(node, folder), folder=ROOT, longest_s=_LONGEST_S)
    rows, blocks, indices = msgspec.json.decode(answer.read_bytes().splitlines()[1], type=list[int])
    return TransferCount(rows=rows, blocks=blocks, indices=indices)


def _our_env(node: RunningNode, folder: Path) -> dict[str, str]:
    # Modules compiled once and kept, as an installation has them.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ours = {"ASSAY_STORE": str(folder / "bench.store"), f"ASSAY_RPC_{node.chain_id}": node.url}
    return kept | ours | {"PYTHONPYCACHEPREFIX": str(ROOT / ".cache" / "bytecode")}


def _cryo(dataset: str) -> Backfiller:
    def run(node: RunningNode, folder: Path) -> Cost:
        asked = {
            "dataset": dataset,
            "blocks": [f"{node.first_block}:{node.last_block + 1}"],
            "rpc": node.url,
            "output_dir": str(folder),
            "chunk_size": _CRYO_CHUNK,
            "inner_request_size": _CRYO_REQUEST,
            "no_report": True,
            "verbose": False,
        }
        command = (CRYO.binary("python"), "-c", _CRYO_SCRIPT, msgspec.json.encode(asked).decode())
        return run_timed(command, env=_bare_env(), folder=folder, longest_s=_LONGEST_S)

    def count(node: RunningNode, folder: Path) -> TransferCount:
        rows = pl.scan_parquet(folder / "*.parquet")
        if dataset == "logs":
            is_transfer = pl.col("topic0").bin.encode("hex") == TRANSFER[2:]
            has_shape = pl.col("topic2").is_not_null() & pl.col("topic3").is_null()
            has_word = pl.col("data").bin.size() == 32
            rows = rows.filter(is_transfer & has_shape & has_word).rename({"address": "erc20"})
        token = pl.lit("0x") + pl.col("erc20").bin.encode("hex")
        return _tracked(rows.with_columns(token=token), node)

    return Backfiller(
        name=f"cryo {dataset}", run=run, count=count, reading="one_word", missing=CRYO.install
    )


def _etl(node: RunningNode, folder: Path) -> Cost:
    ends = ("--start-block", str(node.first_block), "--end-block", str(node.last_block))
    where = ("--provider-uri", node.url, "--output", str(folder / "transfers.csv"))
    size = ("--batch-size", "100", "--max-workers", str(os.cpu_count() or 1))
    command = (ETHEREUM_ETL.binary("ethereumetl"), "export_token_transfers", *ends, *where, *size)
    return run_timed(command, env=_bare_env(), folder=folder, longest_s=_LONGEST_S)


def _count_etl(node: RunningNode, folder: Path) -> TransferCount:
    rows = pl.scan_csv(folder / "transfers.csv", schema_overrides={"value": pl.String})
    return _tracked(rows.rename({"token_address": "token"}), node)


def _tracked(rows: pl.LazyFrame, node: RunningNode) -> TransferCount:
    """Of tracked tokens, from the block on in which they became known."""
    known = pl.LazyFrame({"token": list(node.tracked), "since": list(node.tracked.values())})
    kept = (
        rows.select(*_COLUMNS)
        .cast({"block_number": pl.Int64, "log_index": pl.Int64})
        .join(known, on="token")
        .filter(pl.col("block_number") >= pl.col("since"))
    )
    sums = kept.select(rows=pl.len(), blocks=pl.sum("block_number"), indices=pl.sum("log_index"))
    return msgspec.convert(sums.collect().row(0, named=True), TransferCount)


def _bare_env() -> dict[str, str]:
    """Of a program that is not ours: nothing of our environment's Python."""
    return {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}


OURS = Backfiller(name="assay", run=_ours, count=_count_ours, reading="exact", missing=lambda: None)
OTHERS = (
    _cryo("erc20_transfers"),
    _cryo("logs"),
    Backfiller(
        name="ethereum-etl",
        run=_etl,
        count=_count_etl,
        reading="four_words",
        missing=ETHEREUM_ETL.install,
    ),
)
LEFT_OUT = (
    "ponder left out: it reads whole blocks with their transactions, which the replay node has not",
)
"""What is never run, and why."""
