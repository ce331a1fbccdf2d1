"""Requests that an evidence pack may contain: reads of its block and simulations on it. Pure.

A pack comes from others. Its requests must change nothing, name no other block, and need bounded
gas; any other request invalidates the whole pack.
"""

from typing import Annotated, Final

import msgspec

from core.evm.primitives import BlockRef
from core.rpc.messages import RpcRequest

_MOST_GAS: Final = 100_000_000
"""Most gas of one call; most nodes stop at half of that."""

_MOST_SIMULATED: Final = 256
"""Blocks of one simulation, and calls of one block."""

_Address = Annotated[str, msgspec.Meta(pattern="^0x[0-9a-fA-F]{40}$")]
_Quantity = Annotated[str, msgspec.Meta(pattern="^0x[0-9a-fA-F]{1,64}$")]
_Word = Annotated[str, msgspec.Meta(pattern="^0x[0-9a-fA-F]{64}$")]
_Data = Annotated[str, msgspec.Meta(pattern="^0x([0-9a-fA-F]{2})*$", max_length=2**19)]
_Topics = Annotated[tuple[_Word | tuple[_Word, ...] | None, ...], msgspec.Meta(max_length=4)]


class _Wire(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Base of the parts of a request."""


class _Pin(_Wire, frozen=True):
    block_hash: _Word


class _Transaction(_Wire, frozen=True, kw_only=True):
    data: _Data
    gas: _Quantity
    to: _Address | None = None
    sender: _Address | None = msgspec.field(default=None, name="from")
    value: _Quantity = "0x0"
    gas_price: _Quantity | None = None
    max_fee_per_gas: _Quantity | None = None
    max_priority_fee_per_gas: _Quantity | None = None


class _Account(_Wire, frozen=True, kw_only=True):
    balance: _Quantity | None = None
    nonce: _Quantity | None = None
    code: _Data | None = None
    state_diff: dict[_Word, _Word] = {}


_State = dict[_Address, _Account]


class _Block(_Wire, frozen=True, kw_only=True):
    block_overrides: dict[str, _Quantity] = {}
    calls: Annotated[tuple[_Transaction, ...], msgspec.Meta(max_length=_MOST_SIMULATED)] = ()
    state_overrides: _State = {}


class _Simulation(_Wire, frozen=True, kw_only=True):
    block_state_calls: Annotated[tuple[_Block, ...], msgspec.Meta(max_length=_MOST_SIMULATED)]
    validation: bool
    trace_transfers: bool


class _LogQuery(_Wire, frozen=True, kw_only=True):
    address: _Address | tuple[_Address, ...]
    topics: _Topics
    from_block: _Quantity
    to_block: _Quantity


_SHAPES: Final[dict[tuple[str, int], type[tuple[object, ...]]]] = {
    ("eth_call", 2): tuple[_Transaction, _Pin],
    ("eth_call", 3): tuple[_Transaction, _Pin, _State],
    ("eth_getBlockByHash", 2): tuple[_Word, bool],
    ("eth_getCode", 2): tuple[_Address, _Pin],
    ("eth_getLogs", 1): tuple[_LogQuery],
    ("eth_getStorageAt", 3): tuple[_Address, _Word, _Pin],
    ("eth_simulateV1", 2): tuple[_Simulation, _Pin],
}
"""Types of the parameters, by method and number of parameters."""


def reason_against(request: RpcRequest, block: BlockRef) -> str | None:
    """Return why a pack of this block must not contain the request. None: it may."""
    shape = _SHAPES.get((request.method, len(request.params)))
    if shape is None:
        return f"{request.method} is no request of an evidence pack"
    try:
        params = msgspec.convert(request.params, type=shape)
    except (msgspec.ValidationError, RecursionError) as error:
        return f"{request.method}: {error}"
    if isinstance(params[0], _LogQuery):
        is_pinned = int(params[0].to_block, 16) <= block.number
    else:
        is_pinned = _pinned_to(params) == block.hash
    if not is_pinned:
        return f"{request.method}: of another block"
    if any(int(call.gas, 16) > _MOST_GAS for call in _transactions(params[0])):
        return f"{request.method}: a call with more than {_MOST_GAS} gas"
    return None


def _pinned_to(params: tuple[object, ...]) -> object:
    """Return the block hash of a request."""
    pins = [each.block_hash for each in params if isinstance(each, _Pin)]
    return pins[0] if pins else params[0]


def _transactions(first: object) -> tuple[_Transaction, ...]:
    match first:
        case _Transaction():
            return (first,)
        case _Simulation():
            return tuple(call for block in first.block_state_calls for call in block.calls)
        case _:
            return ()
