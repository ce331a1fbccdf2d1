"""Whether simulated blocks have the number, time, proposer and randomness that they are given."""

from assay.doctor.check import Check, CheckFinding, CheckStatus, Steps, Subject, ask, ok
from assay.doctor.simulation_probe import (
    COINBASE,
    NUMBER,
    RANDAO,
    READ,
    TIME,
    UNSUPPORTED,
    build,
    given_block,
    is_unsupported,
    read,
    words,
)


def _look(subject: Subject) -> Steps:
    simulation = build(subject, is_validated=False)
    answers = yield ask(simulation.request)
    if is_unsupported(answers[0]):
        return [UNSUPPORTED]
    seen = words(read(simulation, answers[0]), READ)
    block = given_block(simulation, 1)
    fields = simulation.block_overrides(simulation.blocks[1])
    wanted = {
        "time": (seen[TIME], block.time_s),
        "proposer": (seen[COINBASE], int(fields["feeRecipient"], 16)),
        "randomness": (seen[RANDAO], int(fields["prevRandao"], 16)),
    }
    if subject.chain.clock == "own":  # else contracts see the number of another chain
        wanted["number"] = (seen[NUMBER], block.number)
    ignored = [name for name, (got, given) in wanted.items() if got != given]
    if not ignored:
        return [ok(f"{', '.join(wanted)} as given")]
    is_grave = not {"time", "number"}.isdisjoint(ignored)
    status: CheckStatus = "failed" if is_grave else "degraded"
    return [CheckFinding(status=status, seen=f"ignored: {', '.join(ignored)}")]


CHECK = Check(
    name="simulated blocks",
    group="simulation",
    question="do simulated blocks have the number and time they are given",
    look=_look,
    severity="degraded",
    costs="with a wrong time or number, sales that fail later go unseen; by a strange proposer or "
    "randomness a contract can tell a simulation and behave well in it",
    mend="use another client, or a newer release of it",
)
