"""Work of `assay demo`: an embedded chain, and the service on it."""

import asyncio
import secrets
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from rich.table import Table

from api.deps import Prefill
from api.serving.serve import check_address
from assay.commands.runs.progress import progress_steps
from assay.commands.runs.tables import OUT, make_console
from assay.demo.embedded_chain import EmbeddedChain, run_embedded_chain
from assay.demo.layout import ZooToken
from assay.demo.setup_stages import STAGES, Stage
from assay.service.run_service import run_service
from config.load_settings import load_settings
from config.plans import load_plans
from core.evm.primitives import checksum
from sql.accounts.ledger import Ledger

_ZOO_WIDTH = 120

_SHOWN_KEY = "sell_blocked"
"""Token of the zoo whose page is linked: only a simulation finds its trap."""

_STEPS = len(STAGES) + 1


def run_demo(host: str, port: int) -> None:
    """Run chain and service until SIGINT or SIGTERM.

    Raises ConfigError, and what `run_embedded_chain` raises.
    """
    check_address(host, port)
    with progress_steps() as show, tempfile.TemporaryDirectory(prefix="assay-demo-") as folder:

        def show_stage(stage: Stage) -> None:
            show(stage, STAGES.index(stage), _STEPS)

        with run_embedded_chain(on_stage=show_stage) as zoo:
            show("starting the service", len(STAGES), _STEPS)
            shared = _shared_settings(zoo, Path(folder))
            settings = load_settings({**shared, "ASSAY_BILLING_SECRET": secrets.token_urlsafe()})
            with closing(Ledger.of_store(settings.store)) as ledger:
                plan = load_plans()["developer"]
                key = ledger.create_key(plan, label="demo", now_s=int(time.time()))

            def announce(port: int) -> None:
                show("ready", _STEPS, _STEPS)
                _print_zoo(zoo)
                _print_ways_in(zoo, key.plaintext, f"http://{host}:{port}", shared)

            prefill = Prefill(
                api_key=key.plaintext, chain="ethereum", address=checksum(_shown(zoo).address)
            )
            asyncio.run(
                run_service(settings, host=host, port=port, announce=announce, prefill=prefill)
            )


def _shown(zoo: EmbeddedChain) -> ZooToken:
    return next(token for token in zoo.world.tokens if token.key == _SHOWN_KEY)


def _shared_settings(zoo: EmbeddedChain, folder: Path) -> dict[str, str]:
    """Return the environment of other commands on the demo's chain and store."""
    return {
        f"ASSAY_RPC_{zoo.node.chain_id}": f"{zoo.node.ws_url},{zoo.node.url}",
        "ASSAY_CONFIG": str(zoo.overlay),
        "ASSAY_STORE": str(folder / "demo.duckdb"),
    }


def _print_zoo(zoo: EmbeddedChain) -> None:
    table = Table(title="The demo's tokens, on the chain ethereum")
    for heading in ("token", "what it does", "address"):
        table.add_column(heading, no_wrap=True)
    for token in zoo.world.tokens:
        table.add_row(token.symbol, token.trait, checksum(token.address))
    for issued in zoo.world.launched:
        table.add_row(issued.symbol, issued.trait, checksum(issued.address))
    # A truncated address is useless, on narrow terminals too.
    make_console(_ZOO_WIDTH).print(table)


def _print_ways_in(zoo: EmbeddedChain, key: str, base_url: str, shared: Mapping[str, str]) -> None:
    honest = checksum(zoo.world.tokens[0].address)
    address = checksum(_shown(zoo).address)
    OUT.print(f"key:  {key}")
    OUT.print(f"curl -H 'X-API-Key: {key}' {base_url}/token/ethereum/{honest}")
    OUT.print(f"site: {base_url}/")
    OUT.print(f"page: {base_url}/t/ethereum/{address}")
    OUT.print(f"API:  {base_url}/browse")
    OUT.print("\nFor scan, sql and status in another terminal:\n")
    for name, value in shared.items():
        OUT.print(f"export {name}={shlex.quote(value)}")
    if shutil.which("assay") is None:
        OUT.print(f'export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"')
    OUT.print(f"\nassay scan eth {address}")
    OUT.print("assay status\n")
    OUT.print("Ctrl-C ends all of it.")
