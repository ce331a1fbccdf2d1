"""Pool creation events of Slipstream and its forks: concentrated pools keyed by tick spacing.

Source: aerodrome-finance/slipstream ICLFactory.
"""

from indexer.decode.forms import PoolForm
from indexer.decode.words import topic, word

POOL_CREATED = PoolForm(
    signature="PoolCreated(address,address,int24,address)",
    topics=4,
    words=1,
    token0=topic(1),
    token1=topic(2),
    tick_spacing=topic(3),
    pool=word(0),
)

FORMS = (POOL_CREATED,)
