"""Pools of Solidly V3."""

from assay.demo.reads import read_address
from config.facts.chain import Dex
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import Market

SPACING, FEE = 50, 500


OUTERMOST = 887_250


LOWEST, HIGHEST = 4_295_128_740, 1_461_446_703_485_210_103_287_273_052_203_988_822_378_723_970_341


def place(chain: Chain, contract: str, *, pair: Address | None = None) -> Market:
    """A token and its pool. `pair`: the address it takes for its pool; None: the pool."""
    opening = further_venues.prepare(chain)
    pipeline, (tokens, _) = opening.pipeline, opening.sides
    factory = pipeline.deploy("SolidlyV3Factory", sender=opening.maker)
    pipeline.call(
        *(factory, "open(address,address,int24,uint24,uint160)", *tokens, SPACING, FEE),
        opening.price,
        sender=opening.maker,
    )
    pipeline.flush()
    pool = read_address(chain.node, factory, "getPool(address,address,int24)", *tokens, SPACING)
    opening.release(contract, pair or pool, spender=pool)
    pipeline.call(
        *(pool, "mint(address,int24,int24,uint128)", opening.owner, -OUTERMOST, OUTERMOST),
        opening.liquidity,
        sender=opening.owner,
    )
    pipeline.flush()

    def swap_data(trader: Address, paid: Address, amount: int) -> tuple[Address, str]:
        upwards = paid == tokens[0]
        limit = LOWEST if upwards else HIGHEST
        return pool, call_data("swap(address,bool,int256,uint160)", trader, upwards, amount, limit)

    return Market(
        dex=Dex(
            name="Solidly V3", kind="AmmV3", variant="solidly_v3", factory=factory, from_block=0
        ),
        token=opening.token,
        quote=opening.quote,
        holder=pool,
        key=pool,
        emitter=pool,
        spender=pool,
        swap_data=swap_data,
    )
