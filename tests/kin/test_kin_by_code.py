"""Protects kin by code of tokens on the node: a clone's code is that of its delegate."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import named_account
from assay.service.record_report import record_report
from core.evm.primitives import Address
from sql.engine.store import Store
from sql.tokens.kin import find_kin
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.static.proxy_codes import FRONTS
from tests.harness.store.sample_rows import LATER


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
