"""Protects `assay doctor`: an honest node is good, each lie is named by its check, and nothing that
a node does keeps the report from being printed."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from assay.commands.runs.run_doctor import print_report
from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.doctor.abilities.method_checks import METHODS
from assay.doctor.check import CheckResult
from assay.doctor.check_registry import CHECKS, IDENTITY
from assay.doctor.examine_chain import ChainExamination, ExaminationBounds
from assay.doctor.report import DoctorReport
from config.facts.chain import Chain as ChainFacts
from config.load_settings import load_settings
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.node.forward import Ask, ForwardingNode, Twist, tell_the_truth
from tests.harness.node.lies import HANG_S, LIES, Lie
from tests.harness.node.twists import STALE_BLOCKS
from tests.harness.replay.answers import RpcCall
from tests.harness.replay.faults import Fault, FaultPlan, no_faults
from tests.harness.replay.http_server import ReplayServer

pytestmark = pytest.mark.process

BOUNDS = ExaminationBounds(most_calls=3_000, deadline_s=60.0, timeout_s=10.0)
QUIET_S = 300
"""Between two of the newest blocks, so that a stale head is old by the clock, too."""
NAMES = {IDENTITY.name, *(check.name for check in CHECKS)}


@pytest.fixture
def node(chain: Chain) -> AnvilNode:
    """The world with a time without blocks in its past, and some transactions with logs since."""
    depositor = chain.fresh_account()
    wrapped = chain.world.venues.wrapped_native.address
    assert chain.send(depositor, wrapped, "deposit()", value_wei=ETHER).success
    chain.node.increase_time(QUIET_S)
    for amount in range(1, STALE_BLOCKS // 2):
        assert chain.send(depositor, wrapped, "transfer(address,uint256)", wrapped, amount).success
    return chain.node


@contextmanager
def proxy(
    node: AnvilNode, twist: Twist = tell_the_truth, faults: FaultPlan = no_faults
) -> Iterator[str]:
    """Address of a proxy before the node."""
    with (
        closing(ForwardingNode(node.url, twist)) as forwarding,
        ReplayServer({"/": forwarding}, faults=faults) as server,
    ):
        yield server.url()


def examine(
    facts: ChainFacts,
    node: AnvilNode,
    *urls: str,
    bounds: ExaminationBounds = BOUNDS,
    is_costed: bool = False,
) -> DoctorReport:
    """Examine the endpoints a second after the node's newest block."""
    now_s = node.head_time() + 1.0
    settings = load_settings({f"ASSAY_RPC_{facts.id}": ",".join(urls)})

    async def run() -> DoctorReport:
        examination = ChainExamination(facts, settings, bounds, now_s=lambda: now_s)
        await examination.run(lambda *_: None, is_costed=is_costed)
        return examination.report()

    return asyncio.run(run())


def named(results: Sequence[CheckResult], status: str) -> dict[str, str]:
    return {
        f"{one.check} {one.subject}".strip(): one.seen for one in results if one.status == status
    }


def test_an_honest_node_is_good(facts: ChainFacts, node: AnvilNode) -> None:
    """Over HTTP, over a WebSocket and behind a proxy that changes nothing."""
    node.set_interval(1)
    try:
        with proxy(node) as url:
            report = examine(facts, node, node.url, node.ws_url, url, is_costed=True)
    finally:
        node.set_interval(None)
    for endpoint in report.endpoints:
        assert named(endpoint.results, "failed") == {}, endpoint.endpoint
        assert {one.check for one in endpoint.results} == NAMES
        assert endpoint.is_complete
        assert endpoint.client is not None
        assert endpoint.client.startswith("anvil/")
        # The embedded node keeps the states of 64 blocks, and may have mined more.
        assert named(endpoint.results, "degraded").keys() - {"old states"} == {
            "simulated base fee",
            "simulation validation",
            "contracts Permit2",
        }
    assert report.verdict == "good"
    assert named(report.comparison, "ok").keys() == {"heads", "blocks"}
    assert "announced heads" in named(report.endpoints[1].results, "ok")


