"""Oracle for custody: each account reported to be able to take a holder's tokens really takes them.

Real transactions against wallets that really received tokens; only balances count. Thefts that no
simulation can find come out as unknown, never as safe."""

from collections.abc import Sequence
from itertools import product
from typing import Literal

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.static.analyse_code import analyse_code
from core.evm.abi import call_data
from core.evm.primitives import Address
from core.report.report import ReportRow
from tests.harness.chain.contexts import judge
from tests.harness.chain.trade_oracle import real_trade
from tests.harness.chain.transactions import Chain
from tests.harness.custody.custody_reports import KEEPER, SUPPLY, Wallets, shown, with_wallets
from tests.harness.custody.proxied_controls import Front, code_at, deploy, stand
from tests.harness.examples import spread
from tests.harness.venues.range_pools import LAUNCH, place

PERMIT2 = Address("0x000000000022d473030f116ddee9f6b43ac78ba3")

UNLIMITED = 2**256 - 1

Who = Literal["stranger", "owner", "keeper", "token"]

WALLETS: tuple[Wallets, ...] = ("funded", "holder", "both")


class Theft(msgspec.Struct, frozen=True, kw_only=True):
    """Call of a thief. Words among the arguments stand for people and amounts."""

    by: Who
    call: str
    given: tuple[object, ...]
    then_transfer_from: bool = False


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One token, and how it is robbed by other ways than transferFrom."""

    contract: str
    has_keeper: bool = False
    theft: Theft | None = None
    recipients: tuple[str, ...] = ("thief",)
    """Recipients of real transferFrom calls."""
    hidden: tuple[Wallets, ...] = ()
    """Wallets with which the service cannot find it, and must not answer no."""
    lists_itself: bool = False
    """The owner can put itself on the list of those who may spend: it is named, not the listed."""
    owner_can_change: bool | None = None
    """None: the owner is unknown."""


ROWS = (
    Row(contract="OwnerSpender", owner_can_change=False),
    Row(
        contract="ListedSpender",
        has_keeper=True,
        lists_itself=True,
        theft=Theft(
            by="owner",
            call="trust(address,bool)",
            given=("thief", True),
            then_transfer_from=True,
        ),
        owner_can_change=False,
    ),
    Row(contract="HashedSpender", has_keeper=True, hidden=WALLETS),
    Row(contract="RegisteredSpender", has_keeper=True, hidden=WALLETS),
    Row(contract="MaskedSpender", has_keeper=True),
    Row(contract="PackedSpender", has_keeper=True),
    Row(contract="OriginSpender", has_keeper=True),
    Row(contract="RouterSpender", has_keeper=True),
    Row(contract="Permit2Spender"),
    Row(contract="SelfSpender"),
    Row(contract="LargeSpender"),
    Row(contract="SmallSpender"),
    Row(contract="RichSpender"),
    Row(contract="ReceivedSpender"),
    Row(contract="TreasurySpender", has_keeper=True, recipients=("thief", "keeper")),
    Row(contract="SelfApproved"),
    Row(contract="IdleSpender"),
    Row(contract="OwnSpender"),
    Row(contract="LateSpender"),
    Row(contract="HonestToken"),
    Row(contract="StoredBypassToken", has_keeper=True),
    Row(contract="ConstantBypassToken", has_keeper=True),
    Row(contract="UniversalBypassToken"),
    Row(
        contract="KeeperDrainToken",
        has_keeper=True,
        theft=Theft(
            by="keeper",
            call="rebalance(address,address,uint256)",
            given=("victim", "thief", "amount"),
        ),
        owner_can_change=True,  # the keeper sits in a slot that the code compares with callers
    ),
    Row(
        contract="OpenDrainToken",
        theft=Theft(by="stranger", call="syncRewards(address,uint256)", given=("victim", "amount")),
    ),
    Row(
        contract="BurnFromAnybody",
        theft=Theft(by="stranger", call="burnFrom(address,uint256)", given=("victim", "amount")),
    ),
    Row(
        contract="BurnWithAllowance",
        theft=Theft(by="stranger", call="burnFrom(address,uint256)", given=("victim", "amount")),
    ),
    Row(
        contract="Clawback",
        theft=Theft(
            by="owner",
            call="correct(uint256,address,address)",
            given=("amount", "thief", "victim"),
        ),
        owner_can_change=True,
    ),
    Row(
        contract="BalanceSetter",
        theft=Theft(by="owner", call="record(address,uint256)", given=("victim", 1)),
        owner_can_change=True,
    ),
    Row(
        contract="BalanceRaiser",
        theft=Theft(by="owner", call="reward(address,uint256)", given=("victim", "amount")),
        owner_can_change=True,
    ),
    Row(
        contract="Airdropper",
        theft=Theft(by="owner", call="airdrop(address[],uint256)", given=(("victim",), "amount")),
        owner_can_change=False,
    ),
    Row(contract="MintableToken", owner_can_change=False),
    Row(
        contract="ListedBurner",
        has_keeper=True,
        theft=Theft(by="keeper", call="burn(address,uint256)", given=("victim", "amount")),
        owner_can_change=False,
    ),
    Row(
        contract="ListedMinter",
        has_keeper=True,
        theft=Theft(by="keeper", call="mint(address,uint256)", given=("victim", "amount")),
        owner_can_change=False,
    ),
    Row(
        contract="Sweeper",
        theft=Theft(by="stranger", call="consolidate(address[])", given=(("victim",),)),
    ),
    Row(
        contract="OrderTaker",
        theft=Theft(
            by="stranger",
            call="settle((address,uint96,uint256)[],address)",
            given=((("victim", 1, "amount"),), "thief"),
        ),
    ),
    Row(
        contract="Shaving",
        theft=Theft(by="stranger", call="harvest(address)", given=("victim",)),
    ),
    Row(contract="FallbackDrain", theft=Theft(by="stranger", call="", given=("victim", "amount"))),
    Row(
        contract="ApproveForOthers",
        theft=Theft(
            by="stranger",
            call="link(address,address,uint256)",
            given=("victim", "thief", "amount"),
            then_transfer_from=True,
        ),
    ),
    Row(
        contract="CarelessPermit",
        theft=Theft(
            by="stranger",
            call="permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
            given=("victim", "thief", "amount", UNLIMITED, 27, bytes(32), bytes(32)),
            then_transfer_from=True,
        ),
    ),
    Row(
        contract="CarefulPermit",
        theft=Theft(
            by="stranger",
            call="permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
            given=("victim", "thief", "amount", UNLIMITED, 27, bytes(32), bytes(32)),
            then_transfer_from=True,
        ),
    ),
)

BY_CONTRACT = {row.contract: row for row in ROWS}


class Heist:
    """One token, deployed for real, and real people round it."""

    def __init__(self, chain: Chain, row: Row) -> None:
        self.chain = chain
        self.row = row
        self.owner = chain.world.owner
        extras = (KEEPER,) if row.has_keeper else ()
        self.token = chain.deploy(row.contract, "Custody", "CUST", *extras)
        self.people: dict[str, Address] = {
            "stranger": chain.fresh_account(),
            "owner": self.owner,
            "keeper": KEEPER,
            "token": self.token,
            "permit2": PERMIT2,
        }
        self._victims: dict[int, Address] = {}
        for person in self.people.values():
            chain.node.set_balance(person, 10**20)

    def holder(self, share: int) -> Address:
        """A fresh wallet that really received a share of the supply."""
        made = self.chain.fresh_account()
        assert self.chain.transfer(self.token, self.owner, made, SUPPLY // share).success
        return made

    def can_spend(self, who: str) -> bool:
        """True if this person's transferFrom, without approval, really makes a wallet poorer."""
        attacker = self.people[who]
        return any(
            self._loses(share, attacker, part, to)
            for share in (1_000, 15)
            for part in (1, 2, SUPPLY)
            for to in self.row.recipients
        )

    def _loses(self, share: int, attacker: Address, part: int, to: str) -> bool:
        victim = self._victims.pop(share, None) or self.holder(share)
        balance = self.chain.balance(self.token, victim)
        if self.row.contract == "SelfApproved":
            self.chain.approve(self.token, attacker, attacker)
        recipient = attacker if to == "thief" else self.people[to]
        self.chain.send(
            attacker,
            self.token,
            "transferFrom(address,address,uint256)",
            *(victim, recipient, max(1, balance // part)),
        )
        is_poorer = self.chain.balance(self.token, victim) < balance
        if not is_poorer:
            self._victims[share] = victim
        return is_poorer

    def is_robbed(self) -> bool:
        """True if the row's theft really makes a wallet poorer."""
        theft = self.row.theft
        if theft is None:
            return False
        victim, attacker = self.holder(1_000), self.people[theft.by]
        balance = self.chain.balance(self.token, victim)
        words = {"victim": victim, "thief": attacker, "amount": balance // 2}
        if theft.call:
            data = call_data(theft.call, *_placed(theft.given, words))
        else:
            data = victim + (balance // 2).to_bytes(32).hex()
        self.chain.node.execute(
            {"from": attacker, "to": self.token, "data": data, "gas": "0x2dc6c0"}
        )
        if theft.then_transfer_from:
            self.chain.send(
                attacker,
                self.token,
                "transferFrom(address,address,uint256)",
                *(victim, attacker, balance // 2),
            )
        return self.chain.balance(self.token, victim) < balance


def _placed(given: Sequence[object], words: dict[str, object]) -> list[object]:
    return [
        _placed(each, words)
        if isinstance(each, tuple)
        else words[each]
        if isinstance(each, str)
        else each
        for each in given
    ]


@pytest.mark.parametrize(("contract", "wallets"), spread(product(BY_CONTRACT, WALLETS), one_in=3))
async def test_who_is_said_to_reach_a_wallet_really_does(
    chain: Chain, context: ChainContext, contract: str, wallets: Wallets
) -> None:
    heist = Heist(chain, row := BY_CONTRACT[contract])
    holders = [heist.holder(10), heist.holder(500)]
    token_report = await judge(with_wallets(context, wallets, holders), heist.token)
    token = token_report.token
    # Permit2 itself moves only what the holder signed for
    able = {heist.people[who] for who in heist.people if heist.can_spend(who)} - {PERMIT2}
    is_robbed = bool(able) or heist.is_robbed()
    assert token.owner_can_change_balance is row.owner_can_change
    if wallets in row.hidden:
        assert is_robbed
        assert (token.allowance_bypass, token.funds_can_be_drained) == (None, None)
        assert "on stage" in shown(token_report, "allowance_bypass:open")
        return
    if row.lists_itself:
        assert heist.is_robbed()
        assert answers(token) == (True, (heist.owner,), True)
        return
    assert token.allowance_bypass is bool(able)
    named = set() if heist.people["stranger"] in able else able
    assert set(token.privileged_spenders) == named
    assert token.funds_can_be_drained is is_robbed


def answers(row: ReportRow) -> tuple[object, ...]:
    return (row.allowance_bypass, row.privileged_spenders, row.funds_can_be_drained)


async def test_without_any_wallet_nothing_is_known(chain: Chain, context: ChainContext) -> None:
    """Not even of a token that any account can rob, nor of an honest one."""
    for contract in ("UniversalBypassToken", "HonestToken"):
        token = chain.deploy(contract, "Custody", "CUST")
        report = await judge(with_wallets(context, "holder", []), token)
        assert answers(report.token) == (None, (), None)


async def test_a_loss_that_everybody_shares_is_no_theft(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.deploy("Shrinking", "Custody", "CUST")
    victim, other = chain.fresh_account(), chain.fresh_account()
    for holder in (victim, other):
        assert chain.transfer(token, chain.world.owner, holder, 10**20).success
    report = await judge(with_wallets(context, "both", [victim]), token)
    assert chain.send(other, token, "rebase(address)", victim).success
    assert chain.balance(token, other) < 10**20
    assert chain.balance(token, victim) < 10**20
    assert answers(report.token) == (False, (), False)
    assert shown(report, "funds_can_be_drained")


async def test_a_real_approval_of_a_holder_is_no_bypass(
    chain: Chain, context: ChainContext
) -> None:
    """The router of a pool may spend the tokens of accounts that approved it, and no others."""
    token = chain.world.token("honest")
    holder, friend, router = token.holders[0], chain.fresh_account(), chain.world.venues.v2.router
    assert router is not None
    assert chain.approve(token.address, holder, router).success
    report = await judge(with_wallets(context, "holder", [holder]), token.address)
    assert answers(report.token) == (False, (), False)
    assert router in shown(report, "allowance_bypass")
    chain.node.set_balance(router, 10**20)
    call = "transferFrom(address,address,uint256)"
    assert chain.send(router, token.address, call, holder, friend, 1).success
    assert not chain.send(router, token.address, call, token.holders[1], friend, 1).success


async def test_what_owners_can_do_is_asked_only_when_wanted(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.deploy("Clawback", "Custody", "CUST")
    report = await judge(context, token)
    assert report.token.owner_can_change_balance is None
    assert not shown(report, "owner_can_change_balance")
    assert report.token.funds_can_be_drained is True


async def test_the_evidence_can_be_played_again(chain: Chain, context: ChainContext) -> None:
    token = chain.deploy("Sweeper", "Custody", "CUST")
    report = await judge(context, token)
    for key in ("allowance_bypass", "funds_can_be_drained"):
        (row, *_) = [row for row in report.evidence if row.key == key]
        proof = msgspec.json.decode(row.body)
        again = chain.node.rpc("eth_simulateV1", *proof["request"])
        assert isinstance(again, list)
        calls = [(call["status"] == "0x1", call["returnData"]) for call in again[0]["calls"]]
        assert all((call["ok"], call["returned"]) in calls for call in proof["calls"])
        moved = [each for each in proof["outcome"] if each["has_moved"]]
        assert bool(moved) is bool(proof["calls"]) is (key == "funds_can_be_drained")
        assert all(each["before_raw"] > each["after_raw"] for each in moved)


# --- controls behind proxies --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("contract", "front", "is_hidden"),
    [
        ("StoppableHook", "none", True),
        ("StoppableHook", "constant", True),
        ("StoppableHook", "slot", True),
        ("OpenHook", "none", False),
        ("OpenHook", "constant", False),
        # Nobody is known who may replace the code, and nobody is excluded.
        ("OpenHook", "slot", None),
    ],
)
async def test_a_proxy_hides_no_control_of_a_hook(
    chain: Chain, context: ChainContext, contract: str, front: Front, *, is_hidden: bool | None
) -> None:
    token = place(chain, "v4", "HonestToken", (LAUNCH,), hooks=stand(chain, contract, front))
    assert real_trade(chain, token).sell_success
    report = await judge(context, token.address)
    assert report.scan.hidden_owner_controls is is_hidden


@pytest.mark.parametrize("front", ["none", "constant", "slot"])
async def test_a_proxy_hides_no_control_of_a_token(
    chain: Chain, context: ChainContext, front: Front
) -> None:
    report = await judge(context, stand(chain, "StoppableApprovalToken", front))
    assert report.scan.hidden_owner_controls is True


@pytest.mark.parametrize("contract", ["StoppableHook", "StoppableCLHook", "StoppableBinHook"])
def test_the_swap_functions_of_every_managers_hooks_are_read(chain: Chain, contract: str) -> None:
    code = bytes.fromhex(code_at(chain, deploy(chain, contract))[2:])
    found = analyse_code(code).conditions
    assert found.is_complete
    assert [each.effect for each in found.owned] == ["refuses"]
