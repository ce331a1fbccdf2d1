"""Trade setup: pool, accounts, blocks and state overrides of simulated trades. Sends no request."""

from collections.abc import Mapping, Sequence

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Moved, TradeRoute
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import SimBlock, SimLog, Simulation
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, RawAmount

_CAREFUL_GAS = RawAmount(500_000)
"""Gas that careful wallets add to an estimate."""


class TradeSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Pool, accounts, blocks and trade route that the simulations of one pool share."""

    pin: BlockRef
    disguise: Disguise
    blocks: tuple[tuple[int, int], ...]
    """Number and time of the buy, the approval, the sale, and the patient sale."""
    candidate: Candidate
    quote_reserve_raw: RawAmount
    route: TradeRoute
    quote_slot_index: int | None
    """Index of the quote token's balance slot. None: the quote is the native coin, or the wrapped
    coin, which is deposited."""
    token_slot_index: int | None
    """Index of the token's balance slot. None: not found; the sale is then not simulated where the
    buy reverts."""
    in_coin: bool = False
    """True if trades pay and receive the native coin in a pool of the wrapped coin."""
    permit2_route: TradeRoute | None = None
    """Route through Permit2 and the universal router. None: not deployed, or not needed."""

    def with_coin(self, *, is_wanted: bool = True) -> "TradeSetup":
        """Return the setup, traded in the native coin if `is_wanted` and the router can do so."""
        in_coin = is_wanted and self.route.coin_buy_data is not None
        return msgspec.structs.replace(self, in_coin=in_coin)

    def trader(self, purpose: str) -> Address:
        """Return a fresh account of this pool, one for each purpose."""
        return self.disguise.account(f"{self.candidate.key}:{purpose}")

    def buyer(self, amount_in: RawAmount) -> Address:
        """Return the account that pays in this amount in all simulations of this pool."""
        return self.trader(f"buy {amount_in}")

    def moved(self, logs: tuple[SimLog, ...], *, is_buy: bool) -> Moved | None:
        """Return the amounts of the pool's last swap, from its own event. None: it did not swap."""
        return self.route.read_moved(
            self.candidate, logs, token_in_is_0=self.candidate.token_is_0 != is_buy
        )

    @property
    def is_native(self) -> bool:
        """True if the quote of the pool is the native coin itself."""
        return self.candidate.quote == ZERO_ADDRESS

    @property
    def pays_coins(self) -> bool:
        """True if a buy is paid, and a sale received, in the native coin."""
        return self.is_native or self.in_coin


def build_simulation(
    setup: TradeSetup,
    blocks: tuple[SimBlock, ...],
    *,
    payers: Mapping[Address, RawAmount] | None = None,
    others: Sequence[Address] = (),
    given: Mapping[Address, Mapping[Hash32, Hash32]] | None = None,
) -> Simulation:
    """Return the simulation of these blocks, with the state overrides that its accounts need.

    `payers`: amount that each pays in; `others` need coins for gas only; `given`: further slots by
    contract.
    """
    purses = {other: setup.disguise.purse(other) for other in others}
    storage = {contract: dict(slots) for contract, slots in (given or {}).items()}
    for payer, amount_in in (payers or {}).items():
        # The wrapped coin is bought with coins, so a trade in it needs that amount on top.
        coins = amount_in if setup.quote_slot_index is None else 0
        purses[payer] = setup.disguise.purse(payer) + coins
        for contract, slots in _quote_funds(setup, payer, amount_in).items():
            storage.setdefault(contract, {}).update(slots)
    return Simulation(
        pin=setup.pin,
        disguise=setup.disguise,
        blocks=blocks,
        purses=purses,
        storage=storage,
        code={setup.route.router: setup.route.code} if setup.route.code else {},
        nonces={payer: setup.disguise.nonce(payer) for payer in payers or {}},
        is_validated=setup.disguise.is_validated,
    )


def _quote_funds(
    setup: TradeSetup, trader: Address, amount: RawAmount
) -> dict[Address, dict[Hash32, Hash32]]:
    """Return the slots that give the trader the quote token. Empty: coins pay for it."""
    if setup.quote_slot_index is None:
        return {}
    quote = setup.candidate.quote
    return {quote: balance_override(trader, amount, index=setup.quote_slot_index)}


def wallet_gas(setup: TradeSetup) -> int:
    """Return roughly the gas that careful wallets send: a token may behave better with more."""
    return setup.disguise.about(
        RawAmount(setup.route.gas + _CAREFUL_GAS), f"{setup.candidate.key}:gas"
    )


def little_gas(setup: TradeSetup) -> int:
    """Return roughly the gas of wallets that estimate the trade."""
    return setup.disguise.about(setup.route.gas, f"{setup.candidate.key}:little gas")
