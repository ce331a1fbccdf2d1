"""Phi words resolved along one path: terms rewritten with what they stand for on its edges."""

from typing import Final

from analysis.static.evm.expressions import Term, Word
from analysis.static.token_model.contract_model import Code

Bindings = frozenset[tuple[Term, Word]]
"""What phi words stand for; those not named stand for themselves."""

_MOST_NODES: Final = 4_000


class Phis:
    """Rewrites the terms of one pool."""

    def __init__(self, code: Code) -> None:
        self._pool = code.pool
        self._inside: dict[Term, frozenset[Term]] = {}
        self._known: dict[tuple[Word, Bindings], Word] = {}

    def inside(self, word: Word) -> frozenset[Term]:
        """The phi words among a word's parts, in the keys of storage reads and hashes as well."""
        if not isinstance(word, Term):
            return frozenset()
        known = self._inside.get(word)
        if known is None:
            known = self._inside[word] = self._search(word)
        return known

    def _search(self, word: Term) -> frozenset[Term]:
        found: set[Term] = set()
        seen: set[Term] = set()
        waiting: list[Word] = [word]
        while waiting and len(seen) < _MOST_NODES:
            term = waiting.pop()
            if isinstance(term, Term) and term not in seen:
                seen.add(term)
                if term.operation == "either":
                    found.add(term)
                elif term.operation == "opaque":
                    waiting.extend(self._pool.joined.get(term, ()))
                else:
                    waiting.extend(term.arguments)
        return frozenset(found)

    def closure(self, phis: set[Term]) -> set[Term]:
        """The phi words, and all that what they stand for is made of."""
        found = set(phis)
        waiting = list(phis)
        while waiting:
            for word in self._pool.joined.get(waiting.pop(), ()):
                fresh = self.inside(word) - found
                found |= fresh
                waiting.extend(fresh)
        return found

    def resolve(self, word: Word, bindings: Bindings) -> Word:
        """The word on a path."""
        inside = self.inside(word)
        if not inside or not isinstance(word, Term):
            return word
        used = frozenset(pair for pair in bindings if pair[0] in inside)
        if not used:
            return word
        key = (word, used)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._rewrite(word, dict(used))
        return known

    def _rewrite(self, word: Term, bindings: dict[Term, Word]) -> Word:
        done: dict[Term, Word] = dict(bindings)
        waiting: list[Term] = [word]
        while waiting:
            term = waiting[-1]
            if term in done:
                waiting.pop()
                continue
            parts = self._parts(term)
            missing = [part for part in parts if isinstance(part, Term) and part not in done]
            if missing and len(done) < _MOST_NODES:
                waiting.extend(missing)
                continue
            waiting.pop()
            done[term] = self._rebuilt(term, done)
        return done[word]

    def _parts(self, term: Term) -> tuple[Word, ...]:
        if not self.inside(term) or term.operation == "either":
            return ()
        if term.operation == "opaque":
            return tuple(self._pool.joined.get(term, ()))
        return term.arguments

    def _rebuilt(self, term: Term, done: dict[Term, Word]) -> Word:
        parts = self._parts(term)
        if not parts:
            return term
        words = [done.get(part, part) if isinstance(part, Term) else part for part in parts]
        if all(word is part for word, part in zip(words, parts, strict=True)):
            return term
        if term.operation == "opaque":
            return words[0]
        if term.operation == "keccak":
            return self._pool.hash_words(tuple(words))
        if term.operation in _AS_THEY_ARE:
            return self._pool.leaf(term.operation, *words)
        return self._pool.make(term.operation, *words)


_AS_THEY_ARE: Final = frozenset({"packed", "result", "success", "SLOAD", "TLOAD", "memory"})
