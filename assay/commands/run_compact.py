"""The work of `assay compact`: final rows of one chain, or of all, moved to the lake."""

import os

import click

from assay.commands.nodes import choose_chain
from assay.commands.progress import progress_bars
from config.load import load_chains
from config.settings import load_settings
from sql.lake.compaction import CompactionProgress, CompactionRequest, bounds_of
from sql.lake.compaction_runner import run_compaction


def run_compact(name: str | None) -> None:
    """Compact the chain of that name; None: every chain. No node is asked.

    Raises BadParameter, ConfigError, StoreError.
    """
    settings = load_settings(os.environ)
    known = load_chains(settings.overlay)
    chains = known if name is None else (choose_chain(known, name),)
    request = CompactionRequest(
        chains=tuple(bounds_of(each.id, settings.indexer) for each in chains), is_forced=True
    )
    with progress_bars() as show:

        def report(progress: CompactionProgress) -> None:
            show("moving final rows to the lake", progress.done, progress.total)

        result = run_compaction(settings.store, request, progress=report)
    if result is None:
        return
    click.echo(f"{result.moved_rows} rows moved, {result.merged_files} files merged")
    for chain_id, to_block in sorted(result.dropped.items()):
        click.echo(f"chain {chain_id}: transfers up to block {to_block} dropped")
