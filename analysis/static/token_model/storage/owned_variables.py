"""Owned variables: variables written behind an owner check.

As sound as `guarded_stores` is in recognising owner checks.
"""

from collections.abc import Iterator, Mapping

from analysis.static.dataflow.predicates import Variable
from analysis.static.dataflow.storage_layout import VariableId
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.memoize import cached_on_model
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


def address_bits(code: ContractModel) -> Mapping[VariableId, int]:
    """Return the bits of the address in each plain slot in which conditions read exactly one."""
    [found] = _address_bits(code)
    return found


@cached_on_model
def _address_bits(code: ContractModel) -> Iterator[Mapping[VariableId, int]]:
    read: dict[VariableId, set[int]] = {}
    for entry in code.functions.entries:
        for branch in code.functions.cfg(entry).branches():
            for slot, bits in code.dependencies.reads(branch.condition):
                if isinstance(slot, int) and bits.bit_count() == ADDRESS_BITS:
                    read.setdefault(slot, set()).add(bits)
    yield {root: bits for root, (bits, *others) in read.items() if not others}


def writes_of(code: ContractModel, variable: Variable) -> Iterator[StorageWrite]:
    """Yield all stores to it, those in functions called on their own contract as the callers'."""
    yield from code.writes.to(variable)
    root, bits = variable
    for write in code.writes.inside:
        if write.place.root == root and write.bits & bits:
            yield write
