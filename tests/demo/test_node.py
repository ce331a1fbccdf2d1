"""Protects the embedded node: it starts, answers, follows commands, and always ends."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.demo.anvil import ETHER, AnvilNode, NodeRefusedError, locate_anvil, quantity
from assay.demo.layout import named_account
from core.errors import ConfigError, UpstreamError
from tests.harness.chain.transactions import Chain

pytestmark = pytest.mark.process

ALICE, BOB = named_account("alice"), named_account("bob")
GONE_S = 10.0

HOLD_A_NODE = """
import threading
from assay.demo.anvil import AnvilNode

node = AnvilNode()
starting = threading.Thread(target=node.start)  # the node outlives the thread that started it
starting.start()
starting.join()
print(node.port, flush=True)
threading.Event().wait()
"""


def pay(node: AnvilNode) -> dict[str, object]:
    return node.execute({"from": ALICE, "to": BOB, "value": "0x1", "gas": hex(21_000)})


def block_hash(node: AnvilNode, number: int) -> str:
    block = node.rpc("eth_getBlockByNumber", hex(number), False)
    assert isinstance(block, dict)
    return str(block["hash"])


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def has_ended(port: int) -> bool:
    deadline = time.monotonic() + GONE_S
    while time.monotonic() < deadline:
        if not is_listening(port):
            return True
    return False


def test_it_starts_on_a_free_port_with_its_chain_id_and_ends_with_its_block() -> None:
    with AnvilNode(chain_id=8453) as node, AnvilNode() as other:
        assert node.rpc("eth_chainId") == hex(8453)
        assert node.port != other.port
        port = node.port
    assert has_ended(port)


def test_it_ends_when_the_block_raises() -> None:
    port = 0

    def fail() -> None:
        nonlocal port
        with AnvilNode() as node:
            port = node.port
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fail()
    assert has_ended(port)


def test_it_ends_when_the_process_that_started_it_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_A_NODE], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        port = int(parent.stdout.readline())
        assert is_listening(port)
        os.kill(parent.pid, signal.SIGKILL)
    assert has_ended(port)


def test_stopping_twice_is_harmless_and_asking_a_stopped_node_is_an_upstream_error() -> None:
    node = AnvilNode()
    node.start()
    node.stop()
    node.stop()
    with pytest.raises(UpstreamError):
        node.rpc("eth_chainId")


def test_a_stopped_node_comes_back_empty_on_the_same_port() -> None:
    with AnvilNode() as node:
        node.mine(3)
        first = node.port
        again = AnvilNode(port=first)
        node.stop()
        with pytest.raises(UpstreamError):
            node.rpc("eth_blockNumber")
        with again:
            assert again.port == first
            assert again.head_number() == 0


def test_a_missing_binary_names_the_command_that_installs_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="make setup"):
        locate_anvil(tmp_path)


def test_a_refused_request_says_what_the_node_said(anvil_node: AnvilNode) -> None:
    with pytest.raises(NodeRefusedError, match="eth_nonsense") as refused:
        anvil_node.rpc("eth_nonsense")
    assert refused.value.fault.code < 0


def test_any_account_can_send(chain: Chain) -> None:
    chain.node.set_balance(ALICE, ETHER)
    assert pay(chain.node)["status"] == "0x1"
    assert quantity(chain.node.rpc("eth_getBalance", BOB, "latest")) == 1


def test_every_block_is_later_than_the_one_before(chain: Chain) -> None:
    node = chain.node
    node.set_balance(ALICE, ETHER)
    times = []
    for step in (node.mine, lambda: pay(node), lambda: node.increase_time(60)):
        step()
        times.append(node.head_time())
    assert times[1] == times[0] + 1
    assert times[2] == times[1] + 60
    node.set_time(times[2] + 1_000)
    assert node.head_time() == times[2] + 1_000


def test_a_revert_takes_blocks_time_and_balances_back(chain: Chain) -> None:
    node = chain.node
    node.set_balance(ALICE, ETHER)
    before = node.head_number(), node.head_time()
    snapshot = node.snapshot()
    pay(node)
    node.mine(200)  # more than the states it keeps in memory
    node.increase_time(3_600)
    node.revert(snapshot)
    assert (node.head_number(), node.head_time()) == before
    assert quantity(node.rpc("eth_getBalance", BOB, "latest")) == 0
    node.mine()
    assert node.head_time() == before[1] + 1


def test_a_reorg_replaces_the_newest_blocks_and_undoes_their_transactions(chain: Chain) -> None:
    node = chain.node
    node.set_balance(ALICE, ETHER)
    node.mine()
    paid = pay(node)
    node.mine()
    head = node.head_number()
    was = [block_hash(node, number) for number in (head - 2, head - 1, head)]
    node.reorg(2)
    now = [block_hash(node, number) for number in (head - 2, head - 1, head)]
    assert node.head_number() == head
    assert now[0] == was[0]
    assert now[1] != was[1]
    assert now[2] != was[2]
    assert node.rpc("eth_getTransactionReceipt", paid["transactionHash"]) is None


def test_a_reorg_can_bring_other_transactions(chain: Chain) -> None:
    node = chain.node
    node.set_balance(ALICE, ETHER)
    node.mine(3)
    node.reorg(2, [({"from": ALICE, "to": BOB, "value": "0x5"}, 0)])
    assert quantity(node.rpc("eth_getBalance", BOB, "latest")) == 5


def test_blocks_come_by_the_clock_until_told_otherwise() -> None:
    with AnvilNode() as node:
        node.mine()
        node.set_interval(1)
        deadline = time.monotonic() + GONE_S
        while node.head_number() < 3 and time.monotonic() < deadline:
            time.sleep(0.05)
        node.set_interval(None)
        head, head_time = node.head_number(), node.head_time()
        assert head >= 3
        node.mine()
        assert (node.head_number(), node.head_time()) == (head + 1, head_time + 1)


def answers(port: int) -> bool:
    """True if a request gets a byte."""
    with socket.create_connection(("127.0.0.1", port), timeout=0.2) as asking:
        asking.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        try:
            return bool(asking.recv(1))
        except TimeoutError:
            return False


def test_a_frozen_node_answers_again_after_it_thaws() -> None:
    with AnvilNode() as node:
        node.freeze()
        assert not answers(node.port)
        node.thaw()
        assert node.head_number() == 0
