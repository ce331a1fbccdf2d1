"""Whether the stable coins have the configured decimals and symbols."""

from doctor.check import Check, CheckFinding, Steps, Subject, ok, word_of
from doctor.contract_reads import ContractGetter, read_all, text_in


def _look(subject: Subject) -> Steps:
    stables = subject.chain.stables
    reads = ("decimals()", "symbol()", "totalSupply()")
    answers = yield from read_all(
        subject.head, [ContractGetter(one.address, read) for one in stables for read in reads]
    )
    findings = []
    for stable in stables:
        decimals, symbol, supply = (answers[ContractGetter(stable.address, read)] for read in reads)
        told, name = word_of(decimals), text_in(symbol)
        if told != stable.decimals:
            seen = f"{told} decimals, configured {stable.decimals}"
            found = CheckFinding(status="failed", subject=stable.symbol, seen=seen)
        elif not word_of(supply):
            found = CheckFinding(status="failed", subject=stable.symbol, seen="it has no supply")
        elif name != stable.symbol:
            seen, costs = f"its symbol is {name!r}", "names shown differ"
            found = CheckFinding(status="degraded", subject=stable.symbol, seen=seen, costs=costs)
        else:
            found = ok(f"{told} decimals", subject=stable.symbol)
        findings.append(found)
    return findings


CHECK = Check(
    name="stable coins",
    group="facts",
    question="have the stable coins the configured decimals",
    look=_look,
    costs="liquidity and prices are wrong by powers of ten",
    mend="correct [[stable]] in the overlay, and report it",
)
