"""assay demo: a chain of its own, and the service on top."""

import click

from assay.commands.loading import loading
from core.errors import MissingExtraError


@click.command("demo")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
def demo_command(host: str, port: int) -> None:
    """A chain of its own with real exchanges and a zoo of tokens, and the service on top.

    Example: assay demo --port 8000
    """
    with loading():
        try:
            from assay.commands.run_demo import run_demo  # noqa: PLC0415 - not for help and completion
        except ModuleNotFoundError as error:
            raise MissingExtraError(extra="demo", package=str(error.name)) from error

    run_demo(host, port)
