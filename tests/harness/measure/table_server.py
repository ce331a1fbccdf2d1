"""HTTP server under load, in a separate process pinned to core 0. Prints its port.

python -m tests.harness.measure.table_server bare|router|assay FILE-OR-FOLDER
"""

import asyncio
import gc
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

from litestar import Litestar, MediaType, Response, get
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send

from analysis.pipeline.analyser import Analyser
from analysis.quotes.chain_quotes import ChainQuotes
from api.app import create_app
from api.deps import ApiDeps, ChainState
from api.serving.serve import serve
from assay.service.store_adapter import ReportStore
from config.facts.load_chains import load_chains
from config.plans import load_plans
from config.settings import AnalysisSettings, ApiSettings
from core.evm.primitives import Address
from core.process.stop_signals import stop_on_signals
from core.report.report import Report
from sql.accounts.ledger import Ledger
from sql.engine.store import Store

STORE, LEDGER = "store.duckdb", "ledger.sqlite"


class NoNode:
    """Chain without a node: every response has to come from the tables."""

    chain_id = 1

    async def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        """Yield nothing: a token with a fresh report is not scanned."""
        reports: list[Report] = []
        for report in reports:
            yield report


def bare(body: bytes) -> ASGIApp:
    """Build the smallest ASGI application: it only sends a body."""
    start = {
        "type": "http.response.start",
        "status": 200,
        "headers": [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
        ],
    }
    end = {"type": "http.response.body", "body": body, "more_body": False}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == ScopeType.HTTP:
            await send(start)  # type: ignore[arg-type]  # a plain dict is what servers take
            await send(end)  # type: ignore[arg-type]

    return app


def router(body: bytes) -> ASGIApp:
    """Build a Litestar application with one route, without keys or limits."""

    @get("/token/{chain:str}/{address:str}")
    async def get_token(chain: str, address: str) -> Response[bytes]:
        return Response(body, media_type=MediaType.JSON)

    return Litestar([get_token], logging_config=None)


def assay(store: Store, ledger: Ledger) -> ASGIApp:
    """Build our application over tables, complete except for a node."""
    settings = AnalysisSettings(refresh_after_s=86_400.0)

    async def read_states() -> tuple[ChainState, ...]:
        return ()

    return create_app(
        ApiDeps(
            analysis=Analyser(
                {"ethereum": NoNode()}, ReportStore(store, AnalysisSettings()), settings, time.time
            ),
            quotes=ChainQuotes({}, concurrency=1),
            ledger=ledger,
            chains=load_chains(None),
            served=frozenset({"ethereum"}),
            plans=load_plans(),
            settings=ApiSettings(),
            liquid_above_usd=settings.min_liquidity_usd,
            has_billing=False,
            read_states=read_states,
        )
    )


async def run(app: ASGIApp) -> None:
    """Serve on a free port until a stop signal."""
    stop = asyncio.Event()
    stop_on_signals(stop)
    listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    listening.add_done_callback(lambda port: print(port.result(), flush=True))
    gc.freeze()  # as the service does
    await serve(app, host="127.0.0.1", port=0, stop=stop, listening=listening)


def main() -> None:
    """Serve the application of the first argument."""
    os.sched_setaffinity(0, {0})
    kind, path = sys.argv[1], Path(sys.argv[2])
    if kind == "assay":
        with (
            closing(Store.open(path / STORE)) as store,
            closing(Ledger.open(path / LEDGER)) as ledger,
        ):
            asyncio.run(run(assay(store, ledger)))
    else:
        asyncio.run(run({"bare": bare, "router": router}[kind](path.read_bytes())))


if __name__ == "__main__":
    main()
