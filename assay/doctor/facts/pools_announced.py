"""Whether the exchanges' factories announced pools lately, in the form that is decoded."""

from analysis.market.venues.venue_registry import venue_of
from assay.doctor.check import Asking, Check, CheckFinding, NotHeldError, Steps, Subject, ok
from assay.doctor.recent_logs import recent_logs
from config.chains import Dex
from indexer.decode.pool_events import CREATION_TOPICS

_MOST_NAMED = 3


def _look(subject: Subject) -> Steps:
    dexes = subject.chain.dexes
    found = yield from recent_logs(subject, [dex.factory for dex in dexes], CREATION_TOPICS)
    counts: dict[str, int] = {}
    for log in found.logs:
        counts[log.address.lower()] = counts.get(log.address.lower(), 0) + 1
    findings = []
    for dex in dexes:
        if dex.factory in counts:
            seen = f"{counts[dex.factory]} pools in {found.blocks} blocks"
            findings.append(ok(seen, subject=dex.name))
        else:
            findings.append((yield from _of_quiet(subject, dex, found.blocks)))
    return findings


def _of_quiet(subject: Subject, dex: Dex, blocks: int) -> Asking[CheckFinding]:
    """Judge a factory that announced no pool: is it quiet, or are its events of another form."""
    seen = f"no pool in {blocks} blocks: quiet, or another contract"
    quiet = CheckFinding(status="unknown", subject=dex.name, seen=seen)
    if venue_of(dex).entries is not None:
        return quiet  # trades are events of the same contract
    try:
        others = yield from recent_logs(subject, [dex.factory])
    except NotHeldError:
        return quiet
    topics = sorted({log.topics[0] for log in others.logs if log.topics})
    if not topics:
        return quiet
    seen = f"no pool in {others.blocks} blocks, but events {', '.join(topics[:_MOST_NAMED])}"
    return CheckFinding(status="unknown", subject=dex.name, seen=seen)


CHECK = Check(
    name="pool events",
    group="facts",
    question="do the factories announce pools as configured",
    look=_look,
    severity="degraded",
    costs="if it is another contract, its pools are never found",
    mend="compare the factory with the exchange's documents; correct the overlay's [[dex]]",
)
