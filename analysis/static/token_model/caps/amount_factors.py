"""Per-address amount factors: transfers scaled by storage of a party.

An address with the factor zero moves nothing, without a revert.
"""

from collections.abc import Iterator

import msgspec

from analysis.static.dataflow.predicates import ERC20_PARAMETERS, FROM, PEOPLE, Variable
from analysis.static.evm.expressions import Value
from analysis.static.evm.path_state import MOVERS
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.memoize import cached_on_model
from analysis.static.token_model.storage.balance_changes import BalanceChange, changes
from analysis.static.token_model.storage.write_index import StorageWrite


class Scaling(msgspec.Struct, frozen=True, kw_only=True):
    """A debit of the sender of which every summand depends on per-address storage."""

    write: StorageWrite
    variables: frozenset[Variable]


@cached_on_model
def scalings(code: ContractModel) -> Iterator[Scaling]:
    """Yield the scalings of functions whose debits are all scaled; a per-address fee is none."""
    debits = [change for change in changes(code) if change.party == FROM]
    for entry in MOVERS:
        mine = [change for change in debits if change.write.entry == entry]
        scaled = [_factors(code, change) for change in mine]
        if all(scaled):
            for change, variables in zip(mine, scaled, strict=True):
                yield Scaling(write=change.write, variables=variables)


def _factors(code: ContractModel, change: BalanceChange) -> frozenset[Variable]:
    """Return the per-address variables in the sum. Empty: some summand has none."""
    found = [frozenset(_listed(code, word, change.write)) for word, _ in change.by]
    return frozenset().union(*found) if all(found) else frozenset()


def _listed(code: ContractModel, word: Value, write: StorageWrite) -> Iterator[Variable]:
    parameters = ERC20_PARAMETERS[write.entry or 0]
    for slot, bits in code.dependencies.reads(word):
        for place in code.layout.of(slot):
            parties = {code.storage.predicates.party(key, parameters) for key in place.keys}
            variable = (place.root, bits)
            is_own = place.root in code.storage.roles.balances | code.storage.roles.allowances
            if parties & PEOPLE and not is_own and _is_set_by_others(code, variable):
                yield variable


def _is_set_by_others(code: ContractModel, variable: Variable) -> bool:
    return any(
        write.entry not in MOVERS and not code.writes.is_callers_own(write)
        for write in code.writes.to(variable)
    )
