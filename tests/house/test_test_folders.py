"""Protects the order of tests: folders by subject, and shared code in tests/harness."""

from tests.house.sources import ROOT, imported, python_files

SHARED = ("harness", "house", "drills")
"""Folders of modules that are not tests: `house` has helpers of its tests, `drills` programs."""


def test_shared_modules_are_in_the_harness() -> None:
    wrong = [
        path.relative_to(ROOT).as_posix()
        for path in python_files("tests")
        if path.relative_to(ROOT / "tests").parts[0] not in SHARED
        and not path.name.startswith("test_")
        and path.name != "conftest.py"
    ]
    assert not wrong


def test_no_test_module_is_imported() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in python_files("tests", "benchmarks")
        for name, line in imported(path)
        if name.startswith("tests.") and any(part.startswith("test_") for part in name.split("."))
    ]
    assert not wrong, "\n".join(wrong)
