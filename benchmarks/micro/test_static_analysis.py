"""Cost of the static analysis of one new code.

The codes are copies of cases (solc 0.8, optimised), so that two commits time the same input.
"""

from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from analysis.static.analyse_code import analyse_code

CODES = sorted((Path(__file__).parent / "codes").glob("*.hex"))


@pytest.mark.parametrize("path", CODES, ids=lambda path: path.stem)
def test_analyse_code(benchmark: BenchmarkFixture, path: Path) -> None:
    code = bytes.fromhex(path.read_text(encoding="ascii"))
    assert benchmark(analyse_code, code).findings
