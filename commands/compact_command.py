"""assay compact: move final rows to the lake now, and tidy it up."""

import os

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from commands.nodes import choose_chain
from commands.tables import OUT
from config.load import load_chains
from config.settings import load_settings
from sql.lake.compaction import CompactionProgress, CompactionRequest, bounds_of
from sql.lake.compaction_runner import run_compaction


@click.command("compact")
@click.argument("chain", required=False)
def compact_command(chain: str | None) -> None:
    """Move final rows to the lake now, and tidy it up. The service does it by itself every hour.

    Without CHAIN: of every chain. Goes on where it was left.

    Example: assay compact ethereum
    """
    settings = load_settings(os.environ)
    known = load_chains(settings.overlay)
    chains = known if chain is None else (choose_chain(known, chain),)
    request = CompactionRequest(
        chains=tuple(bounds_of(each.id, settings.indexer) for each in chains), is_forced=True
    )
    columns = (TextColumn("rows"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("rows", total=None)

        def show(progress: CompactionProgress) -> None:
            bar.update(task, completed=progress.done, total=progress.total)

        result = run_compaction(settings.store, request, progress=show)
    if result is None:
        return
    OUT.print(f"{result.moved_rows} rows moved, {result.merged_files} files merged")
    for chain_id, to_block in sorted(result.dropped.items()):
        OUT.print(f"chain {chain_id}: transfers up to block {to_block} dropped")
