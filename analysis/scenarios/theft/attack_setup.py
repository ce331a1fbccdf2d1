"""Attack setup: the state, wallets and blocks that theft attempts are simulated on."""

from collections.abc import Iterator
from itertools import count, repeat

import msgspec

from analysis.scenarios.theft.victim_purchase import VictimPurchase
from analysis.scenarios.trade.transfer import Wallet, sent_share
from analysis.simulation.disguise import Disguise
from core.evm.abi import call_data
from core.evm.primitives import Address, BlockRef, RawAmount

_NEXT_BLOCK_S = 12
_LATER_S = 2 * 3_600 + 60
_LATER_BLOCKS = 200
"""Nodes simulate at most 256 blocks, so the clock runs ahead of the numbers."""

_KEPT_PARTS = 4
_WHALE_SHARE = 3
"""Divisor of the supply: above any balance up to which code is likely to treat a wallet as
small."""


class AttackSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Pinned block, wallets and funding that all attempts on one token share."""

    pin: BlockRef
    disguise: Disguise
    token: Address
    block: tuple[int, int]
    """Number and time of the first simulated block."""
    supply_raw: RawAmount
    slot_index: int | None
    """Index of the token's balance slot. None: no wallet can be funded."""
    holders: tuple[Wallet, ...]
    """Real holders, largest first: no owner, no pool, no contract."""
    giver: Address | None
    """A pool that funds wallets by transfers where no slot is known. None: no pool."""
    prologue: VictimPurchase | None = None
    """Purchase of a victim, which is then the only holder. None: no purchase."""

    def blocks(self) -> tuple[tuple[int, int], ...]:
        """Return number and time of the purchase, of the theft, and of late acts hours later."""
        number, time_s = self.block
        step_s = max(1, time_s - self.pin.time_s)
        return (
            self.block,
            (number + 1, time_s + min(step_s, _NEXT_BLOCK_S)),
            (number + _LATER_BLOCKS, time_s + _LATER_S),
        )

    def account(self, purpose: str) -> Address:
        """Return a fresh account of this token."""
        return self.disguise.account(f"{self.token}:{purpose}")

    @property
    def has_fresh_wallets(self) -> bool:
        """True if wallets can be funded that have never approved anything."""
        return self.slot_index is not None or self.giver is not None

    def has_allowed(self, attacker: Address) -> bool:
        """True if the wallet may have approved this account: a real holder may have approved any, a
        buyer only the router."""
        if self.prologue is not None:
            return attacker == self.prologue.spender
        return not self.has_fresh_wallets

    def wallets(self, purpose: str) -> Iterator[Wallet]:
        """Yield fresh wallets without end, all different; or the same real holder repeatedly.
        Empty: there is neither."""
        if self.has_fresh_wallets:
            amount = sent_share(self.supply_raw, self.disguise)
            yield from (self._fresh(f"{purpose} {at}", amount) for at in count())
        elif self.holders:
            yield from repeat(self.holders[0])

    def whales(self, purpose: str) -> Iterator[Wallet]:
        """Yield wallets as `wallets`; those funded by their slot get a large part of the supply."""
        if self.slot_index is None:
            yield from self.wallets(purpose)
        else:
            amount = RawAmount(max(1, self.supply_raw // _WHALE_SHARE // _KEPT_PARTS))
            yield from (self._fresh(f"{purpose} {at}", amount) for at in count())

    def _fresh(self, purpose: str, amount: RawAmount) -> Wallet:
        return Wallet(
            address=self.account(purpose),
            balance_raw=RawAmount(amount * _KEPT_PARTS),
            amount_raw=amount,
            slot_index=self.slot_index,
        )


class AttackCall(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction to the token."""

    sender: Address
    data: str
    must_pass: bool = False
    """True if the attempt proves nothing unless this transaction succeeds."""
    value_wei: int = 0
    is_late: bool = False
    """True if it is sent hours after the others."""


def transfer_from(
    attacker: Address, wallet: Address, recipient: Address, amount: int
) -> AttackCall:
    """Return the `transferFrom` call, which needs an allowance."""
    data = call_data("transferFrom(address,address,uint256)", wallet, recipient, amount)
    return AttackCall(sender=attacker, data=data)
