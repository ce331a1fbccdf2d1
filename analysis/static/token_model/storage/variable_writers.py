"""Variable writers: whether trades, the party itself, anybody or only an owner writes a variable.

A store counts as the owner's only behind a recognised owner check (`guarded_stores`); a variable
with a store that is none of the owner's, a trade's or the caller's own is `unguarded`.
"""

from typing import Final

import msgspec

from analysis.static.dataflow.addresses import party, recovered
from analysis.static.dataflow.predicates import Variable
from analysis.static.evm.expressions import address_in
from analysis.static.evm.path_state import APPROVE, MOVERS
from analysis.static.token_model.conditions.trade_conditions import Source, StoredValues
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.storage.guarded_stores import is_guarded
from analysis.static.token_model.storage.owned_variables import writes_of
from analysis.static.token_model.storage.stored_values import written_to
from analysis.static.token_model.storage.write_index import StorageWrite

_TRADES: Final = frozenset({*MOVERS, APPROVE})


class WrittenVariables:
    """Cached classification of one contract's variables by their writers."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._sources: dict[Variable, Source | None] = {}
        self._values: dict[Variable, StoredValues | None] = {}

    def source(self, variable: Variable) -> Source | None:
        """Return the variable's source. None: fixed, owner-set, or a balance or an allowance, which
        are separate leaves."""
        if variable not in self._sources:
            self._sources[variable] = None if self._is_held(variable) else self._mover(variable)
        return self._sources[variable]

    def written(self, variable: Variable) -> StoredValues | None:
        """Return the values that unguarded stores leave. None: its declared slot is not known."""
        if variable not in self._values:
            found = written_to(self._code, variable, self._open_writes(variable))
            if found is not None and self.source(variable) == "own":
                found = msgspec.structs.replace(found, is_own=True)
            self._values[variable] = found
        return self._values[variable]

    def _is_held(self, variable: Variable) -> bool:
        roles, root = self._code.storage.roles, variable[0]
        return root in roles.balances or root in roles.allowances

    def _mover(self, variable: Variable) -> Source | None:
        code, is_entry = self._code, isinstance(variable[0], tuple)
        open_ = self._open_writes(variable)
        if not open_:
            return None
        if is_entry and all(map(self._is_own_act, writes_of(code, variable))):
            return "own"
        if all(write.entry in _TRADES or code.writes.is_callers_own(write) for write in open_):
            return "mark" if is_entry else "counter"
        return "unguarded"

    def _open_writes(self, variable: Variable) -> list[StorageWrite]:
        """Return the stores to it that no owner check guards."""
        writes = writes_of(self._code, variable)
        return [write for write in writes if not is_guarded(self._code, write)]

    def _is_own_act(self, write: StorageWrite) -> bool:
        """True if it stores under the caller's or a signer's key, and is no trade."""
        code = self._code
        return write.entry not in _TRADES and any(
            all(
                code.writes.names_caller(meaning)
                or recovered(party(meaning)) is not None
                or meaning == 0
                for meaning in code.dependencies.phi_values(key)
            )
            for key in map(address_in, write.place.keys)
        )
