"""Owned variables: variables written behind an owner check.

As sound as `guarded_stores` is in recognising owner checks.
"""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import Variable
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.storage.guarded_stores import is_guarded
from analysis.static.token_model.storage.write_index import StorageWrite
from core.evm.primitives import ADDRESS_BITS


def is_owned(code: ContractModel, variable: Variable) -> bool:
    """True if some store to it is behind an owner check; others may write it too.

    False for balances and allowances.
    """
    root, _ = variable
    if root in code.storage.roles.balances or root in code.storage.roles.allowances:
        return False
    return any(is_guarded(code, write) for write in writes_of(code, variable))


def is_address(variable: Variable) -> bool:
    """True for a variable without a key that is one address."""
    root, bits = variable
    return bits.bit_count() == ADDRESS_BITS and not isinstance(root, tuple)


def writes_of(code: ContractModel, variable: Variable) -> Iterator[StorageWrite]:
    """Yield all stores to it, those in functions called on their own contract as the callers'."""
    yield from code.writes.to(variable)
    root, bits = variable
    for write in code.writes.inside:
        if write.place.root == root and write.bits & bits:
            yield write
