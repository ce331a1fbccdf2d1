"""What somebody with powers decides is told of tokens and of hooks, wherever their code is."""

from typing import Literal

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.static.analyse_code import analyse_code
from analysis.token.proxy_resolution import IMPLEMENTATION_SLOT
from assay.demo.transaction_pipeline import Pipeline
from core.evm.primitives import Address
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.trade_oracle import real_trade
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.range_pools import LAUNCH, place

BEFORE_SWAP = 1 << 7
"""Uniswap V4's permission, in the hook's address."""

Front = Literal["none", "constant", "slot"]


def deploy(chain: Chain, contract: str) -> Address:
    pipeline = Pipeline(chain.node, further_venues.artifacts())
    logic = pipeline.deploy(contract, sender=chain.world.owner)
    pipeline.flush()
    return logic


def code_at(chain: Chain, address: Address) -> str:
    code = chain.node.rpc("eth_getCode", address, "latest")
    assert isinstance(code, str)
    return code


def stand(chain: Chain, contract: str, front: Front) -> Address:
    """A contract at an address with the permission: the code itself, an EIP-1167 clone of it, or a
    proxy that reads EIP-1967's slot."""
    logic = deploy(chain, contract)
    hook = Address(f"0x{int(logic, 16) >> 14 << 14 | BEFORE_SWAP:040x}")
    code = {
        "none": code_at(chain, logic),
        "constant": f"0x363d3d373d3d3d363d73{logic[2:]}5af43d82803e903d91602b57fd5bf3",
        "slot": f"0x365f5f375f5f365f7f{IMPLEMENTATION_SLOT[2:]}545af43d5f5f3e5f3d91603757fd5bf3",
    }[front]
    chain.node.rpc("anvil_setCode", hook, code)
    owner = f"0x{int(chain.world.owner, 16):064x}"
    chain.node.rpc("anvil_setStorageAt", hook, f"0x{0:064x}", owner)
    if front == "slot":
        word = f"0x{int(logic, 16):064x}"
        chain.node.rpc("anvil_setStorageAt", hook, IMPLEMENTATION_SLOT, word)
    return hook


@pytest.mark.parametrize(
    ("contract", "front", "is_hidden"),
    [
        ("StoppableHook", "none", True),
        ("StoppableHook", "constant", True),
        ("StoppableHook", "slot", True),
        ("OpenHook", "none", False),
        ("OpenHook", "constant", False),
        # Nobody is known who may replace the code, and nobody is excluded.
        ("OpenHook", "slot", None),
    ],
)
async def test_a_proxy_hides_no_control_of_a_hook(
    chain: Chain, context: ChainContext, contract: str, front: Front, *, is_hidden: bool | None
) -> None:
    token = place(chain, "v4", "HonestToken", (LAUNCH,), hooks=stand(chain, contract, front))
    assert real_trade(chain, token).sell_success
    report = await judge(context, token.address)
    assert report.scan.hidden_owner_controls is is_hidden


@pytest.mark.parametrize("front", ["none", "constant", "slot"])
async def test_a_proxy_hides_no_control_of_a_token(
    chain: Chain, context: ChainContext, front: Front
) -> None:
    report = await judge(context, stand(chain, "StoppableApprovalToken", front))
    assert report.scan.hidden_owner_controls is True


@pytest.mark.parametrize("contract", ["StoppableHook", "StoppableCLHook", "StoppableBinHook"])
def test_the_swap_functions_of_every_managers_hooks_are_read(chain: Chain, contract: str) -> None:
    code = bytes.fromhex(code_at(chain, deploy(chain, contract))[2:])
    found = analyse_code(code).conditions
    assert found.is_complete
    assert [each.effect for each in found.owned] == ["refuses"]
