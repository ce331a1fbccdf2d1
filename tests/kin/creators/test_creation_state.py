"""Oracle for what a creation gave unseen: real constructors, factories and proxies."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import Final

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.anvil import AnvilNode
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.layout import World, named_account
from assay.demo.npm_packages import NODE_MODULES, PROJECT_ROOT
from assay.demo.transaction_pipeline import created_address
from core.evm.primitives import Address
from core.report.report import Report
from tests.harness.chain.contexts import Lacking, judge, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode

pytestmark = [pytest.mark.compiler, pytest.mark.process]

SOURCE = Path(__file__).parent / "contracts" / "Creations.sol"
BASE = "base/Erc20.sol"
KEEPER = named_account("a keeper of creations")
PAIR = named_account("a pair of creations")
_IMPORT: Final = re.compile(r'from "([^"]+)"')

MEANS: Final[dict[str, Sequence[str]]] = {
    "trace": (),
    "access list": ("debug_traceTransaction", "debug_traceCall"),
    "repeated": ("debug_traceTransaction", "eth_createAccessList"),
}
"""Methods that the node lacks, by what is left to repeat a creation."""

TRAPS = (
    "PremintOfArgument",
    "PremintOfConstant",
    "PremintOfBase",
    "PremintOfNext",
    "PremintByHelper",
    "PremintOfShares",
    "PremintOfPacked",
    "PremintOfSolady",
    "PremintOfSlotFirst",
    "PremintWithoutEvents",
    "PremintBehindBurn",
    "PremintTakenBack",
    "PremintOutsideSupply",
    "PremintOfPayer",
    "PremintOfPayers",
    "AllowanceOfPairShown",
    "AllowanceByFlag",
    "AllowanceOfPair",
    "AllowanceOfCreator",
    "AllowanceOfDead",
)
UNNAMED = ("PremintOfHash", "PremintOfOddSlots")
"""Keys that only a tracer of hashes finds."""

VEILED = ("VeiledUntilOpened", "VeiledByCap", "VeiledShares")
UNPROVED = ("PremintAtPlace", "PremintInCrowd", "Misnamed", "OperatorOfPair", *VEILED)

HONEST = (
    "HonestPlain",
    "HonestShares",
    "HonestPacked",
    "HonestSlotFirst",
    "HonestLimits",
    "HonestSolady",
    "HonestRoles",
    "Airdropped",
    "OldOfSender",
    "OldOfFund",
    "HonestLaunch",
    "HonestOwnerAllows",
    "OldAirdrop",
    "HonestPayer",
    "OperatorOfCreator",
)


@cache
def creations() -> Artifacts:
    zoo = PROJECT_ROOT / "assay" / "demo" / "contracts" / "zoo"
    sources = {SOURCE.name: SOURCE.read_text(), BASE: (zoo / BASE).read_text()}
    return compile_sources(sources | dict(_imported(SOURCE.read_text(), seen=set())))


def _imported(text: str, at: str = "", *, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the packaged sources that a source imports, by path."""
    for name in _IMPORT.findall(text):
        path = normpath(Path(at).parent / name) if name.startswith(".") else name
        if path.startswith(("openzeppelin-5/", "solady/")) and path not in seen:
            seen.add(path)
            inner = (NODE_MODULES / path).read_text()
            yield path, inner
            yield from _imported(inner, path, seen=seen)


@pytest.fixture
def chain(anvil_node: AnvilNode, demo_world: World, artifacts: Artifacts) -> Chain:
    return Chain(anvil_node, demo_world, artifacts | creations())


def made(chain: Chain, contract: str) -> Address:
    return chain.deploy(contract, KEEPER, PAIR, chain.world.venues.v2.router)


async def judged(chain: Chain, context: ChainContext, contract: str, means: str) -> Report:
    """A new token, seen by a node with these means of reading a creation."""
    token = made(chain, contract)
    chain.mine(3)
    return await judge(with_node(context, Lacking(context.node, MEANS[means])), token)


def shown(report: Report) -> str:
    return evidence_of(report, "hidden_creation")


def evidence_of(report: Report, key: str) -> str:
    return "".join(row.body for row in report.evidence if row.key == key)


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("contract", TRAPS)
async def test_what_no_event_gave_is_found(
    chain: Chain, context: ChainContext, contract: str, means: str
) -> None:
    report = await judged(chain, context, contract, means)
    assert report.scan.hidden_creation is True, shown(report)
    assert report.scan.unexplained_creation is False


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize("contract", HONEST)
async def test_an_honest_creation_is_explained(
    chain: Chain, context: ChainContext, contract: str, means: str
) -> None:
    report = await judged(chain, context, contract, means)
    found = (report.scan.hidden_creation, report.scan.unexplained_creation)
    assert found == (False, False), shown(report)