def test_the_cost_is_what_a_scan_and_a_block_ask(facts: ChainFacts, node: AnvilNode) -> None:
    """As the node counts them, which knows of no meter."""
    methods: list[str] = []

    def count(call: RpcCall, ask: Ask) -> object:
        methods.append(call.method)
        return ask(call)

    with proxy(node, count) as url:
        examine(facts, node, url)
        before = len(methods)
        methods.clear()
        cost = examine(facts, node, url, is_costed=True).cost
    assert cost is not None
    # each client requests the chain id once, and others prepare the step of following
    measured = sum(cost.scan.values()) + sum(cost.next_scan.values()) + sum(cost.block.values())
    prepared = {"eth_chainId", "eth_getBlockByNumber", "eth_getLogs"}
    assert measured <= len(methods) - before <= measured + 8
    assert {*cost.scan, *cost.next_scan, *cost.block, *prepared} <= {one.name for one in METHODS}
    assert cost.block == {"eth_getLogs": 1}
    assert cost.blocks_per_day == 86_400 / facts.block_time_s
    assert 0 < sum(cost.next_scan.values()) <= sum(cost.scan.values())
    assert [one.provider for one in cost.providers] == ["Alchemy"]


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_a_lie_is_named(lie: Lie, facts: ChainFacts, node: AnvilNode) -> None:
    bounds = replace(BOUNDS, timeout_s=HANG_S / 2) if lie.hangs else BOUNDS
    with proxy(node, lie.twist, lie.faults()) as url:
        report = examine(facts, node, url, bounds=bounds)
    found = [
        one
        for one in report.endpoints[0].results
        if one.check == lie.check and one.status == lie.status and lie.says in one.seen
    ]
    assert found, named(report.endpoints[0].results, lie.status)
    assert all(one.costs and one.mend for one in found)
    failed = named(report.endpoints[0].results, "failed")
    assert (failed != {}) == (lie.status == "failed"), failed


WRONG_FACTS: Mapping[str, tuple[Callable[[ChainFacts], ChainFacts], str, str]] = {
    "decimals of a stable coin": (
        lambda facts: replace(
            facts, stables=(facts.stables[0], replace(facts.stables[1], decimals=18))
        ),
        *("stable coins USDT", "6 decimals, configured 18"),
    ),
    "decimals of the wrapped coin": (
        lambda facts: replace(facts, wrapped_native=replace(facts.wrapped_native, decimals=8)),
        *("wrapped coin WETH", "18 decimals, configured 8"),
    ),
    "oracle of another coin": (
        lambda facts: replace(
            facts, oracle=replace(facts.oracle, native_usd=facts.stables[0].address)
        ),
        *("oracle", "0 bytes of a round"),
    ),
    "router of another exchange": (
        lambda facts: with_dex(facts, "Uniswap V2", router=facts.dexes[1].router),
        *("factories named Uniswap V2", "names the factory"),
    ),
    "factory without code": (
        lambda facts: with_dex(facts, "Solidly", factory=Address("0x" + "77" * 20)),
        *("contracts Solidly", "no code at factory"),
    ),
    "code of another pool": (
        lambda facts: with_dex(facts, "Uniswap V3", init_code_hash="0x" + "11" * 32),
        *("known pools Uniswap V3", "not where init_code_hash puts it"),
    ),
    "first block too late": (
        lambda facts: with_dex(facts, "Uniswap V2", from_block=14),
        *("start blocks Uniswap V2", "before from_block 14"),
    ),
    "first block above the head": (
        lambda facts: with_dex(facts, "Uniswap V4", from_block=10**9),
        *("start blocks Uniswap V4", "above the head"),
    ),
}
"""Mistake in a chain file, and the check, subject and message that name it."""


def with_dex(facts: ChainFacts, name: str, **change: object) -> ChainFacts:
    dexes = tuple(replace(dex, **change) if dex.name == name else dex for dex in facts.dexes)
    return replace(facts, dexes=dexes)


@pytest.mark.parametrize("wrong", WRONG_FACTS)
def test_a_wrong_fact_is_named(wrong: str, facts: ChainFacts, node: AnvilNode) -> None:
    change, check, says = WRONG_FACTS[wrong]
    report = examine(change(facts), node, node.url)
    assert says in named(report.endpoints[0].results, "failed")[check]
    assert report.verdict == "failed"


def test_every_check_of_the_node_is_failed_by_some_lie_or_said_not_to_be() -> None:
    """These only measure, need a chain that does more, or are failed by a wrong fact."""
    measured = {
        *("finality", "announced heads", "fee history", "latency", "message sizes"),
        *("simulation validation", "pool events", "launch events", "start blocks"),
    }
    assert {lie.check for lie in LIES} == NAMES - measured


