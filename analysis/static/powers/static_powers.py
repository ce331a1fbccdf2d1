"""Static powers of one code: its setters, the callers that each requires, and the report fields.

Serialisable and free of chain state. `analysis.token.powers` decides with current storage which of
them can still be used, and by which account. All *inferred*.
"""

from typing import Literal

import msgspec

from analysis.static.custody.custody_report import PrivilegedParty
from analysis.static.token_model.caps.cap_rules import ComputationStep
from analysis.static.token_model.conditions.trade_conditions import VariableKey
from core.evm.primitives import Hash32, Selector
from core.report.powers import PowerKind

Authority = Literal["named", "holders", "trades", "self", "anybody"]
"""`named`: the callers listed; `holders`: each for the own account; `trades`: transfers change it
as a part of every trade; `self`: the contract itself, by a call that it makes."""


class StateTest(msgspec.Struct, frozen=True, kw_only=True):
    """A condition over plain storage that every path to a store meets."""

    steps: tuple[ComputationStep, ...]
    """Computation of the condition; the last step is its result."""
    holds: bool
    """Truth of the condition on these paths."""
    fields: tuple[tuple[Hash32, Hash32], ...]
    """Slot and mask of the variables that it reads."""


class Relation(msgspec.Struct, frozen=True, array_like=True):
    """An order between two steps of a setter's computation, on every path to the store."""

    small: int
    large: int
    is_strict: bool = False


class Setter(msgspec.Struct, frozen=True, kw_only=True):
    """The stores of one function to one variable."""

    selector: Selector
    slot: Hash32 | None
    """Declared slot of the variable. None: not known."""
    bits: Hash32
    """Mask of the variable's bits."""
    is_entry: bool
    """True for the entries of a mapping."""
    authority: Authority
    callers: tuple[PrivilegedParty, ...] = ()
    """Accounts of which the caller must be one, for `named`."""
    values: tuple[Hash32, ...] | None = None
    """All values that it can leave, at their position in the slot. None: others too."""
    tests: tuple[StateTest, ...] = ()
    steps: tuple[ComputationStep, ...] = ()
    """Computation of the stored value and of what it is compared with. Empty: not modelled.

    Its leaf `argument` is the calldata word at offset `word`.
    """
    value: int = 0
    """Index of the step that is the stored value, shifted down to bit 0."""
    relations: tuple[Relation, ...] = ()

    @property
    def variable(self) -> VariableKey:
        """Return the variable that it stores to."""
        return self.slot, self.bits, self.is_entry


class TaxedAmount(msgspec.Struct, frozen=True, kw_only=True):
    """One amount that a transfer credits to its recipient, with a tax taken off."""

    steps: tuple[ComputationStep, ...] = ()
    sum: tuple[tuple[int, int], ...] = ()
    """Steps that are added, each with its multiplicity; negative if subtracted. Empty: the amount
    could not be modelled."""
    amount: Hash32
    """Calldata offset of the amount that is sent."""


class StaticPower(msgspec.Struct, frozen=True, kw_only=True):
    """A power that explains one field of the report."""

    field: str
    what: PowerKind
    setters: tuple[Setter, ...]
    """Functions that use it. Empty: none does after deployment."""


class UnprovedCredit(msgspec.Struct, frozen=True, kw_only=True):
    """A function that is not proved to keep the sum of the balances."""

    setter: Setter
    pc: int
    reason: str
    is_unseen: bool = False
    """True if the account is not known, so that no simulated call shows the credit."""
    is_certain: bool
    """False if the bounds of the proof, or merged values, may be the reason."""
    is_cut_short: bool = False
    """True if the proof ended at its bound, and found no reason before."""


class StaticPowers(msgspec.Struct, frozen=True, kw_only=True):
    """Powers of one code."""

    powers: tuple[StaticPower, ...] = ()
    setters: tuple[Setter, ...] = ()
    """Setters of the plain storage that callers and tests of other setters name."""
    taxed: tuple[TaxedAmount, ...] = ()
    """Amounts of transfers from which a tax is taken."""
    wild: tuple[Setter, ...] = ()
    """Functions that may store anywhere: to computed slots, or by code of another contract."""
    calls: tuple[Setter, ...] | None = None
    """Functions that call other contracts, of a code that is no token. None: a token's code."""
    credits: tuple[UnprovedCredit, ...] | None = None
    """Functions that may raise the sum of the balances unseen. None: not known."""
    stores_plain: bool = False
    """True if a function stores to other places than hashed slots, as proxies use."""
    is_complete: bool = False
    """False: functions were not followed to their end, so that setters may be missing."""