@pytest.mark.parametrize("contract", ["PremintBehindLaterBurn", "PremintBesideLaterBurn"])
async def test_what_was_burnt_since_makes_no_amount_small(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    token = made(chain, contract)
    chain.mine(context.chain.finality_blocks + 1)
    await judge(context, token)
    assert chain.send(chain.world.owner, token, "burn(uint256)", 10**60).success
    report = await judge(context, token)
    assert report.scan.hidden_creation is True, shown(report)


@pytest.mark.parametrize("means", ["trace", "access list"])
async def test_a_factory_may_approve_for_itself(
    chain: Chain, context: ChainContext, means: str
) -> None:
    maker = chain.deploy("Launcher")
    sent = chain.send(chain.world.owner, maker, "launch(address)", KEEPER)
    token = Address("0x" + sent.logs[-1].data[-40:])
    report = await judge(with_node(context, Lacking(context.node, MEANS[means])), token)
    found = (report.scan.hidden_creation, report.scan.unexplained_creation)
    assert found == (False, False), shown(report)


@pytest.mark.parametrize("contract", UNNAMED)
async def test_a_key_that_stands_nowhere_is_read_from_its_hash(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    token = made(chain, contract)
    traced = await judge(context, token)
    assert traced.scan.hidden_creation is True, shown(traced)
    node = Lacking(context.node, MEANS["access list"])
    blind = await judge(with_node(context, node), token)
    assert (blind.scan.hidden_creation, blind.scan.unexplained_creation) == (False, True)


@pytest.mark.parametrize("contract", UNPROVED)
async def test_what_is_open_is_not_proved(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    report = await judge(context, made(chain, contract))
    found = (report.scan.hidden_creation, report.scan.unexplained_creation)
    assert found == (False, True), shown(report)


async def test_a_creation_before_the_first_mint_is_found(
    chain: Chain, context: ChainContext
) -> None:
    token = made(chain, "SilentThenMint")
    chain.mine(20)
    assert chain.send(chain.world.owner, token, "mint()").success
    report = await judge(context, token)
    assert report.scan.hidden_creation is True, shown(report)


@pytest.mark.parametrize(
    ("contract", "is_unproved"),
    [
        ("SetUpUnseen", True),
        ("SetUpOfArgument", True),
        ("SetUpOfAnswer", None),
        ("SetUpOfConstant", None),
        ("SetUpWithSupply", False),
    ],
)
async def test_a_later_call_that_created_balances_is_not_proved(
    chain: Chain, context: ChainContext, contract: str, *, is_unproved: bool | None
) -> None:
    token = made(chain, contract)
    assert chain.send(chain.world.owner, token, "setUp()").success
    report = await judge(context, token)
    assert report.scan.creates_balances is is_unproved, evidence_of(report, "creates_balances:open")
    assert (report.scan.hidden_creation, report.scan.unexplained_creation) == (False, False)


async def test_a_call_in_the_creating_transaction_is_explained(
    chain: Chain, context: ChainContext
) -> None:
    maker = made(chain, "SetUpAtOnce")
    sent = chain.send(chain.world.owner, maker, "make()")
    report = await judge(context, Address("0x" + sent.logs[-1].data[-40:]))
    assert report.scan.creates_balances is False
    methods = ("debug_traceTransaction", "eth_createAccessList")
    blind = await judge(with_node(context, Lacking(context.node, methods)), report.token.address)
    assert (blind.scan.hidden_creation, blind.scan.creates_balances) == (None, True)


@pytest.mark.parametrize("is_trap", [False, True])
async def test_a_proxy_starts_in_its_creation(
    chain: Chain, context: ChainContext, *, is_trap: bool
) -> None:
    logic = chain.deploy("Upgradeable")
    token = chain.deploy("Proxied", logic, KEEPER, 10**30 if is_trap else 0)
    report = await judge(context, token)
    found = (report.scan.hidden_creation, report.scan.unexplained_creation)
    assert found == (is_trap, False), shown(report)


@pytest.mark.parametrize("is_dead", [True, False])
async def test_the_admin_of_a_transparent_proxy_alone_replaces_code(
    chain: Chain, context: ChainContext, *, is_dead: bool
) -> None:
    owner = Address("0x" + "0" * 36 + "dead") if is_dead else KEEPER
    token = chain.deploy("TransparentlyProxied", chain.deploy("Upgradeable"), owner, KEEPER)
    report = await judge(context, token)
    found = (report.scan.hidden_creation, report.scan.unexplained_creation)
    assert found == (False, False), shown(report)
    kinds = {power.holder_kind for power in report.powers if power.what == "replace"}
    assert "anybody" not in kinds
    assert (kinds == {"nobody"}) is is_dead


@pytest.mark.parametrize("is_trap", [False, True])
async def test_a_factory_gives_what_a_constructor_does(
    chain: Chain, context: ChainContext, *, is_trap: bool
) -> None:
    maker = chain.deploy("Maker")
    sent = chain.send(chain.world.owner, maker, "make(address,bool)", KEEPER, is_trap)
    token = Address("0x" + sent.logs[-1].data[-40:])
    report = await judge(context, token)
    found = (report.scan.hidden_creation, report.scan.unexplained_creation)
    assert found == (is_trap, False), shown(report)


@pytest.mark.parametrize("is_trap", [False, True])
async def test_a_factory_without_events_is_found_by_its_gas(
    chain: Chain, context: ChainContext, *, is_trap: bool
) -> None:
    maker = chain.deploy("SilentMaker")
    chain.send(chain.world.owner, maker, "make(address,bool)", KEEPER, is_trap)
    chain.mine(20)
    report = await judge(context, created_address(maker, 1))
    found = (report.scan.hidden_creation, report.scan.unexplained_creation)
    assert found == (is_trap, False), shown(report)


async def test_own_allowances_to_a_router_are_explained(
    chain: Chain, context: ChainContext
) -> None:
    venue = chain.world.venues.v2
    token = chain.deploy("HonestFees", KEEPER, venue.factory, venue.router)
    report = await judge(context, token)
    found = (report.scan.hidden_creation, report.scan.unexplained_creation)
    assert found == (False, False), shown(report)


async def test_a_node_that_repeats_nothing_has_no_answer(
    chain: Chain, context: ChainContext
) -> None:
    token = made(chain, "PremintOfArgument")
    methods = ("debug_traceTransaction", "debug_traceCall", "eth_createAccessList")
    report = await judge(with_node(context, Lacking(context.node, methods)), token)
    assert (report.scan.hidden_creation, report.scan.unexplained_creation) == (None, None)


async def test_a_plain_creation_is_read_once(chain: Chain, context: ChainContext) -> None:
    token = made(chain, "HonestPlain")
    chain.mine(context.chain.finality_blocks + 1)
    node = CountingNode(context.node)
    counting = with_node(context, node)
    await judge(counting, token)
    methods = [request.method for request in node.requests]
    assert methods.count("eth_getLogs") >= 1
    assert methods.count("debug_traceTransaction") == 1
    assert methods.count("eth_createAccessList") == 0
    before = len(node.requests)
    report = await judge(counting, token)
    again = [request.method for request in node.requests[before:]]
    assert "debug_traceTransaction" not in again
    assert report.scan.hidden_creation is False


# --- what ended functions and earlier code may have done ---------------------------------------


@pytest.mark.parametrize(
    ("contract", "call", "given", "is_unproved", "creates"),
    [
        ("PastPoke", "poke(uint256,uint256)", (7, 10**30), True, False),
        ("PastGrant", "grant(address,address)", (PAIR, KEEPER), True, False),
        ("PastFlags", "setUp(address,address)", (PAIR, KEEPER), False, False),
        ("PastSeizure", "seize(address,uint256)", (PAIR, 0), False, False),
        ("PastWrap", "take(address,uint256)", (KEEPER, 1), False, True),
    ],
)
async def test_what_the_owner_could_do_before_it_renounced_counts(
    chain: Chain,
    context: ChainContext,
    contract: str,
    call: str,
    given: tuple[object, ...],
    *,
    is_unproved: bool,
    creates: bool,
) -> None:
    token, owner = made(chain, contract), chain.world.owner
    assert chain.send(owner, token, call, *given).success
    assert chain.send(owner, token, "renounce()").success
    report = await judge(context, token)
    assert report.scan.unproved_custody is is_unproved, evidence_of(report, "unproved_custody:past")
    assert report.scan.creates_balances is creates, evidence_of(report, "creates_balances:open")
    blind = await judge(
        with_node(context, Lacking(context.node, (*MEANS["repeated"], "debug_traceCall"))), token
    )
    assert blind.scan.unproved_custody is (None if is_unproved else False)


async def test_what_nobody_could_do_after_the_creation_is_no_past(
    chain: Chain, context: ChainContext
) -> None:
    report = await judge(context, made(chain, "NeverOwned"))
    assert report.scan.unproved_custody is False, evidence_of(report, "unproved_custody:past")


@pytest.mark.parametrize(
    ("logic", "is_shown", "is_unproved"),
    [
        ("EarlierLogic", False, True),
        ("EarlierLogic", True, True),
        ("HonestEarlierLogic", False, False),
    ],
)
async def test_earlier_code_behind_a_proxy_counts(
    chain: Chain, context: ChainContext, logic: str, *, is_shown: bool, is_unproved: bool
) -> None:
    first, last = chain.deploy(logic), chain.deploy("Logic")
    token = chain.deploy("Fronted", first)
    finish = "finish(address,address,bool)"
    assert chain.send(chain.world.owner, token, finish, KEEPER, last, is_shown).success
    report = await judge(context, token)
    assert report.scan.unproved_custody is is_unproved, evidence_of(report, "unproved_custody:past")


async def test_the_code_of_the_creation_is_no_earlier_code(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.deploy("Fronted", chain.deploy("Logic"))
    report = await judge(context, token)
    assert report.scan.unproved_custody is False, evidence_of(report, "unproved_custody:past")
