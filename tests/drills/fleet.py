"""Drill: a fleet survives seeded faults of its processes and servers.

    python -m tests.drills.fleet --whole --drills 200 --seed 1
    python -m tests.drills.fleet --drills 200 --seed 1

The first drills a whole fleet; the second two followers alone, on a made-up chain that forks more.
"""

import statistics
from collections.abc import Sequence
from random import Random

import click

from tests.harness.fleet.fleet_faults import FaultKind
from tests.harness.fleet.follower_drill import FAULTS, DrillOutcome, two_followers
from tests.harness.fleet.whole_drill import (
    FOLLOWING_WITHIN_S,
    WholeDrill,
    WholeOutcome,
    whole_drill,
)
from tests.harness.measure.machine import describe
from tests.harness.parts.postgres_server import running_postgres
from tests.harness.parts.server_process import PartFailedError


@click.command()
@click.option("--drills", default=20, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option(
    "--skew-s", default=0.0, show_default=True, help="Followers: one clock ahead, one behind."
)
@click.option("--whole", is_flag=True, help="A whole fleet in place of two followers.")
@click.option("--longest-s", default=12.0, show_default=True, help="Whole fleet: of most faults.")
@click.option(
    "--minutes/--no-minutes", default=True, help="Whole fleet: PostgreSQL is away for some."
)
@click.option("--kind", "kinds", multiple=True, help="Whole fleet: faults of these kinds only.")
def main(
    drills: int,
    seed: int,
    skew_s: float,
    *,
    whole: bool,
    longest_s: float,
    minutes: bool,
    kinds: tuple[FaultKind, ...],
) -> None:
    """Inject one fault after another into a fleet, and compare all tables after each."""
    if whole:
        drill_whole(drills, seed, kinds, longest_s=longest_s, minutes=minutes)
    else:
        drill_followers(drills, seed, skew_s)


def drill_followers(drills: int, seed: int, skew_s: float) -> None:
    """Inject faults into two followers of one chain; compare the store with the chain."""
    dice = Random(seed)
    outcomes: list[DrillOutcome] = []
    with (
        running_postgres(is_durable=True) as server,
        two_followers(server.url(), seed, skew_s=skew_s) as drill,
    ):
        for at in range(1, drills + 1):
            outcome = drill.suffer(dice.choice(FAULTS))
            outcomes.append(outcome)
            if outcome.differences:
                message = f"seed {seed}, drill {at}, {outcome.fault}: {outcome.differences}"
                raise SystemExit(message)
    for fault in FAULTS:
        own = [outcome for outcome in outcomes if outcome.fault == fault]
        if own:
            click.echo(_line(fault, own))
    click.echo(f"{drills} drills, seed {seed}, skew {skew_s:g} s: no block missing, twice or wrong")


def _line(fault: str, own: list[DrillOutcome]) -> str:
    taken = [outcome.taken_over_s for outcome in own]
    following = max(outcome.following_s for outcome in own)
    return (
        f"{fault}: {len(own)}; taken over after {statistics.median(taken):.2f} s, "
        f"at most {max(taken):.2f}; following after at most {following:.2f}"
    )


def drill_whole(
    drills: int, seed: int, kinds: Sequence[FaultKind], *, longest_s: float, minutes: bool
) -> None:
    """Inject faults into a whole fleet; end at the first difference."""
    click.echo(describe(f"two processes of each role, seed {seed}"))
    outcomes: list[WholeOutcome] = []
    with whole_drill(seed) as drill:
        try:
            _suffer_all(drill, drills, kinds or drill.kinds, outcomes, longest_s, minutes=minutes)
        except PartFailedError as error:
            _show(outcomes)
            _give_up(drill, f"seed {seed}, drill {len(outcomes) + 1}: {error}")
        _show(outcomes)
        last = outcomes[-1]
        if last.differences:
            _give_up(drill, f"seed {seed}, drill {len(outcomes)}, {last.fault}:", *last.differences)
        if found := drill.finish():
            _give_up(drill, f"seed {seed}, after {drills} drills:", *found)
        click.echo(drill.totals())
    late = sum(outcome.following_s > FOLLOWING_WITHIN_S for outcome in outcomes)
    click.echo(
        f"{drills} drills, seed {seed}: no answer wrong, no call lost or doubled, no block missing "
        f"or twice; {late} times not following within {FOLLOWING_WITHIN_S:g} s"
    )
    if late:
        raise SystemExit(1)


def _suffer_all(
    drill: WholeDrill,
    drills: int,
    kinds: Sequence[FaultKind],
    outcomes: list[WholeOutcome],
    longest_s: float,
    *,
    minutes: bool,
) -> None:
    for at in range(1, drills + 1):
        fault = drill.draw(kinds, longest_s=longest_s, with_minutes=minutes)
        outcome = drill.suffer(fault)
        outcomes.append(outcome)
        where = " ".join(filter(None, (fault.target, fault.part)))
        click.echo(
            f"  {at}: {fault.kind} {where} {fault.seconds:.1f} s; following after "
            f"{outcome.following_s:.1f} s, ready {outcome.ready_s:.1f}, answered in "
            f"{outcome.answered_s:.1f}; calls {dict(outcome.statuses)}, longest "
            f"{outcome.longest_call_s:.1f} s"
        )
        if outcome.differences:
            return


def _show(outcomes: Sequence[WholeOutcome]) -> None:
    for kind in sorted({outcome.fault.kind for outcome in outcomes}):
        own = [outcome for outcome in outcomes if outcome.fault.kind == kind]
        following = [outcome.following_s for outcome in own]
        failed = sum(outcome.statuses[status] for outcome in own for status in (0, 500, 503))
        calls = sum(outcome.statuses.total() for outcome in own)
        click.echo(
            f"{kind}: {len(own)}; following after {statistics.median(following):.1f} s, at most "
            f"{max(following):.1f}; ready after at most {max(one.ready_s for one in own):.1f}; "
            f"{failed} of {calls} calls failed, the longest took "
            f"{max(one.longest_call_s for one in own):.1f} s"
        )


def _give_up(drill: WholeDrill, *lines: str) -> None:
    click.echo(drill.logs(), err=True)
    raise SystemExit("\n".join(lines))


if __name__ == "__main__":
    main()
