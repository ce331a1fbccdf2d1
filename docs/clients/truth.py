"""Three-valued answers."""

from enum import Enum
from typing import Final, NoReturn

_ADVICE: Final = "compare it with Truth.YES, Truth.NO or Truth.UNKNOWN"


class Truth(Enum):
    """Answer of the service to a question that it may not be able to answer.

    Compare it with its members: `pool.sell_success is Truth.YES`. Use as a condition, and
    comparison with True, False or None, raise TypeError, as an unknown answer is neither.
    """

    YES = True
    NO = False
    PENDING = "pending"
    """The simulation is still running: repeat the request."""
    UNKNOWN = None

    def __bool__(self) -> NoReturn:
        """Raise TypeError."""
        raise TypeError(f"{self} is no condition: {_ADVICE}")

    def __eq__(self, other: object) -> bool:
        """Compare two members. Raises TypeError for True, False and None."""
        if other is None or isinstance(other, bool):
            raise TypeError(f"{self} is never {other}: {_ADVICE}")
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)

    @classmethod
    def from_dict(cls, value: object) -> "Truth":
        """Read the value of a key of JSON. Raises ValueError for any other value."""
        for member in cls:
            if member.value is value or (value == "pending" and member.name == "PENDING"):
                return member
        raise ValueError(f"not a three-valued answer: {value!r}")

    def to_dict(self) -> bool | str | None:
        """Return the value in JSON."""
        found: bool | str | None = self.value
        return found
