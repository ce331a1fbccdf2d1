"""Static analyses of this process, by code: tests deploy the same contracts again and again."""

from analysis.static.result_cache import StaticResultCache
from core.evm.primitives import Hash32


class InMemoryResults:
    """Results in memory, as JSON."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Hash32, str], str] = {}

    async def find_code(self, code_hash: Hash32, version: str) -> str | None:
        return self._kept.get((code_hash, version))

    async def keep_code(self, code_hash: Hash32, version: str, *, size: int, found: str) -> None:
        self._kept[code_hash, version] = found

    async def forget_codes(self, *, but_of_version: str) -> None:
        """Keep all: there is one version."""


_RESULTS = InMemoryResults()


def new_static_results() -> StaticResultCache:
    """A new cache, over the results of all tests of this process."""
    return StaticResultCache(_RESULTS)
