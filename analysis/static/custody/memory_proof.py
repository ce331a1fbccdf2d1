"""Proof that no store to a computed memory address hits words that the exploration kept.

`address_ranges` takes sums of addresses not to wrap, and a store to an address of which nothing is
known not to hit scratch space or the free memory pointer. Proved here for each function: where a
store is made its sum cannot wrap. Summands are bounded by their operation, by a comparison, or by
their use as address or length, which gas bounds, on every path that ends well.
"""

from collections.abc import Iterator
from typing import Final

from analysis.static.custody.storage_reach import StorageReach
from analysis.static.evm.address_ranges import most_of, rounded
from analysis.static.evm.cfg import CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.evm.operand_records import WRITTEN
from analysis.static.token_model.contract_model import ContractModel

_BOUND: Final = 2**64
"""Largest number of a comparison that bounds a summand; gas bounds what is paid for far below."""
_STEPS: Final = 2**80
"""Most that a loop adds to a pointer, as gas bounds its rounds."""
_LARGEST_IN_LOOP: Final = 2**128
_MOST_WORDS: Final = 4_000
"""Words looked at in one function."""
_SIGN: Final = 2**255
_NOWHERE: Final[list[CfgNode]] = []
_SUMS: Final = frozenset({"ADD", "SUB", "phi", "top"})


class MemoryProof:
    """The proof for one code."""

    def __init__(self, code: ContractModel, reach: StorageReach) -> None:
        self._code = code
        self._reach = reach

    def unproved(self, entry: FunctionId) -> Effect | None:
        """Return a store to memory in a function that may hit any word. None: there is none."""
        proof = _FunctionProof(self._code, self._reach, self._code.functions.cfg(entry))
        return next((store for store in proof.stores if self._is_open(proof, store)), None)

    def _is_open(self, proof: "_FunctionProof", store: Effect) -> bool:
        place = store.words[0]
        return isinstance(place, Expr) and (
            place in self._code.misplaced
            or self._code.ranges.least(place, 0) < 0
            or not proof.is_exact(store, place)
        )


