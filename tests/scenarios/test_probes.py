"""Protects the committed code of our probes: it equals the compiler's output."""

import re
from pathlib import Path

import pytest

from analysis import probes
from assay.demo.compile import compile_runtime

pytestmark = pytest.mark.compiler

FOLDER = Path(probes.__file__).parent
SOURCES = sorted(FOLDER.glob("*.sol"))


def test_every_probe_has_its_source() -> None:
    assert SOURCES
    assert {path.stem for path in FOLDER.glob("*.hex")} == {path.stem for path in SOURCES}


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_committed_code_is_what_the_source_makes(source: Path) -> None:
    committed = probes.runtime(source.stem)
    assert re.fullmatch("0x(?:[0-9a-f]{2})+", committed)
    assert committed == "0x" + compile_runtime(source)
