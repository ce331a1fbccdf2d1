"""Whether the launch platforms announced tokens lately, in the form that is decoded."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ok
from assay.doctor.recent_logs import recent_logs


def _look(subject: Subject) -> Steps:
    pads = [pad for pad in subject.chain.launchpads if pad.event]
    if not pads:
        return [ok("no platform with events is configured")]
    contracts = [one for pad in pads for one in pad.contracts]
    topics = sorted({event.topic for pad in pads for event in pad.event})
    found = yield from recent_logs(subject, contracts, topics)
    findings = []
    for pad in pads:
        told = {event.topic for event in pad.event}
        own = [
            log
            for log in found.logs
            if log.address.lower() in pad.contracts and log.topics[0] in told
        ]
        if own:
            findings.append(ok(f"{len(own)} launches in {found.blocks} blocks", subject=pad.slug))
        else:
            seen = f"no launch in {found.blocks} blocks: quiet, or another contract"
            findings.append(CheckFinding(status="unknown", subject=pad.slug, seen=seen))
    return findings


CHECK = Check(
    name="launch events",
    group="facts",
    question="do the launch platforms announce tokens as configured",
    look=_look,
    severity="degraded",
    costs="if it is another contract, its tokens are not recognised as launched there",
    mend="compare the contract with the platform's documents; correct the overlay's [[launchpad]]",
)
