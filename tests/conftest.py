"""Marks, order and Hypothesis profiles of all tests; fixtures that every folder may use.

A test has the marks of the fixtures it uses (`FIXTURES`) and those that its module declares in
`pytestmark`. `make test` runs tests without a mark.
"""

import gc
import os
from collections.abc import Generator, Iterator
from contextlib import closing

import pytest
from hypothesis import settings

from tests.harness.browser.chromium import Chromium, find_chromium
from tests.harness.chain.compiled_contracts import fill_cache
from tests.harness.examples import NIGHTLY, is_night
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.postgres_server import PostgresServer, running_postgres

pytest_plugins = (
    "tests.harness.api.fixtures",
    "tests.harness.chain.fixtures",
    "tests.harness.fast_tier",
)

FIXTURES = {
    "anvil_node": "node",
    "bare_node": "node",
    "chromium": "process",
    "live": "node",
    "other_node": "other_nodes",
    "reference": "other_nodes",
    "postgres_server": "fleet",
    "running_provider": "process",
}
"""Fixtures that start a process, with the mark of the tests that use them."""

ASKED_FOR = ("other_nodes", "second_engine", "drill", "exhaustive")
"""Marks of tests that run where they are named: by `make test-nodes`, `make test-fleet` and
`make test-long`."""

DEAR = frozenset({"stage", "study"})
"""Fixtures of a module that take more than ten seconds."""

LONG = frozenset(
    {
        "tests/static/test_cases.py",
        "tests/static/test_blank_immutables.py",
        "tests/static/test_leads.py",
        "tests/static/test_execution.py",
    }
)
"""Modules with an example for each case and build."""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """A browser. Where none is installed, tests of pages in it are skipped; CI installs it."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium on this machine (apt-get install chromium)")
    browser = Chromium(executable)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One server for all tests of a worker, with a database for each."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def empty_databases(postgres_server: PostgresServer) -> Iterator[EmptyDatabases]:
    """Databases for one test at a time, each empty."""
    with closing(EmptyDatabases(postgres_server)) as databases:
        yield databases


SAMPLE = "0.8-opt"
"""The build that stands for the others in the fast tier."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark each test by its needs, and leave out those with a separate target."""
    for item in items:
        if isinstance(item, pytest.Function):
            for mark in needs_of(item):
                item.add_marker(mark)
    for mark in ASKED_FOR:
        if mark not in config.option.markexpr:
            items[:] = [item for item in items if item.get_closest_marker(mark) is None]
    items.sort(key=order_of)


def order_of(item: pytest.Item) -> int:
    """Order of a test: expensive set-up first.

    A worker begins with one part of the tests in order and gives away the end of the rest, so such
    a module stays with one worker.
    """
    if isinstance(item, pytest.Function) and not DEAR.isdisjoint(item.fixturenames):
        return -1
    if item.get_closest_marker("node") or item.get_closest_marker("compiler"):
        return 0
    return 1 if item.get_closest_marker("process") or item.get_closest_marker("fleet") else 2


def needs_of(item: pytest.Function) -> set[str]:
    """Names of the marks."""
    found = {FIXTURES[name] for name in item.fixturenames if name in FIXTURES}
    path = item.path.relative_to(item.config.rootpath).as_posix()
    if path in LONG and SAMPLE not in item.name:
        found.add("long")
    return found


def pytest_sessionstart(session: pytest.Session) -> None:
    """Put compiled contracts where the compiler keeps its output; by night all are compiled."""
    if not hasattr(session.config, "workerinput") and not is_night():
        fill_cache()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector: little is freed, and it takes a quarter less time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Take modules and tests out of garbage collection: they live until the end.

    Then collect less often: it takes a tenth of the tests' processor time otherwise.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


# CI must judge the same commit the same way twice. Local runs explore: a few examples each, as many
# as CI with `make test-all`. A nightly run has time for ten times as many. There are no deadlines,
# as the time of an example depends on the machine.
settings.register_profile("fast", max_examples=10, deadline=None)
settings.register_profile("quick", max_examples=25, deadline=None)
settings.register_profile("explore", deadline=None)
settings.register_profile(NIGHTLY, max_examples=1_000, deadline=None)
settings.register_profile("ci", max_examples=30, derandomize=True, deadline=None)
settings.load_profile("quick")
if os.environ.get("CI"):
    settings.load_profile("ci")
