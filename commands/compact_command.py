"""assay compact: move final rows to the lake now, and tidy it up."""

import os
from collections.abc import Mapping

import click

from commands.progress import progress_bars
from commands.tables import OUT
from config.chains import Chain
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
    chains = _chosen({each.slug: each for each in load_chains(settings.overlay)}, chain)
    request = CompactionRequest(
        chains=tuple(bounds_of(each.id, settings.indexer) for each in chains), is_forced=True
    )
    with progress_bars() as show:

        def report(progress: CompactionProgress) -> None:
            show("rows", progress.done, progress.total)

        result = run_compaction(settings.store, request, progress=report)
    if result is None:
        return
    OUT.print(f"{result.moved_rows} rows moved, {result.merged_files} files merged")
    for chain_id, to_block in sorted(result.dropped.items()):
        OUT.print(f"chain {chain_id}: transfers up to block {to_block} dropped")


def _chosen(chains: Mapping[str, Chain], name: str | None) -> list[Chain]:
    """A chain by slug or id, or all that are known: no node is asked. Raises BadParameter."""
    found = [
        chain for chain in chains.values() if name is None or name in (chain.slug, str(chain.id))
    ]
    if not found:
        raise click.BadParameter(f"{name} is none of {', '.join(chains)}", param_hint="CHAIN")  # noqa: TRY003
    return found
