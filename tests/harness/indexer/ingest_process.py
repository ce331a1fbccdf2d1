"""Process that ingests and reports its position after each commit. Made to be killed."""

import asyncio
import sys
import time
from pathlib import Path

import msgspec

from config.facts.load_chains import load_chains
from config.settings import IndexerSettings, RpcSettings
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from indexer.history.backfill import BackfillProgress, backfill
from indexer.history.transfer_history import Histories
from sql.engine.store import Store

SETTINGS = IndexerSettings(
    poll_s=0.05, initial_log_range=2, max_log_range=4, commit_rows=1, late_logs_s=2
)


def hurried_s() -> float:
    """Return Unix seconds of a fast clock far ahead.

    Tasks of a killed process come again in a tenth of a second.
    """
    return 10_000 * time.time()


def say(number: int) -> None:
    sys.stdout.write(f"{number}\n")
    sys.stdout.flush()


async def run(url: str, store_path: Path, overlay: Path, until: str) -> None:
    """Follow for ever, or fetch pasts of tokens or back-fill to a block, and end."""
    chain = next(chain for chain in load_chains(overlay) if chain.slug == "ethereum")
    store = Store.open(store_path)
    client = await RpcClient.connect([url], chain.id, RpcSettings())
    try:
        if until == "histories":
            histories = Histories(chain, client, store, SETTINGS, now_s=hurried_s)
            # Not a turn more than the parent lets it take, so that it is killed within one.
            while await histories.fetch_next():
                say(0)
                await asyncio.to_thread(sys.stdin.readline)
        elif until == "-":
            stop = asyncio.Event()

            def publish(status: FollowStatus) -> None:
                if status.tip is not None:
                    say(status.tip.number)

            await follow(chain, client, store, SETTINGS, stop=stop, publish=publish)
        else:

            def progress(step: BackfillProgress) -> None:
                say(step.done_to)

            await backfill(
                msgspec.structs.replace(chain, finality_blocks=0),
                client,
                store,
                SETTINGS,
                from_block=0,
                to_block=int(until),
                progress=progress,
            )
    finally:
        await client.aclose()
        store.close()


if __name__ == "__main__":
    _, its_url, its_store, its_overlay, its_end = sys.argv
    asyncio.run(run(its_url, Path(its_store), Path(its_overlay), its_end))
