"""Protects launch forensics: roles of real transactions, and no accusation without one."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analysis.launch.launch_roles import LaunchFindings, LaunchWallet, find_launch
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.chain_quotes import ChainQuotes
from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.layout import Sides, World, ZooToken, native_worth, router_of
from assay.demo.seeding import approve_stables, fetch_addresses, seed
from assay.demo.trader import Call, buy_call
from assay.demo.transaction_pipeline import Pipeline
from assay.service.background.creator_search import BuyerFunders, Creators
from assay.service.record_report import record_report
from assay.service.refresh_policy import next_refresh
from assay.service.store_adapter import ReportStore
from config.facts.chain import Chain as ChainFacts
from config.settings import AnalysisSettings, IndexerSettings, LaunchSettings
from core.evm.primitives import Address, Hash32, checksum
from core.report.launch_facts import LaunchRecord
from core.rpc.client import RpcClient
from indexer.head.follower import Follower
from indexer.history.transfer_history import Histories
from sql.analyst.query_runner import run_sql
from sql.chain.finalization import finalize_rows
from sql.chain.quote_tokens import write_quote_tokens
from sql.engine.columns import blob
from sql.engine.store import Store
from sql.reports.launch_record import plan_buyer_funders, read_launch
from tests.harness.api.world import World as Api
from tests.harness.chain import old_states
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

pytestmark = pytest.mark.compiler

SETTINGS = IndexerSettings(initial_log_range=8, max_log_range=32, late_logs_s=4)
SUPPLY = 1_000_000 * ETHER
KEPT_S = SETTINGS.launches_kept_s
VIEW = "v_wallet_trades"
SOURCE = Path(__file__).parent / "contracts" / "MultiBuyer.sol"

# Developers are read from the states before and after a creation.
anvil_node, demo_world, facts = old_states.anvil_node, old_states.demo_world, old_states.facts


@pytest.fixture
def chain(anvil_node: AnvilNode, demo_world: World, artifacts: Artifacts) -> Iterator[Chain]:
    snapshot = anvil_node.snapshot()
    own = compile_sources({SOURCE.name: SOURCE.read_text()})
    yield Chain(anvil_node, demo_world, artifacts | own)
    anvil_node.revert(snapshot)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "store")
    yield opened
    opened.close()


class Scene:
    """A token's launch by real transactions, followed into a store."""

    def __init__(self, chain: Chain, facts: ChainFacts, client: RpcClient, store: Store) -> None:
        self.chain = chain
        self.facts = facts
        self.client = client
        self.store = store
        self.developer = chain.fresh_account()
        self.token: ZooToken | None = None

    @property
    def launched(self) -> ZooToken:
        assert self.token is not None
        return self.token

    async def follow(self) -> None:
        """Up to the head."""
        follower = Follower(self.facts, self.client, self.store, SETTINGS)
        await follower.load()
        head = await self.client.fetch_head_header()
        while follower.tip is None or follower.tip.hash != head.ref.hash:
            async for _ in follower.advance(head):
                pass

    def create(self) -> Address:
        """The developer's token, without a pool."""
        return self.chain.deploy("HonestToken", "Launched", "LNCH", sender=self.developer)

    def open_pool(self, address: Address, *, in_dollars: bool = False) -> ZooToken:
        """The developer's pool: 40 % of the supply against 7,500 USD."""
        world = self.chain.world
        pipeline = Pipeline(self.chain.node, self.chain.artifacts)
        dollar = world.venues.stables[0]
        quote, quote_raw = world.venues.wrapped_native.address, native_worth(7_500)
        if in_dollars:
            quote, quote_raw = dollar.address, 7_500 * 10**dollar.decimals
            give = ("transfer(address,uint256)", self.developer, quote_raw)
            assert self.chain.send(world.deployer, quote, *give).success
            approve_stables(pipeline, world.venues, self.developer)
        sides = Sides(
            token=address,
            token_raw=SUPPLY * 2 // 5,
            quote=quote,
            quote_raw=quote_raw,
            owner=self.developer,
        )
        pool = seed(pipeline, world.venues, "v2", sides)
        pipeline.flush()
        (pool,) = fetch_addresses(self.chain.node, world.venues, [(address, pool)])
        self.token = ZooToken(
            key="launched",
            trait="launched",
            address=address,
            symbol="LNCH",
            decimals=18,
            pool=pool,
            owner=self.developer,
            holders=(),
        )
        return self.token

    def send_coins(self, sender: Address, to: Address) -> Hash32:
        call = Call(to=to, data="0x", value_wei=ETHER)
        receipt = self.chain.node.execute(call.sent_by(sender, gas=100_000))
        return Hash32(str(receipt["transactionHash"]))

    def buy_in_one_block(self, wallets: list[Address], usd: int) -> list[Hash32]:
        """A purchase by each wallet, all in the next block."""
        node, venues = self.chain.node, self.chain.world.venues
        hashes = []
        for wallet in wallets:
            call = buy_call(venues, self.launched, trader=wallet, quote_raw=native_worth(usd))
            hashes.append(node.send(call.sent_by(wallet, gas=500_000)))
        node.mine()
        return hashes

    def buy_by_contract(self, how: str, wallets: list[Address], usd: int) -> Hash32:
        """One transaction that buys for all wallets."""
        chain, venues = self.chain, self.chain.world.venues
        contract = chain.deploy("MultiBuyer")
        sent = chain.send(
            chain.fresh_account(),
            contract,
            f"{how}(address,address[],address[])",
            router_of(venues.v2),
            [self.launched.pool.quote, self.launched.address],
            wallets,
            value_wei=native_worth(usd),
        )
        assert sent.success
        return sent.hash

    def read(self, *, creator: Address | None = None) -> LaunchRecord:
        return read_launch(
            self.store, self.facts, self.launched.address, kept_s=KEPT_S, creator=creator
        )

    def find(self, *, creator: Address | None = None) -> LaunchFindings:
        return find_launch(self.read(creator=creator), LaunchSettings(), supply_raw=SUPPLY)

    async def learn(self, context: ChainContext) -> ChainContext:
        """Analyse the token, and find its history and creator once they are final."""
        indexed = msgspec.structs.replace(
            context, index=ReportStore(self.store, AnalysisSettings())
        )
        report = await judge(indexed, self.launched.address)
        record_report(self.store, report, next_refresh(report, AnalysisSettings()))
        self.chain.mine(self.facts.finality_blocks + 2)
        await self.follow()
        final = self.chain.node.head_number() - self.facts.finality_blocks - 1
        while finalize_rows(self.store, chain_id=self.facts.id, final=final):
            pass
        histories = Histories(self.facts, self.client, self.store, SETTINGS)
        while await histories.fetch_next():
            pass
        while finalize_rows(self.store, chain_id=self.facts.id, final=final):
            pass
        await self.search(Creators, indexed).go("ethereum")
        return indexed

    def search(self, kind: Any, context: ChainContext) -> Any:
        return kind(
            contexts={"ethereum": context},
            store=self.store,
            settings=AnalysisSettings(),
            now_s=lambda: 4e9,  # all are due
        )


