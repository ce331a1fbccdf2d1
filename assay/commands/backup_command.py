"""assay backup: copy the store while it is in use."""

from pathlib import Path

import click

from assay.commands.loading import loading


@click.command("backup")
@click.argument("folder", type=click.Path(path_type=Path))
def backup_command(folder: Path) -> None:
    """Copy the store to a new FOLDER, also while the service runs.

    Serving state, final events and ledger are of one moment. Final events are linked where FOLDER
    is on the same file system.

    Example: assay backup /backups/assay-2026-11-23
    """
    with loading():
        from assay.commands.run_backup import run_backup  # noqa: PLC0415 - not for help and completion

    run_backup(folder)
