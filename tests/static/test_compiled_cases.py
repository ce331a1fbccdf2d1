"""The archive of compiled cases equals the compilers' output."""

import pytest

from tests.harness.cases.cases_compile import HAS_VYPER, PACKAGES, compile_all, digests_of
from tests.harness.cases.compiled_cases import read_archive
from tests.harness.examples import is_night

pytestmark = pytest.mark.compiler

SAMPLED = 1 if is_night() else 128
"""Interval of cases that are compiled again.

A digest has source, settings and compiler, so the only other change is in the compiler's
invocation, which every case shows.
"""


@pytest.mark.parametrize("package", PACKAGES)
def test_the_archive_is_current(package: str) -> None:
    """If it is not: `python -m tests.harness.cases.compiled_cases`."""
    if package == "vyper" and not HAS_VYPER:
        pytest.skip("Vyper is not installed; run `make setup`")
    kept, requested = read_archive(), digests_of(package)
    missing, sample = requested - kept.keys(), sorted(requested & kept.keys())[::SAMPLED]
    compiled = compile_all(package, only={*missing, *sample})
    made = {digest: code.hex() for digest, code in compiled.items()}
    assert made == {digest: kept[digest] for digest in sample}


@pytest.mark.skipif(not HAS_VYPER, reason="Vyper is not installed; run `make setup`")
def test_the_archive_keeps_no_code_of_a_source_that_is_gone() -> None:
    assert read_archive().keys() <= {key for package in PACKAGES for key in digests_of(package)}
