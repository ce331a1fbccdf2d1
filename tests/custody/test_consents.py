"""Oracle for consents to less than is taken.

Each theft is really done, and is never answered with `false`; their honest double is proved sound.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.static.analyse_code import analyse_code
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.npm_packages import PROJECT_ROOT
from core.evm.abi import selector_of
from core.evm.primitives import Address
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.custody.robberies import HONEST, KEEPER, TRANSFER_FROM, Answer, Robbery

pytestmark = pytest.mark.compiler

SOURCES = tuple(
    Path(__file__).parent / "contracts" / name for name in ("Consents.sol", "Amounts.sol")
)
BASE = "base/Erc20.sol"
HUGE = 2**255
PERMIT2 = Address("0x000000000022d473030f116ddee9f6b43ac78ba3")
LOOKALIKE = Address("0x4200000000000000000000000000000000010028")


@cache
def consents() -> Artifacts:
    zoo = PROJECT_ROOT / "assay" / "demo" / "contracts" / "zoo"
    own = {source.name: source.read_text() for source in SOURCES}
    return compile_sources(own | {BASE: (zoo / BASE).read_text()})


@pytest.fixture
def chain(chain: Chain) -> Chain:
    return Chain(chain.node, chain.world, chain.artifacts | consents())


def without_low_half(r: Robbery) -> None:
    r.spend(r.attacker, (r.before // 2) >> 64 << 64)


def in_batch(r: Robbery) -> None:
    r.call(r.victim, "approve(address,uint256)", r.attacker, r.before // 10)
    r.call(
        r.attacker,
        "sendFrom(address,address,uint256,uint256)",
        *(r.victim, r.attacker, r.before // 10, 10),
    )


def negative_credit(r: Robbery) -> None:
    r.call(r.attacker, "pay(address,uint256,uint256)", r.victim, 0, r.before // 2)


def below_zero(r: Robbery) -> None:
    r.call(KEEPER, "lower(address,address,uint256)", r.victim, KEEPER, HUGE)
    r.spend(KEEPER)


def approved_beside(r: Robbery) -> None:
    r.call(r.victim, "approve(address,uint256)", r.attacker, 0)
    r.spend(KEEPER)


def named(r: Robbery) -> None:
    r.call(KEEPER, "name_(address)", r.victim)
    r.call(r.attacker, "collect(address,uint256)", r.attacker, r.before // 2)


def rebate(r: Robbery) -> None:
    r.call(r.victim, "approve(address,uint256)", r.attacker, 1)
    r.call(r.attacker, "collect(address,uint256,uint256)", r.victim, 1, 2**256 - r.before // 2)


def after_one(r: Robbery) -> None:
    r.call(r.victim, "approve(address,uint256)", r.attacker, 1)
    to_operator = "operatorSend(address,address,uint256)"
    r.call(r.attacker, to_operator, r.victim, r.attacker, r.before // 2)


def after_revocation(r: Robbery) -> None:
    r.call(r.victim, "approve(address,uint256)", r.attacker, 0)
    r.spend(r.attacker)


def after_decrease(r: Robbery) -> None:
    r.call(r.victim, "decreaseAllowance(address,uint256)", r.attacker, 1)
    r.spend(r.attacker)


def after_payment(r: Robbery) -> None:
    r.call(r.victim, "transfer(address,uint256)", r.attacker, 1)
    r.spend(r.attacker)


def through_router(r: Robbery) -> None:
    r.call(r.victim, "approve(address,uint256)", KEEPER, 2**256 - 1)
    r.call(KEEPER, TRANSFER_FROM, r.attacker, r.attacker, int(r.victim, 16))


def to_the_token(r: Robbery) -> None:
    r.call(r.attacker, "transferFrom(address,address,uint256)", r.victim, r.token, r.before // 2)


def to_the_poor(r: Robbery) -> None:
    r.spend(r.attacker)


def as_bridge(r: Robbery) -> None:
    r.chain.node.set_balance(LOOKALIKE, 10**20)
    r.call(LOOKALIKE, "crosschainBurn(address,uint256)", r.victim, r.before // 2)


def capped(r: Robbery) -> None:
    """Try each function of the honest double with more than was allowed."""
    r.spend(r.attacker, HUGE)
    r.call(r.attacker, "pull(address,uint256)", r.victim, HUGE)
    r.call(r.attacker, "pullAll(address)", r.victim)


def all_of_them(r: Robbery) -> None:
    """Call every function of the honest double."""
    negative_credit(r)
    r.call(r.attacker, "setOperator(address,bool)", KEEPER, True)
    r.call(KEEPER, "decreaseAllowance(address,uint256)", r.attacker, HUGE)
    approved_beside(r)
    without_low_half(r)
    for act in (after_one, after_revocation, after_decrease):
        act(r)


def from_the_poor(r: Robbery) -> None:
    r.chain.node.set_balance(PERMIT2, 10**20)
    r.call(PERMIT2, TRANSFER_FROM, r.attacker, r.victim, r.before // 2)


def signed_half(r: Robbery) -> None:
    """Move half, and more than half, with the victim's consent to a half."""
    r.chain.node.set_balance(PERMIT2, 10**20)
    r.call(PERMIT2, TRANSFER_FROM, r.victim, r.attacker, r.before // 2)
    if r.left >= r.before // 2:
        r.before = r.left


class Row(msgspec.Struct, frozen=True, kw_only=True):
    contract: str
    rob: Callable[[Robbery], None]
    has_keeper: bool = False
    is_robbed: bool = True


ROWS = (
    Row(contract="HalfAllowance", rob=without_low_half),
    Row(contract="BatchSpender", rob=in_batch),
    Row(contract="BranchCheck", rob=negative_credit),
    Row(contract="LoweredAllowance", rob=below_zero, has_keeper=True),
    Row(contract="ApprovalOfAll", rob=after_one),
    Row(contract="RevokedIsAll", rob=after_revocation),
    Row(contract="LoweredIsAll", rob=after_decrease),
    Row(contract="PaidIsSpender", rob=after_payment),
    Row(contract="AmountIsPayer", rob=through_router),
    Row(contract="OperatorBeside", rob=approved_beside, has_keeper=True),
    Row(contract="NamedAccount", rob=named, has_keeper=True),
    Row(contract="Rebate", rob=rebate),
    Row(contract="LateOnSomePaths", rob=to_the_token),
    Row(contract="CappedByOther", rob=to_the_poor),
    Row(contract="LookalikeBridge", rob=as_bridge),
    Row(contract="BridgedToken", rob=as_bridge, is_robbed=False),
    Row(contract="PaidBackwards", rob=from_the_poor),
    Row(contract="PaidTwice", rob=signed_half),
    Row(contract="PaidWithFee", rob=signed_half, is_robbed=False),
    Row(contract="SoundAmounts", rob=capped, is_robbed=False),
    Row(contract="SoundConsents", rob=all_of_them, has_keeper=True, is_robbed=False),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.contract)
async def test_what_is_stolen_is_not_called_safe(
    chain: Chain, context: ChainContext, row: Row
) -> None:
    robbery = Robbery(chain, row.contract, has_keeper=row.has_keeper)
    report = await judge(context, robbery.token)
    row.rob(robbery)
    assert (robbery.left < robbery.before) is row.is_robbed
    answer: Answer = (report.token.allowance_bypass, report.token.funds_can_be_drained)
    if row.is_robbed:
        assert answer[1] is not False
    else:
        assert answer == HONEST
        assert report.scan.unproved_custody is False


def test_a_signature_covers_all_that_it_allows_and_once(chain: Chain) -> None:
    """Shown by the code alone: only the holder's key can sign."""
    code = chain.node.rpc("eth_getCode", chain.deploy("Signed", "Signed", "SIG"), "latest")
    hints = analyse_code(bytes.fromhex(str(code).removeprefix("0x"))).hints
    found = {write.selector for write in hints.open_writes}
    permit = "(address,address,uint256,uint8,bytes32,bytes32)"
    transfer = "(address,address,uint256,bytes32,uint8,bytes32,bytes32)"
    open_names = (
        *("permitAgain", "permitHalf", "permitAll", "sendAnywhere", "permitTwin", "permitNamed"),
        *("permitCircle", "permitBack"),
    )
    open_ones = [f"{name}{permit}" for name in open_names]
    open_ones += [f"{name}{transfer}" for name in ("sendByRelay", "sendReleased")]
    sound = [
        f"permitSound{permit}",
        f"permitBefore{permit}",
        f"permitEndless{permit}",
        f"permitFixed{permit}",
        f"sendSound{transfer}",
    ]
    sound += [f"permitTruth{permit}".replace("uint256", "bool")]
    for signature in (*open_ones, f"sendAgain{transfer}"):
        assert int(selector_of(signature), 16) in found, signature
    for signature in sound:
        assert int(selector_of(signature), 16) not in found, signature


@pytest.mark.parametrize(
    ("contract", "is_taken"), [("SpentAfterCall", True), ("SpentBeforeCall", False)]
)
def test_an_allowance_that_was_read_before_a_call_is_not_lowered(
    chain: Chain, contract: str, *, is_taken: bool
) -> None:
    token, spender = chain.deploy(contract, "Spent", "SPT"), chain.deploy("Spender")
    holder, amount = chain.fresh_account(), 10**18
    chain.send(chain.world.owner, token, "transfer(address,uint256)", holder, 5 * amount)
    chain.send(holder, token, "approve(address,uint256)", spender, amount)
    taken = chain.send(holder, spender, "take(address,address,uint256)", token, holder, amount)
    assert taken.success
    assert (chain.balance(token, spender) > amount) is is_taken
    code = str(chain.node.rpc("eth_getCode", token, "latest")).removeprefix("0x")
    found = {write.selector for write in analyse_code(bytes.fromhex(code)).hints.open_writes}
    assert (int(selector_of("transferFrom(address,address,uint256)"), 16) in found) is is_taken


@pytest.mark.parametrize(
    ("contract", "holder"), [("MintsOnSome", "anybody"), ("MintsOnAll", "trades")]
)
async def test_only_a_mint_of_every_trade_is_tested_by_trades(
    chain: Chain, context: ChainContext, contract: str, holder: str
) -> None:
    report = await judge(context, chain.deploy(contract, "Mints", "MINT"))
    mints = {power.holder_kind for power in report.powers if power.what == "mint"}
    assert mints == {holder}
