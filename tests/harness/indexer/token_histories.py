"""Histories of tokens on a scripted chain, and the rows that must be stored of them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from assay.service.record_report import record_report
from config.settings import IndexerSettings
from indexer.head.follower import Follower
from indexer.history.transfer_history import Histories
from sql.engine.store import Store
from sql.engine.table_rows import TokenRow
from sql.tokens.tokens import list_tracked
from tests.harness.bare_reports import bare_report
from tests.harness.node.chain import (
    CHAIN,
    TOKENS,
    Block,
    Event,
    InstantClock,
    Odd,
    Pair,
    ScriptedNode,
    Sent,
    client_of,
    token,
)
from tests.harness.store.sample_rows import LATER
from tests.harness.store.store_contents import transfers_of

SETTINGS = IndexerSettings(
    initial_log_range=4,
    max_log_range=8,
    history_logs=1_000,
    history_requests=1_000,
    late_logs_s=2,
)


SUPPLY = 10**24


def sent_in(chain: Sequence[Block], number: int, *, since: int = 0) -> list[tuple[int, int]]:
    """Height and amount of a token's transfers."""
    return [
        (block.number, event.amount)
        for block in chain[since:]
        for event in block.events
        if isinstance(event, Sent) and event.token == number
    ]


def stored(store: Store, number: int) -> list[tuple[int, int]]:
    return [(row.block_number, row.amount_raw) for row in transfers_of(store, TOKENS[number])]


def row_of(store: Store, number: int) -> TokenRow:
    return next(row for row in list_tracked(store, chain_id=1) if row.address == token(number))


REPORTED_AT_S = 1
QUIET = 20
"""Blocks before the token's first transfer."""


BUSY = 60
"""Blocks with a transfer each, before the pool."""


POOL_AT = 1 + QUIET + BUSY


def lived(*, odd_every: int = 1_000) -> ScriptedNode:
    node = ScriptedNode()
    for number in range(QUIET + BUSY):
        events: list[Event] = [Sent(1, number)]
        if number == QUIET:
            events.append(Pair(0, 2))  # before following began
        if number >= QUIET:
            events.append(Odd(0) if number % odd_every == 0 else Sent(0, number))
        node.extend(events)
    node.extend([Pair(-1, 0), Sent(0, 10**6)])
    for number in range(20):
        node.extend([Sent(0, 10**7 + number)])
    return node


async def followed(node: ScriptedNode, store: Store, *, supply_raw: int = SUPPLY) -> None:
    """Follow to the head from the tracked block on, with an analysis."""
    client = client_of(node)
    chain = msgspec.structs.replace(CHAIN, start_block=POOL_AT)
    follower = Follower(chain, client, store, SETTINGS)
    await follower.load()
    async for _ in follower.advance(await client.fetch_head_header()):
        pass
    analysed(store, supply_raw=supply_raw)
    assert row_of(store, 0).transfers_from_block == POOL_AT


def analysed(store: Store, *, supply_raw: int = SUPPLY) -> None:
    """Record another analysis of the token."""
    report = bare_report(TOKENS[0], scanned_at_s=REPORTED_AT_S)
    head = msgspec.structs.replace(report.token, supply_raw=supply_raw)
    record_report(store, msgspec.structs.replace(report, token=head), LATER)


def histories_of(node: ScriptedNode, store: Store, clock: InstantClock, **bounds: Any) -> Histories:
    bounded = msgspec.structs.replace(SETTINGS, **bounds)
    return Histories(CHAIN, client_of(node), store, bounded, now_s=clock.now_s)


async def run_out(histories: Histories) -> int:
    """Take turns while there are any; how many."""
    for turns in range(1_000):
        if not await histories.fetch_next():
            return turns
    raise AssertionError
