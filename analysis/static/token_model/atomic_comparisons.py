"""Decomposition of a branch condition into atomic comparisons, through ISZERO, AND, OR and phis."""

from collections.abc import Iterator
from typing import Final

from analysis.static.evm.expressions import Expr, Value
from analysis.static.token_model.contract_model import ContractModel

_FLIPS: Final = frozenset({"ISZERO"})
_JOINS: Final = frozenset({"AND", "OR"})


def atomic_comparisons(
    code: ContractModel, condition: Value, *, holds: bool
) -> Iterator[tuple[Expr, bool]]:
    """Yield the comparisons in a condition, each with its truth when the whole is `holds`."""
    waiting = [(condition, holds)]
    seen = set()
    while waiting:
        word, is_true = waiting.pop()
        for term in code.dependencies.phi_values(word):
            if not isinstance(term, Expr) or (term, is_true) in seen:
                continue
            seen.add((term, is_true))
            if term.operation in _FLIPS:
                waiting.append((term.arguments[0], not is_true))
            elif term.operation in _JOINS:
                waiting.extend((each, is_true) for each in term.arguments)
            else:
                yield term, is_true
