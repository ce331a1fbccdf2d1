"""Generated reference pages of the site: exchanges of every chain, and the analysts' views."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from config.facts.load_chains import load_chains
from core.evm.primitives import checksum
from docs.site.page import Page
from sql.analyst.descriptions import LIST_VIEWS, describe_view
from sql.engine.store_files import StoreFiles
from sql.lake.open_store import open_to_read
from tests.harness.store.empty_files import write_empty_store

_MEMORY_MB = 200


def exchanges_page() -> Page:
    """Build the page of all known exchanges, with family and contract, by chain."""
    lines = [
        "# Exchanges",
        "",
        "Exchanges in the chain files, with their pool family and contract. "
        "[Venues](../understand/venues.md) describes how pools of each family are read and traded.",
        "",
    ]
    for chain in load_chains(None):
        lines += [
            f"## {chain.display_name}",
            "",
            "| Exchange | Family | Contract |",
            "|---|---|---|",
        ]
        for dex in chain.dexes:
            lines.append(f"| {dex.name} | `{dex.kind}` | `{checksum(dex.factory)}` |")
        lines.append("")
    return Page(path="reference/exchanges.md", title="Exchanges", text="\n".join(lines))


def views_page() -> Page:
    """Build the page of all views: the meaning of a row, and the columns."""
    lines = ["# Views", "", "Views of a store in `assay sql` and in DuckDB's shell.", ""]
    return Page(path="reference/views.md", title="Views", text="\n".join([*lines, *_views()]))


def _views() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        write_empty_store(path)
        with closing(open_to_read(StoreFiles(prefix=path), memory_mb=_MEMORY_MB)) as store:
            for name, about in store.execute(LIST_VIEWS).fetchall():
                yield from (f"## {name}", "", about, "")
                yield from ("| Column | Type | |", "|---|---|---|")
                for column, kind, meaning in store.execute(describe_view(name)).fetchall():
                    yield f"| `{column}` | {kind} | {meaning} |"
                yield ""
