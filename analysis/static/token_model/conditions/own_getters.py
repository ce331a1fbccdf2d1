"""Own getters: results that a function reads from its own contract, called from outside."""

from collections.abc import Iterator
from typing import Final

import msgspec

from analysis.static.dataflow.dependencies import is_own_address
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Value
from analysis.static.evm.path_state import ALLOWANCE, BALANCE_OF, TOTAL_SUPPLY
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.operand_index import operand_index

_CALLS: Final = frozenset({"CALL", "STATICCALL"})
_SELECTOR_SHIFT: Final = 224
_DECIMALS: Final = 0x313CE567
_GETTERS: Final[dict[int, int]] = {BALANCE_OF: 1, ALLOWANCE: 2, TOTAL_SUPPLY: 0, _DECIMALS: 0}
"""Number of arguments by selector."""


class OwnAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """Possible results of the getters that a function calls."""

    returned: tuple[tuple[FunctionId, Value], ...]
    """Getter and word that it returns."""
    arguments: tuple[Value, ...]
    """All arguments they are called with."""


def own_answers(code: ContractModel, entry: FunctionId) -> OwnAnswers | None:
    """Return what this function's calls to its own contract may answer.

    None: one of them is not to a known getter, or its arguments are not known.
    """
    heads = list(_heads(code, entry))
    if any(head is None for head in heads):
        return None
    selectors = {head for head in heads if head is not None}
    most = max((_GETTERS[selector] for selector in selectors), default=0)
    calls = [
        call
        for (caller, _), calls in operand_index(code).calls.items()
        if caller == entry
        for call in calls
        if is_own_address(code.dependencies.single_value(call.target))
    ]
    returned = tuple(
        (note.entry, word)
        for note in code.notes.returns.values()
        if note.entry in selectors
        for word in note.words[:1]
    )
    is_told = all(len(call.content) >= most for call in calls) or most == 0
    if not is_told or not selectors <= {getter for getter, _ in returned}:
        return None
    arguments = dict.fromkeys(word for call in calls for word in call.content[:most])
    return OwnAnswers(returned=returned, arguments=tuple(arguments))


def _heads(code: ContractModel, entry: FunctionId) -> Iterator[int | None]:
    """Yield the getters called on the own contract. None: another function, or not known."""
    for _, effect in code.functions.cfg(entry).effects():
        target = code.dependencies.single_value(effect.words[0]) if effect.words else 0
        if effect.kind in _CALLS and is_own_address(target):
            head = code.dependencies.single_value(effect.words[1])
            selector = head >> _SELECTOR_SHIFT if isinstance(head, int) else None
            yield selector if selector in _GETTERS else None
