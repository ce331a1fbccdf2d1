"""How fast a back-fill goes, and what decoding in columns saves over decoding log by log.

Real transfers of one token on a node of this machine, back-filled into a fresh store file; then the
same log answer decoded both ways, in turn, in the same process.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import polars as pl
from eth_abi.abi import decode

from benchmarks._machine import describe
from config.chains import Chain
from config.load import load_chains
from config.settings import IndexerSettings, RpcSettings
from core.primitives import Address
from core.rpc.client import RpcClient
from core.rpc.messages import RpcFault, RpcRequest
from demo.anvil import AnvilNode
from demo.compile import load_artifacts
from demo.layout import World
from demo.overlay import write_overlay
from demo.pipeline import Pipeline
from demo.world import build_world
from indexer.backfill import backfill
from indexer.decode.forms import event_topic
from indexer.decode.logs import decode_logs
from indexer.decode.transfer_events import decode_transfers
from sql.store import Store

TRANSFERS = 20_000
AT_ONCE = 500
REPEATS = 7
TRANSFER = event_topic("Transfer(address,address,uint256)")


class WireLog(msgspec.Struct):
    """A log as a careful reader would type it by hand."""

    topics: tuple[str, ...]
    data: str


def send_transfers(node: AnvilNode, world: World) -> Address:
    """TRANSFERS transfers of an honest token by its holders, each to somebody else."""
    token = world.token("honest")
    pipeline = Pipeline(node, load_artifacts())
    for number in range(TRANSFERS):
        sender = token.holders[number % len(token.holders)]
        receiver = Address(f"0x{number + 2**100:040x}")
        pipeline.call(token.address, "transfer(address,uint256)", receiver, 1000, sender=sender)
        if number % AT_ONCE == AT_ONCE - 1:
            pipeline.flush()
    return token.address


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


async def fetch_answer(client: RpcClient, token: Address) -> msgspec.Raw:
    """All of the token's transfers, as the node sends them."""
    query = {"fromBlock": "0x0", "toBlock": "latest", "address": token, "topics": [TRANSFER]}
    (answer,) = await client.batch([RpcRequest("eth_getLogs", (query,))])
    if isinstance(answer, RpcFault):
        raise TypeError(answer)
    return answer


def by_column(answer: msgspec.Raw, token: Address) -> int:
    """As the indexer does it."""
    tracked = pl.DataFrame(
        {"address": [token], "from_block": [0]},
        schema={"address": pl.String, "from_block": pl.Int64},
    )
    return decode_transfers(decode_logs(answer), tracked).transfers.height


def by_row(answer: msgspec.Raw, _: Address) -> int:
    """As a loop over logs with a general ABI decoder does it."""
    rows = [
        (
            log.topics[1][-40:],
            log.topics[2][-40:],
            *decode(["uint256"], bytes.fromhex(log.data[2:])),
        )
        for log in msgspec.json.decode(answer, type=list[WireLog])
    ]
    return len(rows)


def time_decoding(answer: msgspec.Raw, token: Address) -> str:
    """Both ways in turn, median of REPEATS, in words."""
    ways: dict[str, Callable[[msgspec.Raw, Address], int]] = {"row": by_row, "column": by_column}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            started = time.perf_counter()
            count = way(answer, token)
            taken[name].append(1e6 * (time.perf_counter() - started) / count)
    row, column = (statistics.median(taken[name]) for name in ways)
    return (
        f"decoding: {column:.1f} us a log in columns, {row:.1f} us log by log: "
        f"{row / column:.1f} times as fast"
    )


async def main() -> None:
    """Print both."""
    with AnvilNode() as node, tempfile.TemporaryDirectory() as folder:
        world = build_world(node)
        overlay = write_overlay(world, Path(folder))
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        token = send_transfers(node, world)
        client = await RpcClient.connect((node.url,), chain.id, RpcSettings())
        print(describe(f"{TRANSFERS} real transfers on a node of this machine"))
        print(await time_backfill(chain, client, Path(folder)))
        print(time_decoding(await fetch_answer(client, token), token))
        await client.aclose()


if __name__ == "__main__":
    asyncio.run(main())
