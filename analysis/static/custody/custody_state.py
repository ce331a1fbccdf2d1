"""What the path search of `custody_search` carries along: debts, what was paid, what is known."""

from typing import Literal

import msgspec

from analysis.static.custody.custody_facts import Fact, NormalForm
from analysis.static.custody.phi_resolution import Bindings
from analysis.static.dataflow.linear_amounts import LinearAmount
from analysis.static.evm.cfg import CfgNode, FunctionId
from analysis.static.evm.expressions import Value

ObligationKind = Literal["debit", "grant", "unknown", "code"]
"""What a store does: lower a balance, set an allowance, something at a place that is not known,
anything at all by another contract's code."""


class Obligation(msgspec.Struct, frozen=True):
    """A store on a path that nobody is known to have agreed to yet."""

    kind: ObligationKind
    pc: int
    whose: Value | None
    """None: not known."""
    spender: Value | None
    amount: LinearAmount | None
    """None: not known, so all of it."""


class ObligationState(msgspec.Struct, frozen=True):
    """What a path has done so far."""

    debts: frozenset[Obligation] = frozenset()
    paid: frozenset[tuple[Value, Value, LinearAmount]] = frozenset()
    """Allowances lowered: whose, slot, by how much."""
    lowered: frozenset[Value] = frozenset()
    """Slots of allowances that were lowered: a later store there may undo it."""
    bumped: frozenset[Value] = frozenset()
    """Other slots that were stored to: nonces among them."""


class SearchState(msgspec.Struct, frozen=True):
    """Where a path is, with all that decides how it goes on."""

    node: CfgNode
    bindings: Bindings = frozenset()
    facts: frozenset[Fact] = frozenset()
    asked: frozenset[tuple[NormalForm, bool]] = frozenset()
    """Conditions decided on the path that are asked again."""
    status: ObligationState = ObligationState()

    def at(self, node: CfgNode) -> "SearchState":
        """The same, further on."""
        return SearchState(node, self.bindings, self.facts, self.asked, self.status)


class UnprovedStore(msgspec.Struct, frozen=True, kw_only=True):
    """A store that is not proved, by one path to it."""

    entry: FunctionId
    debt: Obligation
    why: str
    parties: tuple[Value, ...] = ()
    """Whom the caller is compared with on the path: privileged. Empty: nobody."""
    lists: tuple[Value, ...] = ()
    """Slots under the caller's key that must be set."""
    path: tuple[tuple[Value, bool], ...] = ()
    """Conditions on the path, resolved, and whether each holds."""
