"""Resolution of phis along one path: expressions rewritten with the operands bound on its edges.

At most `_MOST_NODES` subexpressions of an expression are examined; the rest stays unresolved.
"""

from typing import Final

from analysis.static.evm.expressions import Expr, Value
from analysis.static.token_model.contract_model import ContractModel

Bindings = frozenset[tuple[Expr, Value]]
"""Phis and the operands bound to them; a phi that is not listed stays unresolved."""

_MOST_NODES: Final = 4_000


class PhiResolver:
    """Rewrites the expressions of one pool, with memoised results."""

    def __init__(self, code: ContractModel) -> None:
        self._pool = code.pool
        self._inside: dict[Expr, frozenset[Expr]] = {}
        self._known: dict[tuple[Value, Bindings], Value] = {}

    def inside(self, word: Value) -> frozenset[Expr]:
        """Return the phis among the subexpressions, including keys of storage reads and hashes."""
        if not isinstance(word, Expr):
            return frozenset()
        known = self._inside.get(word)
        if known is None:
            known = self._inside[word] = self._search(word)
        return known

    def _search(self, word: Expr) -> frozenset[Expr]:
        found: set[Expr] = set()
        seen: set[Expr] = set()
        waiting: list[Value] = [word]
        while waiting and len(seen) < _MOST_NODES:
            term = waiting.pop()
            if isinstance(term, Expr) and term not in seen:
                seen.add(term)
                if term.operation == "phi":
                    found.add(term)
                elif term.operation == "top":
                    waiting.extend(self._pool.phi_operands.get(term, ()))
                else:
                    waiting.extend(term.arguments)
        return frozenset(found)

    def closure(self, phis: set[Expr]) -> set[Expr]:
        """Return the phis and, transitively, all phis inside their operands."""
        found = set(phis)
        waiting = list(phis)
        while waiting:
            for word in self._pool.phi_operands.get(waiting.pop(), ()):
                fresh = self.inside(word) - found
                found |= fresh
                waiting.extend(fresh)
        return found

    def resolve(self, word: Value, bindings: Bindings) -> Value:
        """Return the expression with its bound phis replaced."""
        inside = self.inside(word)
        if not inside or not isinstance(word, Expr):
            return word
        used = frozenset(pair for pair in bindings if pair[0] in inside)
        if not used:
            return word
        key = (word, used)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._rewrite(word, dict(used))
        return known

    def _rewrite(self, word: Expr, bindings: dict[Expr, Value]) -> Value:
        done: dict[Expr, Value] = dict(bindings)
        waiting: list[Expr] = [word]
        while waiting:
            term = waiting[-1]
            if term in done:
                waiting.pop()
                continue
            parts = self._parts(term)
            missing = [part for part in parts if isinstance(part, Expr) and part not in done]
            if missing and len(done) < _MOST_NODES:
                waiting.extend(missing)
                continue
            waiting.pop()
            done[term] = self._rebuilt(term, done)
        return done[word]

    def _parts(self, term: Expr) -> tuple[Value, ...]:
        if not self.inside(term) or term.operation == "phi":
            return ()
        if term.operation == "top":
            return tuple(self._pool.phi_operands.get(term, ()))
        return term.arguments

    def _rebuilt(self, term: Expr, done: dict[Expr, Value]) -> Value:
        parts = self._parts(term)
        if not parts:
            return term
        words = [done.get(part, part) if isinstance(part, Expr) else part for part in parts]
        if all(word is part for word, part in zip(words, parts, strict=True)):
            return term
        if term.operation == "top":
            return words[0]
        if term.operation == "keccak":
            return self._pool.hash_words(tuple(words))
        if term.operation in _AS_THEY_ARE:
            pc = self._pool.read_pcs.get(term)
            if pc is not None:
                words.insert(0, self._pool.read_at(words[0], pc))
            return words[0] if pc is not None else self._pool.intern(term.operation, *words)
        return self._pool.build(term.operation, *words)


_AS_THEY_ARE: Final = frozenset({"packed", "result", "success", "SLOAD", "TLOAD", "memory"})
