"""Confusion matrix of `assay backtest` over generated launches, by class.

Honest tokens of many kinds, tokens whose owners use their powers, and traps composed at random
(tests/harness/redteam) are launched on nodes of this machine. Ordinary people buy and sell them for
a week, the follower indexes them, and the command itself analyses them as of before their first
trade. Receipts and balances show which buyers were trapped; the score of the command is printed
next to that. Ends with 1 where a token that trapped a buyer within an hour was called safe; with
--liquidity-holders never, only where its code shows it.
"""

import argparse
import logging
import secrets
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec
import structlog

from tests.harness.measure.machine import describe
from tests.harness.redteam.launches.launch_batch import LaunchResult, run_batch
from tests.harness.redteam.launches.launch_kinds import compose_launches
from tests.harness.redteam.launches.launch_truth import SPANS_S

_SHOWN: Final = 8


def render(results: Sequence[LaunchResult]) -> str:
    """Format the matrix, and the wrong verdicts."""
    verdicts = ("safe", "warning", "danger", "not_tested", "refused", "not_judged", "not_traded")
    widths = [max(9, len(one) + 1) for one in verdicts]
    heads = "".join(name.rjust(width) for name, width in zip(verdicts, widths, strict=True))
    lines = [f"{'class':<24}{'trapped in':<12}{heads}"]
    groups = sorted({(not one.is_in_code, one.truth.axis) for one in results})
    for is_outside, axis in groups:
        own = [one for one in results if one.truth.axis == axis]
        for span, chosen in _by_span(own):
            if not chosen:
                continue
            count = Counter(one.verdict for one in chosen)
            cells = "".join(
                str(count[name] or "").rjust(width)
                for name, width in zip(verdicts, widths, strict=True)
            )
            name = f"{axis}*" if is_outside else axis
            lines.append(f"{name:<24}{span:<12}{cells}")
    lines.append("* not in the code: who put the liquidity in took it out")
    trapped = [one for one in results if one.trapped["hour"]]
    wrong = [one for one in trapped if one.is_false_safe]
    lines.append(
        f"{len(results)} launches, {len(trapped)} trapped a buyer within the hour; of these called "
        f"safe: {sum(one.is_in_code for one in wrong)} in code, "
        f"{sum(not one.is_in_code for one in wrong)} not"
    )
    lines += [f"  safe: {one.truth.label}: {one.truth.words}" for one in wrong]
    for span in SPANS_S:
        bad = [one for one in results if one.scored and one.truth.has_bad_trade(span)]
        missed = [one for one in bad if one.scored[span] != "trapped"]
        slandered = [one for one in results if one.scored.get(span) == "trapped" and one not in bad]
        lines.append(
            f"scored by the command within the {span}: of {len(bad)} with a bad trade "
            f"{len(missed)} were not seen to trap; {len(slandered)} others were said to"
        )
        for what, chosen in (("not seen", missed), ("said to", slandered)):
            lines += [f"  {what}: {one.truth.label}: {one.truth.words}" for one in chosen[:_SHOWN]]
    robbed = sum(one.truth.stolen_s is not None for one in results)
    lines.append(f"{robbed} were robbed by somebody else's transaction, which no trade shows")
    return "\n".join(lines)


def _by_span(results: Sequence[LaunchResult]) -> Iterable[tuple[str, list[LaunchResult]]]:
    """Each result once, by the first span that it trapped in."""
    left = list(results)
    for span in SPANS_S:
        yield span, [one for one in left if one.trapped[span]]
        left = [one for one in left if not one.trapped[span]]
    yield "never", left


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**32))
    parser.add_argument("--batch", type=int, default=100, help="launches on one chain")
    parser.add_argument("--only", default="", help="a word of the labels")
    parser.add_argument(
        "--liquidity-holders", choices=("never", "young", "always"), default="young"
    )
    parser.add_argument("--out", type=Path, help="all results as JSON")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.INFO))
    print(describe(f"{options.launches} launches, seed {options.seed}"), flush=True)
    launches = compose_launches(options.seed, options.launches)
    launches = [trap for trap in launches if options.only in trap.label]
    results: list[LaunchResult] = []

    def counts(one: LaunchResult) -> bool:
        return one.is_false_safe and (one.is_in_code or options.liquidity_holders != "never")

    for at in range(0, len(launches), options.batch):
        with tempfile.TemporaryDirectory() as folder:
            (judged,) = run_batch(
                launches[at : at + options.batch],
                Path(folder),
                liquidity_modes=(options.liquidity_holders,),
                tell=_tell,
            )
            results += judged
        if options.out:
            options.out.write_bytes(msgspec.json.encode(results))
        wrong = sum(map(counts, results))
        _tell(f"{len(results)} of {len(launches)}, {wrong} wrong")
    print(render(results))
    sys.exit(any(map(counts, results)))


if __name__ == "__main__":
    main()
