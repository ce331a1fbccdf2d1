"""Fast tier: a selection of tests by recorded cost, within a budget of processor time.

`make durations` runs every test that needs no node, compiler, server or process, and writes
`tests/durations.json`. `make test` runs the cheap tests, one test of each module at least, and the
next cheapest until the budget is spent. With paths as arguments, all tests of these paths run.
"""

import json
import os
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

RECORD = Path(__file__).parents[1] / "durations.json"

BUDGET_S = 45.0
"""Processor time of all selected tests, besides collection and reports."""

CHEAP_S = 0.05
"""A function whose cases take less in sum is not recorded, and always selected."""

UNRECORDED_S = 0.01
"""Mean of the functions that are not recorded."""

_BEGUN_S = pytest.StashKey[float]()
_SKIPPED = pytest.StashKey[frozenset[str]]()

Costs = dict[str, dict[str, float]]
"""Seconds of processor time for all cases of a test function, by module and function."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fast tier")
    group.addoption("--fast", action="store_true", help="select tests by recorded cost")
    group.addoption("--record-durations", action="store_true", help=f"write {RECORD.name}")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.record_durations and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Recorder(config.rootpath))


def selects(config: pytest.Config) -> bool:
    """True if the run is of the whole fast tier."""
    chosen = config.args_source is not pytest.Config.ArgsSource.ARGS
    return bool(config.option.fast) and chosen


def load_record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip modules all of whose tests need a node, a compiler, a server or a process."""
    if not selects(config) or collection_path.suffix != ".py":
        return None
    skipped = config.stash.setdefault(_SKIPPED, frozenset(load_record()["skipped"]))
    return True if relative(collection_path, config) in skipped else None


def relative(path: Path, config: pytest.Config) -> str:
    return path.relative_to(config.rootpath).as_posix()


def split_id(nodeid: str) -> tuple[str, str]:
    """Return module and function of a test's id."""
    module, _, name = nodeid.partition("::")
    return module, name.partition("[")[0]


def choose_functions(costs: Costs, functions: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """Choose the functions of the fast tier: cheap ones, one a module, then by cost."""
    known = sorted(
        (costs.get(module, {}).get(name, UNRECORDED_S), module, name) for module, name in functions
    )
    chosen: set[tuple[str, str]] = set()
    covered: set[str] = set()
    spent_s = 0.0
    for cost_s, module, name in known:
        if cost_s < CHEAP_S or module not in covered:
            chosen.add((module, name))
            covered.add(module)
            spent_s += cost_s
    for cost_s, module, name in known:
        if (module, name) not in chosen and spent_s + cost_s <= BUDGET_S:
            chosen.add((module, name))
            spent_s += cost_s
    return chosen


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not selects(config):
        return
    chosen = choose_functions(load_record()["costs"], {split_id(item.nodeid) for item in items})
    left = [item for item in items if split_id(item.nodeid) not in chosen]
    items[:] = [item for item in items if split_id(item.nodeid) in chosen]
    config.hook.pytest_deselected(items=left)


class Recorder:
    """Writes the record when a run ends."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._costs: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        cost_s = dict(report.user_properties).get("cost_s")
        if isinstance(cost_s, float):
            module, name = split_id(report.nodeid)
            self._costs[module][name] += cost_s

    def pytest_sessionfinish(self) -> None:
        modules = {path.relative_to(self._root).as_posix() for path in test_modules()}
        costs = {
            module: {
                name: round(cost_s, 2)
                for name, cost_s in sorted(found.items())
                if cost_s >= CHEAP_S
            }
            for module, found in sorted(self._costs.items())
        }
        record = {
            "costs": {module: found for module, found in costs.items() if found},
            "skipped": sorted(modules - set(self._costs)),
        }
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def test_modules() -> Iterable[Path]:
    return Path(__file__).parents[1].rglob("test_*.py")


def processor_time() -> float:
    """Seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[_BEGUN_S] = processor_time()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the processor time of a test and its fixtures to its last report."""
    report = yield
    if call.when == "teardown" and item.config.option.record_durations:
        report.user_properties.append(("cost_s", processor_time() - item.stash[_BEGUN_S]))
    return report
