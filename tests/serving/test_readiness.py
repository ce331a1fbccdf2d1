"""Protects /ready: it is true of a chain that moves and a store that can be written, else not."""

import shutil
import threading
from collections import namedtuple
from pathlib import Path

import pytest

from api.deps import StoreState
from api.readiness import LEAST_FREE_BYTES, chain_state, store_state
from api.routes import health
from assay.service import process_state
from assay.service.process_state import OneLook
from core.evm.primitives import BlockRef, Hash32
from indexer.head.follower_status import FollowStatus
from sql.accounts.ledger import Ledger
from sql.engine.store import Store
from tests.harness.api.world import World, make_chain
from tests.harness.store.empty_files import new_ledger, new_store

NOW_S = 1_800_000_000.0

CHAIN = make_chain(1, "ethereum")

DiskUsage = namedtuple("DiskUsage", "total used free")


def status(
    *,
    behind_s: float = 0,
    stalled_s: float = 0,
    error: str | None = None,
    has_tip: bool = True,
    is_on_wrong_chain: bool = False,
) -> FollowStatus:
    zero = Hash32("0x" + "00" * 32)
    head = BlockRef(number=9, hash=zero, parent_hash=zero, time_s=int(NOW_S - behind_s))
    return FollowStatus(
        chain_id=1,
        head=head,
        tip=head if has_tip else None,
        updated_at_s=NOW_S - stalled_s,
        last_error=error,
        is_on_wrong_chain=is_on_wrong_chain,
    )


@pytest.mark.parametrize(
    ("known", "is_ready", "reason"),
    [
        (status(), True, ""),
        (status(behind_s=290, stalled_s=59), True, ""),
        (status(error="is dead"), True, "is dead"),
        (status(error="serves chain id 5", is_on_wrong_chain=True), False, "serves chain id 5"),
        (status(stalled_s=60), False, "the tip has not moved for a while"),
        (status(stalled_s=60, error="is dead"), False, "is dead"),
        (status(behind_s=600), False, "the node's newest block is 10 minutes old"),
        (status(has_tip=False), False, ""),
        (None, False, "starting"),
    ],
)
def test_a_chain_is_ready_while_it_moves(
    known: FollowStatus | None, is_ready: bool, reason: str
) -> None:
    state = chain_state(CHAIN, known, now_s=NOW_S)
    assert (state.is_ready, state.reason) == (is_ready, reason)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Store, Ledger]:
    return new_store(tmp_path / "store"), new_ledger(tmp_path / "ledger.sqlite")


def test_files_that_answer_are_ready(files: tuple[Store, Ledger]) -> None:
    assert store_state(*files) == StoreState(is_ready=True)


@pytest.mark.parametrize("broken", [0, 1])
def test_a_closed_file_is_not(files: tuple[Store, Ledger], broken: int) -> None:
    files[broken].close()
    state = store_state(*files)
    assert not state.is_ready
    assert state.reason


@pytest.mark.parametrize(("free", "is_ready"), [(LEAST_FREE_BYTES, True), (1 << 20, False)])
def test_a_full_disk_is_not(
    files: tuple[Store, Ledger], monkeypatch: pytest.MonkeyPatch, free: int, is_ready: bool
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: DiskUsage(1 << 40, 0, free))
    state = store_state(*files)
    assert (state.is_ready, "1 MB" in state.reason) == (is_ready, not is_ready)
    monkeypatch.undo()
    assert store_state(*files).is_ready


async def test_ready_says_what_is_wrong_with_the_store(world: World) -> None:
    broken = StoreState(is_ready=False, reason="the disk is full")
    world.states = (chain_state(CHAIN, status(), now_s=NOW_S),)
    client = world.client(read_store_state=lambda: broken)
    answer = await client.get("/ready")
    assert answer.status_code == 503
    assert answer.json()["store"] == {"is_ready": False, "reason": "the disk is full"}


async def test_ready_does_not_wait_for_a_store_that_hangs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = threading.Event()
    monkeypatch.setattr(health, "_STORE_WITHIN_S", 0.01)

    def hang() -> StoreState:
        released.wait(30)
        return StoreState(is_ready=True)

    try:
        answer = await world.client(read_store_state=hang).get("/ready")
    finally:
        released.set()
    assert answer.status_code == 503
    assert answer.json()["store"]["reason"] == "no answer within 0.01 s"


@pytest.mark.parametrize(
    ("must_follow", "code"),
    [
        (None, 503),
        (frozenset(), 200),
        (frozenset({"ethereum"}), 200),
        (frozenset({"ethereum", "chain_56"}), 503),
    ],
)
async def test_ready_depends_on_the_chains_that_the_process_follows(
    world: World, must_follow: frozenset[str] | None, code: int
) -> None:
    stale = chain_state(make_chain(56, "chain_56"), None, now_s=NOW_S)
    world.states = (chain_state(CHAIN, status(), now_s=NOW_S), stale)
    answer = await world.client(must_follow=must_follow).get("/ready")
    assert answer.status_code == code
    assert [chain["is_ready"] for chain in answer.json()["chains"]] == [True, False]


# --- store look ---------------------------------------------------------------------------------


def test_looks_that_do_not_end_are_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_state, "_LOOK_WITHIN_S", 0.1)
    begun, go_on = threading.Semaphore(0), threading.Event()

    def silent() -> StoreState:
        begun.release()
        go_on.wait(10)
        return StoreState(is_ready=True)

    look = OneLook(silent)
    first = threading.Thread(target=look)
    first.start()
    assert begun.acquire(timeout=10)
    assert not look().is_ready
    assert not begun.acquire(blocking=False)
    go_on.set()
    first.join()
    assert look().is_ready
