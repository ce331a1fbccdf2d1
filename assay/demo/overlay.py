"""Overlay of the demo: its world as the chain `ethereum`, and no public hosts."""

import json
from pathlib import Path

import msgspec

from assay.demo.demo_launchpads import render_launchpads
from assay.demo.layout import World
from assay.demo.outside_services import DEFILLAMA, DEXSCREENER, GECKOTERMINAL, SOURCIFY

_FINALITY_BLOCKS = 16
"""Small, so that finalised ranges and reorganisations both happen while a user watches."""


def write_overlay(world: World, directory: Path, *, outside_url: str = "", more: str = "") -> Path:
    """Write `chains/ethereum.toml` and `settings.toml` below the directory; return the directory.

    `outside_url`: base address of `run_outside`. Empty: no services but the chain are used; public
    hosts never are. `more` are further tables of settings. Raises OSError.
    """
    chains = directory / "chains"
    chains.mkdir(parents=True, exist_ok=True)
    (chains / "ethereum.toml").write_text(render_overlay(world))
    (directory / "settings.toml").write_text(f"{render_settings(outside_url)}\n{more}")
    return directory


def render_settings(outside_url: str) -> str:
    """Render the settings of outside services."""

    def at(service: str) -> str:
        return f"{outside_url}/{service}" if outside_url else ""

    market_data: dict[str, object] = {
        "dexscreener_url": at(DEXSCREENER),
        "geckoterminal_url": at(GECKOTERMINAL),
        "defillama_url": at(DEFILLAMA),
    }
    sources: dict[str, object] = {
        "sourcify_url": at(SOURCIFY),
        # The stand-in needs no rate limit, and a new demo analyses dozens of tokens at a time.
        "sourcify_per_minute": 6000,
        "etherscan_url": "",
    }
    return _section("[market_data]", market_data) + _section("[sources]", sources)


def render_overlay(world: World) -> str:
    """Render the chain file: anchors, oracle, venues and launch platforms of this world."""
    sections = [
        _section(
            "[chain]",
            {
                "block_time_s": 1,
                "finality_blocks": _FINALITY_BLOCKS,
                "start_block": 0,
                "explorer": "",  # the public one does not have this chain
            },
        ),
        _section("[wrapped_native]", _fields(world.venues.wrapped_native)),
        *(_section("[[stable]]", _fields(stable)) for stable in world.venues.stables),
        _section("[oracle]", _fields(world.venues.oracle)),
        *(_section("[[dex]]", _fields(dex)) for dex in world.venues.dexes),
    ]
    # A bare list has to precede every table. The public chain's lockers are not on this one.
    launchpads = render_launchpads(world.launchpads)
    parts = [*sections, launchpads] if world.launchpads else [launchpads, *sections]
    return "\n".join(["locker = []\n", *parts])


def _fields(value: msgspec.Struct) -> dict[str, object]:
    """Return the known fields of a struct."""
    fields = msgspec.structs.asdict(value)
    return {key: item for key, item in fields.items() if item is not None and item != ()}


def _section(heading: str, fields: dict[str, object]) -> str:
    # Strings, numbers and flat lists of them are written alike in JSON and TOML.
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    return "\n".join((heading, *lines, ""))
