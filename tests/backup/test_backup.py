"""Protects back-ups: a copy made during writes is a store of one moment."""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytest

from core.errors import StoreError
from sql.accounts.ledger import Ledger
from sql.backup.make_backup import make_backup
from sql.backup.manifest import LAKE, MANIFEST, SERVING
from sql.backup.restore import restore_backup
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from tests.harness.fault_simulation.expected_rows import branch_differences
from tests.harness.fault_simulation.real_kills import (
    FollowedChain,
    come_level,
    followed_chain,
    go_on,
    start_follower,
    tip_of,
    wait_until,
)
from tests.harness.store.empty_files import new_ledger, new_store


@contextmanager
def growing(world: FollowedChain) -> Iterator[None]:
    """The chain goes on, and forks, while a process follows it and compacts."""
    process = start_follower(world.url, world.folder / "store", world.errors)
    stop = threading.Event()

    def grow() -> None:
        while not stop.wait(0.05):
            go_on(world.model, world.dice)

    grower = threading.Thread(target=grow)
    try:
        world.model.grow(1)
        head = world.model.head.hash
        wait_until(lambda: tip_of(world.folder / "store") == head, process)
        grower.start()
        yield
        assert process.poll() is None
    finally:
        stop.set()
        if grower.is_alive():
            grower.join()
        process.kill()
        process.wait()


def test_a_backup_of_a_store_in_use_is_a_store_of_one_moment() -> None:
    """And goes on from there as the first would have done."""
    with followed_chain(seed=7) as world:
        files = StoreFiles(prefix=world.folder / "store")
        folders = [world.folder / f"backup-{at}" for at in range(4)]
        with growing(world):
            until(lambda: any(files.lake_data.rglob("*.parquet")))
            for folder in folders:
                number = world.model.head.number
                make_backup(files, world.folder / "no.ledger", folder, now_s=0)
                until(partial(is_beyond, world, number))
        restored = [StoreFiles(prefix=folder / "again" / "store") for folder in folders]
        for folder, again in zip(folders, restored, strict=True):
            restore_backup(folder, again, world.folder / "none")
            assert branch_differences(again.prefix, world.model) == []
        last = restored[-1]
        assert any(last.lake_data.rglob("*.parquet"))
        come_level(world.url, last.prefix, world.model, world.errors)
        assert branch_differences(last.prefix, world.model) == []


def is_beyond(world: FollowedChain, number: int) -> bool:
    tip = tip_of(world.folder / "store")
    return any(block.hash == tip for block in world.model.canonical[number + 1 :])


def until(is_true: Callable[[], bool]) -> None:
    for _ in range(1_200):
        if is_true():
            return
        time.sleep(0.05)
    pytest.fail("the process does not go on")


@pytest.fixture
def files(tmp_path: Path) -> StoreFiles:
    new_store(tmp_path / "store").close()
    return StoreFiles(prefix=tmp_path / "store")


def make(files: StoreFiles, into: Path, *, within_s: float = 0.0) -> None:
    make_backup(files, files.prefix.with_name("ledger"), into, now_s=0, within_s=within_s)


def test_keys_come_along_and_files_are_their_owners(files: StoreFiles, tmp_path: Path) -> None:
    new_ledger(tmp_path / "ledger").close()
    with closing(sqlite3.connect(tmp_path / "ledger")) as ledger:
        ledger.execute("pragma user_version")
    make(files, tmp_path / "backup")
    again = StoreFiles(prefix=tmp_path / "new" / "store")
    restore_backup(tmp_path / "backup", again, tmp_path / "new" / "ledger")
    Store.open(again.prefix, must_exist=True).close()
    Ledger.open(tmp_path / "new" / "ledger").close()
    for folder in (tmp_path / "backup", tmp_path / "new"):
        for path in folder.glob("*.sqlite"):
            assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("name", [SERVING, MANIFEST])
@pytest.mark.parametrize("harm", ["removed", "cut", "changed"])
def test_a_damaged_backup_is_refused(
    files: StoreFiles, tmp_path: Path, name: str, harm: str
) -> None:
    make(files, tmp_path / "backup")
    path = tmp_path / "backup" / name
    content = path.read_bytes()
    path.unlink()
    if harm != "removed":
        path.write_bytes(content[:-1] + (b"" if harm == "cut" else b"?"))
    with pytest.raises(StoreError):
        restore_backup(tmp_path / "backup", StoreFiles(prefix=tmp_path / "new"), tmp_path / "l")
    assert not (tmp_path / "new.serving.sqlite").exists()


def test_nothing_is_overwritten(files: StoreFiles, tmp_path: Path) -> None:
    make(files, tmp_path / "backup")
    with pytest.raises(StoreError, match="already"):
        make(files, tmp_path / "backup")
    with pytest.raises(StoreError, match="already"):
        restore_backup(tmp_path / "backup", files, tmp_path / "l")


def test_a_manifest_cannot_name_files_elsewhere(files: StoreFiles, tmp_path: Path) -> None:
    make(files, tmp_path / "backup")
    manifest = tmp_path / "backup" / MANIFEST
    manifest.write_text(manifest.read_text().replace(SERVING, "../store.serving.sqlite"))
    with pytest.raises(StoreError, match="not in the back-up"):
        restore_backup(tmp_path / "backup", StoreFiles(prefix=tmp_path / "new"), tmp_path / "l")


def test_a_backup_that_was_ended_leaves_no_folder_and_the_next_works(
    files: StoreFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(os, "fsync", break_off)
        make(files, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
    make(files, tmp_path / "backup")
    assert (tmp_path / "backup" / MANIFEST).exists()
    assert not (tmp_path / "backup" / LAKE).exists()
    assert not (tmp_path / "backup.unfinished").exists()
