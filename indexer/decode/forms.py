"""What a pool creation event looks like, as data: one PoolForm for each event signature."""

import msgspec
from eth_utils.crypto import keccak

from config.primitives import Hash32
from indexer.decode.words import WordPlace


class PoolForm(msgspec.Struct, frozen=True, kw_only=True):
    """One event that announces a pool, and where it keeps what a PoolRow wants.

    A place that is None: the event does not tell.
    """

    signature: str
    """Canonical, as hashed into topic 0."""
    topics: int
    """Topic 0 included."""
    words: int
    """32-byte words of data; exactly."""
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
        """keccak256 of the signature."""
        return event_topic(self.signature)


def event_topic(signature: str) -> Hash32:
    """Topic 0 of an event with this canonical signature."""
    return Hash32("0x" + keccak(text=signature).hex())
