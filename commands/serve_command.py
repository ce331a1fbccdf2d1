"""assay serve: follow chains and answer requests."""

import click

from commands.loading import loading


@click.command("serve")
@click.option("--host", help="Address to listen on; else the settings' one.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; else the settings' one.")
def serve_command(host: str | None, port: int | None) -> None:
    """Follow chains, judge tokens and answer requests, in one process.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay serve --port 8000
    """
    with loading():
        from commands.run_serve import run_serve  # noqa: PLC0415 - not for help and completion

    run_serve(host, port)
