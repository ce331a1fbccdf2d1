"""Compilers leave zeros in place of immutables: conditions on them remain conditions."""

import pytest

from analysis.static.analyse_code import analyse_code
from tests.harness.cases.cases import Case, load_cases
from tests.harness.cases.cases_compile import (
    BLANK,
    IMMUTABLE,
    Build,
    builds_of,
    name_of,
    runtime_of,
)

_CASES = {case.name: case for case in load_cases()}


def _blank(case: Case, build: Build) -> bytes:
    runtime = runtime_of(case, build)
    assert IMMUTABLE in runtime
    return runtime.replace(IMMUTABLE, BLANK)


def _builds(*names: str) -> list[tuple[Case, Build]]:
    return [(_CASES[name], build) for name in names for build in builds_of(_CASES[name])]


@pytest.mark.parametrize(
    ("case", "build"), _builds("ImmutableOwner", "HashesCompared"), ids=name_of
)
def test_an_owner_that_is_not_filled_in_is_an_owner(case: Case, build: Build) -> None:
    assert analyse_code(_blank(case, build)).findings.has_owner_functionality is True


@pytest.mark.parametrize(("case", "build"), _builds("ImmutableRouter"), ids=name_of)
def test_a_contract_that_is_not_filled_in_is_called(case: Case, build: Build) -> None:
    assert analyse_code(_blank(case, build)).findings.external_call is True


@pytest.mark.parametrize(("case", "build"), _builds("ImmutableImplementation"), ids=name_of)
def test_a_proxy_whose_implementation_is_not_filled_in_is_a_proxy(case: Case, build: Build) -> None:
    assert analyse_code(_blank(case, build)).findings.is_proxy is True
