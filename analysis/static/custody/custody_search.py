"""Path-sensitive search of one function for stores that their holder has not authorised.

A worklist over the custody slice of the CFG: phis are resolved on every edge, stores add
obligations to the state, and facts of the branches discharge them. What is left at a successful end
is unproved, as is everything where a bound on states or work is reached (over-approximation).
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

import msgspec

from analysis.static.custody.custody_facts import (
    AllowanceCovers,
    AllowanceUnlimited,
    CallerListed,
    Distinct,
    EqualityFact,
    Fact,
    NormalForm,
    NotNegative,
    normal,
)
from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.custody.custody_settlement import is_of_payer_alone, settled
from analysis.static.custody.custody_slice import (
    CALLS,
    ENDS,
    EVENT,
    OWES,
    CustodySlice,
    SearchPrecision,
    operands,
)
from analysis.static.custody.custody_state import (
    Obligation,
    ObligationState,
    SearchState,
    UnprovedStore,
)
from analysis.static.custody.phi_resolution import Bindings
from analysis.static.custody.privileged_callers import Callers
from analysis.static.dataflow.addresses import is_caller, recovered
from analysis.static.dataflow.linear_amounts import delta_of, plus
from analysis.static.evm.cfg import UNRESOLVED, Branch, CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.token_model.contract_model import ContractModel

_PLAIN = SearchPrecision(amounts=False, conditions=False, states=12_000)
_BY_AMOUNTS = SearchPrecision(amounts=True, conditions=False, states=6_000)
_BY_CONDITIONS = SearchPrecision(amounts=False, conditions=True, states=1_600)
_BY_BOTH = SearchPrecision(amounts=True, conditions=True, states=1_600)
_MOST_SKIPPED: Final = 2_000
_MOST_TOLD: Final = 4
"""Stores of one function whose path is recorded in full."""
_LARGEST_EXACT: Final = 600
"""Most nodes of a function whose conditions are distinguished without a signature check."""

_Step = tuple[SearchState | None, tuple[Value, bool] | None, CfgNode | None]
"""The predecessor, the condition decided there, and the node directly after it."""


class PathSearch:
    """The worklist search over the paths of one function that may change balances or allowances."""

    def __init__(
        self,
        prover: CustodyProver,
        entry: FunctionId,
        *,
        depth: SearchPrecision,
        with_gates: bool = False,
        like: "PathSearch | None" = None,
    ) -> None:
        """`with_gates`: also explore branches that only privileged callers can take. `like`: a
        search of the same function with the same distinctions, whose slice is reused."""
        self.slice: CustodySlice = (
            self._sliced(prover, entry, depth) if like is None else like.slice
        )
        self.prover = prover
        self.depth = depth
        self.with_gates = with_gates
        self.has_gates = False
        """True once a branch that only privileged callers can take was met."""
        self.code: ContractModel = prover.code
        self.gates = prover.gates
        self.entry = entry
        self.flow = self.slice.flow
        self.found: dict[tuple[object, ...], UnprovedStore] = {}
        """Writes by kind and pc, those of privileged callers also by these and by the payer; an
        unprivileged path replaces a privileged one."""
        self.count = 0
        """Number of states explored."""
        self._from: dict[SearchState, _Step] = {}
        self._crossed: dict[tuple[CfgNode, CfgNode, Bindings], tuple[Bindings, set[Expr]]] = {}
        self._settlements: dict[tuple[frozenset[Fact], ObligationState, bool], ObligationState] = {}
        self._callers: dict[SearchState, Callers] = {}
        self._debits: dict[
            tuple[int, Value | None, Value, Value, frozenset[Fact]], Obligation | None
        ] = {}

    def _sliced(
        self, prover: CustodyProver, entry: FunctionId, depth: SearchPrecision
    ) -> CustodySlice:
        return CustodySlice(prover, entry, depth)

    # --- exploration --------------------------------------------------------------------------

    def run(self) -> None:
        """Explore until the worklist is empty or a bound is reached."""
        if self.slice.is_idle:
            return
        if not self.prover.pay(len(self.flow.nodes)):
            self._give_up()
            return
        if not self.slice.is_measured:
            self.slice.measure()
        waiting = [
            SearchState(node)
            for root in self.code.functions.roots(self.entry)
            if root in self.flow.can_succeed
            for node in self.slice.first_from(root)
        ]
        self._from = dict.fromkeys(waiting, (None, None, None))
        while waiting:
            state = waiting.pop()
            self.count += 1
            is_over = self.count > self.depth.states * (1 + 2 * self.with_gates)
            if is_over or not self.prover.pay(1 + len(state.status.debts) * len(state.facts)):
                self._give_up()
                return
            for after, literal in self._steps(state):
                for node in self.slice.first_from(after.node):
                    there = after if node is after.node else after.at(node)
                    if there not in self._from:
                        self._from[there] = (state, literal, after.node)
                        waiting.append(there)

    def needs(self, depth: SearchPrecision) -> bool:
        """True if a search with this precision may prove what is still open."""
        kinds = {each.debt.kind for each in self.found.values() if each.debt.whose is not None}
        if depth.amounts and kinds.isdisjoint(("debit", "grant")):
            return False
        is_exact = self.slice.signs or len(self.flow.nodes) <= _LARGEST_EXACT
        return bool(kinds) and (is_exact or not depth.conditions)

    def _give_up(self) -> None:
        """Record one obligation of unknown owner and amount for the whole function."""
        pcs = [effect.pc for effects in self.slice.events.values() for effect in effects]
        debt = Obligation("unknown", min(pcs, default=0), None, None, None)
        key = (debt.kind, debt.pc)
        self.found[key] = UnprovedStore(entry=self.entry, debt=debt, why="too many paths")

    def _steps(self, state: SearchState) -> Iterator[tuple[SearchState, tuple[Value, bool] | None]]:
        node = state.node
        here = state
        is_followed = node in self.slice.events or self.slice.signs
        forgets = self.slice.forgets(node)
        for effect in node.effects if is_followed or forgets else ():
            if is_followed:
                here = self._do(effect, here)
            if forgets:
                here = self._forget(effect, here)
        if node.end == UNRESOLVED:
            here = self._lost(node, here)
        ahead = self.slice.marks_after(node)
        here = self._settled(here, state.facts, is_last=not (ahead or 0) & OWES)
        if not ahead or not (here.is_open or ahead & EVENT):
            if here.is_open and (node.end in ENDS or ahead is not None):
                self._close(here, state)
            return
        if node.end in ENDS and here.is_open:
            self._close(here, state)
        if node.branch is not None:
            yield from self._branch(here, node.branch)
        elif node.following is not None:
            yield self._move(here, node, node.following), None

    def _move(self, state: SearchState, node: CfgNode, after: CfgNode) -> SearchState:
        facts, tested = state.facts, state.tested
        edge = (node, after, state.bindings)
        known = self._crossed.get(edge)
        if known is None:
            known = self._crossed[edge] = self._cross(*edge)
        bindings, changed = known
        if changed:
            facts = frozenset(each for each in facts if not self._depends_on(each, changed))
            tested = frozenset(each for each in tested if not self._depends_on(each[0], changed))
        return SearchState(after, bindings, facts, tested, state.status, state.ledger)

    def _cross(
        self, node: CfgNode, after: CfgNode, bindings: Bindings
    ) -> tuple[Bindings, set[Expr]]:
        """Return the bindings that are live after an edge, and the phis that it leaves unbound."""
        changed: set[Expr] = set()
        if node.phi is not None and node.following is after:
            bindings = self._bound(bindings, node)
            changed = {phi for phi, _ in operands(node)} - {phi for phi, _ in bindings}
        live = self.slice.live.get(after, 0)
        kept = frozenset(pair for pair in bindings if self.slice.phi_bits[pair[0]] & live)
        return kept, changed

    def _depends_on(self, known: Fact | NormalForm, phis: Collection[Expr]) -> bool:
        """True if a fact or a tested condition contains one of these phis."""
        return any(
            not self.prover.phis.inside(word).isdisjoint(phis) for word in self._words_of(known)
        )

    def _bound(self, bindings: Bindings, node: CfgNode) -> Bindings:
        known = dict(bindings)
        fresh: dict[Expr, Value] = {}
        for phi, word in self.slice.bound.get(node, ()):
            meant = self.prover.phis.resolve(word, bindings)
            before = known.pop(phi, meant)
            if before == meant and phi not in self.prover.phis.inside(meant):
                fresh[phi] = meant  # else it differs between loop iterations
        return frozenset({**known, **fresh}.items())

    def _branch(
        self, state: SearchState, branch: Branch
    ) -> Iterator[tuple[SearchState, tuple[Value, bool] | None]]:
        condition = self.prover.phis.resolve(branch.condition, state.bindings)
        tells = branch.condition in self.slice.telling
        is_kept = tells and not self._is_transient(condition)
        for holds, after in ((True, branch.if_true), (False, branch.if_false)):
            if after not in self.flow.can_succeed:
                continue
            if isinstance(condition, int):
                if bool(condition) is holds:
                    yield self._move(state, state.node, after), None
                continue
            literal = (condition, holds)
            form, is_so = normal(condition, holds=holds)
            if (form, not is_so) in state.tested:
                continue
            facts, tested = state.facts, state.tested
            if tells:
                stated = self.prover.reader.facts(condition, holds=holds)
                if any(self.gates.privilege(stated)):
                    self.has_gates = True
                    if not self.with_gates:
                        continue
                facts |= self._learned(stated, condition, holds=holds) if is_kept else set()
            if self.depth.conditions and is_kept:
                tested |= {(form, is_so)}
            side = msgspec.structs.replace(state, facts=facts, tested=tested)
            yield self._move(side, state.node, after), literal

    def _learned(self, stated: Iterable[Fact], condition: Value, *, holds: bool) -> frozenset[Fact]:
        """Return the facts of a condition that can be of use."""
        return frozenset((*self.slice.kept(stated), *self.slice.shown(condition, holds=holds)))

    def _is_transient(self, condition: Value) -> bool:
        """True if it reads transient storage: stores to it are not followed."""
        return any(term.operation == "TLOAD" for term in self.prover.deep(condition))

    # --- effects ------------------------------------------------------------------------------

    def _do(self, effect: Effect, state: SearchState) -> SearchState:
        """Return the state after an effect."""
        status = state.status
        if effect.kind == "SSTORE":
            slot, value = (
                self.prover.phis.resolve(word, state.bindings) for word in effect.words[:2]
            )
            status = self._store(effect, slot, value, state.facts, status)
        elif self.prover.is_event(self.entry, effect):
            debt = Obligation("code", effect.pc, None, None, None)
            status = self._owing(status, debt)
        return msgspec.structs.replace(state, status=status)

    def _forget(self, effect: Effect, state: SearchState) -> SearchState:
        """Return the state without what the path has tested and the effect may change.

        An allowance that was tested lasts: its holder gave it, and `lowered` shows whether the
        path has spent it. So does a recovered signer, whatever was signed with it: a counter that
        moves on is read before.
        """
        if not (state.facts or state.tested):
            return state
        if effect.kind == "SSTORE":
            slot = self.prover.phis.resolve(effect.words[0], state.bindings)
        elif effect.kind in CALLS:
            slot = None
        else:
            return state
        facts = frozenset(
            fact
            for fact in state.facts
            if isinstance(fact, AllowanceCovers | AllowanceUnlimited)
            or not self._may_change(effect, _unsigned(self._words_of(fact)), slot)
        )
        tested = frozenset(
            (form, is_so)
            for form, is_so in state.tested
            if not self._may_change(effect, self._words_of(form), slot)
        )
        return msgspec.structs.replace(state, facts=facts, tested=tested)

    def _may_change(self, effect: Effect, words: Iterable[Value], slot: Value | None) -> bool:
        """True if an effect may change what words depend on. `slot` None: it is a call."""
        prover = self.prover
        reads = {read for word in words for read in prover.slots_read(word)}
        if slot is None:
            return any(map(prover.is_open_to_all, reads))
        return any(prover.may_store_to(self.entry, effect, slot, read) for read in reads)

    def _words_of(self, known: Fact | NormalForm) -> tuple[Value, ...]:
        """Return the words of a fact or a condition in normal form."""
        if isinstance(known, EqualityFact | Distinct):
            return known.one, known.other
        if isinstance(known, NotNegative):
            return known.minuend, known.subtrahend
        if isinstance(known, AllowanceCovers | AllowanceUnlimited | CallerListed):
            return (self.code.pool.intern("SLOAD", known.slot),)
        return (known,)

    def _lost(self, node: CfgNode, state: SearchState) -> SearchState:
        """Return the state at an end that was not followed."""
        status = self._owing(state.status, Obligation("unknown", node.pc, None, None, None))
        return msgspec.structs.replace(state, status=status)

    def _store(
        self,
        effect: Effect,
        slot: Value,
        value: Value,
        facts: frozenset[Fact],
        status: ObligationState,
    ) -> ObligationState:
        roles = self.code.storage.roles
        pc = effect.pc
        for place in self.code.layout.of(slot):
            if place.root in roles.balances:
                found = self._debit(pc, self.prover.holder_of(place), slot, value, facts)
                status = status if found is None else self._owing(status, found)
            elif place.root in roles.allowances:
                owner, spender = self.prover.holder_of(place), self.prover.spender_of(place)
                if self.prover.is_overtaken(self.entry, effect):
                    status = self._owing(status, Obligation("grant", pc, owner, spender, None))
                    continue
                status = self._allowance(pc, owner, spender, slot, value, facts, status)
            elif self.prover.may_be_anywhere(self.entry, effect, place, slot):
                status = self._owing(status, Obligation("unknown", pc, None, None, None))
            elif self.slice.signs:
                status = self._bump(pc, slot, value, status)
        return status

    def _bump(self, pc: int, slot: Value, value: Value, status: ObligationState) -> ObligationState:
        signatures = self.prover.signatures
        is_tested = signatures.is_tested(self.entry, pc, value, slot)
        if not (is_tested or signatures.is_moved(value, slot)):
            return status
        return msgspec.structs.replace(status, bumped=status.bumped | {(slot, is_tested)})

    def _debit(
        self, pc: int, whose: Value | None, slot: Value, value: Value, facts: frozenset[Fact]
    ) -> Obligation | None:
        """Return the obligation of a store to a balance. None: it lowers none."""
        key = (pc, whose, slot, value, facts)
        if key not in self._debits:
            self._debits[key] = self._find_debit(pc, whose, slot, value, facts)
        return self._debits[key]

    def _find_debit(
        self, pc: int, whose: Value | None, slot: Value, value: Value, facts: frozenset[Fact]
    ) -> Obligation | None:
        if self.prover.is_credit(self.entry, pc, value, slot, facts):
            return None
        delta = delta_of(value, slot)
        if delta is None:
            return Obligation("debit", pc, whose, None, None)
        is_exact = self.prover.is_exact(self.entry, pc, delta, facts)
        if not is_exact and not self.prover.fits(delta, slot, facts):
            return Obligation("debit", pc, whose, None, None)
        amount = plus(delta.subtracted)
        return Obligation("debit", pc, whose, None, amount, is_opaque=not is_exact)

    def _allowance(
        self,
        pc: int,
        whose: Value | None,
        spender: Value | None,
        slot: Value,
        value: Value,
        facts: frozenset[Fact],
        status: ObligationState,
    ) -> ObligationState:
        delta = delta_of(value, slot)
        if delta is not None and not any(delta) and slot not in status.lowered:
            return status  # the allowance is unchanged
        is_lower = delta is not None and bool(delta.subtracted) and not delta.added
        if is_lower and delta is not None and slot not in status.lowered:
            paid = status.paid
            if spender is not None and is_caller(spender) and whose is not None:
                payment = (whose, slot, plus(delta.subtracted))
                self.prover.rank(payment)
                paid |= {payment}
            status = msgspec.structs.replace(status, paid=paid, lowered=status.lowered | {slot})
            if self.prover.is_lowered(self.entry, pc, delta, slot, facts):
                return status
            # below zero it is a huge one
            return self._owing(status, Obligation("grant", pc, whose, spender, None))
        if value == 0:
            return msgspec.structs.replace(status, lowered=status.lowered | {slot})
        amount = plus([value]) if delta is None else plus(delta.added)
        return self._owing(status, Obligation("grant", pc, whose, spender, amount))

    def _owing(self, status: ObligationState, debt: Obligation) -> ObligationState:
        """Add an obligation. The same one again, as in a loop, is of an unknown amount."""
        debts = status.debts
        if debt in debts and debt.amount is not None:
            debts -= {debt}
            debt = msgspec.structs.replace(debt, amount=None)
        self.prover.rank(debt)
        return msgspec.structs.replace(status, debts=debts | {debt})

    def _settled(self, here: SearchState, facts: frozenset[Fact], *, is_last: bool) -> SearchState:
        """Return the state without the obligations that the facts discharge."""
        if not here.status.debts:
            return here
        key = (facts, here.status, is_last)
        status = self._settlements.get(key)
        if status is None:
            status = settled(self.prover, self.entry, facts, here.status, is_last=is_last)
            self._settlements[key] = status
        return msgspec.structs.replace(here, status=status)

    # --- findings -----------------------------------------------------------------------------

    def _close(self, here: SearchState, state: SearchState) -> None:
        status = self._settled(here, here.facts, is_last=True).status
        if not status.debts:
            return
        on_path = (
            self._privilege(state) if self.with_gates else self.gates.callers_before(self.entry)
        )
        for debt in sorted(status.debts, key=self.prover.rank):
            parties, lists = on_path if any(on_path) else self._setters(debt.whose)
            why = "privileged" if parties or lists else "nobody is asked"
            is_of_payer = is_of_payer_alone(self.prover, self.entry, status.debts, debt)
            found = UnprovedStore(
                entry=self.entry,
                debt=debt,
                why=why,
                parties=parties,
                lists=lists,
                is_of_payer=is_of_payer,
            )
            self._note(state, found)

    def _setters(self, whose: Value | None) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
        """Return who can choose the account of a debit that anybody can make: parties and lists."""
        if whose is None or not self.prover.is_set_by_privilege(whose):
            return (), ()
        return self.gates.setters(whose)

    def _privilege(self, state: SearchState) -> Callers:
        """Return the callers that the path to the state requires."""
        waiting: list[tuple[SearchState, tuple[Value, bool] | None]] = []
        at: SearchState | None = state
        found: Callers = self.gates.callers_before(self.entry)
        while at is not None:
            known = self._callers.get(at)
            if known is not None:
                found = known
                break
            before, literal, _ = self._from.get(at, (None, None, None))
            waiting.append((at, literal))
            at = before
        for each, literal in reversed(waiting):
            if literal is not None:
                condition, holds = literal
                parties, lists = self.gates.privilege(
                    self.prover.reader.facts(condition, holds=holds)
                )
                if parties or lists:
                    found = (*found[0], *parties), (*found[1], *lists)
            self._callers[each] = found
        return found

    def _note(self, state: SearchState, found: UnprovedStore) -> None:
        place = (found.debt.kind, found.debt.pc)
        is_open = not (found.parties or found.lists)
        key = place if is_open else (*place, found.parties, found.lists, found.is_of_payer)
        if key in self.found or place in self.found:
            return
        if is_open:
            self.found = {key: each for key, each in self.found.items() if key[:2] != place}
        in_full = len(self.found) < _MOST_TOLD and is_open
        self.found[key] = msgspec.structs.replace(found, path=self._path_to(state, in_full=in_full))

    def _path_to(self, state: SearchState, *, in_full: bool) -> tuple[tuple[Value, bool], ...]:
        """Return the conditions on one path to the state. `in_full`: also of nodes outside the
        slice."""
        found: list[tuple[Value, bool]] = []
        at: SearchState | None = state
        while at is not None:
            before, literal, first = self._from.get(at, (None, None, None))
            if in_full:
                starts = (
                    [first] if first is not None else list(self.code.functions.roots(self.entry))
                )
                found += reversed(self._skipped(starts, at))
            if literal is not None:
                found.append(literal)
            at = before
        return tuple(reversed(found))

    def _skipped(self, starts: list[CfgNode], state: SearchState) -> list[tuple[Value, bool]]:
        """Return the conditions on a shortest path from the starts to the state's node."""
        came: dict[CfgNode, CfgNode | None] = dict.fromkeys(starts)
        waiting = list(came)
        for node in waiting:
            if node is state.node or len(waiting) > _MOST_SKIPPED:
                break
            if not self.slice.is_stop(node):
                fresh = [after for after in node.successors() if after not in came]
                came.update(dict.fromkeys(fresh, node))
                waiting += [after for after in fresh if after in self.flow.can_succeed]
        found: list[tuple[Value, bool]] = []
        node, before = state.node, came.get(state.node)
        while before is not None:
            branch = before.branch
            if branch is not None:
                condition = self.prover.phis.resolve(branch.condition, state.bindings)
                found.append((condition, branch.if_true is node))
            node, before = before, came.get(before)
        return found[::-1]


def prove(prover: CustodyProver, entry: FunctionId) -> PathSearch:
    """Search a function with increasing precision until it is proved or the bounds are reached."""
    search = PathSearch(prover, entry, depth=_PLAIN)
    search.run()
    for depth in (_BY_AMOUNTS, _BY_CONDITIONS, _BY_BOTH):
        if search.needs(depth):
            search = PathSearch(prover, entry, depth=depth)
            search.run()
    if not search.found and search.has_gates:
        search = PathSearch(prover, entry, depth=search.depth, with_gates=True, like=search)
        search.run()
    return search


def _unsigned(words: Iterable[Value]) -> Iterator[Value]:
    """Yield the words that no signature was recovered to."""
    return (word for word in words if recovered(word) is None)
