"""Protects the traffic of the demo: it trades, it launches, and no node's death ends it."""

import threading
import time
from collections.abc import Callable

import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import run_embedded_chain
from assay.demo.layout import World
from assay.demo.reads import read
from assay.demo.trader import Trader
from assay.demo.world import build_world
from config.facts.load_chains import load_chains
from core.evm.abi import topic_of
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain

pytestmark = pytest.mark.process

PATIENCE_S = 20.0
SWAPS = [
    topic_of("Swap(address,uint256,uint256,uint256,uint256,address)"),
    topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)"),
    topic_of("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)"),
]
PAIR_CREATED = topic_of("PairCreated(address,address,address,uint256)")


def logs_since(node: AnvilNode, block: int, *topics: str) -> list[dict[str, object]]:
    query = {"fromBlock": hex(block + 1), "toBlock": "latest", "topics": [list(topics)]}
    logs = node.rpc("eth_getLogs", query)
    assert isinstance(logs, list)
    return logs


def eventually(happens: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while time.monotonic() < deadline:
        if happens():
            return True
        pause.wait(0.05)
    return False


def test_trades_swap_in_every_kind_of_pool_and_some_fail(chain: Chain) -> None:
    trader = Trader(chain.node, chain.world)
    before = chain.node.head_number()
    for _ in range(150):
        trader.trade()
        chain.node.mine()
    for swap in SWAPS:
        assert logs_since(chain.node, before, swap), swap
    blocks = [
        chain.node.rpc("eth_getBlockReceipts", hex(number))
        for number in range(before + 1, chain.node.head_number() + 1)
    ]
    receipts = [one for block in blocks if isinstance(block, list) for one in block]
    failed = [one for one in receipts if one["status"] == "0x0"]
    assert 0 < len(failed) < len(receipts) / 2


def test_the_same_seed_trades_the_same(chain: Chain) -> None:
    def run() -> list[object]:
        snapshot = chain.node.snapshot()
        start = chain.node.head_number()
        trader = Trader(chain.node, chain.world, seed=7)
        for _ in range(20):
            trader.trade()
            chain.node.mine()
        logs = [log["data"] for log in logs_since(chain.node, start, *SWAPS)]
        chain.node.revert(snapshot)
        return logs

    assert run() == run()


def test_a_launch_is_a_new_pair_that_can_be_traded(chain: Chain) -> None:
    before = chain.node.head_number()
    trader = Trader(chain.node, chain.world)
    trader.launch()
    chain.node.mine()
    trader.launch()
    chain.node.mine()
    created = logs_since(chain.node, before, PAIR_CREATED)
    assert [log["address"] for log in created] == [chain.world.venues.v2.factory] * 2
    weth = chain.world.venues.wrapped_native.address
    symbols: set[object] = set()
    for log in created:
        topics = log["topics"]
        assert isinstance(topics, list)
        sides = {Address("0x" + one[-40:]) for one in topics[1:]}
        (token,) = sides - {weth}
        symbols.update(read(chain.node, token, "symbol()", returns="(string)"))
    assert symbols == {"NEW1", "NEW2"}


def test_it_goes_on_when_the_node_dies_and_comes_back() -> None:
    stop = threading.Event()
    with AnvilNode() as node:
        world = build_world(node)
        node.set_interval(1)
        trading = threading.Thread(target=Trader(node, world).run, args=(stop,))
        trading.start()
        try:
            built = node.head_number()
            assert eventually(lambda: node.head_number() > built)
            node.stop()
            node.start()
            assert node.head_number() == 0
            build_world(node)
            node.set_interval(1)
            rebuilt = node.head_number()
            assert eventually(lambda: node.head_number() > rebuilt)
        finally:
            stop.set()
            trading.join(PATIENCE_S)
    assert not trading.is_alive()


def test_the_embedded_chain_is_one_block_of_code_and_leaves_nothing(demo_world: World) -> None:
    with run_embedded_chain() as embedded:
        assert embedded.world == demo_world
        (ethereum,) = [one for one in load_chains(embedded.overlay) if one.id == 1]
        assert ethereum.dexes == demo_world.venues.dexes
        node = embedded.node
        built = node.head_number()
        assert eventually(lambda: node.head_number() > built + 1)
        assert embedded.overlay.is_dir()
    assert not embedded.overlay.exists()
    assert "trader" not in {thread.name for thread in threading.enumerate()}
