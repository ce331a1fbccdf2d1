"""Child processes of these tests, which are killed or run out of disk, and their functions."""

import resource
import secrets
import signal
import subprocess
import sys
from pathlib import Path

from config.plans import load_plans
from core.errors import StoreError
from core.evm.primitives import HexBytes
from sql.accounts.ledger import LEDGER_LAYOUT
from sql.chain.blocks import list_checkpoints, write_checkpoint
from sql.engine.database import Transaction
from sql.engine.sqlite_file import SqliteFile
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.engine.table_rows import CheckpointRow, UndecodedRow
from tests.harness.store.empty_files import ledger_at
from tests.harness.store.sample_rows import address, hash32

ROOT = Path(__file__).parents[3]


def start(work: str, *arguments: object) -> "subprocess.Popen[str]":
    """Standard input and output are pipes of text; the caller ends it."""
    return subprocess.Popen(
        [sys.executable, "-c", f"from tests.harness.store import child_functions as f; f.{work}()"]
        + [str(argument) for argument in arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_line(child: "subprocess.Popen[str]") -> str:
    """Read the next line of a child."""
    assert child.stdout
    return child.stdout.readline().strip()


PLACE = sys.argv[1] if len(sys.argv) > 1 else "."
PATH = Path(PLACE)
ROWS = 200
PLANS = load_plans()
NOON_S = 1_796_040_000  # 2026-11-30, UTC


def write_block(tx: Transaction, number: int) -> None:
    """Rows that hardly compress, and the checkpoint that speaks for them."""
    logs = [
        UndecodedRow(
            chain_id=1,
            block_number=number,
            log_index=at,
            address=address(at),
            topic0=hash32(number),
            topic_count=1,
            data=HexBytes("0x" + secrets.token_hex(1_000)),
        )
        for at in range(ROWS)
    ]
    tx.insert("undecoded", logs)
    write_checkpoint(tx, CheckpointRow(chain_id=1, stream="follow", number=number, hash=None))


def next_number(store: Store) -> int:
    """The block after the checkpoint."""
    found = list_checkpoints(store, chain_id=1)
    return found[0].number + 1 if found else 0


def say(word: object) -> None:
    """Print a word to the parent."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def ingest_for_ever() -> None:
    """Ingest blocks from the checkpoint on, reporting each after its commit, until a signal."""
    store = Store.open(PATH)
    while True:
        number = next_number(store)
        with store.transaction() as tx:
            write_block(tx, number)
        say(number)


def stop_inside_a_transaction() -> None:
    """Ingest one block, then report `inside` with a second one written but not committed."""
    store = Store.open(PATH)
    with store.transaction() as tx:
        write_block(tx, 0)
    with store.transaction() as tx:
        write_block(tx, 1)
        say("inside")
        sys.stdin.read()


def _largest_file() -> int:
    path = StoreFiles(prefix=PATH).serving
    return max(file.stat().st_size for file in path.parent.glob(f"{path.name}*"))


def run_out_of_disk() -> None:
    """Write until no file may grow more, then with room again; report each outcome."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    store = Store.open(PATH)
    for number in range(60):
        with store.transaction() as tx:
            write_block(tx, number)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_largest_file() + int(sys.argv[2]), hard))
    failures = 0
    while failures < 3:
        number = next_number(store)
        try:
            with store.transaction() as tx:
                write_block(tx, number)
        except StoreError:
            failures += 1
    say(next_number(store))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with store.transaction() as tx:
        write_block(tx, next_number(store))
    say(next_number(store))
    store.close()


def count_calls() -> None:
    """Count calls of key 1, their number given as the second argument."""
    ledger = ledger_at(PLACE)
    for _ in range(int(sys.argv[2])):
        ledger.spend(1, PLANS["pro"], NOON_S)
    ledger.close()


def count_calls_for_ever() -> None:
    """Count calls of key 1, reporting each after it was counted, until a signal."""
    ledger = ledger_at(PLACE)
    while True:
        say(ledger.spend(1, PLANS["admin"], NOON_S).usage.lifetime)


def spend_a_trial() -> None:
    """Count calls of key 1 on as many days as needed; report the number admitted."""
    ledger = ledger_at(PLACE)
    admitted = 0
    for day in range(5):
        while ledger.spend(1, PLANS["trial"], NOON_S - 86_400 * day).is_counted:
            admitted += 1
    say(admitted)
    ledger.close()


def hold_the_ledger() -> None:
    """Keeps the write lock until standard input ends."""
    file = SqliteFile(PATH, LEDGER_LAYOUT)
    with file.transaction():
        say("held")
        sys.stdin.read()
    file.close()
