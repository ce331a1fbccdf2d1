"""How long until another process follows a chain, over many seeded faults of the one that does.

python -m benchmarks.fleet_drills --drills 200 --seed 1
"""

import statistics
from random import Random

import click

from harness.fleet.follower_drill import FAULTS, DrillOutcome, two_followers
from harness.parts.postgres_server import running_postgres


@click.command()
@click.option("--drills", default=20, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True)
@click.option("--skew-s", default=0.0, show_default=True, help="One clock ahead, one behind.")
def main(drills: int, seed: int, skew_s: float) -> None:
    """Let two followers on one chain suffer one fault after another, and compare the store with
    the chain after each."""
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


if __name__ == "__main__":
    main()
