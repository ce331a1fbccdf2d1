"""Whether the stable coins have the configured decimals and symbols."""

from assay.doctor.check import Check, CheckFinding, Steps, Subject, ok, word_of
from assay.doctor.configured_coin import wrong_decimals, wrong_symbol
from assay.doctor.contract_reads import ContractGetter, read_all


def _look(subject: Subject) -> Steps:
    stables = subject.chain.stables
    reads = ("decimals()", "symbol()", "totalSupply()")
    answers = yield from read_all(
        subject.head, [ContractGetter(one.address, read) for one in stables for read in reads]
    )
    findings = []
    for stable in stables:
        decimals, symbol, supply = (answers[ContractGetter(stable.address, read)] for read in reads)
        empty = CheckFinding(status="failed", subject=stable.symbol, seen="it has no supply")
        findings.append(
            wrong_decimals(stable, decimals)
            or (None if word_of(supply) else empty)
            or wrong_symbol(stable, symbol)
            or ok(f"{stable.decimals} decimals", subject=stable.symbol)
        )
    return findings


CHECK = Check(
    name="stable coins",
    group="facts",
    question="have the stable coins the configured decimals",
    look=_look,
    costs="liquidity and prices are wrong by powers of ten",
    mend="correct [[stable]] in the overlay, and report it",
)
