"""What the path search of `custody_search` carries along: debts, what was paid, what is known."""

from typing import Literal

import msgspec

from analysis.static.custody.custody_facts import Fact, Form
from analysis.static.custody.phi_resolution import Bindings
from analysis.static.dataflow.linear_amounts import Change
from analysis.static.evm.cfg import Entry, Node
from analysis.static.evm.expressions import Word

Kind = Literal["debit", "grant", "unknown", "code"]
"""What a store does: lower a balance, set an allowance, something at a place that is not known,
anything at all by another contract's code."""


class Debt(msgspec.Struct, frozen=True):
    """A store on a path that nobody is known to have agreed to yet."""

    kind: Kind
    pc: int
    whose: Word | None
    """None: not known."""
    spender: Word | None
    amount: Change | None
    """None: not known, so all of it."""


class Status(msgspec.Struct, frozen=True):
    """What a path has done so far."""

    debts: frozenset[Debt] = frozenset()
    paid: frozenset[tuple[Word, Word, Change]] = frozenset()
    """Allowances lowered: whose, slot, by how much."""
    lowered: frozenset[Word] = frozenset()
    """Slots of allowances that were lowered: a later store there may undo it."""
    bumped: frozenset[Word] = frozenset()
    """Other slots that were stored to: nonces among them."""


class State(msgspec.Struct, frozen=True):
    """Where a path is, with all that decides how it goes on."""

    node: Node
    bindings: Bindings = frozenset()
    facts: frozenset[Fact] = frozenset()
    asked: frozenset[tuple[Form, bool]] = frozenset()
    """Conditions decided on the path that are asked again."""
    status: Status = Status()

    def at(self, node: Node) -> "State":
        """The same, further on."""
        return State(node, self.bindings, self.facts, self.asked, self.status)


class Open(msgspec.Struct, frozen=True, kw_only=True):
    """A store that is not proved, by one path to it."""

    entry: Entry
    debt: Debt
    why: str
    parties: tuple[Word, ...] = ()
    """Whom the caller is compared with on the path: privileged. Empty: nobody."""
    lists: tuple[Word, ...] = ()
    """Slots under the caller's key that must be set."""
    path: tuple[tuple[Word, bool], ...] = ()
    """Conditions on the path, resolved, and whether each holds."""