@pytest.fixture
def scene(chain: Chain, facts: ChainFacts, node_client: RpcClient, store: Store) -> Scene:
    return Scene(chain, facts, node_client, store)


def of(found: LaunchFindings, account: Address) -> LaunchWallet | None:
    return next((one for one in found.wallets if one.wallet == blob(account)), None)


def roles(found: LaunchFindings, account: Address) -> tuple[str, ...]:
    one = of(found, account)
    return () if one is None else one.roles


def entry_tx(found: LaunchFindings, account: Address, role: str) -> str:
    one = of(found, account)
    assert one is not None
    (tx_hash,) = (entry.tx_hash for entry in one.entries if entry.role == role)
    assert tx_hash is not None
    return "0x" + tx_hash.hex()


async def test_each_role_has_the_transaction_that_made_it(
    scene: Scene, context: ChainContext, world: Api
) -> None:
    chain = scene.chain
    await scene.follow()
    address = scene.create()
    friend, second, third, fan, sniper, late, trader = (chain.fresh_account() for _ in range(7))
    given = chain.transfer(address, scene.developer, friend, SUPPLY // 20).sent.hash
    passed_on = chain.transfer(address, friend, second, SUPPLY // 100).sent.hash
    token = scene.open_pool(address)
    after = chain.transfer(address, scene.developer, third, SUPPLY // 50).sent.hash
    fan_bought = chain.buy(token, fan).sent.hash
    bundled = [chain.fresh_account() for _ in range(3)]
    hashes = scene.buy_in_one_block(bundled, 100)
    sniped = chain.buy(token, sniper, native_worth(600)).sent.hash
    each = [chain.fresh_account() for _ in range(2)]
    for_each = scene.buy_by_contract("buyForEach", each, 60)
    spread = [chain.fresh_account() for _ in range(2)]
    spread_to = scene.buy_by_contract("buyAndSpread", spread, 60)
    chain.wait(60, blocks=4)
    chain.buy(token, late, native_worth(900))
    half = chain.balance(address, sniper) // 2
    sale = chain.sell(token, sniper, half)
    chain.sell(token, friend)
    chain.buy(token, trader)
    await scene.follow()

    early = scene.find()  # before the creator is known
    assert early.groups["developer"] is early.groups["insider"] is None
    assert (roles(early, fan), roles(early, friend)) == (("early_buyer",), ())

    indexed = await scene.learn(context)
    found = scene.find()
    assert [roles(found, one) for one in bundled] == [("bundle", "early_buyer")] * 3
    assert [entry_tx(found, one, "bundle") for one in bundled] == hashes
    assert roles(found, sniper) == ("sniper", "early_buyer")
    assert entry_tx(found, sniper, "sniper") == sniped
    assert roles(found, fan) == ("early_buyer",)
    assert entry_tx(found, fan, "early_buyer") == fan_bought
    for wallets, tx_hash in ((each, for_each), (spread, spread_to)):
        for one in wallets:
            assert roles(found, one) == ("bundle", "early_buyer")
            assert entry_tx(found, one, "bundle") == tx_hash
    assert roles(found, late) == roles(found, trader) == ()
    assert roles(found, scene.developer) == ("developer",)
    for account, tx_hash in ((friend, given), (second, passed_on), (third, after)):
        assert roles(found, account) == ("insider",)
        assert entry_tx(found, account, "insider") == tx_hash
    assert {one.kind for one in found.bundles} == {"one_block", "one_transaction"}
    _check_holdings(scene, found)
    of_sniper, of_friend = of(found, sniper), of(found, friend)
    assert of_sniper is not None
    assert (of_sniper.sales, of_sniper.last_sale_tx) == (1, blob(sale.sent.hash))
    assert (2 * of_sniper.sold, of_sniper.peak) == pytest.approx((2 * half, 2 * half), rel=1e-9)
    assert of_friend is not None
    assert (of_friend.now, of_friend.peak) == (0, SUPPLY // 20)
    assert of_friend.sold == pytest.approx(SUPPLY // 25, rel=1e-9)
    await _check_answer(scene, indexed, world, found)


def _check_holdings(scene: Scene, found: LaunchFindings) -> None:
    chain, address = scene.chain, scene.launched.address
    for one in found.wallets:
        assert one.now == chain.balance(address, Address("0x" + one.wallet.hex()))
        assert one.peak is not None
        assert one.peak >= one.now
        assert one.is_sold_whole or one.wallet == blob(scene.developer)
    shown = {
        ("0x" + one.wallet.hex(), entry.role, "0x" + (entry.tx_hash or b"").hex())
        for one in found.wallets
        for entry in one.entries
    }
    rows = run_sql(scene.store.path, "select token, wallet, role, tx_hash from v_launch_wallets")
    assert {tuple(row[1:]) for row in rows.rows if row[0] == address} == shown


async def _check_answer(
    scene: Scene, context: ChainContext, api: Api, found: LaunchFindings
) -> None:
    """The route has the same, and its sale is what the accounts' real sales do."""
    chain, token = scene.chain, scene.launched
    api.analysis.outcome = await judge(context, token.address)
    client = api.client(
        store=scene.store,
        chains=(scene.facts,),
        quotes=ChainQuotes({"ethereum": context}, concurrency=1),
    )
    answer = await client.get(
        f"/token/ethereum/{token.address}/launch", headers={"X-API-Key": api.new_key()}
    )
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["creator"] == checksum(scene.developer)
    assert body["bundle"]["wallets"] == 7
    assert (body["sniper"]["wallets"], body["insider"]["wallets"]) == (1, 3)
    assert body["early_buyer"]["wallets"] == 9
    assert body["together"]["wallets"] == 12
    accused = [one for one in found.wallets if one.roles != ("early_buyer",)]
    now_raw = sum(one.now or 0 for one in accused)
    assert body["together"]["balance_pct"] == pytest.approx(100 * now_raw / SUPPLY, abs=1e-3)
    assert body["if_they_sell"]["outcome"] == "sold"
    page = await client.get(f"/t/ethereum/{token.address}/launch", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "12 accounts" in page.text
    assert "lowers the price by" in page.text
    before = price_of(chain, token)
    got = 0
    for one in accused:
        account = Address("0x" + one.wallet.hex())
        chain.node.set_balance(account, ETHER)
        if one.now:
            got += chain.sell(token, account).pool_quote_out
    fall_pct = 100 * (1 - price_of(chain, token) / before)
    assert body["if_they_sell"]["price_fall_pct"] == pytest.approx(fall_pct, abs=1)
    assert body["if_they_sell"]["proceeds_usd"] == pytest.approx(got / ETHER * 3_000, rel=0.01)


def price_of(chain: Chain, token: ZooToken) -> float:
    """Quote coins for a token in the pair."""
    pair = token.pool.address
    return chain.balance(token.pool.quote, pair) / chain.balance(token.address, pair)


async def test_of_an_older_pool_nothing_is_known(scene: Scene) -> None:
    """Its first stored trade is not its first trade, and so nobody is an early buyer."""
    scene.facts = msgspec.structs.replace(scene.facts, start_block=None)
    token = scene.open_pool(scene.create())
    scene.chain.mine()
    await scene.follow()
    buyer = scene.chain.fresh_account()
    scene.chain.buy(token, buyer, native_worth(900))
    await scene.follow()
    record = scene.read(creator=scene.developer)
    assert record.unknown in ("before_index", "not_tracked")
    found = scene.find(creator=scene.developer)
    assert found.first is None
    assert found.groups["sniper"] is found.groups["bundle"] is found.groups["early_buyer"] is None
    assert roles(found, buyer) == ()


async def test_wallets_of_one_funder_are_a_bundle_once_looked_up(
    scene: Scene, context: ChainContext
) -> None:
    chain = scene.chain
    chain.mine(40)  # the node has no states of blocks before those of an earlier test
    await scene.follow()
    token = scene.open_pool(scene.create())
    funder, fan = chain.fresh_account(), chain.fresh_account()
    wallets = [Address(f"0x{0xFD00_0000_0000 + at:040x}") for at in range(2)]
    for wallet in wallets:
        scene.send_coins(funder, wallet)
    for wallet in (*wallets, fan):
        chain.buy(token, wallet)
    chain.mine(scene.facts.finality_blocks + 2)
    await scene.follow()
    assert not scene.find().bundles
    plan_buyer_funders(
        scene.store, chain_id=scene.facts.id, token=token.address, now_s=int(time.time())
    )
    job = scene.search(BuyerFunders, context)
    for _ in range(5):
        await job.go("ethereum")
    found = scene.find()
    (bundle,) = found.bundles
    assert (bundle.kind, bundle.funder) == ("one_funder", blob(funder))
    assert bundle.wallets == tuple(blob(wallet) for wallet in wallets)
    assert roles(found, fan) == ("early_buyer",)


async def test_a_reorg_takes_roles_back(scene: Scene) -> None:
    await scene.follow()
    token = scene.open_pool(scene.create())
    first, second = scene.chain.fresh_account(), scene.chain.fresh_account()
    scene.chain.buy(token, first)
    scene.chain.buy(token, second)
    await scene.follow()
    assert roles(scene.find(), second) == ("early_buyer",)
    scene.chain.reorg(1)
    assert scene.chain.balance(token.address, second) == 0
    await scene.follow()
    assert roles(scene.find(), first) == ("early_buyer",)
    assert roles(scene.find(), second) == ()


async def test_analysts_read_prices_times_and_flows(scene: Scene, context: ChainContext) -> None:
    """Views: a price through either anchor, and a washer and a robot apart from a trader."""
    chain = scene.chain
    write_quote_tokens(scene.store, [scene.facts])
    await scene.follow()
    in_coins = scene.open_pool(scene.create())
    opened_s = chain.node.head_time()
    in_dollars = scene.open_pool(in_coins.address, in_dollars=True)
    washer, robot, trader = (chain.fresh_account() for _ in range(3))
    for _ in range(2):
        chain.buy(in_coins, washer)
        chain.sell(in_coins, washer)
    chain.buy(in_coins, washer)
    last = chain.sell(in_coins, washer)
    for _ in range(5):
        chain.buy(in_coins, robot, native_worth(10))
    chain.buy(in_dollars, trader)
    chain.buy(in_coins, trader)
    await scene.follow()
    report = await judge(context, in_coins.address)
    record_report(scene.store, report, next_refresh(report, AnalysisSettings()))

    def ask(columns: str, view: str) -> list[tuple[Any, ...]]:
        where = f"where token = '{in_coins.address}'"
        return run_sql(scene.store.path, f"select {columns} from {view} {where}").rows  # noqa: S608

    flows = {row[0]: row[1:] for row in ask("trader, is_round_trip, is_mechanical", VIEW)}
    assert flows[washer][0] is True
    assert flows[robot] == (False, True)
    assert flows[trader] == (False, False)
    ((wallets,),) = ask("wallets", "v_flow_honesty")
    assert {*wallets} == {washer, robot}
    hours = ask("volume_usd, close_usd", "v_token_hours")
    assert sum(row[0] for row in hours) == pytest.approx(6 * 30 + 50 + 60, rel=0.03)
    assert hours[-1][1] == pytest.approx(7_500 / (SUPPLY * 2 // 5 / ETHER), rel=0.05)
    swaps = ask("side, tx_hash", f"(from v_swaps where trader = '{washer}')")
    assert ("sell", last.sent.hash) in swaps
    statement = "select pool, epoch(block_time)::bigint from v_pools"
    assert (in_coins.pool.address, opened_s) in run_sql(scene.store.path, statement).rows
