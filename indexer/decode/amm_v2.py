"""Pool creation events of Uniswap V2 and its forks: one pair contract per two tokens.

Source: Uniswap/v2-core IUniswapV2Factory; the forms with fees as forks emit them.
"""

from indexer.decode.forms import PoolForm
from indexer.decode.words import topic, word

PAIR_CREATED = PoolForm(
    signature="PairCreated(address,address,address,uint256)",
    topics=3,
    words=2,
    token0=topic(1),
    token1=topic(2),
    pool=word(0),
)
PAIR_CREATED_WITH_FEE = PoolForm(
    signature="PairCreated(address,address,address,uint32,uint256)",
    topics=3,
    words=3,
    token0=topic(1),
    token1=topic(2),
    pool=word(0),
    fee=word(1),
)
PAIR_CREATED_WITH_TWO_FEES = PoolForm(
    signature="PairCreated(address,address,address,uint32,uint32,uint256)",
    topics=3,
    words=4,
    token0=topic(1),
    token1=topic(2),
    pool=word(0),
    fee=word(1),  # word 2 is the protocol's part of it
)

FORMS = (PAIR_CREATED, PAIR_CREATED_WITH_FEE, PAIR_CREATED_WITH_TWO_FEES)
