"""Adaptive size of log queries, and parsing of nodes' refusals of them. No I/O."""

import re

import msgspec

from core.rpc.messages import RpcFault

_GROWTH = 2
_MOST_LOGS = 30_000
"""Logs of an answer (20 MB of JSON) beyond which decoding slows down, as caches overflow."""
_REST_AFTER_REFUSAL = 8
"""Successes before a size above a refused one is tried again."""

_REFUSALS = re.compile(
    r"""
      block\ range | max\w*\ range | range\ limit | limited\ to(?!\ [\d,.]+/) | too\ many\ blocks
    | requested\ blocks | at\ most\ [\d,]+\ blocks | ranges?\ over | exceeds\ the\ range
    | range\ (?:\d+\ exceeds | is\ too | too) | exceeds\ limit\ of\ [\d,]+ | blocks\ distance
    | smaller\ than\ size | backend\ response\ too\ large
    | more\ than\ [\d,]+\ (results|logs) | too\ many\ (results|logs) | max\w*\ (results|logs)
    | response\ size | query\ timeout
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TIMEOUT = re.compile(
    r"""
      timed?[ ]?out | cancell?ed | deadline\ exceeded | took\ too\ long | execution\ aborted
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NEEDS_ADDRESS = re.compile(
    r"""
      (?:specify|provide|include|supply|requires?|missing|without|lacks?)
      \b[^.]{0,24}?\baddress(?:es)?\b(?!\ ?range)
    | \baddress(?:es)?\b[^.]{0,24}?\b(?:required|mandatory|missing|must\ (?:be|not\ be)|needed)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TOO_MANY = re.compile(r"\b(?:less|fewer|many|max\w*|limit\w*|exceed\w*)\b", re.IGNORECASE)
_LIMIT_EXCEEDED = -32005
_NUMBER = r"(0x[0-9a-f]+|\d+)"
_OFFERS = re.compile(
    rf"\[\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\] | range\ {_NUMBER}-{_NUMBER}",
    re.VERBOSE | re.IGNORECASE,
)
_LIMITS = re.compile(
    r"""
    (?: limited\ to\s(?:a\s|0\s-\s)? | up\ to\ a\s | max\w*\ (?:block\ )?range(?::|\ =)?\s
      | maximum\ is\ set\ to\s | at\ most\s | ranges?\ over\s | requested\ blocks\ is\s
      | \(\d+\ >\s | range\ \d+\ exceeds\ limit\ of\s | range\ limit\s | \bmax:\s | \bmax\ is\s
      | \(maximum\s | distance:\s | smaller\ than\ size\s )
    (\d[\d,]*)(k?)\b (?!\ (?:results|logs|response))
    """,
    re.VERBOSE | re.IGNORECASE,
)


class LogRange(msgspec.Struct, frozen=True, kw_only=True):
    """Present size of a log query, and the state of its adaptation."""

    size: int
    """Blocks to query next."""
    largest: int
    """Upper bound of `size`."""
    rest: int = 0
    """Successes left before the size grows again."""

    def last_block(self, first: int, *, bound: int) -> int:
        """Return the last block of a query that starts at `first` and may not pass `bound`."""
        return min(first + self.size - 1, bound)

    def after_success(self, requested: int, *, logs: int = 0) -> "LogRange":
        """Return a larger range, unless a refusal is recent, the query was short, or the answer had
        many logs.

        A smaller one after too many `logs`.
        """
        if logs > _MOST_LOGS:
            fitting = max(1, requested * _MOST_LOGS // logs)
            return msgspec.structs.replace(self, size=min(self.size, fitting))
        if self.rest:
            return msgspec.structs.replace(self, rest=self.rest - 1)
        if requested < self.size or logs * _GROWTH > _MOST_LOGS:
            return self
        return msgspec.structs.replace(self, size=min(self.size * _GROWTH, self.largest))

    def after_refusal(self, requested: int, *, suggested: int | None = None) -> "LogRange":
        """Return a range of the node's suggested size where that is smaller, else of half of
        `requested`."""
        half = max(1, requested // 2)
        size = suggested if suggested is not None and 0 < suggested < requested else half
        return msgspec.structs.replace(self, size=size, rest=_REST_AFTER_REFUSAL)


def is_range_refusal(fault: RpcFault) -> bool:
    """True if a node's error means "ask for fewer blocks or fewer logs".

    Recognised by words: the codes (-32005, -32600, -32602, -32000, 35) are used for other things.
    """
    return _REFUSALS.search(fault.message) is not None


def is_query_timeout(fault: RpcFault) -> bool:
    """True if a node's error means that the request took it too long.

    Recognised by words, as the codes (-32000, -32002, -32016, 30) are used for other things.
    Sources: Geth (rpc/errors.go), Nethermind (ErrorCodes.Timeout), Erigon, Reth.
    """
    return _TIMEOUT.search(fault.message) is not None


def is_address_refusal(fault: RpcFault) -> bool:
    """True if a node's error means "name the contracts whose logs you want".

    Recognised by words, as the codes are used for other things. An error about too many addresses
    is none.
    """
    return (
        _NEEDS_ADDRESS.search(fault.message) is not None and _TOO_MANY.search(fault.message) is None
    )


def is_unserved_query(fault: RpcFault) -> bool:
    """True if a node's error to a query for logs may mean that it serves none.

    The error has EIP-1474's words for too many requests; public nodes of BSC answer every query
    with it. A query counts as such only if every try is rejected as limited. Source:
    bnb-chain/bsc#1215.
    """
    return fault.code == _LIMIT_EXCEEDED and fault.message.strip().lower() == "limit exceeded"


def parse_suggestion(message: str, *, first: int) -> tuple[int, int] | None:
    """Return the first and last block that a refusal suggests, or that its stated limit allows from
    `first`.

    None: the message contains neither.
    """
    offer = _OFFERS.search(message)
    if offer is not None:
        low, high = (int(text, 0) for text in offer.groups() if text is not None)
        return (low, high) if low <= high else None
    limit = _LIMITS.search(message)
    if limit is None:
        return None
    blocks = int(limit.group(1).replace(",", "")) * (1000 if limit.group(2) else 1)
    return (first, first + blocks - 1) if blocks > 0 else None
