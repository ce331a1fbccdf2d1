"""assay status: how far each chain has been followed."""

import click

from assay.commands.loading import loading


@click.command("status")
def status_command() -> None:
    """Per chain: head, tip, lag, rows, queue, size, growth. Ends with 1 when a chain is stale.

    Example: assay status
    """
    with loading():
        from assay.commands.run_status import run_status  # noqa: PLC0415 - not for help and completion

    run_status()
