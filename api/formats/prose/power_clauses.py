"""Clauses on powers that name their holder: "a 3 of 5 multisig can create tokens". Pure.

None wherever the report does not name who holds a power; the words of the check then stand.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from api.formats.prose.prose import listed, short, spelled
from api.formats.prose.rendered_report import RenderedReport
from api.formats.summary.power_checks import POWER_FIELDS, hurtful_powers
from core.evm.primitives import Address
from core.report.powers import HolderKind, Power, PowerKind

ACTS: Final[dict[PowerKind, str]] = {
    "replace": "replace its code",
    "take": "take other people's tokens",
    "mint": "create tokens",
    "stop": "pause all transfers",
    "block": "block single addresses from trading",
    "cap": "limit the size of transfers or holdings",
    "tax": "change the tax",
    "condition": "change the rules of trades",
    "disguise": "fake balances and the success of transfers",
    "burn": "destroy other people's tokens",
    "withdraw": "withdraw liquidity",
}
"""Acts of a holder, the worst first."""

_ANYONE: Final = "anyone"

_RANKS: Final = {what: rank for rank, what in enumerate(ACTS)}

_STANDING: Final = frozenset({"trading_cooldown", "timebomb"})
"""Checks on rules of the code, which stand also where nobody can change them any more."""

_UNREACHED: Final = "it touches neither trades nor holdings"


def rank_of(power: Power) -> int:
    """Return the rank of a power by its act, 0 for the worst."""
    return _RANKS[power.what]


def power_holder(rendered: RenderedReport, check: str) -> str | None:
    """Return the account or accounts that can use the worst live power of a check, in words."""
    found = _worst(rendered, check)
    if not found:
        powers = _powers(rendered, check)
        is_dead = bool(powers) and all(power.holder_kind == "nobody" for power in powers)
        return "nobody" if is_dead else None
    owner = rendered.report.token.owner_address
    holders = {(power.holder_kind, power.holder) for power in found}
    return _holder(found[0], owner) if len(holders) == 1 else _several(found)


def power_clause(rendered: RenderedReport, check: str) -> str | None:
    """Build the clause on the worst live power of a check.

    None: the token's owner is among its holders, or none is known; the words of the check suffice.
    """
    found = _worst(rendered, check)
    holder = power_holder(rendered, check)
    owner = rendered.report.token.owner_address
    if not found or holder is None or (owner and any(power.holder == owner for power in found)):
        return None
    return f"{act_clause(holder, found[0].what)}{_limit(found)}"


def act_clause(holder: str, what: PowerKind) -> str:
    """Build the clause on an act of a holder.

    That anyone can do it is no more than a call in the code, which may need a state or a role that
    was not found: "anyone can call a function that creates tokens".
    """
    if holder != _ANYONE:
        return f"{holder} can {ACTS[what]}"
    verb, _, rest = ACTS[what].partition(" ")
    return f"{holder} can call a function that {verb}s {rest}"


def idle_clause(rendered: RenderedReport, check: str) -> str | None:
    """Build the clause on the powers of a check that can hurt nobody. None: one can, or there is
    none."""
    powers = _powers(rendered, check)
    if check in _STANDING or not powers:
        return None
    owner = rendered.report.token.owner_address
    ranked = sorted(powers, key=rank_of)
    clauses = dict.fromkeys(_idle(power, owner) for power in ranked)
    known = [clause for clause in clauses if clause is not None]
    return listed(known) if len(known) == len(clauses) else None


def _idle(power: Power, owner: Address | None) -> str | None:
    """Return a harmless power in words. None: the words of its check cover it."""
    act = ACTS[power.what]
    holder = _holder(power, owner) or "someone"
    if power.holder_kind == "nobody":
        return f"nobody can {act} any more"
    if power.holder_kind == "trades" and power.is_harmless:
        return f"only trades can {act}, as tested"
    if power.bound == "unreachable":
        return f"{holder} can {act}, but {power.detail or _UNREACHED}"
    if power.bound == "low":
        return f"{holder} can {act} ({power.detail or 'the code keeps it small'})"
    is_own = (power.holder_kind, power.what) == ("holders", "burn")
    return "holders can burn their own" if is_own else None


def _powers(rendered: RenderedReport, check: str) -> list[Power]:
    """Return the powers that decide a check; rules in force are not among them."""
    fields = POWER_FIELDS.get(check, ())
    return [
        power
        for power in rendered.report.powers
        if power.check in fields and power.bound != "tight"
    ]


def _worst(rendered: RenderedReport, check: str) -> list[Power]:
    """Return the live powers of the worst kind: those that hurt, else those that bind a holder."""
    live = [power for power in _powers(rendered, check) if not power.is_harmless]
    hurtful = set(hurtful_powers(rendered.report))
    found = [power for power in live if power in hurtful] or live
    worst = min(map(rank_of, found), default=None)
    return [power for power in found if rank_of(power) == worst]


def _limit(powers: Iterable[Power]) -> str:
    """Return the delay of a timelock."""
    details = [power.detail for power in powers if power.holder_kind == "timelock" and power.detail]
    return f" after {details[0]}" if details else ""


def _holder(power: Power, owner: Address | None) -> str | None:
    """Return one holder in words, with commas around an address that explains them."""
    if power.holder_kind == "multisig":
        return f"a {power.detail} multisig" if power.detail else "a multisig"
    if power.holder is None or power.holder_kind in _NAMELESS:
        return _NAMELESS.get(power.holder_kind)
    if power.holder == owner:
        return "the owner"
    is_signed = power.holder_kind == "wallet" and power.what != "withdraw" and power.detail
    words = power.detail if is_signed else _NAMED.get(power.holder_kind)
    return f"{words}, {short(power.holder)}," if words else short(power.holder)


_NAMELESS: Final[dict[HolderKind, str]] = {
    "timelock": "a timelock",
    "list": "every account on a list",
    "anybody": _ANYONE,
}
_NAMED: Final[dict[HolderKind, str]] = {"wallet": "one wallet", "contract": "a contract"}


def _several(powers: Sequence[Power]) -> str:
    kinds = {power.holder_kind for power in powers}
    holders = [*{power.holder for power in powers if power.holder is not None}]
    if "anybody" in kinds:
        return _ANYONE
    if not holders or any(power.holder is None for power in powers):
        return "several accounts"
    if len(holders) == 1:
        return f"one account, {short(holders[0])},"
    words = {"wallet": "wallets", "multisig": "multisigs", "contract": "contracts"}
    noun = words.get(next(iter(kinds)), "accounts") if len(kinds) == 1 else "accounts"
    return f"{spelled(len(holders))} {noun}"
