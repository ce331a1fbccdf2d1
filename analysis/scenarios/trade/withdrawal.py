"""Withdrawal: simulates that a holder withdraws its liquidity from a pool.

The amounts are changes of the receiver's balances, never return values. Sends no request.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from analysis.liquidity.holdings import LiquidityHolding
from analysis.market.venues.pool import Candidate
from analysis.scenarios.trade.token_calls import balance_call
from analysis.scenarios.trade.withdrawal_calls import withdrawal_calls
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
from core.evm.abi import encode_values
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount

_COIN_READER: Final = "0x6000353160005260206000f3"
"""Returns the native coins of the address in the first word of the calldata."""


class Withdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one withdrawal, first in the first block of a simulation."""

    holder: Address
    receiver: Address
    calls: tuple[SimCall, ...]
    """Two reads, the withdrawal, and two reads."""
    code: Mapping[Address, str]
    """Code overrides."""


class Withdrawn(msgspec.Struct, frozen=True, kw_only=True):
    """Result of a withdrawal for its receiver."""

    outcome: Passed | Refused | NotSimulated
    token_raw: RawAmount | None = None
    """Smallest units. None: it did not pass, or a balance is not visible."""
    quote_raw: RawAmount | None = None


def write_withdrawal(
    pool: Candidate, holder: Address | None, holding: LiquidityHolding, disguise: Disguise
) -> Withdrawal | None:
    """Return the withdrawal of a holding by `holder`, which may receive it first.

    `holder` None: LP tokens in the pair itself, which anybody can redeem. None: the calls are not
    known.
    """
    actor = holder or disguise.account(f"{pool.key}:redeems")
    reader = disguise.account(f"{pool.key}:coins")
    # Coins go to an account that pays no gas, so that what arrives can be read.
    is_coin = pool.quote == ZERO_ADDRESS
    receiver = disguise.account(f"{pool.key}:receives") if is_coin else actor
    acts = withdrawal_calls(pool, actor, holding, receiver, is_anybody=holder is None)
    if not acts:
        return None

    def reads(when: str) -> tuple[SimCall, SimCall]:
        token = balance_call(pool.token, receiver, f"token {when} withdrawal", reader=actor)
        if not is_coin:
            label = f"quote {when} withdrawal"
            return token, balance_call(pool.quote, receiver, label, reader=actor)
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
    """Return the result. `block`: index of the block that begins with its calls."""
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
