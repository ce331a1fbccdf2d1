"""Oracle for credits without payment: balances really made out of nothing, and honest doubles."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from os.path import normpath
from pathlib import Path
from typing import Final

import pytest

from analysis.static.analyse_code import analyse_code
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.npm_packages import NODE_MODULES, PROJECT_ROOT
from core.evm.primitives import ZERO_ADDRESS
from tests.harness.chain.transactions import Chain

pytestmark = pytest.mark.compiler

SOURCE = Path(__file__).parent / "contracts" / "Credits.sol"
BASE = "base/Erc20.sol"
AMOUNT = 10**18
_IMPORT: Final = re.compile(r'from "([^"]+)"')


@cache
def credits() -> Artifacts:
    zoo = PROJECT_ROOT / "assay" / "demo" / "contracts" / "zoo"
    sources = {SOURCE.name: SOURCE.read_text(), BASE: (zoo / BASE).read_text()}
    return compile_sources(sources | dict(_imported(SOURCE.read_text(), seen=set())))


def _imported(text: str, at: str = "", *, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the packaged sources that a source imports, by path."""
    for name in _IMPORT.findall(text):
        path = normpath(Path(at).parent / name) if name.startswith(".") else name
        if path.startswith("openzeppelin-5/") and path not in seen:
            seen.add(path)
            inner = (NODE_MODULES / path).read_text()
            yield path, inner
            yield from _imported(inner, path, seen=seen)


@pytest.fixture
def chain(chain: Chain) -> Chain:
    return Chain(chain.node, chain.world, chain.artifacts | credits())


@pytest.mark.parametrize(
    ("contract", "call", "values", "is_created"),
    [
        ("SoundUpdate", "transfer(address,uint256)", ("thief", AMOUNT), False),
        ("Library", "transfer(address,uint256)", ("thief", AMOUNT), False),
        ("ChangedAnswer", "collect(uint256)", (AMOUNT,), True),
        ("OtherZero", "send(address,address,uint256)", (ZERO_ADDRESS, "thief", AMOUNT), True),
    ],
)
def test_what_is_created_out_of_nothing_is_reported(
    chain: Chain, contract: str, call: str, values: Sequence[object], *, is_created: bool
) -> None:
    token, thief = chain.deploy(contract, "Credits", "CRE"), chain.fresh_account()
    chain.node.set_balance(thief, 10**20)
    chain.send(thief, token, call, *(thief if each == "thief" else each for each in values))
    assert bool(chain.balance(token, thief)) is is_created
    code = str(chain.node.rpc("eth_getCode", token, "latest")).removeprefix("0x")
    assert analyse_code(bytes.fromhex(code)).hints.creates_balances is is_created
