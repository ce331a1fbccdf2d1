"""What really happens to ordinary people with a token: the answer that predictions must equal.

Measured from balances and the pool's own events, by transactions of fresh accounts. Independent of
the service on purpose.
"""

import msgspec

from config.primitives import Address
from demo.layout import ZooToken
from tests.chain.verbs import Chain, Moved

WAIT_S = 120
"""Between buying and selling: longer than the zoo's cooldown."""


class RealOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Taxes in percent (1 is 1 percent); None when the step failed or there was nothing to do it
    with."""

    buy_success: bool
    buy_tax: float | None
    """Of what the pool sent, what did not arrive."""
    sell_success: bool | None
    """None: nothing was bought."""
    sell_tax: float | None
    """Of what left the seller, what the pool did not receive. On V4, where a hook takes its share
    of what the pool pays: of that, what the seller did not receive."""
    transfer_success: bool
    """Whether a holder's balance moved. A call that answers false and moves nothing did not."""
    send_tax: float | None
    """Deducted from the sender beyond what was sent."""
    receive_tax: float | None
    """Of what was sent, what did not arrive."""


def real_trade(
    chain: Chain,
    token: ZooToken,
    *,
    spend_usd: int = 30,
    wait_s: int = WAIT_S,
    sender: Address | None = None,
) -> RealOutcome:
    """Buy with a fresh account, wait, sell all of it; and transfer half of what `sender` has.

    `wait_s` 0: sell in the next block. `sender` None: a holder of the token, who never traded.
    """
    trader = chain.fresh_account()
    bought = chain.buy(token, trader, chain.quote_worth(token, spend_usd))
    arrived = bought.token_after - bought.token_before
    buy_success = bought.success and arrived > 0
    if wait_s > 0:
        chain.wait(wait_s)
    sold = chain.sell(token, trader) if buy_success else None
    moved, sent_raw = _transfer_half(chain, token, sender or token.holders[0])
    received = moved.other_after - moved.other_before
    transfer_success = moved.success and received > 0
    deducted = moved.token_before - moved.token_after
    return RealOutcome(
        buy_success=buy_success,
        buy_tax=_percent(bought.pool_out - arrived, bought.pool_out) if buy_success else None,
        sell_success=sold.success if sold else None,
        sell_tax=_sell_tax(token, sold) if sold and sold.success else None,
        transfer_success=transfer_success,
        send_tax=_percent(deducted - sent_raw, sent_raw) if transfer_success else None,
        receive_tax=_percent(sent_raw - received, sent_raw) if transfer_success else None,
    )


def _transfer_half(chain: Chain, token: ZooToken, sender: Address) -> tuple[Moved, int]:
    sent_raw = chain.balance(token.address, sender) // 2
    receiver = chain.fresh_account()
    return chain.transfer(token.address, sender, receiver, sent_raw), sent_raw


def _sell_tax(token: ZooToken, sold: Moved) -> float:
    if token.pool.kind == "AmmV4":
        paid_out = sold.other_after - sold.other_before
        return _percent(sold.pool_quote_out - paid_out, sold.pool_quote_out)
    left = sold.token_before - sold.token_after
    return _percent(left - sold.pool_in, left)


def _percent(part: int, whole: int) -> float:
    return part * 100 / whole
