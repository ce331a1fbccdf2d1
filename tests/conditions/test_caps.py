"""Protects "now in force": a cap is one exactly while the real code refuses because of it."""

import asyncio
import time
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads import storage_words
from analysis.reads.block_reader import BlockReader
from analysis.reads.node import Node
from analysis.reads.revert_reason import decode_revert
from analysis.static.analyse_code import CodeAnalysis, analyse_code
from analysis.token.cap_evaluation import CapInput, read_cap_words, with_caps
from analysis.token.deadline_state import read_clock_state
from assay.demo.layout import named_account
from core.errors import UpstreamError
from core.evm.abi import call_data
from core.evm.primitives import Address, BlockRef, Hash32, RawAmount
from core.report.fields.static_findings import StaticFindings
from core.rpc.client import RpcClient
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.cases.cases_compile import BUILDS, Build, filled, run_compiler
from tests.harness.chain.transactions import Chain
from tests.harness.examples import spread

pytestmark = [pytest.mark.compiler, pytest.mark.process]

SOURCE = Path(__file__).parent / "contracts" / "Capped.sol"
SUPPLY = 1000 * 10**18
MAX = 2**256 - 1
NAMES = ("0.6-opt", "0.8", "0.8-opt", "0.8-ir")

STATES = {
    "StoredCap": (SUPPLY // 100, SUPPLY - 1, SUPPLY, SUPPLY + 1, MAX, 0),
    "StrictCap": (SUPPLY // 100, SUPPLY, SUPPLY + 1, MAX),
    "ZeroIsOff": (0, 1, SUPPLY // 100, SUPPLY),
    "Switched": (0, 1),
    "EitherSwitch": (0, 1, 2, 3),
    "ShareOfSupply": (0, 100, 9_999, 10_000),
    "ConstantCap": (0,),
    "SwitchedConstant": (0, 1),
    "RemoveLimits": (0, 1),
    "WalletCap": (SUPPLY // 50, SUPPLY, MAX, 0),
    "UntilBlock": (0, 10**9),
    "AllButAll": (SUPPLY // 100, SUPPLY),
}
"""Arguments of successive calls of `set`."""


@cache
def runtimes() -> dict[tuple[str, str], bytes]:
    """Return runtime codes by contract and build."""
    found = {}
    for package in {build.package for build in BUILDS if build.name in NAMES}:
        wanted = [
            (contract, build)
            for contract in STATES
            for build in BUILDS
            if build.package == package and build.name in NAMES
        ]
        answers = run_compiler(package, [_request(*each) for each in wanted])
        for (contract, build), answer in zip(wanted, answers, strict=True):
            code = filled(answer)
            assert isinstance(code, bytes), code
            found[contract, build.name] = code
    return found


def _request(contract: str, build: Build) -> dict[str, object]:
    settings: dict[str, object] = {
        "optimizer": {"enabled": build.optimise == "on", "runs": 200},
        "outputSelection": {"*": {"*": ["evm.deployedBytecode"]}},
    }
    return {
        "file": SOURCE.name,
        "contract": contract,
        "input": {
            "language": "Solidity",
            "sources": {SOURCE.name: {"content": SOURCE.read_text()}},
            "settings": settings | ({"viaIR": True} if build.is_new else {}),
        },
    }


class Actors(msgspec.Struct, frozen=True):
    """Accounts of one token."""

    token: Address
    owner: Address
    holder: Address
    """Has the whole supply."""
    pair: Address
    """Has the whole supply."""
    half: Address
    """Has half of the supply."""


def install(chain: Chain, code: bytes) -> Actors:
    names = (named_account(f"{name} {time.monotonic_ns()}") for name in ("a", "b", "c", "d"))
    token, holder, pair, half = names
    chain.node.rpc("anvil_setCode", token, "0x" + code.hex())
    owner = chain.world.owner
    init = "init(uint256,address,address,address)"
    assert chain.send(owner, token, init, SUPPLY, holder, pair, half).success
    return Actors(token=token, owner=owner, holder=holder, pair=pair, half=half)


async def refused_for(node: Node, actors: Actors, block: Hash32) -> set[str]:
    """Why ordinary transfers fail that move no more than there is."""
    newcomer = named_account("newcomer")
    requests = [
        RpcRequest(
            "eth_call",
            (
                {
                    "from": sender,
                    "to": actors.token,
                    "data": call_data("transfer(address,uint256)", receiver, amount),
                },
                {"blockHash": block},
            ),
        )
        for sender in (actors.holder, actors.pair)
        for receiver, amount in (
            (newcomer, SUPPLY // 2),
            (newcomer, SUPPLY),
            (actors.half, 1),
            (actors.half, SUPPLY // 2),
        )
    ]
    answers = await node.batch(requests)
    faults = (answer for answer in answers if isinstance(answer, RpcFault))
    return {decode_revert(bytes.fromhex((each.data or "")[2:]), each.message) for each in faults}


async def found_now(node: Node, actors: Actors, found: CodeAnalysis) -> StaticFindings:
    pin = await node.fetch_head()
    reader = BlockReader(node, block=pin.hash)
    clock = await read_clock_state(reader, actors.token, found.clock_limits)
    words = await read_cap_words(reader, actors.token, found.cap_rules)
    caps = CapInput(
        rules=found.cap_rules, words=words, supply_raw=RawAmount(SUPPLY), clock=clock.reading
    )
    return with_caps(found.findings, caps)


@pytest.mark.parametrize(("contract", "build"), spread(product(STATES, NAMES), one_in=2))
async def test_a_cap_is_in_force_while_the_code_refuses(
    chain: Chain, node_client: RpcClient, contract: str, build: str
) -> None:
    code = runtimes()[contract, build]
    found = analyse_code(code)
    actors = install(chain, code)
    for state in STATES[contract]:
        assert chain.send(actors.owner, actors.token, "set(uint256)", state).success
        now = await found_now(node_client, actors, found)
        head = await node_client.fetch_head()
        reasons = await refused_for(node_client, actors, head.hash)
        answers = (now.has_trading_cap, now.has_position_cap)
        assert answers == ("cap" in reasons, "wallet" in reasons), state


CLONE = "363d3d373d3d3d363d73{}5af43d82803e903d91602b57fd5bf3"
"""EIP-1167."""


def clone_of(chain: Chain, contract: str) -> Actors:
    """A token whose code is elsewhere and whose storage is its own."""
    target = named_account(f"target {time.monotonic_ns()}")
    chain.node.rpc("anvil_setCode", target, "0x" + runtimes()[contract, "0.8-opt"].hex())
    return install(chain, bytes.fromhex(CLONE.format(target[2:])))


async def caps_of(context: ChainContext, token: Address) -> tuple[object, ...]:
    """As reported: in force, and whether the code could."""
    *_, report = [report async for report in scan(context, token)]
    static = report.static
    return (
        static.has_trading_cap,
        static.has_position_cap,
        static.has_trading_cap_functionality,
        static.has_position_cap_functionality,
    )


@pytest.mark.parametrize("is_clone", [False, True])
async def test_a_report_tells_what_is_in_force(
    chain: Chain, context: ChainContext, is_clone: bool
) -> None:
    code = runtimes()["RemoveLimits", "0.8-opt"]
    actors = clone_of(chain, "RemoveLimits") if is_clone else install(chain, code)
    assert await caps_of(context, actors.token) == (True, True, True, True)
    assert chain.send(actors.owner, actors.token, "set(uint256)", 1).success
    assert await caps_of(context, actors.token) == (False, False, True, True)


class Deaf:
    """A real node that does not answer for storage: not in time, or not at all."""

    def __init__(self, node: Node, *, is_slow: bool) -> None:
        self._node = node
        self._is_slow = is_slow

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        if self._is_slow:
            await asyncio.sleep(60)
        raise UpstreamError(service="node", reason="gone")


@pytest.mark.parametrize("is_slow", [False, True])
async def test_unread_storage_leaves_what_the_code_tells(
    chain: Chain, node_client: RpcClient, monkeypatch: pytest.MonkeyPatch, is_slow: bool
) -> None:
    monkeypatch.setattr(storage_words, "WAIT_S", 0.05)
    code = runtimes()["RemoveLimits", "0.8-opt"]
    actors = install(chain, code)
    assert chain.send(actors.owner, actors.token, "set(uint256)", 1).success
    assert (await found_now(node_client, actors, analyse_code(code))).has_trading_cap is False
    now = await found_now(Deaf(node_client, is_slow=is_slow), actors, analyse_code(code))
    assert (now.has_trading_cap, now.has_position_cap) == (True, True)


async def test_a_constant_cap_counts_whatever_the_supply(
    chain: Chain, node_client: RpcClient
) -> None:
    code = runtimes()["ConstantCap", "0.8-opt"]
    found = analyse_code(code)
    for supply in (0, 10**18, SUPPLY):
        caps = CapInput(rules=found.cap_rules, words={}, supply_raw=RawAmount(supply), clock=None)
        now = with_caps(found.findings, caps)
        assert now.has_trading_cap is True
