"""assay serve: follow chains and answer requests."""

import asyncio
import os

import click

from commands.stores import open_store
from config.settings import load_settings
from service import run_service


@click.command("serve")
@click.option("--host", help="Address to listen on; else the settings' one.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; else the settings' one.")
def serve_command(host: str | None, port: int | None) -> None:
    """Follow chains, judge tokens and answer requests, in one process.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay serve --port 8000
    """
    settings = load_settings(os.environ)
    open_store(settings.store).close()  # takes over what an earlier release left
    chosen_port = settings.port if port is None else port
    asyncio.run(run_service(settings, host=host or settings.host, port=chosen_port))
