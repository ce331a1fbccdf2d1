"""A process that follows a node and compacts its store until it is killed.

python -m tests.harness.fault_simulation.following_child URL STORE WORLD FINALITY
"""

import asyncio
import sys
from pathlib import Path

import msgspec

from config.settings import IndexerSettings, RpcSettings
from core.errors import StoreError
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.history.maintenance import keep_up
from sql.engine.store import Store
from sql.lake.compaction import ChainBounds, CompactionRequest
from sql.lake.compaction_runner import run_compaction
from tests.harness.fault_simulation.model_chain import world_of

_SETTINGS = IndexerSettings(poll_s=0.02, initial_log_range=8, max_log_range=40, late_logs_s=2)


async def live(url: str, path: Path, world: int, finality: int) -> None:
    """Follow, compact and fill concurrently, for ever."""
    chain = msgspec.structs.replace(world_of(world).chain, finality_blocks=finality, start_block=0)
    store = Store.open(path)
    client = await RpcClient.connect([url], chain.id, RpcSettings())
    stop = asyncio.Event()
    await asyncio.gather(
        follow(chain, client, store, _SETTINGS, stop=stop),
        keep_up(chain, client, store, _SETTINGS, stop=stop),
        _compact_for_ever(chain.id, path),
    )


async def _compact_for_ever(chain_id: int, path: Path) -> None:
    request = CompactionRequest(chains=(ChainBounds(chain_id=chain_id),), is_forced=True)
    while True:
        await asyncio.sleep(0.05)
        try:
            await asyncio.to_thread(run_compaction, path, request)
        except StoreError as error:
            sys.stderr.write(f"{error}\n")


if __name__ == "__main__":
    _, its_url, its_path, its_world, its_finality = sys.argv
    asyncio.run(live(its_url, Path(its_path), int(its_world), int(its_finality)))
