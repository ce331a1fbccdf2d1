"""Protects the holders of a token: a replay of its transfers, and conclusions on unlisted ones."""

from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import IndexedFacts, TransferHistory
from analysis.token.holders import left_for_others
from api.formats.native.native import render_native
from assay.demo.zoo_token import Animal
from assay.service.store_adapter import ReportStore
from config.burn import BURN_ADDRESSES
from config.settings import AnalysisSettings, IndexerSettings
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount
from core.report.rows import LaunchRow
from core.rpc.client import RpcClient
from indexer.history.backfill import backfill
from sql.engine.store import Store
from tests.harness.chain.contexts import Knowing, judge
from tests.harness.chain.replayed_holders import ranked, replay, top_of
from tests.harness.chain.transactions import Chain
from tests.harness.store.sample_rows import address

DEAD = Address("0x000000000000000000000000000000000000dead")


def knowing(context: ChainContext, known: IndexedFacts) -> ChainContext:
    return ChainContext(
        chain=context.chain,
        node=context.node,
        index=Knowing(known),
        settings=context.settings,
        now_s=context.now_s,
    )


@pytest.mark.parametrize("contract", ["HonestToken", "TransferTaxToken"])
async def test_the_top_ten_equal_a_replay_of_every_transfer(
    chain: Chain, context: ChainContext, node_client: RpcClient, tmp_path: Path, contract: str
) -> None:
    token = chain.place(Animal(key="held", trait="held by many", symbol="HELD", contract=contract))
    accounts = [chain.fresh_account() for _ in range(13)]
    for at, account in enumerate(accounts, start=1):
        assert chain.transfer(token.address, token.owner, account, at * 10**20).success
    assert chain.transfer(token.address, token.owner, DEAD, 5 * 10**21 + 1).success
    assert chain.buy(token, accounts[-1]).success
    assert chain.transfer(token.address, accounts[-1], token.address, 1_200 * 10**18).success
    store = Store.open(tmp_path / "store.duckdb")
    await backfill(
        msgspec.structs.replace(context.chain, finality_blocks=0),
        node_client,
        store,
        IndexerSettings(),
        from_block=0,
        to_block=chain.node.head_number(),
    )
    context = msgspec.structs.replace(context, index=ReportStore(store, AnalysisSettings()))
    report = await judge(context, token.address)
    balances = replay(chain, token.address)
    assert len(balances) > 10
    assert top_of(report) == ranked(balances)
    assert all(chain.balance(token.address, owner) == raw for owner, raw in top_of(report))
    assert {DEAD, token.address, token.pool.address, token.owner} <= dict(top_of(report)).keys()
    features = render_native(report, clock=None, liquid_above_usd=100.0)
    assert len(features.top_holders) == 10
    first = features.top_holders[0]
    assert first.token_amount == pytest.approx(top_of(report)[0][1] / 10**token.decimals)
    assert first.pct_held == pytest.approx(
        100 * top_of(report)[0][1] / report.token.supply_raw, abs=0.01
    )
    store.close()


@pytest.mark.parametrize("key", ["honest", "v3_honest", "v4_honest", "solid_honest"])
async def test_without_an_index_pools_and_owner_are_found(
    chain: Chain, context: ChainContext, key: str
) -> None:
    token = chain.world.token(key)
    top = dict(top_of(await judge(context, token.address)))
    balances = replay(chain, token.address)
    assert top.items() <= balances.items()
    assert top[token.pool.address] == balances[token.pool.address]


async def test_stale_and_false_candidates_do_not_get_in(
    chain: Chain, context: ChainContext
) -> None:
    """The index names an account that sold everything, and the wrong order."""
    token = chain.world.token("honest")
    gone, small, large = (chain.fresh_account() for _ in range(3))
    for account, amount in ((small, 10**19), (large, 10**20)):
        assert chain.transfer(token.address, token.owner, account, amount).success
    indexed = ((gone, RawAmount(10**24)), (small, RawAmount(10**23)), (large, RawAmount(1)))
    report = await judge(knowing(context, IndexedFacts(holders=indexed)), token.address)
    top = top_of(report)
    assert [owner for owner, _ in top if owner in (gone, small, large)] == [large, small]
    assert not BURN_ADDRESSES & dict(top).keys()


async def test_the_creator_of_a_launch_is_who_the_event_names_if_it_is_an_account(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.world.token("honest")
    creator = chain.fresh_account()
    assert chain.transfer(token.address, token.owner, creator, 123 * 10**18).success
    contract = token.pool.address

    def launch(slug: str, named: Address | None) -> LaunchRow:
        return LaunchRow(
            chain_id=1,
            token=token.address,
            slug=slug,
            emitter=contract,
            creator=named,
            tx_hash=None,
            block_number=1,
            log_index=0,
        )

    async def creator_found(*launches: LaunchRow) -> tuple[Address | None, int | None]:
        known = IndexedFacts(launches=launches, holders=((creator, RawAmount(1)),))
        row = (await judge(knowing(context, known), token.address)).token
        return row.creator_address, row.creator_balance_raw

    behind_a_front = launch("front", contract), launch("pad", creator)
    assert await creator_found(*behind_a_front) == (creator, 123 * 10**18)
    assert await creator_found(launch("front", contract), launch("pad", None)) == (None, None)
    contradiction = launch("front", chain.fresh_account()), launch("pad", creator)
    assert await creator_found(*contradiction) == (None, None)


# --- holder history -----------------------------------------------------------------------------

A, B, C, D = map(address, range(0x11, 0x15))

BURNT = max(BURN_ADDRESSES)


@pytest.mark.parametrize(
    ("held_raw", "summed", "balances", "listed", "expected"),
    [
        (None, {A: 60}, {A: 60}, {A}, None),
        (100, {A: 60, B: 30}, {A: 60, B: 30}, {A, B}, 10),
        # Queried and not listed: the token's own answer counts, not the balance left by transfers.
        (100, {A: 60, B: 30}, {A: 60, B: 30}, {A}, 40),
        (100, {A: 60, B: 30}, {A: 60, B: 5}, {A}, 15),
        (100, {A: 60, B: 30}, {A: 60}, {A}, 10),
        # A burn address is listed elsewhere.
        (100, {A: 60, BURNT: 30}, {A: 60, BURNT: 30}, {A}, 10),
        (100, {A: 60, ZERO_ADDRESS: 30}, {A: 60}, {A}, 40),
        # A pool queried in addition, and not among the largest by transfers, is no other.
        (100, {A: 60}, {A: 60, C: 7}, {A, C}, 40),
        # More than there is: so much of it is not true.
        (130, {A: 60, B: 30}, {A: 60, B: 30}, {A, B}, 10),
        (150, {A: 60}, {A: 60}, {A}, 40),
        (2**300, {A: 60}, {A: 60}, {A}, 40),
        (300, {A: 250}, {A: 0}, set(), 0),
        # Less than there is: the rest is with nobody known.
        (70, {A: 60}, {A: 60}, {A}, 10),
        (0, {}, {}, set(), 0),
    ],
)
def test_what_is_left_for_others(
    held_raw: int | None,
    summed: dict[Address, int],
    balances: dict[Address, int],
    listed: set[Address],
    expected: int | None,
) -> None:
    known = IndexedFacts(
        holders=tuple((owner, RawAmount(raw)) for owner, raw in summed.items()),
        past=TransferHistory(from_block=0, is_whole=held_raw is not None, held_raw=held_raw),
    )
    assert left_for_others(known, balances, listed=listed, supply_raw=100) == expected
