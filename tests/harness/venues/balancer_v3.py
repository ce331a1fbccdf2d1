"""Pools in a Balancer V3 vault."""

from typing import Literal

from assay.demo.seeding import UNLIMITED
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.coin_pairs import token_pair_id
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market

Hook = Literal["refuses", "keeps", "refuses another"]


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    size: Literal[2, 3] = 2,
    blocks: Literal["vault", "pool"] = "vault",
    hook: Hook | None = None,
) -> Market:
    """Place a token and its pool.

    `blocks`: address that the token takes for its pool. `hook`: its effect on sales of the token,
    or on payments in another one.
    """
    opening = further_venues.prepare(chain)
    pipeline, maker, owner = opening.pipeline, opening.maker, opening.owner
    third = pipeline.deploy("HonestToken", "Third", "THR", sender=maker)
    vault = pipeline.deploy("BalancerV3Vault", sender=maker)
    router = pipeline.deploy("BalancerV3Router", vault, sender=maker)
    pool = pipeline.deploy("BalancerV3Pool", sender=maker)
    hooks = ZERO_ADDRESS
    if hook is not None:
        watched = third if hook == "refuses another" else opening.token
        hooks = pipeline.deploy("BalancerV3Hook", watched, hook != "keeps", sender=maker)
    tokens = sorted([opening.token, opening.quote, *([third] if size == 3 else [])])
    registered = (vault, "registerPool(address,address[],address)", pool, tokens, hooks)
    pipeline.call(*registered, sender=maker)
    pipeline.flush()
    opening.release(contract, {"vault": vault, "pool": pool}[blocks], spender=vault)
    pipeline.call(third, "approve(address,uint256)", vault, UNLIMITED, sender=maker)
    amounts = {opening.token: TOKEN_RAW, opening.quote: QUOTE_RAW, third: QUOTE_RAW}
    for token in tokens:
        sender = maker if token == third else owner
        fill = (vault, "fill(address,address,uint256)", pool, token, amounts[token])
        pipeline.call(*fill, sender=sender)
    pipeline.flush()

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        bought = opening.quote if paid == opening.token else opening.token
        signature = "swapSingleTokenExactIn(address,address,address,uint256)"
        return router, call_data(signature, pool, paid, bought, amount)

    sides = (bytes.fromhex(side[2:]) for side in (opening.token, opening.quote))
    return Market(
        dex=Dex(name="Balancer V3", kind="BalancerV3", factory=vault, vault=vault, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=vault,
        key=Hash32("0x" + token_pair_id(bytes.fromhex(pool[2:]), *sides).hex()),
        emitter=vault,
        spender=router,
        swap_data=swap_data,
    )
