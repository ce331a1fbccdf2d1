"""How many examples a property is tried with, as a share of the profile's number."""

from hypothesis import settings


def one_in(divisor: int) -> int:
    """The number of examples for a property whose examples are expensive; at least 3.

    Of a hundred in CI and with `make test-all`, and of 25 in other runs.
    """
    usual = settings.default
    assert usual is not None
    return max(3, usual.max_examples // divisor)
