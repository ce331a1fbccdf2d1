"""Oracle for balances that anybody can create: each is really created, its double creates none."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import ZooToken
from assay.demo.trader import Call
from assay.demo.zoo_token import Animal, Extra
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS
from tests.harness.chain.contexts import LACKING, Lacking, judge, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.custody.custody_contracts import with_contracts
from tests.harness.custody.custody_reports import SUPPLY, shown

pytestmark = pytest.mark.compiler

KEY = "balances_can_be_created"
HALF = 2**255


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction of the thief. Words among the values stand for accounts and amounts."""

    call: str
    values: tuple[object, ...] = ()
    value_wei: int = 0
    waits_s: int = 0
    by: str = "thief"


TRANSFER = "transfer(address,uint256)"

TRAPS: dict[str, tuple[Act, ...]] = {
    "NarrowDebit": (Act(call=TRANSFER, values=("friend", 2**128)),),
    "LongBatch": (Act(call="send(address[],uint256)", values=(("thief",) * 6, "all")),),
    "SelfDouble": (Act(call=TRANSFER, values=("thief", "all")),),
    "ProductWraps": (
        Act(call="batchTransfer(address[],uint256)", values=(("thief", "friend"), HALF)),
    ),
    "SumWraps": (
        Act(
            call="multiSend(address[],uint256[])",
            values=(("thief", "friend"), (HALF, HALF)),
        ),
    ),
    "PaidCredit": (Act(call="deposit()", value_wei=1),),
    "CheapMint": (Act(call="", value_wei=10**15),),
    "UnusedSetup": (Act(call="initialize()"),),
    "UnownedMint": (
        Act(call="initialize()"),
        Act(call="mint(address,uint256)", values=("thief", SUPPLY)),
    ),
    "NegativeBurn": (Act(call="burn(uint256)", values=(2**256 - SUPPLY,)),),
    "WrappingSend": (Act(call="send(address,uint256)", values=("friend", SUPPLY)),),
    "LateOnce": (Act(call="begin()", waits_s=4_000), Act(call="claim()")),
    "LateClaim": (Act(call="begin()", waits_s=4_000), Act(call="claim()")),
    "TwoLedgers": (
        Act(call="wrap(uint256)", values=("all",)),
        Act(call="unwrap(uint256)", values=("more",)),
    ),
    "FreeMint": (Act(call="mint(uint256)", values=(SUPPLY,)),),
    "SelfSpend": (
        Act(call="transferFrom(address,address,uint256)", values=("thief", "thief", "all")),
    ),
    "UnnamedFunction": (Act(call="0x12345678", values=(SUPPLY,)),),
    "SlowDouble": (Act(call=TRANSFER, values=("thief", "all")),),
    "ZeroRefund": (Act(call=TRANSFER, values=(ZERO_ADDRESS, "all")),),
    "ThreeSteps": (
        Act(call="register()"),
        Act(call="confirm(uint256)", values=(0,)),
        Act(call="finish(address)", values=("thief",)),
    ),
    "SecretNumber": (Act(call="redeem(uint256)", values=(0x5EC2E7C0DE,)),),
    "FixedPrice": (Act(call="buy()", value_wei=31 * 10**14),),
    "WrappingPrice": (Act(call="mint(address,uint256)", values=("thief", HALF)),),
    "Referral": (
        Act(call="setReferrer(address)", values=("thief",)),
        Act(call=TRANSFER, values=("friend", "all")),
    ),
    "Interest": (
        Act(call="note(uint256)", values=("all",), waits_s=90_000),
        Act(call="collect()"),
    ),
    "SignedMove": (Act(call="adjust(int256)", values=(-SUPPLY,)),),
    "SpenderGives": (
        Act(call="approve(address,uint256)", values=("friend", "all")),
        Act(
            call="transferFrom(address,address,uint256)",
            values=("thief", "thief", "all"),
            by="friend",
        ),
    ),
    "Refund": (Act(call=TRANSFER, values=("token", "all")),),
}

DOUBLES = (
    *("HonestToken", "Standard", "Lean", "WrappedCoin", "Vault", "Faucet", "Vesting", "Locker"),
    *("CheckedBatch", "Reflecting", "FeeTaker", "Rebasing", "Welcome"),
)


