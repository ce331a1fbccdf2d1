"""Exchanges that the demo has not got, on its node: their pools, and real trades in them.

Outcomes are read from balances alone, of the trader and of the contract that holds a pool's tokens.
"""

from collections.abc import Callable
from functools import cache
from math import isqrt
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.npm_packages import NODE_MODULES
from assay.demo.seeding import UNLIMITED
from assay.demo.trader import Call
from assay.demo.transaction_pipeline import Pipeline, created_address
from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS, Address
from core.report.report import PoolResultRow
from core.report.rows import PoolRow
from indexer.decode.logs import decode_logs
from indexer.decode.pool_events import PoolDecoder
from indexer.decode.swap_events import TradeColumns, decode_trades
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

_OWN = Path(__file__).parent / "contracts"
_LIBRARY = NODE_MODULES / "@uniswap" / "v4-core" / "src"
_TAX_POINTS = 0.01
_APPROVE = "approve(address,uint256)"
_LIBRARY_FOLDERS = ("interfaces", "libraries", "types")

TOKEN_RAW = 9 * 10**23
QUOTE_RAW = 30 * 10**18
SPEND_RAW = 10**16
"""Payment of an ordinary buyer in a pool of 30 coins."""


@cache
def artifacts() -> Artifacts:
    """The contracts of `venues`, compiled with Uniswap's libraries from the npm package."""
    library = [path for folder in _LIBRARY_FOLDERS for path in (_LIBRARY / folder).rglob("*.sol")]
    sources = {path.relative_to(NODE_MODULES).as_posix(): path.read_text() for path in library}
    return compile_sources(sources | {path.name: path.read_text() for path in _OWN.glob("*.sol")})


