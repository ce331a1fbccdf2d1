"""Findings on a token's creation: balances and allowances without events, and unexplained words."""

from typing import Literal

import msgspec

from analysis.static.custody.custody_report import StoredAddress
from core.evm.primitives import Address, Hash32, Selector
from core.report.report import EvidenceRow


class HiddenAmount(msgspec.Struct, frozen=True, kw_only=True):
    """A balance or an allowance that no event of the creation gives."""

    kind: Literal["balance", "allowance"]
    account: Address
    """Holder of the balance, or owner of the tokens that may be taken."""
    spender: Address | None = None
    """None: a balance."""
    slot: Hash32 | None
    """None: not found among the words."""
    amount_raw: str
    """As the getter returns it, in decimal digits."""
    of_events_raw: str
    """Amount that the events give, in decimal digits."""


class UnexplainedWord(msgspec.Struct, frozen=True, kw_only=True):
    """A word whose key is not known."""

    slot: Hash32
    value: Hash32


class PartyThen(msgspec.Struct, frozen=True, kw_only=True):
    """An address that the creation left in storage."""

    place: StoredAddress
    address: Address


class CreationFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Balances and allowances that the creation gave unseen. Final once its block is."""

    block_number: int
    tx_hash: Hash32
    sender: Address
    words: int
    """Number of storage words that it left."""
    supply_raw: str | None = None
    """Supply of the analysis, in decimal digits, of which a millionth is no amount."""
    hidden: tuple[HiddenAmount, ...] = ()
    unexplained: tuple[UnexplainedWord, ...] = ()
    is_cut: bool = False
    """True if the creation is too large to be explained."""
    ended: tuple[Selector, ...] = ()
    """Functions that may create balances, and could not run any more when the creation ended."""
    parties: tuple[PartyThen, ...] | None = None
    """Addresses with powers that the creation left in storage. None: not known."""
    targets: tuple[Address, ...] = ()
    """Codes behind a proxy when the creation ended."""
    is_replaced: bool | None = False
    """True if other code behind a proxy may have given amounts since. None: not known."""
    overcounted_raw: str | None = None
    """Sum of the balances that events give, where it is above the supply. None: it is not."""

    @property
    def is_hidden(self) -> bool:
        """True if a balance or an allowance was given without an event."""
        return bool(self.hidden)

    @property
    def is_unexplained(self) -> bool:
        """True if words may be balances or allowances, and no key is found for them."""
        return self.is_cut or bool(self.unexplained) or self.overcounted_raw is not None

    @property
    def evidence(self) -> EvidenceRow:
        """Return the row `hidden_creation`."""
        return EvidenceRow(key="hidden_creation", body=msgspec.json.encode(self).decode())
