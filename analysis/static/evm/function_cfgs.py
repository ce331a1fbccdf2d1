"""CFGs of all explored functions of one contract, built when first requested."""

from collections.abc import Iterable, Iterator

from analysis.static.evm.cfg import Cfg, CfgNode, Effect, FunctionId
from analysis.static.evm.function_cfg import FunctionCfg


class FunctionCfgs:
    """The explored functions. An entry of None is the fallback."""

    def __init__(self, graph: Cfg, unfinished: set[FunctionId]) -> None:
        """`unfinished`: functions with a path that was not followed to its end."""
        self._graph = graph
        self._unfinished = unfinished
        self._cfgs: dict[FunctionId, FunctionCfg] = {}

    @property
    def entries(self) -> list[FunctionId]:
        """Every function that was explored."""
        return list(self._graph.roots)

    def roots(self, entry: FunctionId) -> list[CfgNode]:
        """Return the entry nodes of a function; empty if it was not explored."""
        return self._graph.roots.get(entry, [])

    def cfg(self, entry: FunctionId) -> FunctionCfg:
        """Return the CFG of one function."""
        if entry not in self._cfgs:
            self._cfgs[entry] = FunctionCfg(self._graph, entry)
        return self._cfgs[entry]

    def effects(self) -> Iterator[tuple[FunctionId, Effect]]:
        """Yield every effect (stores, calls, logs) on a path that can succeed."""
        for entry in self.entries:
            for _, effect in self.cfg(entry).effects():
                yield entry, effect

    def is_followed(self, functions: Iterable[FunctionId] | None = None) -> bool:
        """True if every path of these functions was followed to its end. None: of all functions."""
        if functions is None:
            return not self._unfinished
        return self._unfinished.isdisjoint({None, *functions})

    def give_up(self, entry: FunctionId) -> None:
        """Count a function as not followed: examining it takes more than a bound allows."""
        self._unfinished.add(entry)
