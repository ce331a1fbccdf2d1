"""Every static field is right on every case, by every compiler that takes the case's source."""

from collections.abc import Iterator
from functools import cache
from typing import Final

import pytest
from _pytest.mark import ParameterSet

from analysis.static.analyse_code import analyse_code
from tests.conftest import SAMPLE
from tests.harness.cases.cases import (
    CASES,
    FIELDS,
    LISTS,
    NOW_IN_FORCE,
    Case,
    Expectation,
    Label,
    Miss,
    load_cases,
    parse_expectation,
)
from tests.harness.cases.cases_compile import (
    BUILDS,
    HAS_VYPER,
    Build,
    builds_of,
    name_of,
    runtime_of,
)

_UNANSWERED: Final = (None, "pending")
_FOLDERS: Final = {"found": (True,), "absent": (False,), "unknown": (None,)}

_ONE_IN: Final = 3


def chosen_of(number: int, case: Case) -> Iterator[ParameterSet]:
    """Parameters for the builds of a case: in CI that of the fast tier and a third, in turn."""
    builds = builds_of(case)
    for at, build in enumerate(builds):
        is_usual = build.name == SAMPLE or at % _ONE_IN == number % min(_ONE_IN, len(builds))
        yield pytest.param(case, build, marks=() if is_usual else pytest.mark.exhaustive)


_ALL: Final = [each for number, case in enumerate(load_cases()) for each in chosen_of(number, case)]
_MISSES: Final = [
    (case, field, miss) for case in load_cases() for miss in case.missed for field in miss.fields
]


@cache
def answers_of(runtime: bytes) -> dict[str, object]:
    """The engine's answers, by field. The one place that knows where the engine is."""
    findings = analyse_code(runtime).findings
    answers = {field: getattr(findings, field) for field in FIELDS}
    return {
        field: frozenset(answer) if isinstance(answer, tuple) else answer
        for field, answer in answers.items()
    }


def is_right(field: str, answer: object, label: Label) -> bool:
    """True if an answer is acceptable."""
    if answer in _UNANSWERED and field in NOW_IN_FORCE:
        return True
    return (None if answer == "pending" else answer) == label


def needs_its_compiler(build: Build) -> None:
    if build.package == "vyper" and not HAS_VYPER:
        pytest.skip("Vyper is not installed; run `make setup`")


@pytest.mark.parametrize(("case", "build"), _ALL, ids=name_of)
def test_every_label_is_found(case: Case, build: Build) -> None:
    needs_its_compiler(build)
    answers = answers_of(runtime_of(case, build))
    wrong = [
        f"{field}: {answers[field]}, not {label}"
        for field, label in case.labels.items()
        if not case.misses(field, build.name) and not is_right(field, answers[field], label)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("case", "field", "miss"), _MISSES, ids=name_of)
@pytest.mark.xfail(reason="a known blind spot", strict=True)
def test_what_is_missed_is_still_missed_by_every_build(case: Case, field: str, miss: Miss) -> None:
    label = case.labels[field]
    builds = [build for build in builds_of(case) if case.misses(field, build.name)]
    for build in builds:
        needs_its_compiler(build)
    answers = {build.name: answers_of(runtime_of(case, build))[field] for build in builds}
    assert any(is_right(field, answer, label) for answer in answers.values()), miss.why


def test_a_case_lies_in_the_folder_of_its_label() -> None:
    for case in load_cases():
        label = case.labels[case.field]
        if case.field not in LISTS:
            assert label in _FOLDERS[case.kind], case.source


def test_every_field_has_cases_of_both_kinds() -> None:
    shown = {(case.field, case.kind) for case in load_cases()}
    for field in set(FIELDS) - set(NOW_IN_FORCE):
        assert {(field, "found"), (field, "absent")} <= shown, field


def test_every_known_miss_names_a_label_and_a_build() -> None:
    names = {build.name for build in BUILDS}
    for case in load_cases():
        for miss in case.missed:
            assert set(miss.fields) <= set(case.labels), case.source
            assert set(miss.builds) <= names, case.source


def test_every_name_is_given_once() -> None:
    names = [case.name for case in load_cases()]
    assert len(set(names)) == len(names)
    assembled = {case.name for case in load_cases() if case.source.suffix == ".evm"}
    assert {path.stem for path in CASES.glob("*/*/*.toml")} == assembled


def test_an_expectation_is_read_to_labels_and_known_misses() -> None:
    lines = (
        "about: A proxy.",
        "expect: is_proxy",
        "balance_update_function: none",
        "missed: is_proxy, external_call by 0.8, 0.8-ir: its target is computed",
        "missed: timebomb: the clock is read elsewhere",
    )
    assert parse_expectation(lines) == Expectation(
        about="A proxy.",
        holds=("is_proxy",),
        balance_update_function=(),
        missed=(
            Miss(
                fields=("is_proxy", "external_call"),
                builds=("0.8", "0.8-ir"),
                why="its target is computed",
            ),
            Miss(fields=("timebomb",), why="the clock is read elsewhere"),
        ),
    )
