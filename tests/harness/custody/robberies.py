"""Thefts through custody, each done by real transactions, and the service's predictions of them."""

from assay.demo.layout import named_account
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.custody.custody_reports import SUPPLY

KEEPER = named_account("a keeper of break-ins")
TRANSFER_FROM = "transferFrom(address,address,uint256)"
TAIL = (0x5EC4E7 << 64).to_bytes(32).hex()


Answer = tuple[bool | None, bool | None]


TAKEN, HONEST, UNKNOWN = (True, True), (False, False), (False, None)
"""allowance_bypass and funds_can_be_drained."""


class Robbery:
    """One token, a victim who holds some of it, and a thief."""

    def __init__(self, chain: Chain, contract: str, *, has_keeper: bool) -> None:
        self.chain = chain
        extras = (KEEPER,) if has_keeper else ()
        self.token = chain.deploy(contract, "Robbed", "ROB", *extras)
        self.victim, self.attacker = chain.fresh_account(), chain.fresh_account()
        owner = chain.world.owner
        assert chain.transfer(self.token, owner, self.victim, SUPPLY // 1_000).success
        for account in (self.attacker, KEEPER):
            chain.node.set_balance(account, 10**20)
        self.before = self.left

    @property
    def left(self) -> int:
        return self.chain.balance(self.token, self.victim)

    def call(self, sender: Address, signature: str, *values: object, tail: str = "") -> None:
        data = call_data(signature, *values) + tail
        self.chain.node.execute({"from": sender, "to": self.token, "data": data, "gas": "0x2dc6c0"})

    def spend(self, sender: Address, amount: int | None = None, *, tail: str = "") -> None:
        wanted = self.before // 2 if amount is None else amount
        self.call(sender, TRANSFER_FROM, self.victim, sender, wanted, tail=tail)


def tail(r: Robbery) -> None:
    r.spend(r.attacker, tail=TAIL)
