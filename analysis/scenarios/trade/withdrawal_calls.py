"""Calls that withdraw or transfer liquidity, for each of its forms. Pure.

LP tokens are sent to the pair and redeemed, which is what routers do; positions are decreased to
nothing and collected through the position manager; shares of bins are burnt through the pair, or
through the position manager. Source: v3-periphery INonfungiblePositionManager; v4-periphery and
infinity-periphery Actions, IBinPositionManager; joe-v2 ILBPair.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Final

from analysis.liquidity.holdings import LiquidityHolding, Part
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import FOREVER_S
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.eth_reads import WORD
from analysis.simulation.simulate_v1 import SimCall
from core.evm.abi import call_data, encode_values
from core.evm.primitives import Address

_MOST_POSITIONS: Final = 10
"""Most positions of one holder that are withdrawn, each by separate calls."""

_MOST_BINS: Final = 100
"""Most bins of one holder whose shares are burnt, in one call."""

_MOST_COLLECTED: Final = 2**128 - 1
_DECREASE, _TAKE_PAIR = 0x01, 0x11
"""Infinity's numbers are the same for its concentrated pools."""
_REMOVE_BINS: Final = 0x1A
_KEY_WORDS: Final = 6
_POOL_KEY: Final = "(address,address,address,address,uint24,bytes32)"


def withdrawn_parts(pool: Candidate, holding: LiquidityHolding) -> tuple[Part, ...]:
    """Return the parts of a holding that its withdrawal takes; there may be more."""
    match venue_of(pool.dex).liquidity_form(pool.dex):
        case "lp_tokens":
            return holding.parts
        case "entry_bins" | "book_bins":
            return _tokens(holding.parts)[:_MOST_BINS]
        case _:
            return _tokens(holding.parts)[:_MOST_POSITIONS]


def withdrawal_calls(
    pool: Candidate,
    actor: Address,
    holding: LiquidityHolding,
    receiver: Address,
    *,
    is_anybody: bool,
) -> tuple[SimCall, ...]:
    """Return the calls by which `actor` withdraws. Empty: not known.

    `is_anybody`: LP tokens in the pair itself, which anybody can redeem.
    """
    parts, manager = withdrawn_parts(pool, holding), pool.dex.position_manager
    form = venue_of(pool.dex).liquidity_form(pool.dex)
    if not parts:
        return ()
    if form == "lp_tokens":
        calls = _redeem(pool, actor, parts, receiver)
        return calls[1:] if is_anybody else calls
    if form == "book_bins":
        signature = "burn(address,address,uint256[],uint256[])"
        data = call_data(signature, actor, receiver, *_bins_and_amounts(parts))
        return (_act(actor, pool.pool, "withdraw", data),)
    if manager is None:
        return ()
    if form == "minted_positions":
        each = (_decrease_minted(manager, actor, part, receiver) for part in parts)
        return tuple(chain.from_iterable(each))
    data = (
        _decrease_entries(pool, parts, receiver)
        if form == "entry_positions"
        else _remove_bins(pool, actor, parts, receiver, key=holding.pool_key)
    )
    return (_act(actor, manager, "withdraw", data),) if data else ()


def handing_over(
    pool: Candidate, holding: LiquidityHolding, receiver: Address
) -> tuple[SimCall, ...]:
    """Return the calls that transfer the withdrawn parts to another account.

    Empty: they are no tokens of a position manager.
    """
    holder, manager = holding.holder, pool.dex.position_manager
    parts = withdrawn_parts(pool, holding)
    if manager is None or not parts:
        return ()
    if venue_of(pool.dex).liquidity_form(pool.dex) == "entry_bins":
        signature = "batchTransferFrom(address,address,uint256[],uint256[])"
        ids = [part.token_id for part in parts]
        data = call_data(signature, holder, receiver, ids, [part.amount for part in parts])
        return (_act(holder, manager, "hand over shares", data),)
    signature = "transferFrom(address,address,uint256)"
    return tuple(
        _act(
            holder,
            manager,
            f"hand over {part.token_id}",
            call_data(signature, holder, receiver, part.token_id),
        )
        for part in parts
    )


def _tokens(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(part for part in parts if part.token_id is not None)


def _bins_and_amounts(parts: Sequence[Part]) -> tuple[list[int | None], list[int]]:
    return [part.bin_id for part in parts], [part.amount for part in parts]


def _redeem(
    pool: Candidate, actor: Address, parts: Sequence[Part], receiver: Address
) -> tuple[SimCall, SimCall]:
    amount = sum(part.amount for part in parts)
    sent = call_data("transfer(address,uint256)", pool.pool, amount)
    burnt = call_data("burn(address)", receiver)
    return (
        _act(actor, pool.pool, "send LP tokens", sent),
        _act(actor, pool.pool, "redeem", burnt),
    )


def _decrease_minted(
    manager: Address, actor: Address, part: Part, receiver: Address
) -> tuple[SimCall, SimCall]:
    decrease = call_data(
        "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))",
        (part.token_id, part.amount, 0, 0, FOREVER_S),
    )
    collect = call_data(
        "collect((uint256,address,uint128,uint128))",
        (part.token_id, receiver, _MOST_COLLECTED, _MOST_COLLECTED),
    )
    return (
        _act(actor, manager, f"decrease {part.token_id}", decrease),
        _act(actor, manager, f"collect {part.token_id}", collect),
    )


def _decrease_entries(pool: Candidate, parts: Sequence[Part], receiver: Address) -> str:
    """Return the position manager's call that decreases all positions, and takes both currencies
    at the end."""
    types = ["uint256", "uint256", "uint128", "uint128", "bytes"]
    each = [_encoded(types, [part.token_id, part.amount, 0, 0, b""]) for part in parts]
    return _modify(pool, [_DECREASE] * len(parts), each, receiver)


def _remove_bins(
    pool: Candidate, holder: Address, parts: Sequence[Part], receiver: Address, *, key: bytes
) -> str:
    """Return the position manager's call that burns a holder's shares, and takes both currencies
    at the end. Empty: the pool's key is not known."""
    if len(key) != _KEY_WORDS * WORD:
        return ""
    words = [key[at : at + WORD] for at in range(0, len(key), WORD)]
    addresses = ["0x" + word[-20:].hex() for word in words[:4]]
    named = (*addresses, int.from_bytes(words[4]), words[5])
    types = f"({_POOL_KEY},uint128,uint128,uint256[],uint256[],address,bytes)"
    burnt = _encoded([types], [(named, 0, 0, *_bins_and_amounts(parts), holder, b"")])
    return _modify(pool, [_REMOVE_BINS], [burnt], receiver)


def _modify(
    pool: Candidate, actions: Sequence[int], values: Sequence[bytes], receiver: Address
) -> str:
    taken = _encoded(
        ["address", "address", "address"], [*sorted((pool.token, pool.quote)), receiver]
    )
    plan = [bytes([*actions, _TAKE_PAIR]), [*values, taken]]
    return call_data(
        "modifyLiquidities(bytes,uint256)", _encoded(["bytes", "bytes[]"], plan), FOREVER_S
    )


def _encoded(types: Sequence[str], values: Sequence[object]) -> bytes:
    return bytes.fromhex(encode_values(types, values).removeprefix("0x"))


def _act(sender: Address, to: Address, label: str, data: str) -> SimCall:
    return SimCall(label=label, sender=sender, to=to, data=data, is_trade=True)
