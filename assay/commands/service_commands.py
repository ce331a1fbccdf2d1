"""Commands that run or check a service: serve, index, demo, doctor."""

from typing import TYPE_CHECKING

import click

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading
from core.errors import MissingExtraError

if TYPE_CHECKING:
    from assay.commands.runs.run_doctor import DoctorOutput


@click.command("serve")
@click.option("--host", help="Address to listen on.  [default: that of the settings]")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Port.  [default: that of the settings]"
)
@click.option(
    "--role",
    "roles",
    multiple=True,
    type=click.Choice(("all", "follow", "analyse", "api")),
    help="Role of this process; may be repeated.  [default: all]",
)
def serve_command(host: str | None, port: int | None, roles: tuple[str, ...]) -> None:
    """Follow chains, analyse tokens and serve requests, in one process.

    On a store in PostgreSQL any number of processes of each role may run.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay serve --port 8000
    """
    with loading():
        from assay.commands.runs.run_serve import run_serve  # noqa: PLC0415 - not for help and completion

    run_serve(host, port, roles)


@click.command("index")
@click.argument("chain", type=CHAIN)
@click.option(
    "--from",
    "from_block",
    type=click.IntRange(0),
    help="First block; without it the chain is followed.",
)
@click.option(
    "--to", "to_block", type=click.IntRange(0), help="Last block.  [default: the last final one]"
)
def index_command(chain: str, from_block: int | None, to_block: int | None) -> None:
    """Follow a chain, or back-fill a range of it and exit. Resumes where it stopped.

    Example: assay index ethereum --from 10000835 --to 10100000
    """
    with loading():
        from assay.commands.runs.run_index import run_index  # noqa: PLC0415 - not for help and completion

    run_index(chain, from_block, to_block)


@click.command("demo")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), default=8000, show_default=True)
def demo_command(host: str, port: int) -> None:
    """Run an embedded chain with real exchanges and a zoo of tokens, and the service on it.

    Example: assay demo --port 8000
    """
    with loading():
        try:
            from assay.commands.runs.run_demo import run_demo  # noqa: PLC0415 - not for help and completion
        except ModuleNotFoundError as error:
            raise MissingExtraError(extra="demo", package=str(error.name)) from error

    run_demo(host, port)


@click.command("doctor")
@click.argument("chain", type=CHAIN, required=False)
@click.option(
    "--output",
    type=click.Choice(["table", "json"]),
    help="A table for people, or JSON.  [default: json; on a terminal: table]",
)
@click.option("--token", help="Token to analyse for the cost estimate.  [default: a stable coin]")
@click.option("--no-cost", is_flag=True, help="Skip the cost estimate.")
@click.option(
    "--max-calls",
    type=click.IntRange(1),
    default=3_000,
    show_default=True,
    help="Most calls of one endpoint, without the cost estimate.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(min=1),
    default=180.0,
    show_default=True,
    help="Seconds for one chain; the results until then are printed.",
)
@click.option("--all", "shows_all", is_flag=True, help="Show good results in the table, too.")
def doctor_command(
    chain: str | None,
    output: "DoctorOutput | None",
    token: str | None,
    no_cost: bool,
    max_calls: int,
    deadline: float,
    shows_all: bool,
) -> None:
    """Check nodes and configured facts against the chain. Without CHAIN: all chains with a node.
    Reads only. Exits with 1 if a check failed or was not run; --output json contains every result.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay doctor eth
    """
    with loading():
        from assay.commands.runs.run_doctor import run_doctor  # noqa: PLC0415 - not for help and completion

    run_doctor(
        chain,
        output=output,
        token=token,
        is_costed=not no_cost,
        most_calls=max_calls,
        deadline_s=deadline,
        shows_all=shows_all,
    )
