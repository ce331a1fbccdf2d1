"""Contracts of the custody tests, compiled with the zoo's base and packaged imports."""

import re
from collections.abc import Iterator
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import Final

from assay.demo.compile import Artifacts, compile_sources
from assay.demo.npm_packages import NODE_MODULES, PROJECT_ROOT
from tests.harness.chain.transactions import Chain

_FOLDER = PROJECT_ROOT / "tests" / "custody" / "contracts"
_BASE = "base/Erc20.sol"
_IMPORT: Final = re.compile(r'from "([^"]+)"')


def with_contracts(chain: Chain, *names: str) -> Chain:
    """The same chain, where the contracts of these sources can be deployed and placed."""
    return Chain(chain.node, chain.world, chain.artifacts | _compiled(names))


@cache
def _compiled(names: tuple[str, ...]) -> Artifacts:
    zoo = PROJECT_ROOT / "assay" / "demo" / "contracts" / "zoo"
    sources = {_BASE: (zoo / _BASE).read_text()}
    for name in names:
        text = (_FOLDER / name).read_text()
        sources |= {name: text, **dict(_imported(text, seen=set()))}
    return compile_sources(sources)


def _imported(text: str, at: str = "", *, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the packaged sources that a source imports, by path."""
    for name in _IMPORT.findall(text):
        path = normpath(Path(at).parent / name) if name.startswith(".") else name
        if path.startswith("openzeppelin-5/") and path not in seen:
            seen.add(path)
            inner = (NODE_MODULES / path).read_text()
            yield path, inner
            yield from _imported(inner, path, seen=seen)