class Market(msgspec.Struct, frozen=True, kw_only=True):
    """One pool of one token against the wrapped coin, or the coin itself."""

    dex: Dex
    token: Address
    quote: Address
    holder: Address
    """The contract that holds the pool's tokens."""
    key: str
    """The pool's id, or its address."""
    emitter: Address
    """The contract that emits the pool's swaps."""
    spender: Address
    """Contract that takes a trader's payment."""
    swap_data: Callable[[Address, Address, int], tuple[Address, str]]
    """Target and data of a call, by trader, token paid in and amount."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One real trade. `tax` in percent; None: it failed."""

    success: bool
    tax: float | None


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """Accounts and addresses of a pool that is about to be made."""

    chain: Chain
    pipeline: Pipeline
    maker: Address
    """Deploys the exchange."""
    owner: Address
    """Creates the token and brings both sides."""
    token: Address
    """Future address of the token, deployed after the pool so that it can know it."""
    quote: Address

    @property
    def sides(self) -> tuple[tuple[Address, Address], tuple[int, int]]:
        """Tokens and amounts in the pool's order."""
        if self.token < self.quote:
            return (self.token, self.quote), (TOKEN_RAW, QUOTE_RAW)
        return (self.quote, self.token), (QUOTE_RAW, TOKEN_RAW)

    @property
    def price(self) -> int:
        """Square root of token 1 per token 0, with 96 binary places."""
        _, amounts = self.sides
        return isqrt((amounts[1] << 192) // amounts[0])

    @property
    def liquidity(self) -> int:
        """Return the liquidity of the amounts over the whole range, a little less."""
        _, amounts = self.sides
        return isqrt(amounts[0] * amounts[1]) * 9_999 // 10_000

    def release(self, contract: str, pair: Address, *, spender: Address) -> None:
        """Create the token, which knows `pair` if needed, and let `spender` take both sides from
        the owner."""
        pipeline, owner = self.pipeline, self.owner
        wants_pair = len(self.chain.artifacts[contract].constructor) > len(("name", "symbol"))
        extra = (pair,) if wants_pair else ()
        assert pipeline.deploy(contract, "Odd", "ODD", *extra, sender=owner) == self.token
        pipeline.call(self.token, _APPROVE, spender, UNLIMITED, sender=owner)
        if self.quote != ZERO_ADDRESS:
            pipeline.call(self.quote, "deposit()", sender=owner, value_wei=2 * QUOTE_RAW)
            pipeline.call(self.quote, _APPROVE, spender, UNLIMITED, sender=owner)


def prepare(chain: Chain, *, is_coin: bool = False) -> Opening:
    """A new owner, whose first transaction will create the token. `is_coin`: the pool's other side
    is the coin itself, not the wrapped one."""
    owner = chain.fresh_account(native_wei=10**21)
    return Opening(
        chain=chain,
        pipeline=Pipeline(chain.node, chain.artifacts | artifacts()),
        maker=chain.fresh_account(),
        owner=owner,
        token=created_address(owner, 0),
        quote=ZERO_ADDRESS if is_coin else chain.world.venues.wrapped_native.address,
    )


def buy(chain: Chain, market: Market, trader: Address, *, spend_raw: int = SPEND_RAW) -> Outcome:
    """Buy for so much of the quote side, as a wallet does."""
    is_coin = market.quote == ZERO_ADDRESS
    if not is_coin:
        assert chain.send(trader, market.quote, "deposit()", value_wei=spend_raw).success
        assert chain.approve(market.quote, trader, market.spender).success
    to, data = market.swap_data(trader, market.quote, spend_raw)
    balance = chain.balance(market.token, market.holder)
    had = chain.balance(market.token, trader)
    sent = chain.call(trader, Call(to=to, data=data, value_wei=spend_raw if is_coin else 0))
    left = balance - chain.balance(market.token, market.holder)
    arrived = chain.balance(market.token, trader) - had
    success = sent.success and arrived > 0
    return Outcome(success=success, tax=_percent(left - arrived, left) if success else None)


def sell(chain: Chain, market: Market, trader: Address) -> Outcome:
    """Sell all that the trader has, as a wallet does."""
    had = chain.balance(market.token, trader)
    assert chain.approve(market.token, trader, market.spender).success
    to, data = market.swap_data(trader, market.token, had)
    balance = chain.balance(market.token, market.holder)
    sent = chain.call(trader, Call(to=to, data=data))
    given = had - chain.balance(market.token, trader)
    arrived = chain.balance(market.token, market.holder) - balance
    success = sent.success and given > 0
    return Outcome(success=success, tax=_percent(given - arrived, given) if success else None)


def _percent(part: int, whole: int) -> float:
    return part * 100 / whole


async def assert_foretold(chain: Chain, context: ChainContext, market: Market) -> PoolResultRow:
    """Analyse the token, then trade it for real, and compare. Returns the pool's result."""
    report = await judge(context, market.token)
    assert report.pools is not None
    (row,) = [row for row in report.pools if market.key in (row.pool_id, row.pool)]
    trader = chain.fresh_account()
    bought = buy(chain, market, trader)
    assert (row.buy, row.buy_tax) == _words(bought), row.error_message
    assert bought.success
    sold = sell(chain, market, trader)
    assert (row.sell, row.sell_tax) == _words(sold), row.error_message
    return row


def _words(outcome: Outcome) -> tuple[str, object]:
    tax = None if outcome.tax is None else pytest.approx(outcome.tax, abs=_TAX_POINTS)
    return "passed" if outcome.success else "refused", tax


def follow(chain: Chain, market: Market) -> tuple[PoolRow, TradeColumns]:
    """Decode the logs of the market's exchange as the follower does: its pool, and the swaps."""
    log_filter = {"fromBlock": "0x0", "toBlock": "latest"}
    made, traded = (
        decode_logs(
            msgspec.json.encode(chain.node.rpc("eth_getLogs", log_filter | {"address": at}))
        )
        for at in ([market.dex.factory, market.emitter], market.emitter)
    )
    found = PoolDecoder([market.dex], chain_id=1).decode(made)
    assert not len(found.undecoded)
    (pool,) = [one for one in found.pools if one.pool_key == market.key]
    return pool, decode_trades(traded, ())


def assert_followed(chain: Chain, market: Market) -> PoolRow:
    """Trade for real, and compare the follower's rows with the balances."""
    trader = chain.fresh_account()
    assert buy(chain, market, trader).success
    bought_raw = chain.balance(market.token, trader)
    assert sell(chain, market, trader).success
    pool, trades = follow(chain, market)
    assert pool.pool_key == market.key
    assert {pool.token0, pool.token1} == {market.token, market.quote}
    is_first = pool.token0 == market.token
    tokens, quotes = (trades.amount0, trades.amount1)[:: 1 if is_first else -1]
    assert {one.tobytes() for one in trades.emitter} == {bytes.fromhex(market.emitter[2:])}
    assert tokens.tolist() == [pytest.approx(-bought_raw), pytest.approx(bought_raw)]
    assert quotes[0] == pytest.approx(SPEND_RAW)
    assert -SPEND_RAW < quotes[1] < -SPEND_RAW * 9 // 10
    return pool
