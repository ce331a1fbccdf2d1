"""Protects the proof of custody: honest code of any compiler is proved to need the holder's
consent."""

from typing import Final

import pytest

from analysis.static.analyse_code import analyse_code
from analysis.static.evm.path_state import TRANSFER_FROM
from tests.harness.cases.cases import Case, load_cases
from tests.harness.cases.cases_compile import BUILDS, HAS_VYPER, Build, builds_of, runtime_of

_BUILDS: Final = [build for build in BUILDS if build.name in ("0.4", "0.8-ir", "vyper")]
_HONEST: Final = [
    pytest.param(
        *(case, build),
        id=f"{case.name}-{build.name}",
        # In CI each case by one of its builds, in turn.
        marks=() if number % len(builds) == at else pytest.mark.exhaustive,
    )
    for number, case in enumerate(load_cases())
    for builds in [[build for build in _BUILDS if build in builds_of(case)]]
    for at, build in enumerate(builds)
]


_NOT_COVERED: Final = frozenset({"BurnTax", "DebitMore", "ReflectedPosition", "TwoBooks"})
"""Cases without proof of consent.

They take more from the holder than the allowance is lowered by, or keep two ledgers with the
allowance in one.
"""


_NOT_PROVED: Final = frozenset(
    {
        ("RebasingOptOut", "0.4"),
        ("RebasingOptOut", "0.8-ir"),
        ("ReflectionTemplate", "0.8-ir"),
        ("ScaledAmount", "0.4"),
        ("ScaledAmount", "0.8-ir"),
    }
)
"""Honest cases beyond the proof: words of merged paths, and scaled amounts."""


@pytest.mark.parametrize(("case", "build"), _HONEST)
def test_spending_is_proved_to_be_covered_by_an_allowance(case: Case, build: Build) -> None:
    if build.package == "vyper" and not HAS_VYPER:
        pytest.skip("Vyper is not installed; run `make setup`")
    hints = analyse_code(runtime_of(case, build)).hints
    is_open = case.name in _NOT_COVERED or (case.name, build.name) in _NOT_PROVED
    writers = [write.selector for write in hints.open_writes]
    assert (TRANSFER_FROM in writers) is is_open
