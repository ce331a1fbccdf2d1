"""Protects the shape of a code, and kin by code: the code of a clone is that of its delegate."""

import re
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.static.analyse_code import analyse_code, build_model
from analysis.static.evm.budget import Budget
from analysis.static.shape.find_shape import find_shape
from assay.demo.compile import compile_runtime
from assay.demo.layout import named_account
from assay.service.record_report import record_report
from core.evm.code_shape import PART_BYTES, PARTS, CodeShape, likeness
from core.evm.primitives import Address
from sql.engine.store import Store
from sql.tokens.kin import LEAST_LIKENESS, find_kin
from tests.harness.cases.cases import load_cases
from tests.harness.cases.cases_compile import IMMUTABLE, builds_of, runtime_of
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.kin.shape_scores import score, shape_all
from tests.harness.static.hostile_codes import HOSTILE
from tests.harness.static.proxy_codes import FRONTS
from tests.harness.store.sample_rows import LATER

CODES: Final = {
    (case.name, build.name): runtime_of(case, build)
    for case in load_cases()
    for build in builds_of(case)
    if case.name in ("ImmutableOwner", "Blacklist", "CooldownAndList")
}

TOKEN: Final = (Path(__file__).parent / "contracts" / "Token.sol").read_text()

RENAMED: Final = (
    TOKEN.replace("list(", "zebra(")
    .replace("setFee(", "alpha(")
    .replace("value < 7", "value < 31")
    .replace("/ 100", "/ 10000")
)

ORDERED = re.compile(
    r"(    function approve.*?\n    \}\n)(    function transfer\(.*?\n)", re.DOTALL
)

MORE: Final = TOKEN.replace(
    "    function approve(",
    "    function rescue(uint256 amount) public {\n"
    "        require(msg.sender == chief); totalSupply -= amount;\n    }\n"
    "    function approve(",
)

OTHER: Final = (
    TOKEN.replace(
        "require(!listed[from]);",
        "require(block.timestamp > opened[from] + 60); opened[to] = block.timestamp;",
    )
    .replace(
        "mapping(address => bool) internal listed;",
        "mapping(address => uint256) internal opened; uint256 internal most;",
    )
    .replace("listed[whom] = value;", "most = value ? 1 : 0; opened[whom] = most;")
    .replace(
        "uint256 fee = amount * feePercent / 100;",
        "require(amount <= totalSupply / 50); uint256 fee = 0;",
    )
)


def shape_of(code: bytes) -> CodeShape:
    shape = analyse_code(code).shape
    assert shape is not None
    return shape


@cache
def compiled(source: str) -> CodeShape:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "Token.sol"
        path.write_text(source)
        return shape_of(bytes.fromhex(compile_runtime(path)))


def alike(one: CodeShape, other: CodeShape) -> float:
    return likeness(one.sketch, other.sketch)


@pytest.mark.compiler
@pytest.mark.parametrize("name", CODES, ids="-".join)
def test_immutables_metadata_and_constants_leave_no_trace(name: tuple[str, str]) -> None:
    code = CODES[name]
    metadata = (
        bytes.fromhex("a264697066735822") + b"\x12" * 34 + bytes.fromhex("64736f6c63430008250033")
    )
    filled = code.replace(IMMUTABLE, bytes.fromhex("77" * len(IMMUTABLE)))
    assert shape_of(filled + b"\xfe" + metadata) == shape_of(code)


@pytest.mark.compiler
def test_names_order_and_numbers_leave_no_trace() -> None:
    assert RENAMED != TOKEN
    assert compiled(RENAMED) == compiled(TOKEN)
    turned = ORDERED.sub(r"\2\1", TOKEN)
    assert turned != TOKEN
    assert compiled(turned) == compiled(TOKEN)


@pytest.mark.compiler
def test_a_small_edit_keeps_kin_and_another_token_is_none() -> None:
    assert compiled(MORE).digest != compiled(TOKEN).digest
    assert LEAST_LIKENESS < alike(compiled(MORE), compiled(TOKEN)) < 1
    assert alike(compiled(OTHER), compiled(TOKEN)) < LEAST_LIKENESS


@pytest.mark.compiler
def test_little_code_has_no_shape() -> None:
    proxy = bytes.fromhex("363d3d373d3d3d363d73" + "5a" * 20 + "5af43d82803e903d91602b57fd5bf3")
    for code in (b"", b"\x00", proxy, bytes.fromhex("60006000fd")):
        assert analyse_code(code).shape is None


@pytest.mark.compiler
@pytest.mark.parametrize("kind", ["large maze", "way down", "many calls", "diamonds that store"])
def test_hostile_code_has_a_shape_soon_or_none(kind: str) -> None:
    shapes = []
    for _ in range(2):
        code = build_model(HOSTILE[kind], budget=Budget(steps=120_000))
        started_s = time.process_time()
        shapes.append(find_shape(code))
        assert time.process_time() - started_s < 5  # a hang
    assert shapes[0] == shapes[1]
    assert shapes[0] is None or len(shapes[0].sketch) == PARTS * PART_BYTES


@pytest.mark.compiler
def test_a_shape_is_that_of_its_version() -> None:
    """If it is another one: count SHAPE_VERSION up, and write the new one down here."""
    assert (
        shape_of(CODES["CooldownAndList", "0.8-opt"]).digest.hex()
        == "5f10d777adae0f0ce01263afae166076"
    )


@pytest.mark.compiler
def test_kin_are_told_from_strangers() -> None:
    codes = shape_all(one_in=8)
    near, far = (score(codes, LEAST_LIKENESS, across=across) for across in (False, True))
    assert near.kin > 150
    assert near.recall > 0.88
    assert far.recall > 0.8
    assert near.said < near.strangers / 50


# --- kin by code --------------------------------------------------------------------------------


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store.open(Path(":memory:"))
    yield store
    store.close()


async def test_clones_and_copies_are_kin_of_their_code_and_others_are_not(
    chain: Chain, context: ChainContext, store: Store
) -> None:
    token, other = chain.world.token("mintable").address, chain.world.token("pausable").address
    code = str(chain.node.rpc("eth_getCode", token, "latest"))
    put = {name: named_account(f"kin {name}") for name in ("clone", "copy")}
    front = "0x" + FRONTS["EIP-1167"]
    chain.node.rpc("anvil_setCode", put["clone"], front.format(token[2:]))
    chain.node.rpc("anvil_setCode", put["copy"], code + "00" * 5)
    chain.node.mine()
    for one in (token, put["clone"], put["copy"], other):
        report = await judge(context, one)
        assert report.shape is not None
        record_report(store, report, LATER)
    assert same_code(store, token) == {put["clone"], put["copy"]}
    assert same_code(store, put["clone"]) == {token, put["copy"]}
    assert same_code(store, other) == set()


def same_code(store: Store, token: Address) -> set[Address]:
    found = find_kin(store, chain_id=1, address=token)
    assert found is not None
    assert found.code is not None
    return {one.address for one in found.code.same}
