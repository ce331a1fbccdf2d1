"""Withdrawal: simulates that a holder takes their liquidity out of a pool.

LP tokens are sent to the pair and redeemed, which is what routers do; positions are decreased to
nothing and collected through the position manager. The amounts are balances of the receiver before
and after, never what a contract says. Sends no request.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from analysis.liquidity.holdings import Part
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import FOREVER_S
from analysis.market.venues.venue_registry import venue_of
from analysis.scenarios.token_calls import balance_call
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    READ_GAS,
    CallHandle,
    NotSimulated,
    Passed,
    Refused,
    SimCall,
    SimulationResult,
)
from core.abi import call_data, encode_values
from core.primitives import ZERO_ADDRESS, Address, RawAmount

MOST_POSITIONS: Final = 10
"""Positions of one holder that are withdrawn."""

_MOST_COLLECTED: Final = 2**128 - 1
_DECREASE, _TAKE_PAIR = 0x01, 0x11
"""Source: v4-periphery Actions; infinity-periphery has the same numbers."""

_COIN_READER: Final = "0x6000353160005260206000f3"
"""Returns the native coins of the address in the first word of the calldata."""


class Withdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one withdrawal, first in the first block of a simulation."""

    holder: Address
    receiver: Address
    calls: tuple[SimCall, ...]
    """Two reads, the withdrawal, and two reads."""
    code: Mapping[Address, str]
    """Put at addresses of ours."""


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """What a withdrawal brought the receiver."""

    outcome: Passed | Refused | NotSimulated
    token_raw: RawAmount | None = None
    """Smallest units. None: it did not pass, or a balance is not visible."""
    quote_raw: RawAmount | None = None


def write_withdrawal(
    pool: Candidate, holder: Address | None, parts: Sequence[Part], disguise: Disguise
) -> Withdrawal | None:
    """Return the withdrawal of these parts. `holder` None: LP tokens in the pair itself, which
    anybody can redeem. None: how it is done is not known."""
    actor = holder or disguise.account(f"{pool.key}:redeems")
    reader = disguise.account(f"{pool.key}:coins")
    # Coins go to an account that pays no gas, so that what arrives can be read.
    is_coin = pool.quote == ZERO_ADDRESS
    receiver = disguise.account(f"{pool.key}:receives") if is_coin else actor
    acts = _acts(pool, actor, parts, receiver, is_anybody=holder is None)
    if not acts:
        return None

    def reads(when: str) -> tuple[SimCall, SimCall]:
        token = balance_call(pool.token, receiver, f"token {when} withdrawal", asker=actor)
        if not is_coin:
            label = f"quote {when} withdrawal"
            return token, balance_call(pool.quote, receiver, label, asker=actor)
        data = "0x" + encode_values(["address"], [receiver]).removeprefix("0x")
        label = f"coins {when} withdrawal"
        return token, SimCall(label=label, sender=actor, to=reader, data=data, gas=READ_GAS)

    return Withdrawal(
        holder=actor,
        receiver=receiver,
        calls=(*reads("before"), *acts, *reads("after")),
        code={reader: _COIN_READER} if is_coin else {},
    )


def read_withdrawal(
    written: Withdrawal, result: SimulationResult | NotSimulated, *, block: int = 0
) -> Withdrawn:
    """Return what came of it. `block`: index of the block that begins with its calls."""
    if isinstance(result, NotSimulated):
        return Withdrawn(outcome=result)
    answers = [result[CallHandle(block, at)] for at in range(len(written.calls))]
    for call, answer in zip(written.calls, answers, strict=True):
        if not answer.ok and not call.is_read:
            return Withdrawn(outcome=Refused(reason=answer.message or "the withdrawal reverts"))
    token, quote = (
        None if before.word is None or after.word is None else after.word - before.word
        for before, after in zip(answers[:2], answers[-2:], strict=True)
    )
    return Withdrawn(
        outcome=Passed(tax=None),
        token_raw=None if token is None else RawAmount(max(0, token)),
        quote_raw=None if quote is None else RawAmount(max(0, quote)),
    )


def handing_over(
    pool: Candidate, holder: Address, parts: Sequence[Part], receiver: Address
) -> tuple[SimCall, ...]:
    """Return the calls by which a holder gives the positions that `write_withdrawal` withdraws to
    somebody else. Empty: they are no tokens of a position manager."""
    manager = pool.dex.position_manager
    tokens = [part.token_id for part in parts if part.token_id is not None][:MOST_POSITIONS]
    if manager is None:
        return ()
    signature = "transferFrom(address,address,uint256)"
    return tuple(
        _act(holder, manager, f"hand over {token}", call_data(signature, holder, receiver, token))
        for token in tokens
    )


def _acts(
    pool: Candidate, actor: Address, parts: Sequence[Part], receiver: Address, *, is_anybody: bool
) -> tuple[SimCall, ...]:
    form = venue_of(pool.dex).liquidity_form(pool.dex)
    if form == "lp_tokens":
        burn = _act(actor, pool.pool, "redeem", call_data("burn(address)", receiver))
        if is_anybody:
            return (burn,)
        held = sum(part.amount for part in parts)
        sent = call_data("transfer(address,uint256)", pool.pool, held)
        return (_act(actor, pool.pool, "send LP tokens", sent), burn)
    manager = pool.dex.position_manager
    tokens = [(part.token_id, part.amount) for part in parts if part.token_id is not None]
    if manager is None or not tokens:
        return ()
    if form == "entry_positions":
        data = _take_pair(pool, tokens[:MOST_POSITIONS], receiver)
        return (_act(actor, manager, "withdraw", data),)
    return tuple(
        _act(actor, manager, label, data)
        for token_id, held in tokens[:MOST_POSITIONS]
        for label, data in (
            (
                f"decrease {token_id}",
                call_data(
                    "decreaseLiquidity((uint256,uint128,uint256,uint256,uint256))",
                    (token_id, held, 0, 0, FOREVER_S),
                ),
            ),
            (
                f"collect {token_id}",
                call_data(
                    "collect((uint256,address,uint128,uint128))",
                    (token_id, receiver, _MOST_COLLECTED, _MOST_COLLECTED),
                ),
            ),
        )
    )


def _take_pair(pool: Candidate, tokens: Sequence[tuple[int, int]], receiver: Address) -> str:
    """Return the position manager's call that decreases all positions, and takes both currencies
    at the end."""
    actions = bytes([_DECREASE] * len(tokens) + [_TAKE_PAIR])
    types = ["uint256", "uint256", "uint128", "uint128", "bytes"]
    values = [_encoded(types, [token_id, held, 0, 0, b""]) for token_id, held in tokens]
    pair = sorted((pool.token, pool.quote))
    values.append(_encoded(["address", "address", "address"], [*pair, receiver]))
    unlock = _encoded(["bytes", "bytes[]"], [actions, values])
    return call_data("modifyLiquidities(bytes,uint256)", unlock, FOREVER_S)


def _encoded(types: Sequence[str], values: Sequence[object]) -> bytes:
    return bytes.fromhex(encode_values(types, values).removeprefix("0x"))


def _act(sender: Address, to: Address, label: str, data: str) -> SimCall:
    return SimCall(label=label, sender=sender, to=to, data=data, is_trade=True)
