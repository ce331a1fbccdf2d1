"""Protects which chains a process without a node serves: those that another process has one for."""

from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

from sql.engine.postgres.chain_registry import ChainRegistry, FleetChain
from sql.engine.postgres.single_statements import SingleStatements
from tests.harness.parts.empty_databases import EmptyDatabases


class Deployment:
    """One database, and its registry."""

    def __init__(self, url: str, statements: SingleStatements) -> None:
        self.url = url
        self.registry = ChainRegistry(statements)

    def pass_time(self, days: float) -> None:
        """Age all reports by some days."""
        statement = """
            update fleet_chain set renewed_at = renewed_at - %(days)s * interval '1 day',
                priced_at = priced_at - %(days)s * interval '1 day'
        """
        with psycopg.connect(self.url) as connection:
            connection.execute(statement, {"days": days})


@pytest.fixture
def deployment(empty_databases: EmptyDatabases) -> Iterator[Deployment]:
    with empty_databases.lent() as url, closing(SingleStatements(url)) as statements:
        yield Deployment(url, statements)


def chains(deployment: Deployment) -> dict[int, float | None]:
    return {one.chain_id: one.native_usd for one in deployment.registry.chains(priced_s=3_600.0)}


def test_a_chain_is_there_once_whatever_its_processes_do(deployment: Deployment) -> None:
    assert deployment.registry.chains() == []
    deployment.registry.renew("follow", {56: None, 1: None})
    deployment.registry.renew("analyse", {1: 2_500.0, 10: None})
    assert chains(deployment) == {1: 2_500.0, 10: None, 56: None}
    assert deployment.registry.chains()[0] == FleetChain(chain_id=1, native_usd=None)


def test_a_price_stays_until_it_is_old(deployment: Deployment) -> None:
    deployment.registry.renew("analyse", {1: 2_500.0})
    deployment.registry.renew("analyse", {1: None})  # another process, which knows none
    assert chains(deployment) == {1: 2_500.0}
    deployment.pass_time(0.1)
    deployment.registry.renew("analyse", {1: None})
    assert chains(deployment) == {1: None}
    deployment.registry.renew("analyse", {1: 2_600.0})
    assert chains(deployment) == {1: 2_600.0}


def test_a_chain_that_was_taken_out_is_forgotten_after_a_week(deployment: Deployment) -> None:
    deployment.registry.renew("follow", {1: None, 56: None})
    deployment.pass_time(6.9)
    assert chains(deployment) == {1: None, 56: None}
    deployment.registry.renew("analyse", {56: None})
    deployment.pass_time(0.2)
    assert chains(deployment) == {56: None}
