"""The last digits of an address: the last resort, and the one signal that can be a coincidence.

Only platforms with `suffixes` (those of chain 56) use it, and only for a token that looks like one
of theirs that has graduated: it has an ordinary pool, no curve knows it, and its supply is the one
that these platforms issue. Source: the specification, "Launchpad".
"""

from collections.abc import Iterable

from analysis.token.metadata import Metadata
from config.launchpads import Launchpad
from config.primitives import Address

_DECIMALS = 18
_SUPPLY_RAW = 10**9 * 10**_DECIMALS
"""What four.meme, flap and the Pons forks issue; burning can only have made it less."""


def platform_of(token: Address, metadata: Metadata, pads: Iterable[Launchpad]) -> Launchpad | None:
    """The first platform whose pattern fits. None: none does."""
    if metadata.decimals != _DECIMALS or not 0 < metadata.supply_raw <= _SUPPLY_RAW:
        return None
    return next((pad for pad in pads if pad.suffixes and token.endswith(pad.suffixes)), None)
