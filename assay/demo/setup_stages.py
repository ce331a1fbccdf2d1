"""Stages of the demo's set-up, for a progress bar."""

from collections.abc import Callable
from typing import Literal, get_args

Stage = Literal[
    "fetching packages of npm, once",
    "starting the node",
    "compiling contracts",
    "deploying exchanges",
    "releasing tokens",
    "opening launch platforms",
]

STAGES: tuple[Stage, ...] = get_args(Stage)
"""In order. Compiler output is cached, so only the first run waits for it."""

OnStage = Callable[[Stage], None]
"""Called when a stage begins."""


def show_nothing(_: Stage) -> None:
    """Ignore the stages."""
