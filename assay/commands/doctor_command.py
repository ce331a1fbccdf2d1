"""assay doctor: check nodes and configured facts against the chain."""

from typing import TYPE_CHECKING

import click

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading

if TYPE_CHECKING:
    from assay.commands.run_doctor import DoctorOutput


@click.command("doctor")
@click.argument("chain", type=CHAIN, required=False)
@click.option(
    "--output",
    type=click.Choice(["table", "json"]),
    help="A table for people, or JSON.  [default: json; on a terminal: table]",
)
@click.option("--token", help="The token analysed for the cost estimate; else a stable coin.")
@click.option("--no-cost", is_flag=True, help="Analyse no token to estimate the cost.")
@click.option(
    "--max-calls",
    type=click.IntRange(1),
    default=3_000,
    show_default=True,
    help="Most calls of one endpoint, beside the cost estimate.",
)
@click.option(
    "--deadline",
    type=click.FloatRange(min=1),
    default=180.0,
    show_default=True,
    help="Seconds for one chain; what was found until then is printed.",
)
@click.option("--all", "shows_all", is_flag=True, help="Show in the table what is well, too.")
def doctor_command(
    chain: str | None,
    output: "DoctorOutput | None",
    token: str | None,
    no_cost: bool,
    max_calls: int,
    deadline: float,
    shows_all: bool,
) -> None:
    """Check nodes and configured facts against the chain. Without CHAIN: of all that have a node.
    Reads only. Ends with 1 if anything failed or was not reached; --output json has all of it.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay doctor eth
    """
    with loading():
        from assay.commands.run_doctor import run_doctor  # noqa: PLC0415 - not for help and completion

    run_doctor(
        chain,
        output=output,
        token=token,
        is_costed=not no_cost,
        most_calls=max_calls,
        deadline_s=deadline,
        shows_all=shows_all,
    )
