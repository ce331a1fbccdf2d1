"""Protects docs/use/analysts.md, by following it word by word while another writes the store."""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.lake.open_store import write_open_script
from tests.analyst.conftest import fill
from tests.harness.lake.serving_files import new_serving
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

PAGE = (ROOT / "docs" / "use" / "analysts.md").read_text(encoding="utf-8")
BLOCKS = [tuple(found) for found in re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.S | re.M)]
READ = re.compile(r"^\.read (\S+)$", re.M)


def test_the_page_names_the_version_of_duckdb() -> None:
    assert f"duckdb=={duckdb.__version__}" in PAGE


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder with a store that a process is writing, and `assay` on the path."""
    folder = tmp_path_factory.mktemp("desk")
    files = new_serving(folder / "assay.duckdb")
    fill(files)
    write_open_script(files)
    for notebook in (ROOT / "docs" / "notebooks").glob("*.py"):
        (folder / notebook.name).write_bytes(notebook.read_bytes())
    script = folder / "assay"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m assay "$@"\n', encoding="utf-8")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    store = Store.open(folder / "assay.duckdb")
    with store.transaction() as tx:
        tx.execute("report_history/delete_state", token_id=99)
        yield folder
    store.close()


def shell(desk: Path, text: str) -> None:
    path = f"{desk}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {"PATH": path, "PYTHONPATH": str(ROOT), "ASSAY_STORE": "assay.duckdb"}
    subprocess.run(["/bin/sh", "-ec", text], cwd=desk, env=env, check=True, timeout=120)


def in_duckdb(desk: Path, text: str) -> None:
    """As DuckDB's own shell does, which has `.read`."""
    script = READ.sub(lambda found: (desk / found[1]).read_text(encoding="utf-8"), text)
    script = script.replace("'export/", f"'{desk}/export/")
    rows = duckdb.connect().execute(script).fetchall()
    assert rows


def in_python(desk: Path, text: str) -> None:
    subprocess.run([sys.executable, "-c", text], cwd=desk, check=True, timeout=120)


RUN = {"sh": shell, "sql": in_duckdb, "python": in_python}


def test_the_page_has_blocks_of_every_kind() -> None:
    assert {kind for kind, _ in BLOCKS} == set(RUN)


def test_the_page_can_be_followed(desk: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """From top to bottom, as later blocks read what earlier ones wrote."""
    for kind, text in BLOCKS:
        RUN[kind](desk, text)
    shown = capfd.readouterr().out
    assert "TKN" in shown
    assert "warning" in shown
    assert "launches_per_hour" in shown
    written = {path.name for path in desk.iterdir()}
    assert {"dangers.csv", "flags.parquet", "export"} <= written
    assert len(list((desk / "pictures").glob("*.png"))) == 10
    assert len(list((desk / "export").glob("v_transfers/run=*/*/*/*.parquet"))) == 1
    assert StoreFiles(prefix=desk / "assay.duckdb").open_script.exists()
