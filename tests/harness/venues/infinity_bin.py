"""Pools of PancakeSwap Infinity with bins."""

from math import log
from typing import Final, Literal

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market

KEY = "(address,address,address,address,uint24,bytes32)"


FEE, STEP = 2_500, 25


BINS, GAP = 8, 3
"""Bins on each side of the price, and the empty ones from each to the next: a large buy goes
through several."""


MOST_FILLED = 50
"""Bins on each side that one transaction fills."""


BEFORE_SWAP = 1 << 6


Hook = Literal["closed", "open", "frees", "keeps", "taxes"]


EXITS: Final = {
    "frees": (0, 1 << 4),
    "keeps": (1, 1 << 4),
    "taxes": (2, 1 << 5 | 1 << 13),
}
"""Hooks called when liquidity leaves: their mode and permissions."""


def _deploy_hook(
    opening: further_venues.Opening, vault: Address, hook: Hook | None
) -> tuple[Address, int]:
    """Deploy a hook; return its address and permissions."""
    pipeline, maker = opening.pipeline, opening.maker
    if hook is None:
        return ZERO_ADDRESS, 0
    if hook in EXITS:
        mode, permissions = EXITS[hook]
        return pipeline.deploy("InfinityBinExitHook", vault, mode, sender=maker), permissions
    blocked = opening.token if hook == "closed" else maker
    return pipeline.deploy("InfinityBinHook", blocked, sender=maker), BEFORE_SWAP


def _dex(manager: Address, vault: Address) -> Dex:
    return Dex(
        name="PancakeSwap Infinity Bin",
        kind="AmmV4",
        variant="infinity_bin",
        factory=manager,
        vault=vault,
        from_block=0,
    )


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    blocks: Literal["vault", "manager"] = "vault",
    hook: Hook | None = None,
    is_coin: bool = False,
    token_raw: int = TOKEN_RAW,
    quote_raw: int = QUOTE_RAW,
    bins: int = BINS,
    gap: int = GAP,
) -> Market:
    """Place a token and its pool.

    `blocks`: address that the token takes for its pool. `hook`: one that refuses the token as
    payment, or lets liquidity leave freely, its maker's only, or without a tenth.
    """
    opening = further_venues.prepare(chain, is_coin=is_coin)
    pipeline, maker = opening.pipeline, opening.maker
    vault = pipeline.deploy("InfinityVault", sender=maker)
    manager = pipeline.deploy("InfinityBinManager", vault, sender=maker)
    router = pipeline.deploy("InfinityBinRouter", vault, sender=maker)
    pipeline.call(vault, "registerApp(address)", manager, sender=maker)
    hooks, permissions = _deploy_hook(opening, vault, hook)
    parameters = STEP << 16 | permissions
    tokens, (usual_x, usual_y) = opening.sides
    key = (*tokens, hooks, manager, FEE, parameters.to_bytes(32))
    active = 2**23 + round(log(usual_y / usual_x) / log(1 + STEP / 10_000))
    pipeline.call(manager, f"initialize({KEY},uint24)", key, active, sender=maker)
    pipeline.flush()
    opening.release(contract, {"vault": vault, "manager": manager}[blocks], spender=router)
    amounts = (token_raw, quote_raw) if tokens[0] == opening.token else (quote_raw, token_raw)
    for first in range(0, bins, MOST_FILLED):
        count = min(MOST_FILLED, bins - first)
        parts = [amount * count // bins for amount in amounts]
        pipeline.call(
            router,
            f"fill({KEY},uint24,uint24,uint24,uint256,uint256)",
            *(key, first * gap, count, gap, *parts),
            sender=opening.owner,
            value_wei=quote_raw * count // bins if is_coin else 0,
        )
    pipeline.flush()

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        return router, call_data(f"swap({KEY},bool,uint256)", key, paid == tokens[0], amount)

    return Market(
        dex=_dex(manager, vault),
        token=opening.token,
        quote=opening.quote,
        holder=vault,
        key=Hash32("0x" + keccak(encode([KEY], [key])).hex()),
        emitter=manager,
        spender=router,
        swap_data=swap_data,
    )
