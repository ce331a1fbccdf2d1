"""Protects a chain's rows from a second follower."""

import subprocess
import sys
from pathlib import Path

import pytest

from core.errors import StoreError
from sql.chain.follow_lock import hold_follow_lock
from sql.engine.store_files import StoreFiles

pytestmark = pytest.mark.process


def test_a_chain_has_one_follower_at_a_time(tmp_path: Path) -> None:
    files = StoreFiles(prefix=tmp_path / "store")
    with hold_follow_lock(files, 1):
        with (
            pytest.raises(StoreError, match="another process follows chain 1"),
            hold_follow_lock(files, 1),
        ):
            pass
        with hold_follow_lock(files, 56):
            pass
    with hold_follow_lock(files, 1):
        pass


def test_a_follower_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    files = StoreFiles(prefix=tmp_path / "store")
    hold = (
        "import sys; from pathlib import Path; from sql.chain.follow_lock import hold_follow_lock;"
        "from sql.engine.store_files import StoreFiles;"
        "files = StoreFiles(prefix=Path(sys.argv[1]));"
        "lock = hold_follow_lock(files, 1); lock.__enter__(); print('held', flush=True);"
        "sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, str(files.prefix)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as owner:
        assert owner.stdout
        assert owner.stdout.readline() == b"held\n"
        with pytest.raises(StoreError, match=f"process {owner.pid}"), hold_follow_lock(files, 1):
            pass
        owner.kill()
    with hold_follow_lock(files, 1):
        pass
