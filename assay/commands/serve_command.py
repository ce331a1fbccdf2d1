"""assay serve: follow chains and answer requests."""

import click

from assay.commands.loading import loading


@click.command("serve")
@click.option("--host", help="Address to listen on; else the settings' one.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; else the settings' one.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(("all", "follow", "analyse", "api")),
    help="What this process does; may be named several times. Else all of it.",
)
def serve_command(host: str | None, port: int | None, roles: tuple[str, ...]) -> None:
    """Follow chains, judge tokens and answer requests, in one process.

    Roles share a store in PostgreSQL: any number of processes of each role may run on one.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay serve --port 8000
    """
    with loading():
        from assay.commands.run_serve import run_serve  # noqa: PLC0415 - not for help and completion

    run_serve(host, port, roles)
