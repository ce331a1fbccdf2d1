"""assay export: Parquet files of the views, of which each call adds what is new."""

from pathlib import Path

import click

from assay.commands.loading import loading


@click.command("export")
@click.argument("target", type=click.Path(file_okay=False, path_type=Path))
@click.option("--views", help="Names of views, separated by commas.  [default: all of them]")
def export_command(target: Path, views: str | None) -> None:
    """Parquet files of the views, of which each call adds what is new.

    Transfers and trades come by run, chain and million blocks, once they are final and in the lake;
    other views are files that are written anew. Stopped anywhere, the next call goes on.

    Example: assay export --views v_transfers,v_verdicts export
    """
    with loading():
        from assay.commands.run_export import run_export  # noqa: PLC0415 - not for help and completion

    run_export(target, None if views is None else views.split(","))
