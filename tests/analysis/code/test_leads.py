"""Protects honest code from being called shaped like a bypass, whoever compiled it."""

from typing import Final

import pytest

from analysis.code.examine import examine
from tests.analysis.cases import Case, load_cases
from tests.analysis.cases_compile import BUILDS, HAS_VYPER, Build, builds_of, runtime_of

_BUILDS: Final = [build for build in BUILDS if build.name in ("0.4", "0.8-ir", "vyper")]
_HONEST: Final = [
    (case, build) for case in load_cases() for build in _BUILDS if build in builds_of(case)
]


@pytest.mark.parametrize(
    ("case", "build"), _HONEST, ids=[f"{case.name}-{build.name}" for case, build in _HONEST]
)
def test_code_that_asks_for_allowances_has_no_such_shape(case: Case, build: Build) -> None:
    if build.package == "vyper" and not HAS_VYPER:
        pytest.skip("Vyper is not installed; run `make setup`")
    assert not examine(runtime_of(case, build)).leads.skips_allowance
