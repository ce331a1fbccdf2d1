"""Privileged callers: conditions that only a party named by code or storage can meet."""

from collections.abc import Iterable
from typing import Final

from analysis.static.custody.custody_facts import Fact, FactReader, Listed, Same
from analysis.static.dataflow.dependencies import CALLERS
from analysis.static.dataflow.storage_layout import Place, Root
from analysis.static.evm.cfg import Entry
from analysis.static.evm.expressions import Term, Word, subterms
from analysis.static.token_model.contract_model import Code
from analysis.static.token_model.initializers import runs_once

_LOWEST: Final = 2**64
"""A number compared with somebody is an address, or the hash of one, from here on."""


class Gates:
    """Those of one code."""

    def __init__(self, code: Code, reader: FactReader) -> None:
        self._code = code
        self._reader = reader
        self._closed: dict[Root, bool] = {}

    def privilege(self, facts: Iterable[Fact]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """Parties that the caller must be, and slots under the caller's key that must be set."""
        parties: list[Word] = []
        lists: list[Word] = []
        for fact in facts:
            if isinstance(fact, Same):
                named = self._party_in(fact)
                if named is not None:
                    parties.append(named)
            elif isinstance(fact, Listed) and self._is_closed_list(fact.slot):
                lists.append(fact.slot)
        return tuple(parties), tuple(lists)

    def names(self, word: Term) -> bool:
        """Whether storage names somebody whom strangers cannot choose."""
        return self._is_closed_place(word.arguments[0])

    def _party_in(self, fact: Same) -> Word | None:
        for one, other in ((fact.one, fact.other), (fact.other, fact.one)):
            if isinstance(one, Term) and any(t.operation in CALLERS for t in subterms(one)):
                if isinstance(other, int):
                    return other if other >= _LOWEST else None
                if other.operation == "result" and other.arguments[0] != 1:
                    return other
                if other.operation == "SLOAD" and self._is_closed_place(other.arguments[0]):
                    return other
        return None

    def _is_closed_place(self, slot: Word) -> bool:
        places = self._code.places.of(slot)
        return bool(places) and all(self._is_authority(place) for place in places)

    def _is_authority(self, place: Place) -> bool:
        """Whether strangers cannot choose who is there."""
        given = any(
            atom.operation in ("CALLDATALOAD", "CALLER")
            for key in place.keys
            for atom in self._code.sources.atoms(key)
        )
        return not given and self.is_closed(place.root)

    def _is_closed_list(self, slot: Word) -> bool:
        return all(self.is_closed(place.root) for place in self._code.places.of(slot))

    def is_closed(self, root: Root) -> bool:
        """Whether every function that writes the variable asks who calls, or runs but once."""
        known = self._closed.get(root)
        if known is None:
            # roles that guard themselves: granted by those who have them
            self._closed[root] = True
            writers: dict[Entry, set[int]] = {}
            for write in self._code.writes:
                if write.place.root == root:
                    writers.setdefault(write.entry, set()).add(write.pc)
            known = self._closed[root] = all(
                self.is_gated(entry, pcs) or runs_once(self._code, entry)
                for entry, pcs in writers.items()
            )
        return known

    def is_gated(self, entry: Entry, pcs: set[int]) -> bool:
        """Whether every way to these stores asks for a privileged caller."""
        flow = self._code.flow(entry)
        barred = set()
        for node, branch in flow.branching():
            for holds, after in ((True, branch.if_true), (False, branch.if_false)):
                if any(
                    any(self.privilege(self._reader.facts(meaning, holds=holds)))
                    for meaning in self._code.sources.meanings(branch.condition)
                    if isinstance(meaning, Term)
                ):
                    barred.add((node, after))
        targets = [node for node, deed in flow.deeds() if deed.pc in pcs]
        reaching = flow.leading_to(targets, barred)
        return not any(root in reaching for root in self._code.roots(entry))
