"""assay restore: make a store of a back-up."""

from pathlib import Path

import click

from assay.commands.loading import loading


@click.command("restore")
@click.argument("folder", type=click.Path(path_type=Path))
def restore_command(folder: Path) -> None:
    """Make the store that ASSAY_STORE names of the back-up in FOLDER.

    Nothing is overwritten: it must not be there yet.

    Example: ASSAY_STORE=/var/lib/assay/assay.duckdb assay restore /backups/assay-2026-11-23
    """
    with loading():
        from assay.commands.run_backup import run_restore  # noqa: PLC0415 - not for help and completion

    run_restore(folder)
