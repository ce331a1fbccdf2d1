"""Under which circumstances a history takes place, drawn once."""

from random import Random

import msgspec

from config.facts.chain import Chain
from config.settings import IndexerSettings
from indexer.bulk_writer import LEAST_LOGS
from tests.harness.fault_simulation.model_chain import World, world_of
from tests.harness.replay.log_formats import LogFormatName

_WORLDS = 4
_FORMATS: tuple[LogFormatName, ...] = ("geth", "reth", "besu")
_LAKE_SHARE = 0.04
_FEW_LOGS = 3


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """Constants of one history."""

    world: World
    chain: Chain
    start: int
    """First block followed; back-fills need room below it."""
    log_format: LogFormatName
    settings: IndexerSettings
    has_lake: bool
    least_logs: int
    """Smallest number of logs of a back-fill chunk that goes straight to the lake."""
    fault_share: float
    """Share of faulty messages of a spoiled node, 0 to 1."""
    changes_between: float
    """Before how many answers the chain changes, 0 to 1."""
    slow_share: float
    """Share of delayed answers, 0 to 1."""
    nodes: int


def draw_circumstances(seed: int, dice: Random) -> Circumstances:
    """Those of one history."""
    world = world_of(seed % _WORLDS)
    has_lake = dice.random() < _LAKE_SHARE
    start = 0 if dice.random() < 0.4 and not has_lake else dice.randrange(3, 40)
    return Circumstances(
        world=world,
        chain=msgspec.structs.replace(
            world.chain, finality_blocks=dice.randrange(2, 14), start_block=start
        ),
        start=start,
        log_format=dice.choice(_FORMATS),
        settings=IndexerSettings(
            initial_log_range=dice.choice((2, 8, 40)),
            max_log_range=dice.choice((40, 64)),
            commit_rows=dice.choice((1, 10, 200)),
        ),
        has_lake=has_lake,
        least_logs=dice.choice((*(_FEW_LOGS,) * 3, LEAST_LOGS)) if has_lake else LEAST_LOGS,
        fault_share=dice.choice((0.0, 0.05, 0.2)),
        changes_between=dice.choice((0.0, 0.0, 0.03)),
        slow_share=dice.choice((0.0, 0.1, 0.5)),
        nodes=dice.choice((1, 1, 2, 3)),
    )
