"""The embedded chain as one `with` block: node, world, overlay and trader."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.layout import World
from assay.demo.npm_packages import fetch_packages
from assay.demo.outside_services import run_outside
from assay.demo.overlay import write_overlay
from assay.demo.setup_stages import OnStage, show_nothing
from assay.demo.trader import Trader
from assay.demo.world import build_world

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
