"""GeckoTerminal client: the liquidity of single pools.

Source: GeckoTerminal API reference, pools/multi.
"""

from collections.abc import Sequence

import msgspec

from analysis.external.host import HttpService
from analysis.external.numbers import Figure, positive
from core.evm.primitives import Hash32

MOST_POOLS_A_REQUEST = 30


class _Attributes(msgspec.Struct, frozen=True):
    address: str = ""
    reserve_in_usd: Figure = None


class _Pool(msgspec.Struct, frozen=True):
    attributes: _Attributes = _Attributes()


class _Pools(msgspec.Struct, frozen=True):
    data: tuple[_Pool, ...] | None = None


async def pool_liquidity(
    host: HttpService, network: str, pool_ids: Sequence[Hash32]
) -> dict[Hash32, float]:
    """Return USD held by V4 pools, both sides, by pool id. Pools that are not known are left out.

    At most MOST_POOLS_A_REQUEST ids. Raises UpstreamError.
    """
    answer = await host.get(f"/networks/{network}/pools/multi/{','.join(pool_ids)}", _Pools)
    wanted = set(pool_ids)
    return {
        Hash32(key): usd
        for pool in (answer.data if answer else None) or ()
        if (key := pool.attributes.address.lower()) in wanted
        and (usd := positive(pool.attributes.reserve_in_usd)) is not None
    }