@pytest.fixture
def chain(chain: Chain) -> Chain:
    return with_contracts(chain, "ProbeTraps.sol", "ProbeDoubles.sol")


def place(chain: Chain, contract: str, extra: Extra | None = None) -> ZooToken:
    animal = Animal(
        key=contract, trait="", symbol="PRB", contract=contract, pool_pct=80, extra=extra
    )
    return chain.place(animal)


@pytest.mark.parametrize("contract", TRAPS)
async def test_balances_that_anybody_really_creates_are_found(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    token = place(chain, contract)
    report = await judge(context, token.address)
    assert report.scan.balances_can_be_created is True
    assert '"ok":true' in shown(report, KEY)
    assert _created(chain, token, TRAPS[contract]) > 0


def _created(chain: Chain, token: ZooToken, acts: tuple[Act, ...]) -> int:
    """Return how much more the thief and a friend have than the thief bought."""
    thief, friend = chain.fresh_account(), chain.fresh_account()
    chain.buy(token, thief)
    bought = chain.balance(token.address, thief)
    words: dict[object, object] = {
        "thief": thief,
        "friend": friend,
        "token": token.address,
        "all": bought,
        "more": bought * 5 // 4,
    }

    def filled(value: object) -> object:
        return tuple(map(filled, value)) if isinstance(value, tuple) else words.get(value, value)

    senders = {"thief": thief, "friend": friend}
    for act in acts:
        values = [filled(value) for value in act.values]
        if "(" in act.call:
            data = call_data(act.call, *values)
        else:
            tail = "".join(int(str(value)).to_bytes(32).hex() for value in values)
            data = (act.call or "0x") + tail
        call = Call(to=token.address, data=data, value_wei=act.value_wei)
        sent = chain.call(senders[act.by], call)
        assert sent.success
        if act.waits_s:
            chain.wait(act.waits_s, blocks=3)
    return sum(chain.balance(token.address, one) for one in (thief, friend)) - bought


@pytest.mark.parametrize(
    ("contract", "lacking", "expected"),
    [
        ("SelfDouble", "traces", True),
        ("HonestToken", "traces", False),
        # a single call has other accounts, and returns no events, which name payers
        ("SelfDouble", "calls", None),
        ("HonestToken", "calls", None),
    ],
)
async def test_other_back_ends_find_the_same_or_nothing(
    chain: Chain, context: ChainContext, contract: str, lacking: str, *, expected: bool | None
) -> None:
    node = Lacking(context.node, LACKING[lacking])
    report = await judge(with_node(context, node), place(chain, contract).address)
    assert report.scan.balances_can_be_created is expected


@pytest.mark.parametrize("contract", DOUBLES)
async def test_honest_code_creates_none(chain: Chain, context: ChainContext, contract: str) -> None:
    report = await judge(context, place(chain, contract).address)
    assert report.scan.balances_can_be_created is False


@pytest.mark.parametrize(
    ("contract", "call", "share"),
    [
        ("PoolTaker", "collect()", 2),
        ("PoolBurner", "burnPool()", 2),
        ("SlowBurner", "burnPool()", 0),
    ],
)
async def test_a_pool_that_anybody_empties_is_drained(
    chain: Chain, context: ChainContext, contract: str, call: str, share: int
) -> None:
    token = place(chain, contract, extra="pair")
    report = await judge(context, token.address)
    assert report.token.funds_can_be_drained is bool(share)
    assert report.scan.balances_can_be_created is False
    before = chain.balance(token.address, token.pool.address)
    assert chain.send(chain.fresh_account(), token.address, call).success
    after = chain.balance(token.address, token.pool.address)
    assert (after <= before // 2) is bool(share)


@pytest.mark.parametrize(
    ("contract", "is_unproved"),
    [
        ("SecretPoolTaker", True),
        ("SecretMarketTaker", True),
        ("SecretPoolSpender", True),
        ("SelfTransferBurner", True),
        ("SecretSweeper", False),
    ],
)
async def test_a_pool_gives_no_consent(
    chain: Chain, context: ChainContext, contract: str, *, is_unproved: bool
) -> None:
    report = await judge(context, place(chain, contract, extra="pair").address)
    assert report.scan.unproved_custody is is_unproved
