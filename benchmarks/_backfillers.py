"""Programs that store a range of blocks from a node: ours and others.

The others are installed by the benchmark into a cache, never by us.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import polars as pl

from benchmarks._replay_node import RunningNode
from tests.harness.measure.machine import ROOT
from tests.harness.measure.process_cost import Cost, run_timed
from tests.harness.replay.chain_events import TRANSFER
from tests.harness.replay.expected_replay import TransferCount, TransferReading

Command = tuple[str | Path, ...]

_PATIENCE_S = 300.0
_SHOWN_OUTPUT = 200
"""Characters kept from the end of a failed installation's output."""
_LONGEST_S = 900.0
# Ended without cleanup: cryo's threads can crash an interpreter that shuts down.
_CRYO_SCRIPT = (
    "import cryo, json, os, sys; options = json.loads(sys.argv[1]); "
    "cryo.freeze(options.pop('dataset'), **options); os._exit(0)"
)
_CRYO_CHUNK, _CRYO_REQUEST = 500, 100
"""Blocks per file and per request: the fastest of 500/100, 2,000/100 and 2,000/500."""
_COUNT_SQL = "select count(*), sum(block_number), sum(log_index) from v_transfers"

_COLUMNS = {"token": pl.String, "block_number": pl.Int64, "log_index": pl.Int64}


class PythonTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool in a separate virtual environment."""

    name: str
    packages: tuple[str, ...]
    """Pinned packages, installed with their dependencies."""
    overrides: tuple[str, ...] = ()
    """Pinned replacements of versions that the dependencies require."""
    check: tuple[str, ...]
    """Program and arguments that succeed where the tool works."""

    @property
    def folder(self) -> Path:
        """Folder of the environment."""
        home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        return Path(home) / "assay-benchmarks" / f"{self.packages[0].replace('==', '-')}"

    def binary(self, name: str) -> Path:
        """Return the path of a program in the environment."""
        return self.folder / "bin" / name

    def install(self) -> str | None:
        """Install the tool where it is missing. None: it works. Else the reason."""
        if not self._is_working():
            pip: Command = (self.binary("pip"), "install", "--quiet", "--no-input")
            steps: list[Command] = [
                (sys.executable, "-m", "venv", self.folder),
                (*pip, *self.packages),
            ]
            if self.overrides:
                steps.append((*pip, "--no-deps", *self.overrides))
            for step in steps:
                failure = _run(step)
                if failure is not None:
                    return f"{' '.join(self.packages)} could not be installed: {failure}"
        return None if self._is_working() else f"{' '.join(self.packages)} does not run here"

    def _is_working(self) -> bool:
        first, *rest = self.check
        return self.binary(first).exists() and _run((self.binary(first), *rest)) is None


CRYO = PythonTool(name="cryo", packages=("cryo==0.3.2",), check=("python", "-c", "import cryo"))

ETHEREUM_ETL = PythonTool(
    name="ethereum-etl",
    packages=("ethereum-etl==2.4.2",),
    # The parsimonious that its web3 requires does not run on Python 3.11.
    overrides=("parsimonious==0.10.0", "regex==2024.11.6"),
    check=("ethereumetl", "export_token_transfers", "--help"),
)


def _run(command: Command) -> str | None:
    """Run a command. None: it succeeded. Else the end of its output."""
    try:
        subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_PATIENCE_S, cwd="/"
        )
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if "WARNING" not in line]
        return " ".join(lines)[-_SHOWN_OUTPUT:] or f"exit code {error.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    return None


class Backfiller(msgspec.Struct, frozen=True, kw_only=True):
    """A program that back-fills, with readers of its stored transfers."""

    name: str
    run: Callable[[RunningNode, Path], Cost]
    """Back-fill into an empty folder. Raises RunFailedError."""
    count: Callable[[RunningNode, Path], TransferCount]
    """Count stored transfers of tracked tokens, from the block on where tracking begins."""
    reading: TransferReading
    """Definition of a transfer that the program uses."""
    missing: Callable[[], str | None]
    """Install the program. None: it works. Else the reason."""


def _ours(node: RunningNode, folder: Path) -> Cost:
    ends = ("--from", str(node.first_block), "--to", str(node.last_block))
    command = (sys.executable, "-m", "assay", "index", str(node.chain_id), *ends)
    return run_timed(command, env=_our_env(node, folder), folder=ROOT, longest_s=_LONGEST_S)


def _count_ours(node: RunningNode, folder: Path) -> TransferCount:
    answer = folder / "count"
    script = (
        f"import sys; from assay.cli import main; sys.stdout = open({str(answer)!r}, 'w'); main()"
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
        options = {
            "dataset": dataset,
            "blocks": [f"{node.first_block}:{node.last_block + 1}"],
            "rpc": node.url,
            "output_dir": str(folder),
            "chunk_size": _CRYO_CHUNK,
            "inner_request_size": _CRYO_REQUEST,
            "no_report": True,
            "verbose": False,
        }
        command = (CRYO.binary("python"), "-c", _CRYO_SCRIPT, msgspec.json.encode(options).decode())
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
    """Count transfers of tracked tokens, from the block on in which they became known."""
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
    """Environment of another program, without our Python's variables."""
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
    "ponder left out: it reads whole blocks with transactions, which the replay node does not have",
)
"""Programs that are never run, with the reason."""
