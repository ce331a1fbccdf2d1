"""Writes the overlay under which the service serves the demo's world as `ethereum`, and asks no
public host."""

import json
from pathlib import Path

import msgspec

from assay.demo.demo_launchpads import render_launchpads
from assay.demo.layout import World
from assay.demo.outside_services import DEFILLAMA, DEXSCREENER, GECKOTERMINAL, SOURCIFY

_FINALITY_BLOCKS = 16
"""Few, so that finalised ranges and reorganisations both happen while somebody watches."""


def write_overlay(world: World, directory: Path, *, outside_url: str = "", more: str = "") -> Path:
    """Write `chains/ethereum.toml` and `settings.toml` below the directory; answers the directory.

    `outside_url`: where `run_outside` serves. Empty: nobody beside the chain is asked; public hosts
    never are. `more` are further tables of settings. Raises OSError where it cannot be written.
    """
    chains = directory / "chains"
    chains.mkdir(parents=True, exist_ok=True)
    (chains / "ethereum.toml").write_text(render_overlay(world))
    (directory / "settings.toml").write_text(f"{render_settings(outside_url)}\n{more}")
    return directory


def render_settings(outside_url: str) -> str:
    """The settings that name services beside the chain."""

    def at(service: str) -> str:
        return f"{outside_url}/{service}" if outside_url else ""

    market_data: dict[str, object] = {
        "dexscreener_url": at(DEXSCREENER),
        "geckoterminal_url": at(GECKOTERMINAL),
        "defillama_url": at(DEFILLAMA),
    }
    sources: dict[str, object] = {
        "sourcify_url": at(SOURCIFY),
        # Our own service needs no consideration, and a new demo judges dozens of tokens at once.
        "sourcify_per_minute": 6000,
        "etherscan_url": "",
    }
    return _section("[market_data]", market_data) + _section("[sources]", sources)


def render_overlay(world: World) -> str:
    """The chain file: this world's anchors, oracle, venues and launch platforms instead of the
    public chain's."""
    sections = [
        _section(
            "[chain]",
            {
                "block_time_s": 1,
                "finality_blocks": _FINALITY_BLOCKS,
                "start_block": 0,
                "explorer": "",  # the public one knows nothing of this chain
            },
        ),
        _section("[wrapped_native]", _fields(world.venues.wrapped_native)),
        *(_section("[[stable]]", _fields(stable)) for stable in world.venues.stables),
        _section("[oracle]", _fields(world.venues.oracle)),
        *(_section("[[dex]]", _fields(dex)) for dex in world.venues.dexes),
    ]
    # A bare list has to stand before every table. The public chain's lockers are not on this one.
    launchpads = render_launchpads(world.launchpads)
    parts = [*sections, launchpads] if world.launchpads else [launchpads, *sections]
    return "\n".join(["locker = []\n", *parts])


def _fields(value: msgspec.Struct) -> dict[str, object]:
    """What a struct holds, without the fields that are unknown."""
    fields = msgspec.structs.asdict(value)
    return {key: item for key, item in fields.items() if item is not None and item != ()}


def _section(heading: str, fields: dict[str, object]) -> str:
    # Strings, numbers and flat lists of them are written alike in JSON and TOML.
    lines = [f"{key} = {json.dumps(value)}" for key, value in fields.items()]
    return "\n".join((heading, *lines, ""))
