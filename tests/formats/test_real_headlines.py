"""Protects headlines of well-known tokens, in states of real Ethereum blocks.

The states are in a folder next to the checkout; without it, the tests are skipped. Its program puts
a state on a node and sends trades of a fresh account. What nobody read in a block is zero there, so
some answers differ from those on the chain. Holders, creators and ages of pools are unknown.
"""

import importlib.util
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any, Final

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.indexed_facts import NoFactsIndex
from api.formats.prose.headline import headline_of, refusal_headline
from api.formats.prose.rendered_report import render_for_people
from api.formats.token_snapshot import take_snapshot
from config.facts.load_chains import load_chains
from config.settings import AnalysisSettings, RpcSettings
from core.errors import TokenRefusedError
from core.evm.primitives import Address
from core.rpc.client import RpcClient
from tests.harness.chain.contexts import judge
from tests.house.sources import ROOT

STATES = ROOT.parent / "shared" / "mainnet"
MIN_LIQUIDITY_USD: Final = 100.0

pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(not STATES.exists(), reason="no states of real blocks"),
]

PASSED = "No problems found in 38 of 41 checks. Three could not be answered"
PASSED_IN_TWO_POOLS = "No problems found in 37 of 41 checks. Four could not be answered"
OF_LIQUIDITY = (
    "You can buy and sell it, but it is unknown who can withdraw the liquidity. Three more checks "
    "could not be answered"
)
OF_LIST = "You can buy and sell it, but every account on a list can create tokens"
PAUSABLE = "You can buy and sell it, but the owner can pause all transfers and create tokens"
NO_CODE = "Not analysed: There is no code at this address on this chain"
LIQUIDITY_UNKNOWN = "It is unknown who can withdraw the liquidity"
THEFT_UNKNOWN = "It is unknown whether others can take tokens out of your wallet"

# Headlines by block and name.
HEADLINES: Final[dict[int, dict[str, str]]] = {
    11_114_732: {
        "LINK": PASSED_IN_TWO_POOLS,
        "UNI": "You can buy and sell it, but it is unknown who can withdraw the liquidity. "
        "Three more checks could not be answered",
    },
    12_047_794: {"SHIB": PASSED, "WBTC": PAUSABLE},
    12_243_999: {
        "HOGE": f"You pay 1.99 % tax on buys, sales and transfers. {LIQUIDITY_UNKNOWN}",
    },
    12_522_062: {"DAI": OF_LIST, "SHIB": OF_LIQUIDITY},
    14_029_313: {"WBTC": f"{PAUSABLE}. {LIQUIDITY_UNKNOWN}"},
    15_752_489: {"DAI": OF_LIST},
    17_034_869: {
        "APE": "No trades were tested (no liquidity is reached by buying or by selling). No "
        "problems found in 28 of 41 checks. 13 could not be answered",
        "MATIC": "You can buy and sell it, but someone can change the rules of trades",
    },
    18_085_863: {"BOND": PASSED, "DUSK": OF_LIQUIDITY, "SHIB": PASSED},
    19_426_586: {
        "ARB": "You can buy and sell it, but one wallet, 0x5613…0678, can replace its code. "
        f"{THEFT_UNKNOWN}",
        "HEX": "You can buy and sell it, but anyone can call a function that creates tokens. It is "
        f"not proved that tokens move only with their holder's consent. {THEFT_UNKNOWN}",
        "LINK": PASSED_IN_TWO_POOLS,
        "WBTC": NO_CODE,
    },
    19_933_612: {
        "USDe": "You can buy and sell it, but one wallet, 0x2CC4…Afc3, can create tokens",
        "WBTC": NO_CODE,
    },
}
"""Every well-known token whose code is in a block's state."""


class RealState(msgspec.Struct, frozen=True, kw_only=True):
    """A node with the state before a block."""

    context: ChainContext
    block: Any
    """Object of the folder's program."""


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """Load the folder's program, with what its `main` sets."""
    spec = importlib.util.spec_from_file_location("run_blocks", STATES / "run_blocks.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    topics = {
        "SWAP2": "Swap(address,uint256,uint256,uint256,uint256,address)",
        "SWAP3": "Swap(address,address,int256,int256,uint160,uint128,int24)",
        "TRANSFER": "Transfer(address,address,uint256)",
    }
    vars(loaded)["kec"] = loaded.hashers(ROOT)
    for name, event in topics.items():
        vars(loaded)[name] = "0x" + loaded.kec(event.encode()).hex()
    return loaded


@pytest.fixture
async def state(request: pytest.FixtureRequest, program: ModuleType) -> AsyncIterator[RealState]:
    """Put the state before a block, the parameter, on a node."""
    block = program.RealBlock(ROOT, request.param)
    front = program.NoLogs(block.node.port)
    url = f"http://127.0.0.1:{front.server_address[1]}"
    client = await RpcClient.connect((url,), 1, RpcSettings())
    context = ChainContext(
        chain=next(chain for chain in load_chains(None) if chain.slug == "ethereum"),
        node=client,
        index=NoFactsIndex(),
        settings=AnalysisSettings(),
        now_s=lambda: float(block.stamp - 4),
    )
    yield RealState(context=context, block=block)
    await client.aclose()
    front.shutdown()
    front.server_close()
    block.node.conn.close()
    block.node.proc.terminate()
    block.node.proc.wait()


@pytest.mark.parametrize("state", HEADLINES, indirect=True)
async def test_a_well_known_token_has_its_headline(state: RealState) -> None:
    names = msgspec.json.decode((STATES / "tokens.json").read_bytes())
    traded = {token for _, *pair in state.block.pools.values() for token in pair}
    found: dict[str, str] = {}
    for token in sorted(traded & set(names)):
        headline = await headline_in(state.context, Address(token))
        found[names[token]["name"]] = headline
        sent = state.block.trade(token)
        if sent is not None:
            assert "refused" not in sent.values()
            assert "can't" not in headline
    assert found == HEADLINES[state.block.number]


async def headline_in(context: ChainContext, token: Address) -> str:
    try:
        report = await judge(context, token)
    except TokenRefusedError as error:
        return refusal_headline(str(error))
    snapshot = take_snapshot(
        report,
        context.chain,
        now_s=report.token.scanned_at_s,
        liquid_above_usd=MIN_LIQUIDITY_USD,
    )
    return headline_of(render_for_people(snapshot))
