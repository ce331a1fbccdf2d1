"""Each kind of curve, read from a test contract with the platform's interface.

Unknown tokens, on the curve, graduated, and between the two.
"""

from typing import Literal

import msgspec
import pytest

from analysis.launchpads import origin
from analysis.launchpads.origin import OriginEvidence, OriginReads
from analysis.market.curves.curve import CurveState, Standing
from analysis.market.curves.curve_pools import CURVES, CurveReads
from analysis.pipeline.chain_context import ChainContext
from analysis.reads.node import Node
from analysis.reads.read_batch import ReadBatch
from assay.demo.anvil import ETHER
from assay.demo.layout import named_account
from assay.demo.reads import read
from config.facts.launchpad import Launchpad, Registry
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address
from core.rpc.client import RpcClient
from tests.harness.chain.contexts import judge, with_chain
from tests.harness.chain.transactions import Chain
from tests.harness.launchpads.platforms import pad_of

TOKEN = named_account("a launched token")
STRANGER = named_account("nobody's token")
QUOTE = named_account("a quote token")
MILLION = 10**6 * ETHER


async def lead_of(
    node: Node, pad: Launchpad, token: Address
) -> tuple[OriginEvidence, Standing | None]:
    """Both rounds, as an analysis makes them."""
    pin = await node.fetch_head()
    inquiry = origin.begin((pad,), token, (), frozenset())
    first = ReadBatch(pin.hash)
    reads = OriginReads(first, inquiry, to_block=pin.number)
    await first.send(node)
    lead = reads.read(height=pin.number)
    second = ReadBatch(pin.hash)
    curve = CurveReads(second, lead)
    await second.send(node)
    return lead, curve.read()


async def standing(node: Node, pad: Launchpad, token: Address = TOKEN) -> Standing | None:
    lead, found = await lead_of(node, pad, token)
    assert (lead.proof is None) == (found is None)
    return found


def address_in(chain: Chain, registry: Address, signature: str, word: int) -> Address:
    """An address in the registry's record of the token."""
    registered = read(chain.node, registry, signature, TOKEN, returns="(address,address,address)")
    return Address(str(registered[word]))


def state(
    pool: Address,
    quote: Address,
    tokens: int,
    paid: int,
    *,
    target: int | None = None,
    progress: float | None = None,
) -> dict[str, object]:
    return {
        "quote_target_raw": target,
        "progress": pytest.approx(paid / target) if target else progress,
        "pool": pool,
        "quote": quote,
        "token_reserve_raw": tokens,
        "quote_reserve_raw": paid,
    }


def fields(found: Standing | None) -> dict[str, object]:
    assert isinstance(found, CurveState), found
    return {name: getattr(found, name) for name in found.__struct_fields__}


@pytest.mark.parametrize("registry", [0, 1], ids=["manager", "helper"])
@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("curve", "on"),
        ("curve_fresh", "on"),
        ("curve_sold_out", "closed"),
        ("graduated", "closed"),
        ("seeded", None),
    ],
)
async def test_four_meme(
    chain: Chain,
    node_client: RpcClient,
    key: str,
    expected: Literal["on", "closed"] | None,
    registry: int,
) -> None:
    """The demo's own platform, by the manager's record and by the helper's."""
    (demo, _) = chain.world.launchpads
    pad = Launchpad(
        slug=demo.slug,
        kind="curve",
        curve="curve_a",
        contracts=demo.contracts,
        registry=demo.registry[registry : registry + 1],
    )
    token = chain.world.issued(key).address
    found = await standing(node_client, pad, token)
    if expected != "on":
        assert found == expected
        return
    info = read(
        chain.node,
        demo.contracts[0],
        "_tokenInfos(address)",
        token,
        returns="(address,address,uint256,uint256,uint256,uint256,uint256,uint256,uint256)",
    )
    offers, paid, target = (int(str(info[at])) for at in (7, 8, 5))
    assert target == 24 * ETHER
    assert fields(found) == state(demo.contracts[0], ZERO_ADDRESS, offers, paid, target=target)


@pytest.mark.parametrize(
    ("status", "sold", "expected"),
    [
        (1, 300 * MILLION, "on"),
        (1, 0, "on"),
        (1, 800 * MILLION, "closed"),  # all of it sold, not yet on an exchange
        (2, 300 * MILLION, "closed"),
        (3, 300 * MILLION, "closed"),
        (4, 800 * MILLION, "closed"),
        (5, 0, "closed"),
        (1, 1001 * MILLION, "closed"),
    ],
)
@pytest.mark.parametrize("quote", [ZERO_ADDRESS, QUOTE])
async def test_flap(
    chain: Chain, node_client: RpcClient, status: int, sold: int, expected: str, quote: Address
) -> None:
    portal = chain.deploy("Portal")
    put = "put(address,uint8,uint256,uint256,uint256,address)"
    sender = chain.world.owner
    assert chain.send(
        sender, portal, put, TOKEN, status, 3 * ETHER, sold, 800 * MILLION, quote
    ).success
    pad = pad_of("curve_b", portal)
    found = await standing(node_client, pad)
    if expected == "on":
        assert fields(found) == state(
            portal, quote, 1000 * MILLION - sold, 3 * ETHER, progress=sold / (800 * MILLION)
        )
    else:
        assert found == expected
    assert await standing(node_client, pad, STRANGER) is None


