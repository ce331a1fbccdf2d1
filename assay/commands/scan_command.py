"""assay scan: analyse one token and print the answer."""

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from assay.commands.chain_argument import CHAIN
from assay.commands.loading import loading

if TYPE_CHECKING:
    from api.formats.rendering import Format
    from assay.commands.run_scan import Output

FORMATS = ("native", "compat", "summary", "goplus", "evidence")
"""Those of `api.formats.rendering`, which help and completion show without importing it."""


@click.command("scan")
@click.argument("chain", type=CHAIN)
@click.argument("address")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="native",
    show_default=True,
    help="Which answer is printed as JSON or CSV.",
)
@click.option(
    "--output",
    type=click.Choice(["card", "json", "csv"]),
    help="A card for people, JSON, or a CSV header with a row.  [default: json; on a terminal "
    "without --format: card]",
)
@click.option("--price", is_flag=True, help="Fill the four price fields.")
@click.pass_context
def scan_command(
    ctx: click.Context,
    chain: str,
    address: str,
    form: "Format",
    output: "Output | None",
    price: bool,
) -> None:
    """Judge one token and print the answer: a card on a terminal, else JSON. Needs a node, but no
    server and no store.

    Example: ASSAY_RPC_1=http://127.0.0.1:8545 assay scan eth 0x6B17...1d0F
    """
    with loading():
        from assay.commands.run_scan import choose_output, run_scan  # noqa: PLC0415 - not for help and completion

    is_format_chosen = ctx.get_parameter_source("form") is not ParameterSource.DEFAULT
    chosen = output or choose_output(is_format_chosen=is_format_chosen)
    run_scan(chain, address, form=form, output=chosen, is_priced=price)
