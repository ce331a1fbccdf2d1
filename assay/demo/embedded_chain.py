"""The embedded chain as one `with` block: node, world, overlay and trader.

The overlay has the world as the chain `ethereum`, and no public hosts.
"""

import json
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.demo_launchpads import render_launchpads
from assay.demo.layout import World
from assay.demo.npm_packages import fetch_packages
from assay.demo.outside_services import DEFILLAMA, DEXSCREENER, GECKOTERMINAL, SOURCIFY, run_outside
from assay.demo.setup_stages import OnStage, show_nothing
from assay.demo.trader import Trader
from assay.demo.world import build_world

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


_BLOCK_TIME_S = 1
_STOP_S = 10.0


class EmbeddedChain(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs of a service that follows the embedded chain."""

    node: AnvilNode
    """Its `url` is for ASSAY_RPC_1."""
    overlay: Path
    """For ASSAY_CONFIG."""
    world: World


@contextmanager
def run_embedded_chain(
    port: int | None = None, *, on_stage: OnStage = show_nothing
) -> Iterator[EmbeddedChain]:
    """Start node and trader, one block per second; stop both when the `with` block ends.

    `on_stage` is called with each of `STAGES`. Raises what `fetch_packages`, `AnvilNode.start` and
    `build_world` raise.
    """
    on_stage("fetching packages of npm, once")
    fetch_packages()
    on_stage("starting the node")
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode(port=port))
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-demo-"))
        world = build_world(node, on_stage=on_stage)
        outside_url = stack.enter_context(run_outside(node, world))
        overlay = write_overlay(world, Path(folder), outside_url=outside_url)
        node.set_interval(_BLOCK_TIME_S)
        stop = threading.Event()
        trading = threading.Thread(
            target=Trader(node, world).run, args=(stop,), name="trader", daemon=True
        )
        trading.start()
        try:
            yield EmbeddedChain(node=node, overlay=overlay, world=world)
        finally:
            stop.set()
            trading.join(_STOP_S)
