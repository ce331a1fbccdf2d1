"""What gas has cost lately, and whether a node's simulations keep the base fee they are given.

Fees are asked for in the first round trip and remembered for a while; the base fee beside the first
plays, and remembered for good. Some nodes put a base fee of zero in
simulated blocks unless they also check balances and fees (anvil 1.7); a contract that compares the
gas price with the base fee would then see a chain that is none. Sources: execution-apis,
eth_feeHistory and eth_simulateV1.
"""

import msgspec

from analysis.node import RpcAnswer
from config.jsonrpc import RpcFault, RpcRequest
from config.primitives import Address, BlockRef

REMEMBERED_S = 60.0
"""Seconds after which fees are asked for anew."""

_BLOCKS = 100
_PERCENTILES = (10, 90)
TYPICAL_TIPS_WEI = (10**8, 15 * 10**8)
"""Where the chain does not tell: 0.1 to 1.5 gwei."""

_LEAST_SPREAD_WEI = 2

_BASE_FEE_CODE = "0x485f5260205ff3"
"""BASEFEE; MSTORE at 0; RETURN 32 bytes."""

_PROBE = Address("0x" + "b5" * 20)
_GIVEN_WEI = 7_654_321
_STEP_S = 12


class _WireHistory(msgspec.Struct, rename="camel"):
    reward: tuple[tuple[str, ...], ...] = ()


class _WireCall(msgspec.Struct, rename="camel"):
    return_data: str = "0x"


class _WireBlock(msgspec.Struct):
    calls: tuple[_WireCall, ...] = ()


def history_request() -> RpcRequest:
    """Priority fees of recent blocks."""
    return RpcRequest("eth_feeHistory", (hex(_BLOCKS), "latest", _PERCENTILES))


def base_fee_request(pin: BlockRef) -> RpcRequest:
    """A simulated block, the next but for its time, that tells its base fee."""
    block = {
        "blockOverrides": {
            "number": hex(pin.number + 1),
            "time": hex(pin.time_s + _STEP_S),
            "baseFeePerGas": hex(_GIVEN_WEI),
        },
        "stateOverrides": {_PROBE: {"code": _BASE_FEE_CODE}},
        "calls": [{"to": _PROBE, "gas": hex(100_000)}],
    }
    return RpcRequest("eth_simulateV1", ({"blockStateCalls": [block]}, {"blockHash": pin.hash}))


def read_tips(answer: RpcAnswer) -> tuple[int, int]:
    """10th and 90th percentile in wei, the second above the first; what is usual where the node
    does not tell."""
    if isinstance(answer, RpcFault):
        return TYPICAL_TIPS_WEI
    try:
        rewards = msgspec.json.decode(answer, type=_WireHistory).reward
        pairs = [tuple(int(each, 16) for each in row) for row in rewards]
    except (msgspec.DecodeError, ValueError):
        return TYPICAL_TIPS_WEI
    lows = sorted(pair[0] for pair in pairs if len(pair) == len(_PERCENTILES) and pair[1])
    highs = sorted(pair[1] for pair in pairs if len(pair) == len(_PERCENTILES) and pair[1])
    if not highs:
        return TYPICAL_TIPS_WEI
    low, high = lows[len(lows) // 2], highs[len(highs) // 2]
    return low, max(high, low + _LEAST_SPREAD_WEI)


def keeps_base_fee(answer: RpcAnswer) -> bool:
    """Whether simulated blocks have the base fee they are given though nothing is checked. True
    where nothing was learnt: a node without simulation has no base fee to lose there."""
    if isinstance(answer, RpcFault):
        return True
    try:
        blocks = msgspec.json.decode(answer, type=tuple[_WireBlock, ...])
        return int(blocks[0].calls[0].return_data, 16) == _GIVEN_WEI
    except (msgspec.DecodeError, ValueError, IndexError):
        return True
