"""What exploring a code has found."""

import msgspec

from analysis.static.evm.cfg import Cfg
from analysis.static.evm.expressions import ExprPool
from analysis.static.evm.path_state import Notes


class Exploration(msgspec.Struct, frozen=True, kw_only=True):
    """What a walk has found."""

    notes: Notes
    graph: Cfg
    pool: ExprPool
