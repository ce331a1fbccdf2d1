"""assay demo: a chain of its own, and the service on top."""

import asyncio
import secrets
import tempfile
import time
from contextlib import closing
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from api.serving.serve import check_address
from commands.tables import OUT
from config.plans import load_plans
from config.settings import load_settings
from core.primitives import checksum
from demo.embedded import EmbeddedChain, run_embedded_chain
from service import run_service
from sql.ledger import Ledger

_ZOO_WIDTH = 120


@click.command("demo")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
def demo_command(host: str, port: int) -> None:
    """A chain of its own with real exchanges and a zoo of tokens, and the service on top.

    Example: assay demo --port 8000
    """
    check_address(host, port)
    with tempfile.TemporaryDirectory(prefix="assay-demo-") as folder, run_embedded_chain() as zoo:
        settings = load_settings(
            {
                f"ASSAY_RPC_{zoo.node.chain_id}": f"{zoo.node.ws_url},{zoo.node.url}",
                "ASSAY_CONFIG": str(zoo.overlay),
                "ASSAY_STORE": str(Path(folder) / "demo.duckdb"),
                "ASSAY_BILLING_SECRET": secrets.token_urlsafe(),
            }
        )
        with closing(Ledger.open(settings.ledger)) as ledger:
            key = ledger.create_key(load_plans()["developer"], label="demo", now_s=int(time.time()))
        asyncio.run(
            run_service(
                settings,
                host=host,
                port=port,
                announce=lambda port: _print_zoo(zoo, key.plaintext, f"http://{host}:{port}"),
            )
        )


def _print_zoo(zoo: EmbeddedChain, key: str, base_url: str) -> None:
    table = Table(title="The demo's tokens, on the chain ethereum")
    for heading in ("token", "what it does", "address"):
        table.add_column(heading, no_wrap=True)
    for token in zoo.world.tokens:
        table.add_row(token.symbol, token.trait, checksum(token.address))
    for issued in zoo.world.launched:
        table.add_row(issued.symbol, issued.trait, checksum(issued.address))
    # An address cut short is no use, however narrow the terminal is.
    Console(width=_ZOO_WIDTH).print(table)
    address = checksum(zoo.world.tokens[0].address)
    OUT.print(f"key:  {key}")
    OUT.print(f"curl -H 'X-API-Key: {key}' {base_url}/token/ethereum/{address}")
    OUT.print("Ctrl-C ends all of it.")
