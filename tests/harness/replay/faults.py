"""Deliberate faults of a replay node: late, refused, cut and missing answers."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from tests.harness.replay.answers import RpcCall

RANGE_WORDINGS: dict[str, tuple[int, str]] = {
    "alchemy": (
        -32602,
        "Log response size exceeded. You can make eth_getLogs requests with up to a {most} block "
        "range. Based on your parameters, this block range should work: [{first}, {last}]",
    ),
    "infura": (
        -32005,
        "query returned more than 10000 results. Try with this block range [{first}, {last}].",
    ),
    "quicknode": (-32614, "eth_getLogs is limited to a {most} range"),
    "bnb": (-32005, "exceed maximum block range: {most}"),
    "ankr": (-32600, "block range is too wide"),
}
"""Providers' refusals of a range: code and message, with their suggestions."""


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error object in place of a result."""

    code: int
    message: str
    data: str | None = None


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Fault of the answer to one message. By default none."""

    delay_s: float = 0.0
    """Wait before anything is sent; longer than the caller's patience it is a time-out."""
    status: int = 200
    """HTTP status. Other than 200: an answer without a body."""
    headers: Mapping[str, str] = {}
    """Headers in addition to the usual ones, such as Retry-After."""
    refusals: Mapping[int, Refusal] = {}
    """Calls of the message, by position, that are answered with an error."""
    whole: Refusal | None = None
    """One error object in place of all answers."""
    sent_share: float = 1.0
    """Share of the body that is sent, 0 to 1, before the connection is closed."""


FaultPlan = Callable[[Sequence[RpcCall]], Fault]
"""Returns the fault of the answer to the calls of one message. Called on the connection's thread.
"""


def no_faults(_: Sequence[RpcCall]) -> Fault:
    """Nothing goes wrong."""
    return Fault()


def limit_ranges(most: int, wording: str) -> FaultPlan:
    """Refuse log queries over more than `most` blocks, in a provider's words."""
    code, text = RANGE_WORDINGS[wording]

    def plan(calls: Sequence[RpcCall]) -> Fault:
        refusals = {}
        for at, call in enumerate(calls):
            if call.method != "eth_getLogs" or "fromBlock" not in call.params[0]:
                continue
            first, last = (int(call.params[0][end], 16) for end in ("fromBlock", "toBlock"))
            if last - first >= most:
                offer = {"first": hex(first), "last": hex(first + most - 1), "most": most}
                refusals[at] = Refusal(code, text.format(**offer))
        return Fault(refusals=refusals)

    return plan
