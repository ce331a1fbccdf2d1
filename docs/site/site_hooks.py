"""MkDocs hooks: add the pages generated from the code, and set the navigation."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.site.field_pages import field_pages, flag_pages
from docs.site.operation_pages import operation_pages, read_document
from docs.site.page import Page
from docs.site.reference_pages import exchanges_page, views_page

_NAV: Final[Mapping[str, tuple[str, ...]]] = {
    "Start": ("index", "start/quick-start", "start/installation"),
    "Use": (
        *("use/command-line", "use/exit", "use/liquidity", "use/hooks", "use/census"),
        *(
            "use/limits",
            "use/opening",
            "use/check-trade",
            "use/launch",
            "use/kin",
            "use/disputes",
            "use/review",
            "use/snap",
        ),
        *(
            "use/powers",
            "use/watching",
            "use/feed",
            "use/replay",
            "use/clients",
            "use/goplus",
            "use/analysts",
        ),
    ),
    "Operate": (
        *("operate/operators", "operate/nodes", "operate/deploying", "operate/fleet"),
        *("operate/capacity", "operate/jobs"),
    ),
    "Understand": (
        *("understand/verdict", "understand/blind-spots", "understand/static-analysis"),
        "understand/creation",
        "understand/venues",
        *("understand/accuracy-ledger", "understand/track-record", "understand/noticing"),
        *("understand/architecture",),
        *("understand/serving-state", "understand/lake", "understand/glossary"),
    ),
}
"""Hand-written pages of the first four tabs, in order."""

_CHANGES: Final = (
    *("detector", "field", "venue", "chain", "launchpad"),
    *("route", "metric", "setting", "event"),
)
_SUBJECTS: Final = (
    *("index", "engine", "custody", "simulation", "venues", "liquidity", "indexer", "store"),
    *("lake", "fleet", "api", "build"),
)


@cache
def _generated() -> dict[str, tuple[Page, ...]]:
    """Pages generated from the code, by subject."""
    return {
        "fields": tuple(field_pages()),
        "flags": tuple(flag_pages()),
        "api": tuple(operation_pages(read_document())),
        "reference": (views_page(), exchanges_page()),
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the navigation."""
    generated = _generated()
    config.nav = [
        *({tab: [f"{path}.md" for path in paths]} for tab, paths in _NAV.items()),
        {
            "Reference": [
                "reference/settings.md",
                "reference/measurements.md",
                {"Fields": ["reference/fields.md", *_grouped(generated["fields"])]},
                {"Flags": _grouped(generated["flags"])},
                {"API": _grouped(generated["api"])},
                *(page.path for page in generated["reference"]),
            ]
        },
        {"Change": [f"change/{name}.md" for name in _CHANGES]},
        {"Decisions": [f"decisions/{name}.md" for name in _SUBJECTS]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for pages in _generated().values():
        for page in pages:
            files.append(File.generated(config, page.path, content=page.text))
    return files


def _grouped(pages: Sequence[Page]) -> list[Any]:
    """The entries of the navigation, under the pages' groups in order."""
    groups: dict[str | None, list[Any]] = {}
    for page in pages:
        groups.setdefault(page.group, []).append({page.title: page.path})
    return [{group: entries} for group, entries in groups.items()]
