"""Real outcomes of ordinary trades of a token, and their comparison with predictions.

Measured from balances and the pool's own events, by transactions of fresh accounts. Independent of
the service on purpose.
"""

import msgspec
import pytest

from assay.demo.layout import ZooToken, router_of
from assay.demo.reads import read
from core.evm.primitives import Address
from core.report.report import PoolResultRow, Report
from tests.harness.chain.transactions import Chain, Moved

WAIT_S = 120
"""Between buying and selling: longer than the zoo's cooldown."""

_WAIT_BLOCKS = 16
"""In that time: more than any contract here counts, and even, as one goes by their parity."""


class RealOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Taxes in percent (1 is 1 percent); None when the step failed or there was nothing to do it
    with."""

    buy_success: bool
    buy_tax: float | None
    """Share of the tokens sent by the pool that did not arrive.

    On V4, where a hook takes its share of either side, also the share of the payment that the pool
    did not receive.
    """
    sell_success: bool | None
    """None: nothing was bought."""
    sell_tax: float | None
    """Share of the seller's tokens that the pool did not receive.

    On V4 also the share of the pool's payment that the seller did not receive.
    """
    transfer_success: bool
    """True if a holder's balance moved. A call that returns false and moves nothing did not."""
    send_tax: float | None
    """Deducted from the sender beyond what was sent."""
    receive_tax: float | None
    """Share of a transfer that did not arrive."""


def real_trade(
    chain: Chain,
    token: ZooToken,
    *,
    spend_usd: int = 30,
    wait_s: int = WAIT_S,
    sender: Address | None = None,
    is_first: bool = False,
) -> RealOutcome:
    """Buy with a fresh account, wait, sell all; transfer half of the sender's tokens.

    `wait_s` 0: sell in the next block. `sender` None: a second account that bought; where nobody
    can buy, a holder of the token that never traded. `is_first`: nobody buys before, so the second
    account has nothing. A seller that cannot sell all tries a tenth.
    """
    trader, friend = chain.fresh_account(), chain.fresh_account()
    if not is_first:
        chain.buy(token, friend, chain.quote_worth(token, spend_usd))
    bought = chain.buy(token, trader, chain.quote_worth(token, spend_usd))
    if wait_s > 0:
        chain.wait(wait_s, blocks=_WAIT_BLOCKS)
    # What counts as bought is what is still there after the wait.
    arrived = min(bought.token_after, chain.balance(token.address, trader)) - bought.token_before
    buy_success = bought.success and arrived > 0
    amount_raw = chain.balance(token.address, trader)
    expected = _expected(chain, token, amount_raw) if buy_success else None
    sold = chain.sell(token, trader, amount_raw) if buy_success else None
    if sold and not sold.success:
        amount_raw //= 10
        expected = _expected(chain, token, amount_raw)
        sold = chain.sell(token, trader, amount_raw)
    has_friend = chain.balance(token.address, friend) > 0
    moved, sent_raw = _transfer_half(
        chain, token, sender or (friend if has_friend else token.holders[0])
    )
    received = moved.other_after - moved.other_before
    transfer_success = moved.success and received > 0
    deducted = moved.token_before - moved.token_after
    return RealOutcome(
        buy_success=buy_success,
        buy_tax=_buy_tax(token, bought, arrived) if buy_success else None,
        sell_success=sold.success if sold else None,
        sell_tax=_sell_tax(token, sold, amount_raw, expected) if sold and sold.success else None,
        transfer_success=transfer_success,
        send_tax=_percent(deducted - sent_raw, sent_raw) if transfer_success else None,
        receive_tax=_percent(sent_raw - received, sent_raw) if transfer_success else None,
    )


def _transfer_half(chain: Chain, token: ZooToken, sender: Address) -> tuple[Moved, int]:
    sent_raw = chain.balance(token.address, sender) // 2
    receiver = chain.fresh_account()
    return chain.transfer(token.address, sender, receiver, sent_raw), sent_raw


def _expected(chain: Chain, token: ZooToken, amount_raw: int) -> int | None:
    """Return what a pair would pay now for an amount. None: another kind of pool."""
    if token.pool.kind == "Solid":
        signature = "getAmountOut(uint256,address)"
        (paid,) = read(chain.node, token.pool.address, signature, amount_raw, token.address)
        return int(str(paid))
    if token.pool.kind != "AmmV2":
        return None
    venue = chain.world.venues.v2
    path = [token.address, token.pool.quote]
    (amounts,) = read(
        chain.node,
        router_of(venue),
        "getAmountsOut(uint256,address[])",
        amount_raw,
        path,
        returns="(uint256[])",
    )
    return int(amounts[-1])  # type: ignore[index] # a tuple as in `returns`


def _buy_tax(token: ZooToken, bought: Moved, arrived: int) -> float:
    lost = _percent(bought.pool_out - arrived, bought.pool_out)
    if token.pool.kind != "AmmV4":
        return lost
    paid = bought.other_before - bought.other_after
    return _both(_percent(paid - bought.pool_quote_in, paid), lost)


def _both(first: float, second: float) -> float:
    """Combine two successive losses."""
    return 100 - (100 - first) * (100 - second) / 100


def _sell_tax(token: ZooToken, sold: Moved, amount_raw: int, expected: int | None) -> float:
    paid_out = sold.other_after - sold.other_before
    if token.pool.kind == "AmmV4":
        given = sold.token_before - sold.token_after
        return _both(
            _percent(given - sold.pool_in, given),
            _percent(sold.pool_quote_out - paid_out, sold.pool_quote_out),
        )
    if expected is None:
        amount_raw = sold.token_before - sold.token_after
    share = sold.pool_in / amount_raw
    if expected is not None and paid_out < expected * share / 2:
        return _percent(expected - paid_out, expected)
    return _percent(amount_raw - sold.pool_in, amount_raw)


def _percent(part: int, whole: int) -> float:
    return part * 100 / whole


TAX_POINTS = 0.01
"""Largest distance of a predicted tax from the real one, in percentage points."""


def predicted(side: str | None) -> bool | None:
    return {"passed": True, "refused": False, None: None}[side]


def assert_pool_agrees(pool: PoolResultRow, real: RealOutcome) -> None:
    assert predicted(pool.buy) is real.buy_success
    assert pool.buy_tax == pytest.approx(real.buy_tax, abs=TAX_POINTS)
    if real.sell_success is None:
        # Nobody could buy, so nobody could try to sell; the service may know more, never a pass.
        assert pool.sell != "passed"
        return
    assert predicted(pool.sell) is real.sell_success
    assert pool.sell_tax == pytest.approx(real.sell_tax, abs=TAX_POINTS)


def pool_of(report: Report, token: ZooToken) -> PoolResultRow:
    """Return the token's own pool, among those that its transfers may have created."""
    assert report.pools is not None
    (pool,) = [row for row in report.pools if row.pool == token.pool.address]
    return pool


MOST_TRIPS = 3
MOST_CALLS = 95
