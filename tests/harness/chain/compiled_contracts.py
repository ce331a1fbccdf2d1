"""Compiler output for the contracts on the tests' chains, kept in the repository.

A run starts with it in the compiler's cache, so it compiles only what has changed. The names are
digests of compiler, settings and sources. Contracts of imported packages are left out. `make
test-long` takes nothing from here.

`python -m tests.harness.chain.compiled_contracts`, after `make check`, keeps what tests needed.
"""

import lzma
import time
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from assay.demo.npm_packages import CACHE, NODE_MODULES

ARCHIVE: Final = Path(__file__).resolve().parents[2] / "cases" / "contracts.json.xz"
_CACHE: Final = CACHE / "compiled"
_DAY_S: Final = 86_400


@cache
def read_contracts() -> dict[str, msgspec.Raw]:
    """Compiler output by its name in the cache."""
    return msgspec.json.decode(lzma.decompress(ARCHIVE.read_bytes()), type=dict[str, msgspec.Raw])


def fill_cache() -> None:
    """Put what is missing into the compiler's cache."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    for digest, output in read_contracts().items():
        cached = _CACHE / f"{digest}.json"
        if not cached.is_file():
            part = cached.with_suffix(".part")
            part.write_bytes(output)
            part.replace(cached)


def own_part(output: bytes) -> msgspec.Raw:
    """Return compiler output without warnings and the contracts of packages."""
    whole = msgspec.json.decode(output, type=dict[str, msgspec.Raw])
    sources = msgspec.json.decode(whole["contracts"], type=dict[str, msgspec.Raw])
    own = {name: found for name, found in sources.items() if not (NODE_MODULES / name).exists()}
    return msgspec.Raw(msgspec.json.encode({"contracts": own}))


def main() -> None:
    """Keep the output that was needed within the last day: each use opens its lock."""
    found = {
        lock.stem: own_part(lock.with_suffix(".json").read_bytes())
        for lock in sorted(_CACHE.glob("*.lock"))
        if time.time() - lock.stat().st_mtime < _DAY_S and lock.with_suffix(".json").is_file()
    }
    ARCHIVE.write_bytes(lzma.compress(msgspec.json.encode(found), preset=9))


if __name__ == "__main__":
    main()
