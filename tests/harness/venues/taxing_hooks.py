"""Tokens in pools of Uniswap V4 with a hook of `venues`, at an address that has its permissions."""

import msgspec

from assay.demo.layout import ZooToken
from assay.demo.transaction_pipeline import Pipeline
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.range_pools import Position, place

BEFORE_SWAP = 1 << 7
TAKES_AFTER_SWAP = 1 << 6 | 1 << 2
BEFORE_REMOVE = 1 << 9
AFTER_REMOVE_TAKES = 1 << 8 | 1 << 0
"""Permissions in a hook's address. Source: v4-core Hooks."""

_COUNTING = ("BlocksHook", "FarBlocksHook", "CountingExitHook")
"""Hooks that count blocks: none beyond 300."""

_MOST_MINED = 320
_FEW_MINED = 3

_BOTH_SIDES = Position(lower=-100, upper=100)


def mine_before(chain: Chain, number: int, *, hook: str) -> None:
    """Mine up to the block before this one, as seen by a hook. `hook`: its contract."""
    most = _MOST_MINED if hook in _COUNTING else _FEW_MINED
    chain.mine(min(most, max(1, number - 1 - chain.node.head_number())))


def stand(chain: Chain, contract: str, *arguments: object, permissions: int) -> Address:
    """A hook at an address with these permissions, and its owner in its first slot."""
    pipeline = Pipeline(chain.node, chain.artifacts | further_venues.artifacts())
    made = pipeline.deploy(contract, *arguments, sender=chain.world.owner)
    pipeline.flush()
    hook = Address(f"0x{int(made, 16) >> 14 << 14 | permissions:040x}")
    chain.node.rpc("anvil_setCode", hook, chain.node.rpc("eth_getCode", made, "latest"))
    first = chain.node.rpc("eth_getStorageAt", made, "0x0", "latest")
    chain.node.rpc("anvil_setStorageAt", hook, f"0x{0:064x}", first)
    return hook


def place_taxed(chain: Chain, contract: str) -> ZooToken:
    """Place a token whose hook takes a part of the output of swaps."""
    manager = chain.world.venues.v4.factory
    hook = stand(chain, contract, manager, permissions=TAKES_AFTER_SWAP)
    return place(chain, "v4", "HonestToken", (_BOTH_SIDES,), hooks=hook)


def place_fee_set(chain: Chain, contract: str) -> ZooToken:
    """A token whose hook sets the pool's fee."""
    hook = stand(chain, contract, permissions=BEFORE_SWAP)
    venues = msgspec.structs.replace(chain.world.venues, dynamic_hook=hook)
    world = msgspec.structs.replace(chain.world, venues=venues)
    dynamic = Chain(chain.node, world, chain.artifacts)
    return place(dynamic, "v4", "HonestToken", (_BOTH_SIDES,), hooks=hook)
