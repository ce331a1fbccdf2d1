"""Pools of PancakeSwap Infinity with ticks."""

from typing import Literal

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from assay.demo.transaction_pipeline import Pipeline
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, Market, Opening

KEY = "(address,address,address,address,uint24,bytes32)"


FEE, SPACING, OUTERMOST = 2_500, 50, 887_250


BEFORE_REMOVE, BEFORE_SWAP = 1 << 4, 1 << 6


Blocks = Literal["vault", "manager"]


Hook = Literal["closed", "open", "keeps", "frees"]


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    blocks: Blocks = "vault",
    hook: Hook | None = None,
    is_coin: bool = False,
) -> Market:
    """Place a token and its pool.

    `blocks`: address that the token takes for its pool. `hook`: one that refuses the token as
    payment, or removals of liquidity by others.
    """
    opening = further_venues.prepare(chain, is_coin=is_coin)
    pipeline, maker = opening.pipeline, opening.maker
    vault = pipeline.deploy("InfinityVault", sender=maker)
    manager = pipeline.deploy("InfinityManager", vault, sender=maker)
    router = pipeline.deploy("InfinityRouter", vault, sender=maker)
    pipeline.call(vault, "registerApp(address)", manager, sender=maker)
    hooks, permissions = ZERO_ADDRESS, 0
    if hook in ("closed", "open"):
        blocked = opening.token if hook == "closed" else maker
        hooks, permissions = pipeline.deploy("InfinityHook", blocked, sender=maker), BEFORE_SWAP
    elif hook is not None:
        freed = hook == "frees"
        hooks, permissions = pipeline.deploy("InfinityExitHook", freed, sender=maker), BEFORE_REMOVE
    parameters = SPACING << 16 | permissions
    tokens, _ = opening.sides
    key = (*tokens, hooks, manager, FEE, parameters.to_bytes(32))
    pipeline.call(manager, f"initialize({KEY},uint160)", key, opening.price, sender=maker)
    pipeline.flush()
    opening.release(contract, {"vault": vault, "manager": manager}[blocks], spender=router)
    fill(pipeline, opening, router, key)

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        signature = f"swap({KEY},bool,uint256)"
        return router, call_data(signature, key, paid == tokens[0], amount)

    return Market(
        dex=Dex(
            name="PancakeSwap Infinity CL",
            kind="AmmV4",
            variant="infinity_cl",
            factory=manager,
            vault=vault,
            from_block=0,
        ),
        token=opening.token,
        quote=opening.quote,
        holder=vault,
        key=Hash32("0x" + keccak(encode([KEY], [key])).hex()),
        emitter=manager,
        spender=router,
        swap_data=swap_data,
    )


def fill(pipeline: Pipeline, opening: Opening, router: Address, key: tuple[object, ...]) -> None:
    """The owner brings both sides, over all prices."""
    pipeline.call(
        *(router, f"fill({KEY},int24,int256)", key, OUTERMOST, opening.liquidity),
        sender=opening.owner,
        value_wei=QUOTE_RAW if opening.quote == ZERO_ADDRESS else 0,
    )
    pipeline.flush()
