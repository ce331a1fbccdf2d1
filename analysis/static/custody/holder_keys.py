"""Key order of balance and allowance mappings, and predicates on the addresses in them.

The order is read from the public getters: which mapping key is which argument of `balanceOf` or
`allowance`.
"""

from collections.abc import Iterator
from typing import Final

from analysis.static.dataflow.dependencies import CALLERS, is_own_address
from analysis.static.dataflow.storage_layout import VariableId
from analysis.static.evm.expressions import Expr, Value, subterms
from analysis.static.token_model.contract_model import ContractModel

_LAST_PRECOMPILE: Final = 0x11


def is_computed(word: Value) -> bool:
    """True if the expression computes more than a storage read."""
    return isinstance(word, Expr) and word.operation != "SLOAD"


def is_somebody(word: Value) -> bool:
    """True if the expression contains the caller, or the result of a call (also of `ecrecover`)."""
    return isinstance(word, Expr) and any(
        term.operation in CALLERS or term.operation == "result" for term in subterms(word)
    )


def key_orders(
    code: ContractModel, getter: int, arguments: tuple[int, ...]
) -> Iterator[tuple[VariableId, tuple[int, ...]]]:
    """Yield each mapping that the getter reads, with the key position of each of its arguments.

    `arguments` are calldata offsets in bytes.
    """
    for note in code.notes.returns.values():
        if note.entry != getter:
            continue
        for word in note.words:
            for slot, _ in code.dependencies.reads(word):
                for place in code.layout.of(slot):
                    given = [
                        {
                            atom.arguments[0]
                            for atom in code.dependencies.sources(key)
                            if atom.operation == "CALLDATALOAD"
                        }
                        for key in place.keys
                    ]
                    order = tuple(
                        next((at for at, atoms in enumerate(given) if argument in atoms), 0)
                        for argument in arguments
                    )
                    if all(any(argument in atoms for atoms in given) for argument in arguments):
                        yield place.root, order


def is_harmless(target: Value) -> bool:
    """True if delegating to the target runs no unknown code on this storage."""
    if isinstance(target, int):
        return target <= _LAST_PRECOMPILE
    return is_own_address(target)
