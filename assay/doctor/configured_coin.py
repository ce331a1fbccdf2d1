"""Whether a coin has the configured decimals and symbol. Pure."""

from assay.doctor.check import CheckFinding, ProbeAnswer, word_of
from assay.doctor.contract_reads import text_in
from config.chains import Anchor


def wrong_decimals(coin: Anchor, decimals: ProbeAnswer) -> CheckFinding | None:
    """Return the failure that other decimals are. None: they are as configured."""
    told = word_of(decimals)
    if told == coin.decimals:
        return None
    seen = f"{told} decimals, configured {coin.decimals}"
    return CheckFinding(status="failed", subject=coin.symbol, seen=seen)


def wrong_symbol(coin: Anchor, symbol: ProbeAnswer) -> CheckFinding | None:
    """Return what another symbol costs. None: it is as configured."""
    told = text_in(symbol)
    if told == coin.symbol:
        return None
    seen, costs = f"its symbol is {told!r}", "names shown differ"
    return CheckFinding(status="degraded", subject=coin.symbol, seen=seen, costs=costs)