@pytest.mark.parametrize(
    ("phase", "graduated", "expected"),
    [
        (0, False, "on"),
        (0, True, "closed"),
        (1, False, "closed"),
        (2, True, "closed"),
        (3, True, "closed"),
    ],
)
@pytest.mark.parametrize("quote", [ZERO_ADDRESS, QUOTE])
async def test_pons_and_its_forks(
    chain: Chain, node_client: RpcClient, phase: int, graduated: bool, expected: str, quote: Address
) -> None:
    factory = chain.deploy("LaunchFactory")
    sender = chain.world.owner
    chain.send(sender, factory, "launch(address,address)", TOKEN, quote)
    curve = address_in(chain, factory, "getLaunchedToken(address)", 1)
    chain.send(sender, curve, "put(uint256,uint256,bool)", 2 * ETHER, 500 * MILLION, graduated)
    chain.send(sender, factory, "setPhase(address,uint8)", TOKEN, phase)
    pad = pad_of("curve_c", factory)
    found = await standing(node_client, pad)
    if expected == "on":
        # The phantom quote is in the curve's reserves and not in what it holds.
        assert fields(found) == state(
            curve, quote, 500 * MILLION, 2 * ETHER, target=42 * ETHER // 10
        )
    else:
        assert found == expected
    assert await standing(node_client, pad, STRANGER) is None


@pytest.mark.parametrize(
    ("trading", "on_uniswap", "expected"),
    [
        (True, False, "on"),
        (False, False, "closed"),
        (False, True, "closed"),
        (True, True, "closed"),
    ],
)
async def test_virtuals(
    chain: Chain, node_client: RpcClient, trading: bool, on_uniswap: bool, expected: str
) -> None:
    bonding = chain.deploy("Bonding")
    sender = chain.world.owner
    chain.send(sender, bonding, "launch(address,address)", TOKEN, QUOTE)
    pair = address_in(chain, bonding, "tokenInfo(address)", 2)
    chain.send(sender, pair, "put(uint256,uint256)", 700 * MILLION, 1_500 * ETHER)
    chain.send(sender, bonding, "setStage(address,bool,bool)", TOKEN, trading, on_uniswap)
    pad = pad_of("curve_d", bonding)
    found = await standing(node_client, pad)
    if expected == "on":
        assert fields(found) == state(pair, QUOTE, 700 * MILLION, 1_500 * ETHER)
    else:
        assert found == expected
    assert await standing(node_client, pad, STRANGER) is None


@pytest.mark.parametrize(
    ("curves", "threshold", "expected"),
    [(1, 800, "on"), (6, 800, "on"), (1, 0, "closed"), (0, 1, "unread")],
)
async def test_printr(
    chain: Chain, node_client: RpcClient, curves: int, threshold: int, expected: str
) -> None:
    singleton = chain.deploy("CurveSingleton")
    put = "put(address,(address,uint16,uint256,uint256,uint256,uint256))"
    curve = (QUOTE, curves, 1_000 * MILLION, 3 * ETHER, 2 * ETHER, threshold * MILLION)
    chain.send(chain.world.owner, singleton, put, TOKEN, curve)
    pad = pad_of("curve_e", singleton)
    found = await standing(node_client, pad)
    if expected == "on":
        left = 3 * ETHER * (1_000 * MILLION // curves) // (5 * ETHER)
        assert fields(found) == state(singleton, QUOTE, left, 2 * ETHER)
    else:
        assert found == expected
    assert await standing(node_client, pad, STRANGER) is None


async def test_a_curve_that_does_not_answer_is_unread_and_not_closed(
    chain: Chain, node_client: RpcClient
) -> None:
    """The factory's record names an account as the curve."""
    recorder = chain.deploy("Recorder")
    words = [TOKEN, QUOTE, TOKEN, TOKEN, ZERO_ADDRESS, *("0x0",) * 9, "0x1"]
    answer = bytes.fromhex("".join(word[2:].rjust(64, "0") for word in words))
    question = bytes.fromhex(call_data("getLaunchedToken(address)", TOKEN)[2:])
    chain.send(chain.world.owner, recorder, "record(bytes,bytes)", question, answer)
    assert await standing(node_client, pad_of("curve_c", recorder)) == "unread"


async def test_a_record_that_is_too_short_for_its_curve_is_unread(
    chain: Chain, node_client: RpcClient
) -> None:
    """An overlay may name a registry that is not the curve's."""
    (demo, _) = chain.world.launchpads
    found = Registry(read="exists(address)", set_word=0)
    recorder = chain.deploy("Recorder")
    yes = bytes(31) + b"\x01"
    chain.send(chain.world.owner, recorder, "recordUnknown(bytes,bool)", yes, False)
    for curve in CURVES:
        pad = msgspec.structs.replace(
            demo, curve=curve, contracts=(recorder,), registry=(found,), event=()
        )
        assert await standing(node_client, pad) == "unread"


async def test_pools_are_not_resolved_where_a_curve_could_not_be_read(
    chain: Chain, context: ChainContext
) -> None:
    """The platform has curves, and none that we can read; the token has no other pool."""
    (demo, direct) = context.chain.launchpads
    pads = (msgspec.structs.replace(demo, curve=None), direct)
    facts = msgspec.structs.replace(context.chain, launchpads=pads)
    report = await judge(with_chain(context, facts), chain.world.issued("curve").address)
    assert report.pools is None
    assert report.token.launchpad_name == demo.slug
