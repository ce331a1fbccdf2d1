"""What is played beyond the specification: a census of real sellers, and a sweep of time.

In the deepest pool that was traded, beside the sales, and only where the node simulates: elsewhere
each call would be one of its own. Nothing of it decides anything.
"""

from collections.abc import Collection, Sequence

import msgspec

from analysis.call_stage import Turn
from analysis.desk import Desk
from analysis.evidence import play_evidence
from analysis.look import Look
from analysis.scenarios import census, sweep
from analysis.scenarios.ground import Ground
from analysis.scenarios.trade import Bought
from analysis.scenarios.transfer import Wallet
from analysis.stage import NotRun, Play, Played, next_blocks
from config.primitives import Address
from sql.rows import EvidenceRow

_SHOWN = (": sell at sale", ": buy", ": transfer")


class Beyond(msgspec.Struct, frozen=True, kw_only=True):
    """Ready to be played."""

    ground: Ground
    bought: Bought
    sellers: tuple[Wallet, ...]
    sale_blocks: tuple[tuple[int, int], ...]
    """Number and time of one block a seller."""
    sweep_blocks: tuple[tuple[int, int], ...]
    """The same, of those from which the sweep goes on."""
    block_time_s: float

    @property
    def turns(self) -> list[Turn]:
        """The sweep; and the census where there is anybody to ask."""
        ground = self.ground
        plays = [
            sweep.write_play(ground, self.bought, self.sweep_blocks, block_time_s=self.block_time_s)
        ]
        if self.sellers:
            plays.append(census.write_play(ground, self.sellers, self.sale_blocks))
        return [Turn(play=play, pool=ground.candidate.pool) for play in plays]

    def read(self, turns: Sequence[Turn], played: Sequence[Played | NotRun]) -> list[EvidenceRow]:
        """What was not played leaves nothing."""
        rows = []
        swept = played[0]
        if isinstance(swept, Played):
            found = sweep.read_play(
                self.ground,
                self.bought,
                self.sweep_blocks,
                swept,
                block_time_s=self.block_time_s,
            )
            rows.append(_row("time_sweep", sweep.VERSION, turns[0].play, swept, found))
        for turn, counted in zip(turns[1:], played[1:], strict=True):
            if isinstance(counted, Played):
                counts = census.read_play(self.ground, self.sellers, counted)
                rows.append(_row("sell_census", census.VERSION, turn.play, counted, counts))
        return rows


def beyond(
    desk: Desk,
    look: Look,
    bought: Sequence[tuple[Ground, Bought]],
    *,
    wallets: Sequence[Wallet],
    special: Collection[Address],
) -> Beyond | None:
    """None: no pool was traded, or the node does not simulate.

    `bought`: deepest pool first. `special`: who is no ordinary holder.
    """
    if not bought or not desk.powers.simulation.is_worth_trying:
        return None
    ground, first = bought[0]
    sellers = census.choose(wallets, frozenset(special))
    blocks = next_blocks(
        look.pin,
        block_time_s=desk.chain.block_time_s,
        now_s=int(desk.now_s()),
        waits_s=[0] * max(sweep.BUYING_BLOCKS, len(sellers)),
    )
    return Beyond(
        ground=ground,
        bought=first,
        sellers=sellers,
        sale_blocks=tuple(blocks[: len(sellers)]),
        sweep_blocks=tuple(blocks[: sweep.BUYING_BLOCKS + 1]),
        block_time_s=desk.chain.block_time_s,
    )


def _row(key: str, version: int, play: Play, played: Played, outcome: object) -> EvidenceRow:
    shown = [label for label in played.by_label if label.endswith(_SHOWN)]
    return play_evidence(key, version, play, played, outcome, shown=shown)
