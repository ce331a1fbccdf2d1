"""The token that people mean by the address of a pool."""

import asyncio

import structlog

from api.deps import ApiDeps
from config.facts.chain import Chain
from core.errors import StoreError
from core.evm.primitives import Address, HexBytes
from sql.chain.pool_tables import find_pools

_log = structlog.get_logger(__name__)


async def find_token_of_pair(deps: ApiDeps, chain: Chain, address: Address) -> Address | None:
    """Return the token of an indexed pool: the side that is no quote token of the chain.

    The first side if both are such, or neither is. None: no pool at that address is known, or the
    store is out of reach.
    """
    if deps.store is None:
        return None
    key = HexBytes(address)
    try:
        found = await asyncio.to_thread(find_pools, deps.store, chain_id=chain.id, pool_keys=[key])
    except StoreError as error:
        _log.error("pools cannot be looked up", reason=str(error))
        return None
    pool = found.get(key)
    if pool is None:
        return None
    quotes = {anchor.address for anchor in chain.anchors}
    sides = (pool.token0, pool.token1)
    return next((side for side in sides if side not in quotes), pool.token0)
