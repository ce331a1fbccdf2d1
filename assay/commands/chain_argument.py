"""The CHAIN argument of commands, with completion that reads only the chains' names."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

CHAINS = Path(__file__).resolve().parents[2] / "config" / "chains"


class ChainName(click.ParamType[str]):
    """Chain by slug, number or alias, resolved by `assay.commands.runs.nodes`."""

    name = "chain"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete a slug or an alias, ignoring case."""
        found = {
            name: title for path in sorted(CHAINS.glob("*.toml")) for name, title in _names(path)
        }
        begin = incomplete.lower()
        return [
            CompletionItem(name, help=title)
            for name, title in sorted(found.items())
            if name.startswith(begin)
        ]


def _names(built_in: Path) -> Iterator[tuple[str, str]]:
    """Yield slug and aliases, each with the chain's display name. Skips unreadable files:
    completion cannot report errors."""
    overlay = Path(os.environ.get("ASSAY_CONFIG") or ".") / "chains" / built_in.name
    facts: dict[str, object] = {}
    for path in (built_in, overlay):
        try:
            facts |= tomllib.loads(path.read_text(encoding="utf-8")).get("chain", {})
        except (OSError, ValueError):
            continue
    aliases = facts.get("aliases", [])
    for name in (built_in.stem, *(aliases if isinstance(aliases, list) else [])):
        yield str(name), str(facts.get("display_name", ""))


CHAIN = ChainName()
