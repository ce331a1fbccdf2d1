"""Process that follows a node into a PostgreSQL store while it has the lease, until killed.

Prints a line when it begins to request the lease.

python -m tests.harness.fleet.follower_process NODE_URL DATABASE_URL WORLD FINALITY
"""

import asyncio
import sys
from functools import partial
from pathlib import Path

import msgspec

from assay.service.fleet.leadership import LeasedLeadership
from assay.service.follow_role import follow_lease
from config.settings import IndexerSettings, RpcSettings
from config.store_address import PostgresAddress
from core.process.secret import Secret
from core.process.stop_signals import stop_on_signals
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.history.maintenance import keep_up
from sql.engine.store import Store
from tests.harness.fault_simulation.model_chain import world_of

_SETTINGS = IndexerSettings(poll_s=0.05, initial_log_range=8, max_log_range=40, late_logs_s=2)


async def live(node_url: str, database_url: str, world: int, finality: int) -> None:
    """Follow whenever it may, until SIGTERM."""
    chain = msgspec.structs.replace(world_of(world).chain, finality_blocks=finality, start_block=0)
    address = PostgresAddress(url=Secret(database_url), lake="unused", prefix=Path("unused"))
    Store.open(address).close()  # makes the tables, that of leases among them
    client = await RpcClient.connect([node_url], chain.id, RpcSettings())
    stop = asyncio.Event()
    stop_on_signals(stop)

    async def work(store: Store, ended: asyncio.Event) -> None:
        run = partial(keep_up, chain, client, store, _SETTINGS, stop=ended)
        await asyncio.gather(follow(chain, client, store, _SETTINGS, stop=ended), run())

    sys.stdout.write("standing by\n")
    sys.stdout.flush()
    await LeasedLeadership(address).lead(follow_lease(chain.id), work, stop=stop)
    await client.aclose()


if __name__ == "__main__":
    _, its_node, its_database, its_world, its_finality = sys.argv
    asyncio.run(live(its_node, its_database, int(its_world), int(its_finality)))
