"""Contracts behind proxies of several forms."""

from typing import Literal

from analysis.token.proxy_resolution import IMPLEMENTATION_SLOT
from assay.demo.transaction_pipeline import Pipeline
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues

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
