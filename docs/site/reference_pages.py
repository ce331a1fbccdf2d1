"""Pages whose text is kept elsewhere: README sections, settings, exchanges of the chains, and the
analysts' views."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from config.load import load_chains
from core.evm.primitives import checksum
from docs.site.page import Page
from sql.analyst.descriptions import LIST_VIEWS, describe_view
from sql.engine.store_files import StoreFiles
from sql.lake.open_store import open_to_read
from tests.harness.empty_store import write_empty_store

_README: Final = Path(__file__).parents[2] / "README.md"
_MEMORY_MB = 200


def readme_page(section: str, *, path: str, title: str) -> Page:
    """Make a page of a second-level section of the README. Raises LookupError: there is none."""
    text = _README.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {section}\n")
    if not found:
        message = f"the README has no section {section}"
        raise LookupError(message)
    body = rest.partition("\n## ")[0].strip()
    return Page(path=path, title=title, text=f"# {title}\n\n{body}\n")


def exchanges_page() -> Page:
    """Make a page of all exchanges that are known, with family and contract, by chain."""
    lines = [
        "# Exchanges",
        "",
        "What the chains' files know; [venues](venues.md) says what of it.",
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
    return Page(path="exchanges.md", title="Exchanges", text="\n".join(lines))


def views_page() -> Page:
    """Make a page of all views with what one row is, and the columns."""
    lines = ["# Views", "", "What `assay sql` and DuckDB's own shell see of a store.", ""]
    return Page(path="views.md", title="Views", text="\n".join([*lines, *_views()]))


def _views() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        write_empty_store(path)
        with closing(open_to_read(StoreFiles(prefix=path), memory_mb=_MEMORY_MB)) as store:
            for name, about in store.execute(LIST_VIEWS).fetchall():
                yield from (f"## {name}", "", about, "")
                yield from ("| Column | Type | |", "|---|---|---|")
                for column, kind, said in store.execute(describe_view(name)).fetchall():
                    yield f"| `{column}` | {kind} | {said} |"
                yield ""
