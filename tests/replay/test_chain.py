"""Replayed chains follow from their seed, and live ones follow their plan."""

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import repeat
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.settings import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from core.rpc.headers import Header, decode_header
from indexer.answer_checks import check_link, check_number, may_contain
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from tests.harness.replay.answers import NodeAnswers, replay_blocks
from tests.harness.replay.block_encoding import EncodedBlock, encode_block
from tests.harness.replay.block_maker import BlockMaker, ReplaySpec, draw_amount
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.chain_events import PoolMade, Sent, Swapped
from tests.harness.replay.expected_replay import TransferTally, expect
from tests.harness.replay.head_socket import HeadSocket
from tests.harness.replay.http_server import ReplayServer
from tests.harness.replay.live_chain import LiveChain, LivePlan, PlannedReorg
from tests.harness.replay.small_chains import CHAINS, small
from tests.harness.store.empty_files import new_store
from tests.harness.store.store_contents import read_rows

_RATE = 136

_MASK = (1 << 64) - 1


def keccak256(message: bytes) -> bytes:
    """The 32 bytes of the hash."""
    padded = bytearray(message + b"\x01" + b"\x00" * (-(len(message) + 1) % _RATE))
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for start in range(0, len(padded), _RATE):
        for at in range(_RATE // 8):
            word = int.from_bytes(padded[start + 8 * at : start + 8 * at + 8], "little")
            lanes[at % 5][at // 5] ^= word
        lanes = _permuted(lanes)
    return b"".join(lanes[at][0].to_bytes(8, "little") for at in range(4))


def _permuted(lanes: list[list[int]]) -> list[list[int]]:
    register = 1
    for _ in range(24):
        parity = [a ^ b ^ c ^ d ^ e for a, b, c, d, e in lanes]
        mixed = [parity[x - 1] ^ _turned(parity[(x + 1) % 5], 1) for x in range(5)]
        lanes = [[lanes[x][y] ^ mixed[x] for y in range(5)] for x in range(5)]
        x, y, carried = 1, 0, lanes[1][0]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            carried, lanes[x][y] = lanes[x][y], _turned(carried, (step + 1) * (step + 2) // 2)
        for y in range(5):
            row = [lanes[x][y] for x in range(5)]
            for x in range(5):
                lanes[x][y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & _MASK)
        for at in range(7):
            register = ((register << 1) ^ ((register >> 7) * 0x71)) & 0xFF
            if register & 2:
                lanes[0][0] ^= 1 << ((1 << at) - 1)
    return lanes


def _turned(lane: int, by: int) -> int:
    by %= 64
    return ((lane << by) | (lane >> (64 - by))) & _MASK


SPEC = small()


def encoded(spec: ReplaySpec) -> list[EncodedBlock]:
    return [
        encode_block(block, spec.log_format, has_transactions=True)
        for block in replay_blocks(BlockMaker(spec))
    ]


def headers(blocks: list[EncodedBlock]) -> Iterator[Header]:
    for block in blocks:
        header = decode_header(msgspec.Raw(block.header), request=str(block.number))
        assert header is not None
        yield header


def test_a_seed_always_gives_the_same_bytes() -> None:
    assert encoded(SPEC) == encoded(SPEC)


@given(seed=st.integers(0, 2**32))
def test_another_seed_gives_another_chain(seed: int) -> None:
    spec = msgspec.structs.replace(SPEC, seed=seed, blocks=3)
    hashes = [{block.hash for block in encoded(one)} for one in (spec, SPEC)]
    assert hashes[0].isdisjoint(hashes[1]) == (seed != SPEC.seed)


@given(number=st.integers(0, 1_000), branch=st.integers(0, 5), logs=st.none() | st.integers(0, 30))
def test_a_block_depends_on_nothing_made_before(number: int, branch: int, logs: int | None) -> None:
    maker, other = BlockMaker(SPEC), BlockMaker(SPEC)
    block_number = SPEC.first_block + number
    other.make(block_number + 1, parent_hash=other.root_hash)
    made = [
        one.make(block_number, parent_hash=maker.root_hash, branch=branch, logs=logs)
        for one in (maker, other)
    ]
    assert made[0] == made[1]
    elsewhere = maker.make(block_number, parent_hash=maker.root_hash, branch=branch + 1, logs=logs)
    assert elsewhere.hash != made[0].hash


def test_headers_pass_the_product_s_own_checks() -> None:
    blocks = encoded(SPEC)
    known = list(headers(blocks))
    for number, header in enumerate(known, start=SPEC.first_block):
        check_number(header, number=number)
    for parent, child in itertools.pairwise(known):
        check_link(parent.ref, child.ref)
        assert child.ref.time_s >= parent.ref.time_s
    for block, header in zip(blocks, known, strict=True):
        for log in block.emitted:
            assert all(
                may_contain(header.logs_bloom, bytes.fromhex(item[2:]))
                for item in (log.address, *log.topics)
            )


def test_a_bloom_has_the_bits_of_its_logs_and_no_others() -> None:
    blocks = encoded(msgspec.structs.replace(SPEC, blocks=4))
    for block, header in zip(blocks, headers(blocks), strict=True):
        expected = set()
        for item in {item for log in block.emitted for item in (log.address, *log.topics)}:
            digest = keccak256(bytes.fromhex(item[2:]))
            expected |= {(256 * digest[at] + digest[at + 1]) & 2047 for at in (0, 2, 4)}
        assert {bit for bit in range(2048) if header.logs_bloom >> bit & 1} == expected


def test_what_happens_is_as_on_a_real_chain() -> None:
    spec = msgspec.structs.replace(SPEC, blocks=300)
    events = [event for block in replay_blocks(BlockMaker(spec)) for event in block.events]
    sent = [event for event in events if isinstance(event, Sent)]
    assert 0.8 < len(sent) / len(events) < 0.9
    people = BlockMaker(spec).people
    own_pool = {token.address: token.counterparty for token in people.tokens}
    at_pool = [event for event in sent if own_pool[event.token] in (event.sender, event.recipient)]
    assert len(at_pool) / len(sent) == pytest.approx(0.5, abs=0.03)
    counts = [sum(event.token == token.address for event in sent) for token in people.tokens]
    assert counts[0] > 1.5 * counts[1] > 2 * counts[3], "Zipf"
    made = {event.pool.key: at for at, event in enumerate(events) if isinstance(event, PoolMade)}
    for at, event in enumerate(events):
        if isinstance(event, Swapped):
            assert made[event.pool.key] < at, "no swap before its pool"
    kinds = {event.pool.dex.kind for event in events if isinstance(event, PoolMade)}
    # Their events do not name both tokens.
    of_many_coins = {"BalancerV2", "BalancerV3", "CurveCrypto", "CurveStable"}
    assert kinds == {dex.kind for dex in spec.chain.dexes} - of_many_coins


@given(seed=st.integers(0, 2**32))
def test_amounts_are_as_wide_as_said(seed: int) -> None:
    dice = Random(seed)  # noqa: S311 - chance, not secrecy
    widths = [draw_amount(dice).bit_length() for _ in range(4_000)]
    assert sum(width == 64 for width in widths) / 4_000 == pytest.approx(0.5, abs=0.05)
    assert sum(width > 64 for width in widths) / 4_000 == pytest.approx(0.3, abs=0.05)
    assert max(widths) <= 256


def test_the_tally_is_that_of_the_ledger() -> None:
    spec = small()
    blocks = list(replay_blocks(BlockMaker(spec)))
    tally = TransferTally(spec)
    for block in blocks:
        tally.add(block)
    tables = expect(spec, blocks)
    exact = tally.counts["exact"]
    assert exact.rows == len(tables.transfers)
    assert exact.blocks == sum(int(str(row[0])) for row in tables.transfers)
    assert exact.indices == sum(int(str(row[1])) for row in tables.transfers)
    assert sorted(tally.tracked.items()) == [(row[0], row[2]) for row in tables.tokens]
    four, one = tally.counts["four_words"], tally.counts["one_word"]
    assert exact.rows < one.rows < four.rows, "others count what is no transfer"


# --- live chain ---------------------------------------------------------------------------------

LIVE_SPEC = msgspec.structs.replace(small(chain=CHAINS[0]), blocks=5, logs_per_block=10)

PLAN = LivePlan(
    interval_s=0.5,
    transfers_per_s=20,
    burst_every_s=10.0,
    burst_s=1.0,
    reorgs=(PlannedReorg(at_s=3.2, depth=2), PlannedReorg(at_s=7.0, depth=4)),
)


def grown(spool: BlockSpool, ticks: Sequence[float]) -> LiveChain:
    chain = LiveChain(LIVE_SPEC, PLAN, spool)
    for at_s in ticks:
        chain.advance(at_s, read_clock=repeat(at_s).__next__)
    return chain


def hashes(chain: LiveChain) -> list[str]:
    found = [chain.at(number) for number in range(chain.first, chain.head + 1)]
    return [block.hash for block in found if block is not None]


@given(ticks=st.lists(st.floats(0, 10), max_size=30))
def test_a_chain_depends_on_the_time_and_not_on_the_ticks(ticks: list[float]) -> None:
    with BlockSpool() as spool:
        chain, other = grown(spool, [*sorted(ticks), 10.0]), grown(spool, [10.0])
        assert hashes(chain) == hashes(other)
        assert [one.hash for one in chain.published] == [one.hash for one in other.published]
        assert chain.head == LIVE_SPEC.last_block + 20
        assert len(chain.published) == 20 + 2 + 4


def test_a_reorg_replaces_the_newest_blocks_and_keeps_the_links() -> None:
    with BlockSpool() as spool:
        chain = grown(spool, [3.1])
        before = hashes(chain)
        chain.advance(3.3, read_clock=lambda: 3.3)
        after = hashes(chain)
        assert len(after) == len(before)
        assert [one == other for one, other in zip(before, after, strict=True)] == [
            *[True] * (len(before) - 2),
            *[False] * 2,
        ]
        headers = [
            msgspec.json.decode(block.header) for block in map(chain.by_hash, after) if block
        ]
        for parent, child in itertools.pairwise(headers):
            assert child["parentHash"] == parent["hash"]
        gone = chain.by_hash(before[-1])
        assert gone is not None, "who knows its hash still gets it"


def test_a_burst_has_so_many_times_more() -> None:
    with BlockSpool() as spool:
        chain = grown(spool, [20.0])
        logs = [
            len(block.emitters)
            for number in range(LIVE_SPEC.last_block + 1, chain.head + 1)
            if (block := chain.at(number)) is not None
        ]
        quiet, burst = sum(logs[:18]) / 18, sum(logs[18:20]) / 2
        assert quiet == pytest.approx(0.5 * 20 / 0.87, rel=0.2)
        assert burst == pytest.approx(10 * quiet, rel=0.2)


class Tips:
    """Positions published by a follower."""

    def __init__(self) -> None:
        self._tip = ""
        self._changed = asyncio.Event()

    def note(self, status: FollowStatus) -> None:
        self._tip = "" if status.tip is None else status.tip.hash
        self._changed.set()

    async def reach(self, wanted: str) -> None:
        """Wait until it is there."""
        async with asyncio.timeout(20):
            while self._tip != wanted:
                self._changed.clear()
                await self._changed.wait()


async def test_the_product_follows_it_through_reorgs_by_socket(tmp_path: Path) -> None:
    tips = Tips()
    with BlockSpool() as spool:
        chain = LiveChain(LIVE_SPEC, PLAN, spool)
        with (
            ReplayServer({"/1": NodeAnswers(chain)}) as server,
            HeadSocket({"/1": chain}) as socket,
            closing(new_store(tmp_path / "store.duckdb")) as store,
        ):
            urls = (server.url("/1"), socket.url("/1"))
            client = await RpcClient.connect(urls, LIVE_SPEC.chain.id, RpcSettings())
            stop = asyncio.Event()
            start = msgspec.structs.replace(LIVE_SPEC.chain, start_block=LIVE_SPEC.first_block)
            settings = IndexerSettings(poll_s=60.0)  # only the subscription brings heads in time
            following = asyncio.create_task(
                follow(start, client, store, settings, stop=stop, publish=tips.note)
            )
            await tips.reach(hashes(chain)[-1])
            for tick in range(1, 21):
                await asyncio.to_thread(chain.advance, 0.5 * tick, read_clock=lambda: 0.0)
                await tips.reach(hashes(chain)[-1])
            stop.set()
            await following
            await client.aclose()
            stored_hashes = [
                row[0] for row in read_rows(store, "select hash from block order by number")
            ]
    assert stored_hashes == hashes(chain)[-len(stored_hashes) :]
    assert len(stored_hashes) > 10
