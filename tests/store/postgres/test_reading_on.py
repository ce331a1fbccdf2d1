"""Protects readers that go on from the newest number: rows are committed in order of numbers."""

import threading

import msgspec

from assay.service.record_report import record_report
from core.report.notifications import ALL_KINDS
from sql.engine.store import Store
from sql.tokens.tokens import find_newest_token_id, pack_places, track_tokens
from sql.watches.watch_messages import list_new
from sql.watches.watches import NewWatch, add_tokens, create_watch
from tests.harness.bare_reports import bare_report
from tests.harness.store.sample_rows import LATER, address, bare_verdict
from tests.harness.store.store_contents import read_rows


def test_whoever_reads_on_from_the_newest_token_misses_none(postgres_store: Store) -> None:
    """While other chains' ids are mixed in, and committed in any order."""
    chains, each = (1, 56, 8453), 60
    is_done = threading.Event()
    seen: dict[int, list[bytes]] = {chain_id: [] for chain_id in chains}

    def write(chain_id: int) -> None:
        for at in range(each):
            with postgres_store.transaction(chain_id=chain_id) as tx:
                track_tokens(tx, chain_id=chain_id, seen={address(at): 1}, because="pool")

    def read(chain_id: int) -> None:
        above, is_last = 0, False
        while not is_last:
            is_last = is_done.is_set()
            with postgres_store.snapshot() as reader:
                newest = find_newest_token_id(reader, chain_id=chain_id)
                page = pack_places(reader, chain_id=chain_id, above=above)
            at = range(0, len(page.addresses), 20)
            seen[chain_id] += [page.addresses[one : one + 20] for one in at]
            above = newest

    writers = [threading.Thread(target=write, args=(chain_id,)) for chain_id in chains]
    readers = [threading.Thread(target=read, args=(chain_id,)) for chain_id in chains]
    for thread in (*readers, *writers):
        thread.start()
    for writer in writers:
        writer.join()
    is_done.set()
    for reader in readers:
        reader.join()
    wanted = [bytes.fromhex(address(at)[2:]) for at in range(each)]
    assert seen == dict.fromkeys(chains, wanted)


def tell_of(chain_id: int, store: Store, number: int) -> None:
    """Write a report of the chain's token, with a change for its watchers."""
    report = bare_report(address(chain_id), chain_id=chain_id, scanned_at_s=number)
    head = msgspec.structs.replace(report.token, block_number=number)
    report_verdict = bare_verdict(verdict="danger" if number % 2 else "safe")
    record_report(store, msgspec.structs.replace(report, token=head), LATER, report_verdict)


def test_whoever_reads_on_from_the_newest_message_misses_none(postgres_store: Store) -> None:
    """Messages of several chains, which write at the same time."""
    chains, each = (1, 56, 8453), 40
    with postgres_store.transaction() as tx:
        new = NewWatch(key_id=1, name="w", kinds=ALL_KINDS, url=None, secret=None)
        watch_id = create_watch(tx, new, now_s=0)
        for chain_id in chains:
            addresses = [address(chain_id)]
            add_tokens(tx, watch_id, chain_id=chain_id, addresses=addresses, now_s=0)
    is_done = threading.Event()
    seen: list[int] = []

    def write(chain_id: int) -> None:
        for number in range(each):
            tell_of(chain_id, postgres_store, number + 1)

    def read() -> None:
        after, is_last = 0, False
        while not is_last:
            is_last = is_done.is_set()
            for row in list_new(postgres_store, after=after, at_most=1_000):
                after = row.id
                seen.append(row.id)

    writers = [threading.Thread(target=write, args=(chain_id,)) for chain_id in chains]
    reader = threading.Thread(target=read)
    for thread in (reader, *writers):
        thread.start()
    for writer in writers:
        writer.join()
    is_done.set()
    reader.join()
    stored = read_rows(postgres_store, "select id from watch_message order by id")
    assert [(number,) for number in seen] == stored
    assert len(stored) == len(chains) * (each - 1)  # of the first report there is no change
