"""Result of symbolically executing one code: notes, CFG and expression pool."""

import msgspec

from analysis.static.evm.address_ranges import AddressRanges
from analysis.static.evm.cfg import Cfg
from analysis.static.evm.expressions import ExprPool, Value
from analysis.static.evm.path_state import Notes


class Exploration(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one exploration."""

    notes: Notes
    graph: Cfg
    pool: ExprPool
    ranges: AddressRanges
    """Distances of memory addresses."""
    misplaced: frozenset[Value]
    """Memory addresses that may be nearer to others than the exploration relied on."""