class _FunctionProof:
    def __init__(self, code: ContractModel, reach: StorageReach, flow: FunctionCfg) -> None:
        self._code = code
        self._reach = reach
        self._flow = flow
        self.stores: dict[Effect, list[CfgNode]] = {}
        self._paying: dict[Value, set[CfgNode]] = {}
        self._merged: dict[Expr, dict[Value, list[CfgNode]]] = {}
        for node in flow.nodes:
            if node in flow.can_succeed:
                self._read(node)
        self._left = _MOST_WORDS
        self._unbounded: dict[Expr, set[CfgNode]] = {}
        self._phis: dict[Expr, int] = {}
        self._group: dict[Expr, tuple[int, int]] = {}
        """Phis being bounded, with the factors around them and what is known so far."""
        self._is_loop = False
        self._factors = 0
        self._everywhere: dict[Expr, int] = {}
        self._sizes: dict[tuple[Expr, int], int] = {}
        self._is_local = False
        """True if the bound being computed holds at the given nodes only."""

    def _read(self, node: CfgNode) -> None:
        for operand in node.operands:
            if operand.kind == WRITTEN:
                self.stores.setdefault(operand, []).append(node)
                for word in operand.words:
                    self._paying.setdefault(word, set()).add(node)
        for phi, word in () if node.phi is None else node.phi.operands():
            self._merged.setdefault(phi, {}).setdefault(word, []).append(node)

    def is_exact(self, store: Effect, place: Expr) -> bool:
        """True if the sum that is the address of a store cannot wrap."""
        return place.operation not in _SUMS or self._size(place, self.stores[store]) <= MASK

    def _size(self, word: Value, nodes: list[CfgNode]) -> int:
        """Return a bound of a sum at these nodes, and of what it subtracts: as an integer, not
        modulo 2^256. Above MASK: none is known."""
        if isinstance(word, int):
            return min(word, MASK + 1 - word)
        if (most := most_of(word)) <= _SIGN:
            return most
        known = self._everywhere.get(word) or self._sizes.get((word, id(nodes)))
        if known is None:
            self._left -= 1
            if self._left < 0:
                return MASK + 1
            before, self._is_local = self._is_local, False
            known = self._search(word, nodes)
            if self._group:
                pass  # not known yet: it may depend on a phi that is being bounded
            elif self._is_local:
                self._sizes[word, id(nodes)] = known  # the lists live as long as the proof
            else:
                self._everywhere[word] = known
            self._is_local |= before
        return known

    def _search(self, word: Expr, nodes: list[CfgNode]) -> int:
        if word.operation == "phi":
            return self._size_of_phi(word)
        if word.operation == "top":
            [cut] = self._code.pool.phi_operands[word]
            return self._size(cut, nodes)
        whole, unit = rounded(word)
        found = MASK + 1
        match (word.operation, word.arguments):
            case _ if whole is not None:
                found = self._size(whole, nodes) + unit
            case ("ADD" | "SUB", words):
                found = sum(self._size(each, nodes) for each in words)
            case ("MUL", (int(factor), inner)):
                found = factor * self._factor(inner, nodes)
            case ("SHL", (int(shift), inner)):
                found = self._factor(inner, nodes) << min(shift, 256)
            case ("DIV", (inner, int(number))) if number:
                found = self._size(inner, nodes) // number
        # A sum that is small may have wrapped: its summands have to be bounded each.
        if found > MASK and whole is None and word.operation not in _SUMS:
            self._is_local = True
            if self._open_nodes(word).isdisjoint(nodes):
                return _BOUND
        return found

    def _factor(self, word: Value, nodes: list[CfgNode]) -> int:
        self._factors += 1
        found = self._size(word, nodes)
        self._factors -= 1
        return found

    def _size_of_phi(self, phi: Expr) -> int:
        """Return the bound of all words that become the phi, where they do, and of a loop's steps.

        Phis that become each other share the bound of the first one.
        """
        if phi in self._phis:
            return self._phis[phi]
        if phi in self._group:
            self._is_loop = True
            is_multiplied = self._factors > self._group[phi][0]
            return MASK + 1 if is_multiplied else self._group[phi][1]
        is_first = not self._group
        self._group[phi] = (self._factors, 0)
        merged = self._merged.get(phi, {})
        found = _STEPS
        for operand in self._code.pool.phi_operands.get(phi, {}):
            if operand is not phi:
                found = max(found, self._size(operand, merged.get(operand, _NOWHERE)) + _STEPS)
        self._group[phi] = (self._factors, found)
        if is_first:
            found = MASK + 1 if self._is_loop and found > _LARGEST_IN_LOOP else found
            self._phis.update(dict.fromkeys(self._group, found))
            self._group, self._is_loop = {}, False
        return found

    def _open_nodes(self, word: Expr) -> set[CfgNode]:
        """Return the nodes on paths that end well without a bound of the word."""
        known = self._unbounded.get(word)
        if known is None:
            known = self._unbounded[word] = self._find_open(word)
        return known

    def _find_open(self, word: Expr) -> set[CfgNode]:
        flow = self._flow
        paying = self._paying.get(word, set())
        edges = {
            edge
            for large, found in self._reach.limits(flow.entry).at_most.get(word, {}).items()
            if isinstance(large, int) and large <= _BOUND
            for edge in found
        }
        if not (paying or edges) or self._reach.may_change(flow.entry, word):
            return set(flow.nodes)
        edges.update((node, after) for node in paying for after in node.successors())
        ends = (node for node in flow.can_succeed if not node.successors() and node not in paying)
        ahead = flow.leading_to(ends, edges) - paying
        behind = set(self._reached(edges)) - paying
        return ahead & behind

    def _reached(self, barred: set[tuple[CfgNode, CfgNode]]) -> Iterator[CfgNode]:
        """Yield the nodes that the start of the function reaches without these edges."""
        seen: set[CfgNode] = set()
        waiting = list(self._code.functions.roots(self._flow.entry))
        while waiting:
            node = waiting.pop()
            if node in seen or node not in self._flow.can_succeed:
                continue
            seen.add(node)
            yield node
            waiting += [after for after in node.successors() if (node, after) not in barred]
