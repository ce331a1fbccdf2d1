"""Clock limits: the values that code compares the clock with, as a serialisable result."""

from typing import Literal

import msgspec

from core.evm.primitives import Hash32

ClockKind = Literal["block", "timestamp"]


class ClockLimit(msgspec.Struct, frozen=True, kw_only=True):
    """The other side of one comparison with block.number or block.timestamp. *Inferred.*

    `stamp`: storage that only ever holds the clock of an earlier call, compared as it is.

    A comparison with caller-supplied data alone gives no limit. One that could not be solved has
    the source `storage` and no slot: leaving it out would call the contract harmless.
    """

    source: Literal["constant", "storage", "stamp"]
    value: int | None = None
    """The constant, after folding. None: in storage."""
    slot: Hash32 | None = None
    """The storage slot it is read from. None: a constant, a stamp, or out of reach."""
    bit_offset: int = 0
    """Lowest bit of the value in its slot, for packed fields."""
    bit_width: int = 256
    addend: int = 0
    """Added by the code before comparing: 1800 in `launch + 30 minutes`. May be negative."""
    is_writable: bool | None = None
    """True if a function can write the slot after deployment. None: not known. Evidence only: the
    specification goes by the owner, and lets nothing be settled by this."""
    compared_with: ClockKind | None = None
    """None: not known, or both."""

    def value_in(self, word: int) -> int:
        """Return the value compared if the slot holds this word."""
        return (word >> self.bit_offset & (1 << self.bit_width) - 1) + self.addend
