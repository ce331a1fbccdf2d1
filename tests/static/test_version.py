"""Protects the name of the analysis: it covers every source that an answer depends on."""

from pathlib import Path

import pytest

from analysis.static import engine_version
from analysis.static.engine_version import SOURCES, analysis_version
from tests.house.sources import PACKAGES, ROOT, imported, module_name, python_files

IN_THE_SHAPE = {
    "core.report.report",
    "core.report.fields.field",
    "core.report.fields.static_findings",
}
"""Modules of which only keys and types of structs are used, which are part of the hash."""


def modules_of(start: str) -> set[str]:
    """Our modules that one of them needs."""
    known = {module_name(path): path for path in python_files(*PACKAGES)}
    found, waiting = set[str](), [start]
    while waiting:
        module = waiting.pop()
        if module in found or module in IN_THE_SHAPE:
            continue
        found.add(module)
        for name, _ in imported(known[module]):
            waiting += [each for each in (name, name.rpartition(".")[0]) if each in known]
    return found


def test_every_module_that_examining_needs_is_covered() -> None:
    covered = {module_name(path) for pattern in SOURCES for path in ROOT.glob(pattern)}
    packages = {"analysis", "config", "core"}
    needed = modules_of("analysis.static.analyse_code")
    assert len(needed) > len(SOURCES)
    assert needed <= covered | packages


@pytest.mark.parametrize("pattern", SOURCES)
def test_a_change_in_any_of_them_changes_the_name(
    pattern: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in SOURCES:
        for path in ROOT.glob(each):
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())
    unhashed = analysis_version.__wrapped__
    original = unhashed()
    monkeypatch.setattr(engine_version, "_ROOT", tmp_path)
    assert unhashed() == original
    changed = sorted(tmp_path.glob(pattern))[-1]
    changed.write_bytes(changed.read_bytes() + b"\n")
    assert unhashed() != original
