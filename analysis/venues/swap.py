"""What a trade on any venue is made of."""

import msgspec

from analysis.discovery import Candidate
from config.primitives import Address, RawAmount

FOREVER_S = 2**40
"""A deadline no simulated block reaches."""


class Swap(msgspec.Struct, frozen=True, kw_only=True):
    """An exact-in swap through a router, in one pool."""

    candidate: Candidate
    router: Address
    trader: Address
    token_in: Address
    token_out: Address
    amount_in: RawAmount


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """What the pool itself says it received and sent in its last swap: neither the token's word
    nor the router's."""

    received: RawAmount
    sent: RawAmount
