"""Facts about one chain that its analyses learn and share.

None of them depends on the token that was analysed. For one event loop.
"""

import secrets
from collections import deque
from collections.abc import Callable, Mapping
from hashlib import sha256
from time import monotonic
from typing import Final, Generic, TypeVar

import msgspec
from cachetools import TTLCache

from analysis.market.fee_tiers import Tiers
from analysis.market.routers import RouterFacts
from analysis.reads.chain_reads import RequestHandle
from analysis.reads.read_batch import ReadBatch
from analysis.simulation import fee_market
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Simulation,
    SimulationResult,
)
from core.evm.primitives import Address
from core.rpc.headers import Header

_PROPOSERS_KEPT: Final = 16
_MOST_CONTRACTS: Final = 1_024

PRICE_AGE_S: Final = 3_600.0
"""Age in seconds at which a native price and its source expire."""

CONTRACT_AGE_S: Final = 86_400.0
"""Age in seconds at which facts about routers and stables expire: some are behind proxies."""

T = TypeVar("T")


class Remembered(Generic[T]):
    """One fact that expires."""

    def __init__(self, age_s: float, now_s: Callable[[], float]) -> None:
        self._age_s = age_s
        self._now_s = now_s
        self._value: T | None = None
        self._until_s = 0.0

    def remember(self, value: T | None) -> None:
        """Store the fact. None: forget it."""
        self._value, self._until_s = value, self._now_s() + self._age_s

    def recall(self) -> T | None:
        """Return the fact. None: not known, or too old."""
        return self._value if self._now_s() < self._until_s else None


class ChainMemory:
    """Facts that analyses of one chain have learnt. Each expires."""

    def __init__(
        self, now_s: Callable[[], float] = monotonic, *, secret: str | None = None
    ) -> None:
        """`secret`: seed of accounts and amounts. None: a new one."""
        self._native_usd = Remembered[float](PRICE_AGE_S, now_s)
        self._has_oracle = Remembered[bool](PRICE_AGE_S, now_s)
        self._recent_tips = Remembered[tuple[int, int]](fee_market.REMEMBERED_S, now_s)
        self._keeps_base_fee = Remembered[bool](CONTRACT_AGE_S, now_s)
        self._routers = TTLCache[Address, RouterFacts](_MOST_CONTRACTS, CONTRACT_AGE_S, timer=now_s)
        self._slots = TTLCache[Address, int](_MOST_CONTRACTS, CONTRACT_AGE_S, timer=now_s)
        self._tiers: dict[Address, Tiers] = {}
        self._tips_wei = fee_market.TYPICAL_TIPS_WEI
        self._proposers: deque[Address] = deque(maxlen=_PROPOSERS_KEPT)
        self._secret = secret or secrets.token_hex(16)

    # --- prices -------------------------------------------------------------------------------

    def remember_native_price(self, usd: float | None, *, has_oracle: bool) -> None:
        """Keep the price of the native coin, and whether the oracle's answer was usable."""
        self._native_usd.remember(usd)
        self._has_oracle.remember(has_oracle)

    def recall_native_usd(self) -> float | None:
        """Return US dollars of the native coin. None: not known, or too old."""
        return self._native_usd.recall()

    @property
    def has_oracle(self) -> bool:
        """True if the oracle's last price was usable, so that pools need not be read as well."""
        return self._has_oracle.recall() is True

    # --- contracts ----------------------------------------------------------------------------

    def remember_routers(self, facts: Mapping[Address, RouterFacts]) -> None:
        """Keep routers that have code. One without may be deployed later, so it is read again."""
        self._routers.update({router: fact for router, fact in facts.items() if fact.has_code})

    def recall_routers(self) -> dict[Address, RouterFacts]:
        """Return the routers that have code."""
        return dict(self._routers)

    def remember_tiers(self, tiers: Mapping[Address, Tiers]) -> None:
        """Keep fees and tick spacings by factory. They expire by `fee_tiers.unread`."""
        self._tiers |= tiers

    def recall_tiers(self) -> Mapping[Address, Tiers]:
        """Return fees and tick spacings by factory."""
        return self._tiers

    def remember_balance_slot(self, token: Address, index: int) -> None:
        """Keep the index of a quote token's balance slot."""
        self._slots[token] = index

    def recall_balance_slot(self, token: Address) -> int | None:
        """Return the index of a quote token's balance slot. None: not known."""
        return self._slots.get(token)

    # --- fees and block fields ----------------------------------------------------------------

    def request_tips(self, batch: ReadBatch) -> RequestHandle[tuple[int, int]] | None:
        """Add the request for recent fees. None: the last ones are recent enough."""
        if self._recent_tips.recall() is not None:
            return None
        return batch.request(fee_market.history_request(), returns=fee_market.read_tips)

    def remember_tips(self, tips_wei: tuple[int, int]) -> None:
        """Keep recent priority fees. The last ones are used until newer ones are read."""
        self._tips_wei = tips_wei
        self._recent_tips.remember(tips_wei)

    def remember_proposer(self, proposer: Address) -> None:
        """Keep the proposer of a block."""
        if proposer not in self._proposers:
            self._proposers.append(proposer)

    def disguise(self, header: Header, token: Address) -> Disguise:
        """Return the accounts, fees and block fields of simulations in one token's analysis."""
        return Disguise(
            secret=f"{self._secret}:{header.ref.hash}:{token}",
            base_fee_wei=header.base_fee_wei,
            proposers=tuple(self._proposers) or (header.proposer,),
            tips_wei=self._tips_wei,
            is_validated=self._keeps_base_fee.recall() is False,
        )

    def prober(self, token: Address) -> Address:
        """Return an unused account for the search of balance slots in the token's analysis."""
        drawn = sha256(f"{self._secret}:prober of {token}".encode()).digest()
        return Address("0x" + drawn[-20:].hex())

    @property
    def is_base_fee_open(self) -> bool:
        """True if a simulation is still to probe whether simulated blocks keep the base fee."""
        return self._keeps_base_fee.recall() is None

    def remember_base_fee(
        self, simulation: Simulation, probe: CallHandle, result: SimulationResult | NotSimulated
    ) -> None:
        """Keep the result of `probe`, of `fee_market.with_probe`."""
        kept = fee_market.keeps_base_fee(simulation, probe, result)
        if kept is not None:
            self._keeps_base_fee.remember(kept)

    def with_base_fee(self, disguise: Disguise) -> Disguise:
        """Return the disguise with the base fee that was learnt since."""
        return msgspec.structs.replace(
            disguise, is_validated=self._keeps_base_fee.recall() is False
        )
