"""Very many V4 pools, nearly empty, written into the manager's storage next to a real one."""

from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.uniswap_v4_state import state_slots
from assay.demo.anvil import AnvilNode
from assay.demo.layout import ZooToken
from config.facts.chain import Chain
from core.evm.keccak import keccak
from core.evm.primitives import Hash32, HexBytes
from core.report.rows import PoolRow
from core.rpc.messages import RpcRequest

_NEXT_TO_NOTHING = 1_000
_BATCH = 2_000


def crowd(node: AnvilNode, chain: Chain, token: ZooToken, *, count: int) -> list[PoolRow]:
    """Rows of the token's real V4 pool and of others around it, which are made to exist."""
    dex = next(dex for dex in chain.dexes if dex.kind == "AmmV4")
    pool_ids = [
        Hash32("0x" + keccak(b"%b %d" % (token.address.encode(), at)).hex()) for at in range(count)
    ]
    pool_ids[count // 2] = token.pool.pool_id or pool_ids[0]
    slots = {
        key: state_slots(
            Candidate(
                dex=dex, pool=dex.factory, token=token.address, quote=token.pool.quote, pool_id=key
            )
        )
        for key in pool_ids
    }
    price = node.rpc(
        "eth_getStorageAt", dex.factory, "0x" + slots[pool_ids[count // 2]][0].hex(), "latest"
    )
    writes = [
        RpcRequest("anvil_setStorageAt", (dex.factory, "0x" + slot.hex(), word))
        for key in pool_ids
        if key != token.pool.pool_id
        for slot, word in zip(slots[key], (price, f"0x{_NEXT_TO_NOTHING:064x}"), strict=True)
    ]
    for at in range(0, len(writes), _BATCH):
        node.rpc_batch(writes[at : at + _BATCH])
    node.mine()
    sides = sorted((token.address, token.pool.quote))
    return [
        PoolRow(
            chain_id=chain.id,
            pool_key=HexBytes(key),
            pool=dex.factory,
            pool_id=key,
            dex=dex.name,
            kind=dex.kind,
            variant=dex.variant,
            factory=dex.factory,
            token0=sides[0],
            token1=sides[1],
            fee=token.pool.fee,
            tick_spacing=token.pool.tick_spacing,
            stable=None,
            hooks=None,
            block_number=1,
            log_index=at,
        )
        for at, key in enumerate(pool_ids)
    ]
