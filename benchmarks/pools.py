"""A token with 30,000 Uniswap V4 pools, nearly all of them next to empty: how long its first
analysis takes, how long its stored answer, and how much memory they need.

The pools' states are written into the storage of the real manager on a node of this machine; one
pool in the middle of them is real, deep and traded.
"""

import asyncio
import gc
import resource
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path

from eth_hash.auto import keccak

from analysis.desk import Desk
from analysis.discovery import Candidate
from analysis.scan import ChainScanner
from analysis.service import Analyser
from analysis.shelf import StoreShelf
from analysis.venues.amm_v4 import state_slots
from api.render import render_report
from benchmarks._machine import describe
from config.chains import Chain
from config.jsonrpc import RpcRequest
from config.load import load_chains
from config.primitives import BlockRef, Hash32
from config.settings import AnalysisSettings, RpcSettings
from demo.anvil import AnvilNode
from demo.layout import ZooToken
from demo.overlay import write_overlay
from demo.world import build_world
from indexer.coverage import extend_all
from indexer.rpc import RpcClient
from sql.pools import insert_pools
from sql.rows import PoolRow
from sql.store import Store

POOLS = 30_000
ROUNDS = 3
_NEXT_TO_NOTHING = 1_000
_BATCH = 2_000


def crowd(node: AnvilNode, chain: Chain, token: ZooToken, *, count: int) -> list[PoolRow]:
    """Rows of the token's real V4 pool and of others around it, which are made to exist."""
    dex = next(dex for dex in chain.dexes if dex.kind == "AmmV4")
    pool_ids = [Hash32("0x" + keccak(b"pool %d" % at).hex()) for at in range(count)]
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
            pool_key=key,
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


async def measure(chain: Chain, token: ZooToken, client: RpcClient, store: Store) -> None:
    """Print cold and stored answers."""
    shelf = StoreShelf(store)
    settings = AnalysisSettings(wait_s=60)
    before = _peak_mb()
    for at in range(ROUNDS):
        desk = Desk(
            chain=chain,
            node=client,
            knowledge=shelf,
            settings=settings,
            now_s=time.time,
            newest=partial(_known_head, await client.fetch_head()),
        )
        analyser = Analyser({chain.slug: ChainScanner(desk)}, shelf, settings, time.time)
        gc.collect()
        started, used_s = time.perf_counter(), time.process_time()
        report = await analyser.report(chain.slug, token.address, refresh=True)
        judged, used_s = time.perf_counter(), time.process_time() - used_s
        body = render_report(report, chain, "native", now_s=time.time(), liquid_above_usd=100)
        rendered = time.perf_counter()
        stored = await analyser.report(chain.slug, token.address)
        ended = time.perf_counter()
        assert stored.pools and stored.pools[0].pool_id == token.pool.pool_id  # noqa: S101
        assert stored.pools[0].buy == "passed"  # noqa: S101
        print(
            f"round {at}: judged in {judged - started:.2f} s ({used_s:.2f} s of it ours), "
            f"{len(body) / 2**20:.1f} MB of JSON in {1000 * (rendered - judged):.0f} ms, "
            f"read from the store in {1000 * (ended - rendered):.0f} ms; "
            f"{len(stored.pools)} pools, {_peak_mb() - before:.0f} MB more at most"
        )
        await analyser.aclose()


def _known_head(head: BlockRef) -> BlockRef:
    return head


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def main() -> None:
    """Print the table."""
    with AnvilNode() as node, tempfile.TemporaryDirectory() as folder:
        world = build_world(node)
        overlay = write_overlay(world, Path(folder))
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        token = world.token("v4_honest")
        rows = crowd(node, chain, token, count=POOLS)
        client = await RpcClient.connect((node.url,), chain.id, RpcSettings())
        with closing(Store.open(Path(folder) / "store.duckdb")) as store:
            with store.transaction() as tx:
                insert_pools(tx, rows)
                extend_all(
                    tx,
                    chain_id=chain.id,
                    subjects=[f"pools:{dex.factory}" for dex in chain.dexes],
                    first=0,
                    last=10**6,
                )
            del rows
            print(describe(f"one token with {POOLS} V4 pools"))
            await measure(chain, token, client, store)
        await client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
