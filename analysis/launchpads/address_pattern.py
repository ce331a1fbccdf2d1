"""Launch platform by the last digits of a token's address: the last signal, and the only one that
can be a coincidence.

Only platforms with `suffixes` (those of chain 56) use it, and only for a token that looks like a
graduated one of theirs: it has an ordinary pool, no curve knows it, and its supply is the one that
these platforms issue. Source: the specification, "Launchpad".
"""

from collections.abc import Iterable

from analysis.token.metadata import Metadata
from config.launchpads import Launchpad
from core.evm.primitives import Address

_DECIMALS = 18
_SUPPLY_RAW = 10**9 * 10**_DECIMALS
"""Supply that four.meme, flap and the Pons forks issue; burning can only have lowered it."""


def platform_of(token: Address, metadata: Metadata, pads: Iterable[Launchpad]) -> Launchpad | None:
    """Return the first platform whose pattern fits. None: none does."""
    if metadata.decimals != _DECIMALS or not 0 < metadata.supply_raw <= _SUPPLY_RAW:
        return None
    return next((pad for pad in pads if pad.suffixes and token.endswith(pad.suffixes)), None)
