"""Pool creation events of Uniswap V3, its forks, and Algebra, whose pools have no fixed fee.

PancakeSwap V3, Solidly V3, Ramses V2 CL and Ramses V3 emit Uniswap's event; for Ramses V3 the fee
in it is only the initial one. Source: Uniswap/v3-core IUniswapV3Factory; cryptoalgebra
IAlgebraFactory (v1 and Integral).
"""

from indexer.decode.forms import PoolForm
from indexer.decode.words import topic, word

POOL_CREATED = PoolForm(
    signature="PoolCreated(address,address,uint24,int24,address)",
    topics=4,
    words=2,
    token0=topic(1),
    token1=topic(2),
    fee=topic(3),
    tick_spacing=word(0),
    pool=word(1),
)
ALGEBRA_POOL = PoolForm(
    signature="Pool(address,address,address)",
    topics=3,
    words=1,
    token0=topic(1),
    token1=topic(2),
    pool=word(0),
)
ALGEBRA_CUSTOM_POOL = PoolForm(
    signature="CustomPool(address,address,address,address)",
    topics=4,
    words=1,
    token0=topic(2),  # topic 1 is the pool's deployer
    token1=topic(3),
    pool=word(0),
)

FORMS = (POOL_CREATED, ALGEBRA_POOL, ALGEBRA_CUSTOM_POOL)
