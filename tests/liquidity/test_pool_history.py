"""Protects the history of a pool, of the index and of the node, and its value."""

from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.liquidity.pool_history import PoolSpan
from analysis.market.liquidity_value import Price, value_pool
from analysis.market.venues.pool import Candidate
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.eth_reads import MinedLog, decode_mined_logs
from analysis.reads.indexed_facts import IndexedEvent, PoolEvents
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from config.facts.pool_family import FAMILY_OF, KINDS
from core.evm.primitives import Address, BlockRef, RawAmount
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.store.sample_rows import address, block

POOL, OTHER = address(0x500), address(0x501)

MINT, BURN, ID = ("0x" + f"{number:064x}" for number in (1, 2, 3))


class LogNode:
    """Node with one event of each kind in each block, or without answers."""

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses = refuses
        self.spans: list[tuple[str, int, int]] = []

    async def fetch_head(self) -> BlockRef:
        raise NotImplementedError

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: RpcRequest) -> RpcAnswer:
        query = msgspec.convert(request.params[0], dict[str, object])
        first, last = (int(str(query[name]), 16) for name in ("fromBlock", "toBlock"))
        self.spans.append((str(query["address"]), first, last))
        if self.refuses:
            return RpcFault(code=-32005, message="range too long", data=None)
        logs = [event(number, MINT) for number in range(first, last + 1)]
        return msgspec.Raw(msgspec.json.encode(logs))


def event(number: int, *topics: str) -> IndexedEvent:
    return IndexedEvent(address=POOL, topics=topics, data="0x", block_number=hex(number))


def span(indexed_to: int | None, *events: IndexedEvent) -> PoolSpan:
    """From block 10 to block 20."""
    dex = Dex(name="one", kind="AmmV3", factory=address(1))
    pool = Candidate(dex=dex, pool=POOL, token=address(2), quote=address(3))
    known = None if indexed_to is None else PoolEvents(to_block=indexed_to, events=events)
    return PoolSpan(pool=pool, from_block=10, to_block=20, indexed=known)


async def ask(
    node: LogNode, pool_span: PoolSpan, *topics: str, other: Address | None = None
) -> tuple[list[int], bool]:
    """The blocks of the events that were found, and whether all blocks were searched."""
    batch = ReadBatch(block(20).ref.hash)
    found = pool_span.request(batch, list(topics), address=other, returns=decode_mined_logs)
    await batch.send(node, NodeCapabilities(lambda: 0.0))
    logs: tuple[MinedLog, ...] = found.read()
    return [int(log.block_number, 16) for log in logs], found.is_whole


@pytest.mark.parametrize("refuses", [False, True])
async def test_what_is_indexed_is_not_asked_for(*, refuses: bool) -> None:
    node = LogNode(refuses=refuses)
    pool_span = span(20, event(11, MINT), event(14, MINT))
    assert await ask(node, pool_span, MINT) == ([11, 14], True)
    assert node.spans == []


async def test_the_rest_is_asked_for() -> None:
    node = LogNode()
    assert await ask(node, span(17, event(11, MINT)), MINT) == ([11, 18, 19, 20], True)
    assert node.spans == [(POOL, 18, 20)]


async def test_where_the_rest_is_refused_what_is_indexed_is_told() -> None:
    assert await ask(LogNode(refuses=True), span(17, event(11, MINT)), MINT) == ([11], False)


async def test_only_events_of_these_topics_are_told() -> None:
    pool_span = span(20, event(11, MINT, ID), event(12, BURN, ID), event(13, MINT, BURN))
    assert await ask(LogNode(), pool_span, MINT, ID) == ([11], True)
    assert await ask(LogNode(), pool_span, MINT) == ([11, 13], True)


async def test_events_of_another_contract_are_asked_for() -> None:
    node = LogNode()
    found, is_whole = await ask(node, span(20, event(11, MINT)), MINT, other=OTHER)
    assert (len(found), is_whole) == (11, True)
    assert node.spans[0] == (OTHER, 10, 20)


async def test_without_an_index_all_is_asked_for() -> None:
    node = LogNode()
    assert await ask(node, span(None), MINT) == (list(range(10, 21)), True)
    assert node.spans[0] == (POOL, 10, 20)


@pytest.mark.parametrize("kind", KINDS)
def test_what_names_holders_is_followed_where_it_is_read(kind: str) -> None:
    dex = Dex(name="one", kind=kind, factory=address(1))
    is_read = venue_of(dex).liquidity_form(dex) is not None
    assert bool(FAMILY_OF[kind].liquidity) is is_read


# --- pool value ---------------------------------------------------------------------------------

TOKEN = Address("0x" + "11" * 20)

QUOTE = Address("0x" + "22" * 20)

ETHER = Price(usd=3_000.0, decimals=18)

DOLLAR = Price(usd=1.0, decimals=6)


@pytest.mark.parametrize(
    ("prices", "liquidity_usd", "quote_side_usd"),
    [
        ({QUOTE: ETHER}, 12_000.0, 6_000.0),
        ({TOKEN: DOLLAR}, 10_000_000.0, 5_000_000.0),
        ({QUOTE: ETHER, TOKEN: DOLLAR}, 5_006_000.0, 6_000.0),
    ],
    ids=["quote priced: twice its side", "token priced: twice its side", "both: their sum"],
)
def test_value(prices: dict[Address, Price], liquidity_usd: float, quote_side_usd: float) -> None:
    value = value_pool(
        token=TOKEN,
        quote=QUOTE,
        token_reserve_raw=RawAmount(5_000_000 * 10**6),
        quote_reserve_raw=RawAmount(2 * 10**18),
        prices=prices,
    )
    assert value is not None
    assert value.liquidity_usd == pytest.approx(liquidity_usd)
    assert value.quote_side_usd == pytest.approx(quote_side_usd)


@given(st.integers(0, 2**256 - 1), st.integers(0, 2**256 - 1))
def test_an_unpriced_side_is_never_taken_at_its_own_word(token: int, quote: int) -> None:
    value = value_pool(
        token=TOKEN,
        quote=QUOTE,
        token_reserve_raw=RawAmount(token),
        quote_reserve_raw=RawAmount(quote),
        prices={QUOTE: ETHER},
    )
    assert value is not None
    assert value.liquidity_usd == 2 * value.quote_side_usd == 2 * ETHER.value_usd(RawAmount(quote))


def test_no_price_is_no_value() -> None:
    assert (
        value_pool(
            token=TOKEN,
            quote=QUOTE,
            token_reserve_raw=RawAmount(1),
            quote_reserve_raw=RawAmount(1),
            prices={},
        )
        is None
    )
