"""The evidence of a report by finding, decoded for pages and sentences."""

from collections.abc import Iterator
from typing import TypeVar

import msgspec

from core.evm.primitives import Address, Hash32, Selector
from core.report.report import EvidenceRow, Report


class CodeProof(msgspec.Struct, frozen=True, kw_only=True):
    """Place in the code that proves a finding. Inferred from the bytecode."""

    selectors: tuple[Selector, ...] = ()
    """Functions that reach the program counters; 0x00000000 is the fallback."""
    pcs: tuple[int, ...] = ()
    """Program counters in the runtime code."""
    slots: tuple[Hash32, ...] = ()
    """Storage slots concerned."""
    conditions: tuple[str, ...] = ()
    """Branches at those program counters, as in the code."""
    reason: str | None = None
    """Why the finding has no answer. None: it has one, or no reason is kept."""


class CallProof(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated call and its result."""

    label: str
    sender: Address
    to: Address
    data: str
    """0x hex calldata."""
    value: str
    """Wei, 0x hex."""
    ok: bool
    reason: str
    """Revert reason; empty when it succeeded."""


class SimulatedProof(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation and its outcome."""

    block_number: int
    calls: tuple[CallProof, ...]
    outcome: msgspec.Raw
    """JSON; its shape depends on the check."""


class Theft(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of one attempt to take a wallet's tokens."""

    attacker: Address
    what: str
    has_moved: bool | None
    is_named: bool | None = None
    """False: the attacker was a fresh account, so any account can do it. None: not recorded."""


class CapLimitsSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Sizes of the caps in force, in smallest units. None: no such cap, or not known."""

    transfer_raw: int | None = None
    holding_raw: int | None = None


class StorageSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The storage that evidence names, at the report's block."""

    words: dict[Hash32, Hash32] = {}
    limits: CapLimitsSeen = CapLimitsSeen()


class TradeSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one simulated trade in the evidence."""

    tax: float | None = None
    """Percent. None: refused, not simulated, or not computable from the amounts."""
    reason: str | None = None
    """Why it did not pass. None: it passed."""
    missing: str | None = None
    """Missing input of the simulation. None: it was simulated."""

    @property
    def is_refused(self) -> bool:
        """True if the trade was simulated and reverted."""
        return self.reason is not None and self.missing is None


class MomentSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The sale at one moment after the buy."""

    when: str
    time_s: int
    sale: TradeSeen


class LaterSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Sales at moments from the next block to thirty days after the buy."""

    moments: tuple[MomentSeen, ...]


class SizeSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The sale after one size of buy."""

    amount_in: int
    """Smallest units of the quote token."""
    outcome: TradeSeen


class SoldSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Sales of every size of buy that passed, largest first."""

    outcome: TradeSeen
    sizes: tuple[SizeSeen, ...] = ()


class CurveSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of a launch platform's curve towards a pool."""

    quote: Address
    """The zero address is the chain's own coin."""
    quote_paid_raw: int
    quote_target_raw: int | None = None
    """None: the platform counts tokens, or its target was not read."""
    progress: float | None = None
    """Share of the way, 0 to 1. None: not known."""


class WithdrawerSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A holder of liquidity, as the evidence of `liquidity_risk` has it."""

    address: Address | None
    """None: anybody."""
    kind: str | None
    share_pct: float
    """Percent of the liquidity of all pools."""
    can_withdraw: bool | None
    """False: locked. None: not known."""
    unlocks_at_s: int | None = None
    """Unix seconds. None: there is no lock."""


class SharesSeen(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of one pool's liquidity, 0 to 1."""

    burnt_share: float
    locked_share: float
    withdrawable_share: float


class PoolSharesSeen(msgspec.Struct, frozen=True, kw_only=True):
    """One pool."""

    shares: SharesSeen | None
    """None: not read."""


class LiquiditySeen(msgspec.Struct, frozen=True, kw_only=True):
    """Holders of a token's liquidity, those that can withdraw first."""

    risk: str
    holders: tuple[WithdrawerSeen, ...] = ()
    pools: tuple[PoolSharesSeen, ...] = ()
    """Deepest first."""


class HookSeen(msgspec.Struct, frozen=True, kw_only=True):
    """The hook of one traded pool: a program that the pool runs at every trade."""

    pool: str
    hook: Address
    takes_part: bool
    """True if it may take a part of a trade."""
    fee_pct: float | None
    """Fee of the pool in percent, where the hook sets it. None: it does not, or not known."""
    only_router: Address | None
    """The only router that it lets trade. None: no such rule was found."""


_Outcome = TypeVar("_Outcome")


class _Keyed(msgspec.Struct, frozen=True):
    """Key of a row, which distinguishes simulations from places in the code."""

    played_by: str | None = None


class Proofs:
    """The evidence of one report, decoded on demand."""

    def __init__(self, report: Report) -> None:
        self._rows = {row.key: row for row in report.evidence}

    def of_code(self, key: str) -> CodeProof | None:
        """Return the place in the code that proves a finding. None: no such row."""
        row = self._rows.get(key)
        if row is None or _is_simulation(row):
            return None
        return msgspec.json.decode(row.body, type=CodeProof)

    def body(self, key: str, kind: type[_Outcome]) -> _Outcome | None:
        """Return the body of one row. None: there is no such row."""
        row = self._rows.get(key)
        return None if row is None else msgspec.json.decode(row.body, type=kind)

    def storage(self) -> StorageSeen:
        """Return the storage that was read; empty where it was not."""
        return self.body("storage", StorageSeen) or StorageSeen()

    def liquidity(self) -> LiquiditySeen | None:
        """Return the holders of the liquidity. None: they were not examined."""
        return self.body("liquidity_risk", LiquiditySeen)

    def hooks(self) -> tuple[HookSeen, ...]:
        """Return the hooks of the traded pools."""
        return self.body("pool_hooks", tuple[HookSeen, ...]) or ()

    def simulated(self, key: str) -> Iterator[SimulatedProof]:
        """Yield the simulations of a check; a check of several has rows `key`, `key#1`, ..."""
        for name, row in self._rows.items():
            is_of_key = name == key or name.startswith(f"{key}#")
            if is_of_key and _is_simulation(row):
                yield msgspec.json.decode(row.body, type=SimulatedProof)

    def outcome(self, key: str, kind: type[_Outcome]) -> _Outcome | None:
        """Return the outcome of a check's first simulation. None: it was not simulated."""
        proof = next(self.simulated(key), None)
        return None if proof is None else msgspec.json.decode(proof.outcome, type=kind)

    def keys_under(self, check: str) -> list[str]:
        """Return the keys of a check that runs per pool: `sell:0x...`, without numbers."""
        found = (name.partition("#")[0] for name in self._rows if name.startswith(f"{check}:"))
        return list(dict.fromkeys(found))

    def thefts(self) -> list[Theft]:
        """Return the attempts of all theft checks that took tokens."""
        taken = []
        for key in ("allowance_bypass", "funds_can_be_drained"):
            for proof in self.simulated(key):
                attempts = msgspec.json.decode(proof.outcome, type=list[Theft])
                taken += [attempt for attempt in attempts if attempt.has_moved]
        return taken


def _is_simulation(row: EvidenceRow) -> bool:
    return msgspec.json.decode(row.body, type=_Keyed).played_by is not None
