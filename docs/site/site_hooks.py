"""Hooks by which MkDocs builds the site: adds the pages that are made from the code, and the
navigation."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from docs.site.field_pages import field_pages, flag_pages
from docs.site.operation_pages import operation_pages, read_document
from docs.site.page import Page
from docs.site.reference_pages import exchanges_page, readme_page, views_page


@cache
def _made() -> dict[str, tuple[Page, ...]]:
    """The pages that are made, by what they are about."""
    return {
        "fields": tuple(field_pages()),
        "flags": tuple(flag_pages()),
        "api": tuple(operation_pages(read_document())),
        "reference": (
            views_page(),
            exchanges_page(),
            readme_page("Settings", path="settings.md", title="Settings"),
            readme_page("Commands", path="commands.md", title="Commands"),
            readme_page("Measured", path="accuracy.md", title="Accuracy and speed"),
            readme_page("Blind spots", path="blind-spots.md", title="Blind spots"),
        ),
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Set the navigation."""
    made = _made()
    config.nav = [
        {"Tour": "index.md"},
        {"Fields": [{"All on one page": "fields.md"}, *_grouped(made["fields"])]},
        {"Flags": _grouped(made["flags"])},
        {
            "API": [
                *_grouped(made["api"]),
                {"Watching tokens": "watching.md"},
                {"GoPlus clients": "goplus.md"},
            ]
        },
        {"Trades": ["exit.md", "liquidity.md", "hooks.md", "check-trade.md"]},
        {"Venues": ["venues.md", "exchanges.md"]},
        {"Kin of a token": "kin.md"},
        {"Evidence packs": "replay.md"},
        {"For analysts": ["analysts.md", "views.md", "lake.md"]},
        {"For operators": _OPERATORS},
        {"Accuracy and speed": "accuracy.md"},
        {"Accuracy in real trades": "accuracy-ledger.md"},
        {"Blind spots": "blind-spots.md"},
        {
            "How it works": [
                *("architecture.md", "static-analysis.md", "glossary.md"),
                {"Adding": [f"adding/{name}.md" for name in _ADDING]},
            ]
        },
    ]
    return config


_OPERATORS = [
    *("installation.md", "operators.md", "nodes.md", "jobs.md", "noticing.md", "settings.md"),
    *(
        "commands.md",
        "command-line.md",
        "serving-state.md",
        "fleet.md",
        "deploying.md",
        "capacity.md",
    ),
]
_ADDING = ("chain", "detector", "field", "launchpad", "venue")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made."""
    for pages in _made().values():
        for page in pages:
            files.append(File.generated(config, page.path, content=page.text))
    return files


def _grouped(pages: Sequence[Page]) -> list[Any]:
    """The entries of the navigation, under the pages' groups in order."""
    groups: dict[str | None, list[Any]] = {}
    for page in pages:
        groups.setdefault(page.group, []).append({page.title: page.path})
    return [{group: entries} for group, entries in groups.items()]
