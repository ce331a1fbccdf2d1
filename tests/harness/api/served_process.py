"""The application as a separate process, until a signal ends it; prints its port.

python -m tests.harness.api.served_process LEDGER
"""

import asyncio
import sys
from contextlib import closing
from pathlib import Path

from api.serving.serve import serve
from core.process.stop_signals import stop_on_signals
from sql.accounts.ledger import Ledger
from tests.harness.api.world import World


async def _serve(ledger: Ledger) -> None:
    stop = asyncio.Event()
    stop_on_signals(stop)
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    listening.add_done_callback(lambda port: sys.stdout.write(f"{port.result()}\n"))
    listening.add_done_callback(lambda _: sys.stdout.flush())
    app = World(ledger).make_app()
    await serve(app, host="127.0.0.1", port=0, stop=stop, listening=listening)


if __name__ == "__main__":
    with closing(Ledger.open(Path(sys.argv[1]))) as ledger:
        asyncio.run(_serve(ledger))
