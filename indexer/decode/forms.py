"""Pool creation events as data: one PoolForm per event signature."""

import msgspec
from eth_utils.crypto import keccak

from core.primitives import Hash32
from indexer.decode.words import WordPlace


class PoolForm(msgspec.Struct, frozen=True, kw_only=True):
    """One pool creation event, and the places of the arguments of a PoolRow.

    A place that is None: the event does not contain it.
    """

    signature: str
    """Canonical signature, as hashed into topic 0."""
    topics: int
    """Number of topics, topic 0 included."""
    words: int
    """Exact number of 32-byte words of data."""
    token0: WordPlace
    token1: WordPlace
    pool: WordPlace | None
    """None: the emitter holds all pools (AmmV4)."""
    pool_id: WordPlace | None = None
    fee: WordPlace | None = None
    tick_spacing: WordPlace | None = None
    stable: WordPlace | None = None
    hooks: WordPlace | None = None

    @property
    def topic0(self) -> Hash32:
        """Return keccak256 of the signature."""
        return event_topic(self.signature)


def event_topic(signature: str) -> Hash32:
    """Return topic 0 of an event with this canonical signature."""
    return Hash32("0x" + keccak(text=signature).hex())
