"""Protects the fence, by the clock of the server, and the chains that other processes serve."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import StoreError
from sql.chain.blocks import read_checkpoint, write_checkpoint
from sql.engine.postgres.chain_registry import ChainRegistry, FleetChain
from sql.engine.postgres.fenced_database import FencedDatabase, LostLeaseError
from sql.engine.postgres.leases import Leases, LeaseTerm
from sql.engine.postgres.single_statements import SingleStatements
from sql.engine.store import SERVING
from sql.engine.table_rows import CheckpointRow
from tests.harness.examples import one_in
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.tcp_proxy import proxied

NAME = "follow:1"

SHORT_S = 0.2


@pytest.fixture
def url(empty_databases: EmptyDatabases) -> Iterator[str]:
    with empty_databases.lent() as lent:
        yield lent


@pytest.fixture
def leases(url: str) -> Iterator[Leases]:
    with closing(Leases(url, lease_s=SHORT_S)) as opened:
        yield opened


def fenced(url: str, term: LeaseTerm) -> FencedDatabase:
    return FencedDatabase(url, term, SERVING)


def taken(leases: Leases, name: str = NAME) -> LeaseTerm:
    """The lease, as soon as it can be had."""
    for _ in range(200):
        term = leases.take(name)
        if term is not None:
            return term
        time.sleep(0.02)
    raise AssertionError(name)


def expire(url: str) -> None:
    """As if its holders had been silent for long enough."""
    with psycopg.connect(url) as connection:
        connection.execute("update lease set expires_at = clock_timestamp() - interval '1 ms'")


def write(database: FencedDatabase, number: int) -> None:
    with database.transaction(chain_id=1) as tx:
        write_checkpoint(tx, CheckpointRow(chain_id=1, stream="follow", number=number, hash=None))


def written(database: FencedDatabase) -> int | None:
    with database.snapshot() as reader:
        found = read_checkpoint(reader, chain_id=1, stream="follow")
    return None if found is None else found.number


def test_a_lease_has_one_holder_until_it_is_silent_or_gives_it_up(url: str) -> None:
    with closing(Leases(url, lease_s=60)) as leases:
        first = leases.take(NAME)
        assert first is not None
        assert leases.take(NAME) is None
        assert taken(leases, "lake").token == first.token
        leases.give_up(first)
        second = leases.take(NAME)
        assert second is not None
        assert second.token == first.token + 1
        assert second.holder != first.holder
        assert not leases.renew(first)
        leases.give_up(first)
        assert leases.take(NAME) is None


def test_a_lease_ends_by_the_clock_of_the_server_unless_it_is_renewed(leases: Leases) -> None:
    first = taken(leases)
    until_s = time.monotonic() + 3 * SHORT_S
    while time.monotonic() < until_s:
        if leases.renew(first):
            other = leases.take(NAME)
            # A busy machine may be too late; then the lease is lost, and reported as lost.
            assert other is None or not leases.renew(first)
        time.sleep(SHORT_S / 10)
    assert taken(leases).token > first.token


def test_whoever_has_lost_the_lease_writes_nothing(url: str, leases: Leases) -> None:
    old = taken(leases)
    with closing(fenced(url, old)) as before:
        write(before, 1)
        new = taken(leases)
        with closing(fenced(url, new)) as after:
            with pytest.raises(LostLeaseError, match="has taken over: follow:1"):
                write(before, 2)
            assert written(before) == 1
            write(after, 3)
            assert written(before) == 3


def test_an_expired_lease_that_nobody_has_taken_still_writes(url: str, leases: Leases) -> None:
    term = taken(leases)
    with closing(fenced(url, term)) as database:
        expire(url)
        write(database, 1)
        assert leases.renew(term)
        write(database, 2)
        assert written(database) == 2


def test_a_holder_that_stops_in_a_transaction_is_ended_by_who_takes_over(
    url: str, leases: Leases
) -> None:
    old = taken(leases)
    with closing(fenced(url, old)) as before:
        transaction = before.transaction(chain_id=1)
        tx = transaction.__enter__()
        write_checkpoint(tx, CheckpointRow(chain_id=1, stream="follow", number=1, hash=None))
        began_s = time.monotonic()
        new = taken(leases)
        with closing(fenced(url, new)) as after:
            write(after, 2)
            assert time.monotonic() - began_s < 5
            with pytest.raises(StoreError):
                transaction.__exit__(None, None, None)
            assert written(after) == 2


def test_a_long_transaction_does_not_keep_its_holder_from_renewing(
    url: str, leases: Leases
) -> None:
    term = taken(leases)
    with closing(fenced(url, term)) as database, database.transaction(chain_id=1):
        assert leases.renew(term)


def test_a_holder_behind_a_silent_link_is_told_and_another_takes_over(url: str) -> None:
    port = int(str(psycopg.conninfo.conninfo_to_dict(url)["port"]))
    with (
        proxied(port) as proxy,
        closing(Leases(url.replace(str(port), str(proxy.port)), lease_s=SHORT_S)) as behind,
        closing(Leases(url, lease_s=SHORT_S)) as other,
    ):
        term = taken(behind)
        proxy.silence()
        assert taken(other).token == term.token + 1
        with pytest.raises(StoreError):
            behind.renew(term)
        proxy.silence(is_silent=False)
        assert not behind.renew(term)


def test_of_many_that_take_at_once_one_has_it(url: str) -> None:
    held_leases = [Leases(url, lease_s=60) for _ in range(6)]
    ready, terms = threading.Barrier(len(held_leases)), []

    def take(leases: Leases) -> None:
        ready.wait()
        terms.append(leases.take(NAME))

    threads = [threading.Thread(target=take, args=(leases,)) for leases in held_leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for leases in held_leases:
        leases.close()
    assert len([term for term in terms if term is not None]) == 1


STEPS = st.lists(
    st.tuples(st.sampled_from(("take", "renew", "give_up", "write", "expire")), st.integers(0, 1)),
    max_size=30,
)


@given(steps=STEPS)
@settings(max_examples=one_in(2))
def test_only_the_newest_holder_ever_writes(
    steps: list[tuple[str, int]], empty_databases: EmptyDatabases
) -> None:
    """Compared with a model of the last holder and of the lease's availability."""
    with empty_databases.lent() as url, closing(Leases(url, lease_s=60)) as leases:
        terms: list[LeaseTerm | None] = [None, None]
        newest, is_free = None, True
        for step, who in steps:
            term = terms[who]
            if step == "take":
                found = leases.take(NAME)
                assert (found is not None) == is_free
                if found is not None:
                    terms[who], newest, is_free = found, found, False
            elif step == "expire":
                expire(url)
                is_free = True
            elif term is not None and step == "renew":
                assert leases.renew(term) == (term == newest)
                is_free = is_free and term != newest
            elif term is not None and step == "give_up":
                leases.give_up(term)
                is_free = is_free or term == newest
            elif term is not None:
                with closing(fenced(url, term)) as database:
                    try:
                        write(database, term.token)
                    except LostLeaseError:
                        assert term != newest
                    else:
                        assert term == newest


# --- chain registry -----------------------------------------------------------------------------


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
