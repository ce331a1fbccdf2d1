"""Work of `assay export`."""

import os
from collections.abc import Sequence
from pathlib import Path

import click

from assay.commands.runs.progress import progress_bars
from config.load_settings import load_settings
from sql.analyst.export import export_views
from sql.lake.open_store import load_views


def run_export(target: Path, views: Sequence[str] | None) -> None:
    """Export these views; None: all of them. Raises BadParameter, ConfigError, StoreError."""
    address = load_settings(os.environ).store
    unknown = set(views or ()) - load_views().keys()
    if unknown:
        message = f"there is no view {', '.join(sorted(unknown))}"
        raise click.BadParameter(message, param_hint="--views")
    with progress_bars() as show:
        done = export_views(
            address,
            target,
            views or tuple(load_views()),
            report=lambda view, rows: show(f"exporting {view}", rows, None),
        )
    for view, rows in done.rows.items():
        click.echo(f"{view}: {rows} rows")
