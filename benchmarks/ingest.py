"""How fast a back-fill goes.

Real transfers of one token on a node of this machine, back-filled into a fresh store file.
"""

import asyncio
import tempfile
from pathlib import Path

from benchmarks._machine import describe
from config.chains import Chain
from config.load import load_chains
from config.settings_model import IndexerSettings, RpcSettings
from core.primitives import Address
from core.rpc.client import RpcClient
from demo.anvil import AnvilNode
from demo.compile import load_artifacts
from demo.layout import World
from demo.overlay import write_overlay
from demo.pipeline import Pipeline
from demo.world import build_world
from indexer.backfill import backfill
from sql.store import Store

TRANSFERS = 20_000
AT_ONCE = 500


def send_transfers(node: AnvilNode, world: World) -> None:
    """TRANSFERS transfers of an honest token by its holders, each to somebody else."""
    token = world.token("honest")
    pipeline = Pipeline(node, load_artifacts())
    for number in range(TRANSFERS):
        sender = token.holders[number % len(token.holders)]
        receiver = Address(f"0x{number + 2**100:040x}")
        pipeline.call(token.address, "transfer(address,uint256)", receiver, 1000, sender=sender)
        if number % AT_ONCE == AT_ONCE - 1:
            pipeline.flush()


async def time_backfill(chain: Chain, client: RpcClient, folder: Path) -> str:
    """One back-fill of everything, in words."""
    store = Store.open(folder / "bench.duckdb")
    head = await client.fetch_head()
    result = await backfill(
        chain, client, store, IndexerSettings(), from_block=0, to_block=head.number
    )
    store.close()
    return (
        f"back-fill: {result.logs} logs, {result.rows} rows in {result.seconds:.2f} s, "
        f"{result.logs_per_s:.0f} logs/s, {1e6 * result.seconds / result.logs:.0f} us a log"
    )


async def main() -> None:
    """Print it."""
    with AnvilNode() as node, tempfile.TemporaryDirectory() as folder:
        world = build_world(node)
        overlay = write_overlay(world, Path(folder))
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        send_transfers(node, world)
        client = await RpcClient.connect((node.url,), chain.id, RpcSettings())
        print(describe(f"{TRANSFERS} real transfers on a node of this machine"))
        print(await time_backfill(chain, client, Path(folder)))
        await client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
