"""States of the custody path search: obligations, spent allowances, phi bindings and facts.

An obligation is a store on a path that its holder is not yet shown to have authorised.
"""

from typing import Literal

import msgspec

from analysis.static.custody.custody_facts import Fact, NormalForm
from analysis.static.custody.phi_resolution import Bindings
from analysis.static.dataflow.linear_amounts import LinearAmount
from analysis.static.evm.cfg import CfgNode, FunctionId
from analysis.static.evm.expressions import Value

ObligationKind = Literal["debit", "grant", "unknown", "code"]
"""The effect that needs consent: a lowered balance, a set allowance, a store to an unknown
location, or code of another contract executed on this storage."""


class Obligation(msgspec.Struct, frozen=True, cache_hash=True):
    """A store on a path that its holder is not yet shown to have authorised."""

    kind: ObligationKind
    pc: int
    whose: Value | None
    """The account whose balance or allowance is written. None: not known."""
    spender: Value | None
    amount: LinearAmount | None
    """None: not known; taken as the whole balance."""
    is_opaque: bool = False
    """True if sums in the amount may overflow, so that it is equal to itself alone."""


class ObligationState(msgspec.Struct, frozen=True, cache_hash=True):
    """Effects of a path so far."""

    debts: frozenset[Obligation] = frozenset()
    paid: frozenset[tuple[Value, Value, LinearAmount]] = frozenset()
    """Allowances of the caller that were lowered: owner, slot and decrease."""
    lowered: frozenset[Value] = frozenset()
    """Slots of lowered allowances. A later store to one of them may undo the decrease."""
    bumped: frozenset[tuple[Value, bool]] = frozenset()
    """Other slots that surely have another value now, among them nonces; True: every path tested
    them before, and is refused from now on."""


class BalanceLedger(msgspec.Struct, frozen=True, cache_hash=True):
    """Sums that the stores of a path have added so far, kept by the proof of conservation."""

    balances: LinearAmount = frozenset()
    """At most this much, to all balances together."""
    supply: LinearAmount = frozenset()
    """At least this much."""
    lowered: LinearAmount = frozenset()
    """Negative terms of all stores to the supply."""
    stores: frozenset[Value] = frozenset()
    """Slots of the balances stored to since the sum was last zero."""
    has_debit: bool = False
    pc: int = 0
    is_cut: bool = False
    """True if a bound was reached."""
    is_unseen: bool = False
    """True if a store may be to the balance of an account that is not known."""
    broken: str = ""
    """Reason why nothing is known of the sum. Empty: it is known."""

    @property
    def is_open(self) -> bool:
        """True if the sum is not zero, or not known."""
        return bool(self.broken or self.balances)


class SearchState(msgspec.Struct, frozen=True, cache_hash=True):
    """One state of the worklist: a CFG node and all that decides how the path continues."""

    node: CfgNode
    bindings: Bindings = frozenset()
    facts: frozenset[Fact] = frozenset()
    tested: frozenset[tuple[NormalForm, bool]] = frozenset()
    """Conditions decided on the path that later branches may test again, with their outcome."""
    status: ObligationState = ObligationState()
    ledger: BalanceLedger = BalanceLedger()

    @property
    def is_open(self) -> bool:
        """True while the path is not proved."""
        return bool(self.status.debts or self.ledger.is_open)

    def at(self, node: CfgNode) -> "SearchState":
        """Return this state at another node."""
        return msgspec.structs.replace(self, node=node)


class UnprovedStore(msgspec.Struct, frozen=True, kw_only=True):
    """A store that is not proved to be authorised, with one path to it."""

    entry: FunctionId
    debt: Obligation
    why: str
    parties: tuple[Value, ...] = ()
    """Addresses that the caller must equal on the path (privileged). Empty: none."""
    lists: tuple[Value, ...] = ()
    """Slots keyed by the caller that must be set."""
    is_of_payer: bool = False
    """True if it takes from the account that the standard's function names, no more than its
    amount."""
    path: tuple[tuple[Value, bool], ...] = ()
    """Conditions on the path with their phis resolved, and the outcome of each."""
