"""Delivery of one store in a separate process, until a signal ends it.

python -m tests.harness.watches.delivery_process STORE
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

from api.watches.delivery.keep_delivering import keep_delivering
from api.watches.message_body import MessageRenderer
from config.settings import WatchSettings
from core.process.stop_signals import stop_on_signals
from sql.engine.store import Store
from tests.harness.api.world import CHAINS
from tests.house.sources import ROOT

SETTINGS = WatchSettings(allow_http=True, allow_private=True, timeout_s=2.0)


async def deliver(store: Store, stop: asyncio.Event) -> None:
    """Deliver to receivers on this machine, for keys that never end."""
    await keep_delivering(
        store,
        SETTINGS,
        render=MessageRenderer(CHAINS).encode,
        ended_keys=lambda _keys, _now_s: set(),
        observe=lambda _: None,
        stop=stop,
    )


@asynccontextmanager
async def delivering(store: Store) -> AsyncIterator[None]:
    """Deliver in this process."""
    stop = asyncio.Event()
    running = asyncio.create_task(deliver(store, stop))
    try:
        yield
    finally:
        stop.set()
        await running


async def until(holds: Callable[[], bool], *, within_s: float = 20.0) -> None:
    """Wait until it holds."""
    ends = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < ends, "it has not come about in time"
        await asyncio.sleep(0.02)


def start_delivering(path: Path) -> subprocess.Popen[str]:
    """Deliver the messages of a store in another process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.harness.watches.delivery_process", str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


async def _main(store: Store) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await deliver(store, stop)


if __name__ == "__main__":
    with closing(Store.open(Path(sys.argv[1]))) as opened:
        asyncio.run(_main(opened))