def test_endpoints_that_contradict_each_other_are_named(facts: ChainFacts, node: AnvilNode) -> None:
    def fork(call: RpcCall, ask: Ask) -> object:
        found: dict[str, str] = ask(call)
        if call.method.startswith("eth_getBlockBy") and found:
            found["hash"] = found["hash"][:-8] + "deadbeef"
        return found

    stale = next(lie for lie in LIES if lie.name == "stale head")
    slow = replace(facts, block_time_s=5.0)  # so few blocks are a long time
    with proxy(node, fork) as forked, proxy(node, stale.twist) as behind:
        report = examine(slow, node, node.url, forked, behind)
    failed = named(report.comparison, "failed")
    assert "differs" in failed["blocks"]
    assert forked.removeprefix("http://").rstrip("/") in failed["blocks"]
    assert f"{behind.removeprefix('http://').rstrip('/')} by {STALE_BLOCKS}" in failed["heads"]


def test_a_node_that_never_answers_ends_the_examination_soon(
    facts: ChainFacts, node: AnvilNode
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        report = examine(facts, node, url, node.url, bounds=replace(BOUNDS, timeout_s=1.0))
    dead, alive = report.endpoints
    assert "no answer" in named(dead.results, "failed")["chain id"]
    assert named(dead.results, "skipped").keys() == NAMES - {"chain id"}
    assert dead.calls == 1
    assert not named(alive.results, "failed")
    assert report.verdict == "failed"


def slow_faults(_: Sequence[RpcCall]) -> Fault:
    return Fault(delay_s=0.05)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"deadline_s": 0.7}, "time is over"), ({"most_calls": 60}, "60 calls is spent")],
    ids=["time", "calls"],
)
def test_what_was_found_until_the_end_is_kept(
    change: Mapping[str, object], reason: str, facts: ChainFacts, node: AnvilNode
) -> None:
    bounds = replace(BOUNDS, **change)
    with proxy(node, faults=slow_faults) as url:
        report = examine(facts, node, url, bounds=bounds)
    (endpoint,) = report.endpoints
    assert {one.check for one in endpoint.results} == NAMES
    assert "chain id" in named(endpoint.results, "ok")
    skipped = named(endpoint.results, "skipped")
    assert reason in skipped["rate limit"]
    assert not endpoint.is_complete
    assert report.verdict == "incomplete"
    assert endpoint.calls <= bounds.most_calls


# --- the command --------------------------------------------------------------------------------


def command(url: str, overlay: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "assay", "doctor", "eth", "--no-cost", *arguments],
        env={**os.environ, "ASSAY_RPC_1": url, "ASSAY_CONFIG": str(overlay), "COLUMNS": "200"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def overlay(demo_world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_overlay(demo_world, tmp_path_factory.mktemp("doctor"))


def test_the_command_ends_with_1_and_says_how_to_mend_it(
    node: AnvilNode, overlay: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    decimals = next(lie for lie in LIES if lie.name == "other decimals")
    with proxy(node, decimals.twist) as url:
        body, _ = (ended := command(url, overlay)).communicate()
    assert ended.returncode == 1
    report = msgspec.json.decode(body, type=DoctorReport, strict=True)
    assert url.removeprefix("http://").rstrip("/") == report.endpoints[0].endpoint
    (wrong,) = [one for one in report.endpoints[0].results if one.subject == "USDC"]
    assert (wrong.check, wrong.status) == ("stable coins", "failed")
    print_report(report, shows_all=False)
    table = capsys.readouterr().out  # to a file: each result is one line
    (line,) = [each for each in table.splitlines() if "USDC" in each]
    assert {wrong.check, wrong.status, wrong.seen} <= {each.strip() for each in line.split("│")}
    assert wrong.mend in line
    assert "ethereum: failed" in table


def test_ctrl_c_prints_what_was_found_until_then(node: AnvilNode, overlay: Path) -> None:
    begun = threading.Semaphore(0)

    def slow(_: Sequence[RpcCall]) -> Fault:
        begun.release()
        return Fault(delay_s=0.05)

    with proxy(node, faults=slow) as url:
        running = command(url, overlay)
        for _ in range(12):
            assert begun.acquire(timeout=60)
        running.send_signal(signal.SIGINT)
        body, errors = running.communicate()
    assert running.returncode == 130
    assert "Traceback" not in errors
    report = msgspec.json.decode(body, type=DoctorReport, strict=True)
    assert "chain id" in named(report.endpoints[0].results, "ok")
    assert "rate limit" in named(report.endpoints[0].results, "skipped")
