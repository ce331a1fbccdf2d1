"""Market makers of DODO."""

from assay.demo.reads import read_address
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market

ONE = 10**18


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    is_base: bool = True,
    pair: Address | None = None,
    token_raw: int = TOKEN_RAW,
) -> Market:
    """A token and its pool. `is_base`: whether it is the base token. `pair`: the address that it
    takes for its pool; None: the pool."""
    opening = further_venues.prepare(chain)
    pipeline, maker, owner = opening.pipeline, opening.maker, opening.owner
    factory = pipeline.deploy("DodoFactory", sender=maker)
    router = pipeline.deploy("DodoRouter", sender=maker)
    sides = (opening.token, opening.quote) if is_base else (opening.quote, opening.token)
    amounts = (TOKEN_RAW, QUOTE_RAW) if is_base else (QUOTE_RAW, TOKEN_RAW)
    price = amounts[1] * ONE // amounts[0]
    pipeline.call(factory, "open(address,address,uint256)", *sides, price, sender=maker)
    pipeline.flush()
    pool = read_address(chain.node, factory, "_REGISTRY_(address,address,uint256)", *sides, 0)
    opening.release(contract, pair or pool, spender=router)
    side_amounts = [token_raw if side == opening.token else QUOTE_RAW for side in sides]
    for side, amount in zip(sides, side_amounts, strict=True):
        pipeline.call(side, "transfer(address,uint256)", pool, amount, sender=owner)
    pipeline.call(pool, "sync()", sender=owner)
    pipeline.flush()

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        return router, call_data("swap(address,address,uint256)", pool, paid, amount)

    return Market(
        dex=Dex(name="DODO", kind="DodoV2", factory=factory, from_block=0),
        token=opening.token,
        quote=opening.quote,
        holder=pool,
        key=pool,
        emitter=pool,
        spender=router,
        swap_data=swap_data,
    )
