"""Pool creation events of Uniswap V4 and PancakeSwap Infinity (concentrated), whose pools are
entries of one contract.

Source: Uniswap/v4-core IPoolManager; pancakeswap/infinity-core ICLPoolManager and
CLPoolParametersHelper.
"""

from indexer.decode.forms import PoolForm
from indexer.decode.words import WordPlace, topic, word

INITIALIZE = PoolForm(
    signature="Initialize(bytes32,address,address,uint24,int24,address,uint160,int24)",
    topics=4,
    words=5,
    pool=None,
    pool_id=topic(1),
    token0=topic(2),
    token1=topic(3),
    fee=word(0),
    tick_spacing=word(1),
    hooks=word(2),
)
INITIALIZE_INFINITY = PoolForm(
    signature="Initialize(bytes32,address,address,address,uint24,bytes32,uint160,int24)",
    topics=4,
    words=5,
    pool=None,
    pool_id=topic(1),
    token0=topic(2),
    token1=topic(3),
    hooks=word(0),
    fee=word(1),
    # `parameters`: bits 0 to 15 are the hook's permissions, 16 to 39 the tick spacing.
    tick_spacing=WordPlace("word", 2, low_bit=16),
)

FORMS = (INITIALIZE, INITIALIZE_INFINITY)
