"""Counts and sums of a batch, to compare the lake's rows with the serving state's."""

import msgspec

_WORD = 64
_MID = 64
_HIGH = 128


class BatchSums(msgspec.Struct, frozen=True, kw_only=True):
    """Exact sums of a batch. An address counts as a 160-bit number."""

    transfers: int
    amount_sum: int
    """Sum over all tokens in smallest units: a checksum, not an amount."""
    sender_sum: int
    recipient_sum: int
    trades: int
    undecoded: int

    @property
    def rows(self) -> int:
        """Return the number of rows of all kinds."""
        return self.transfers + self.trades + self.undecoded


class WordSums(msgspec.Struct, frozen=True, kw_only=True):
    """The same sums from the lake, by 64-bit word; each may exceed 64 bits."""

    transfers: int
    word0: int
    word1: int
    word2: int
    word3: int
    sender_high: int
    sender_mid: int
    sender_low: int
    recipient_high: int
    recipient_mid: int
    recipient_low: int
    trades: int
    undecoded: int

    def combine(self) -> BatchSums:
        """Combine the words."""
        words = (self.word0, self.word1, self.word2, self.word3)
        return BatchSums(
            transfers=self.transfers,
            amount_sum=sum(word << _WORD * at for at, word in enumerate(words)),
            sender_sum=_address(self.sender_high, self.sender_mid, self.sender_low),
            recipient_sum=_address(self.recipient_high, self.recipient_mid, self.recipient_low),
            trades=self.trades,
            undecoded=self.undecoded,
        )


def _address(high: int, mid: int, low: int) -> int:
    return (high << _HIGH) + (mid << _MID) + low
