"""Pool creation events of the Solidly family: one pair per two tokens and curve, volatile or
stable.

Ramses and Pharaoh legacy factories emit Uniswap V2's event, which does not contain whether the pair
is stable. Source: solidlyexchange/solidly BaseV1Factory; aerodrome-finance/contracts IPoolFactory.
"""

from indexer.decode.amm_v2 import PAIR_CREATED
from indexer.decode.forms import PoolForm
from indexer.decode.words import topic, word

SOLIDLY_PAIR_CREATED = PoolForm(
    signature="PairCreated(address,address,bool,address,uint256)",
    topics=3,
    words=3,
    token0=topic(1),
    token1=topic(2),
    stable=word(0),
    pool=word(1),
)
AERODROME_POOL_CREATED = PoolForm(
    signature="PoolCreated(address,address,bool,address,uint256)",
    topics=4,
    words=2,
    token0=topic(1),
    token1=topic(2),
    stable=topic(3),
    pool=word(0),
)

FORMS = (SOLIDLY_PAIR_CREATED, AERODROME_POOL_CREATED, PAIR_CREATED)
