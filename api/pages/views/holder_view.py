"""Holders of a token as parts of its supply, with what they are."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from api.formats.native.native import holders_of
from api.formats.prose.prose import percent
from api.formats.prose.rendered_report import RenderedReport
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address, checksum
from core.report.report import Report

HolderKind = Literal[
    "pool",
    "curve",
    "burn",
    "lock",
    "token",
    "owner",
    "creator",
    "contract",
    "wallet",
    "holder",
    "others",
]

_WORDS: Final[dict[HolderKind, str]] = {
    "pool": "pool",
    "curve": "launch curve",
    "burn": "burned",
    "lock": "lock",
    "token": "the token's own contract",
    "owner": "owner",
    "creator": "creator",
    "contract": "contract",
    "wallet": "wallet",
    "holder": "wallet or contract",
    "others": "everybody else",
}

_LEAST_SHOWN: Final = 0.001
"""Share of the supply below which the rest is not shown."""


class HolderPart(msgspec.Struct, frozen=True, kw_only=True):
    """One holder, or all that are not listed."""

    kind: HolderKind
    words: str
    address: str | None
    """None: those that are not listed."""
    percent: str
    start: float
    """Where its part of the bar begins, 0 to 1 of the supply."""
    share: float
    """Its part of the bar, 0 to 1, cut at the end of the supply."""


class _Kinds(msgspec.Struct, frozen=True, kw_only=True):
    accounts: tuple[Address, ...] = ()
    contracts: tuple[Address, ...] = ()


def view_holders(rendered: RenderedReport) -> tuple[HolderPart, ...]:
    """Return the burn addresses and the largest holders, largest first, then the rest."""
    report = rendered.report
    supply_raw = report.token.supply_raw
    if not supply_raw:
        return ()
    rows = (*holders_of(report.holders, "burn"), *holders_of(report.holders, "top"))
    amounts = {row.owner: row.amount_raw for row in rows if row.amount_raw > 0}
    kinds = _known_kinds(rendered)
    parts, start = list[HolderPart](), 0.0
    for owner, amount in sorted(amounts.items(), key=lambda item: (-item[1], item[0])):
        kind = kinds.get(owner, "holder")
        part = _part(kind, owner, amount / supply_raw, start)
        if kind == "lock":
            part = msgspec.structs.replace(part, words=f"lock: {rendered.locker_names[owner]}")
        parts.append(part)
        start = min(1.0, start + amount / supply_raw)
    if parts and 1 - start > _LEAST_SHOWN:
        parts.append(_part("others", None, 1 - start, start))
    return tuple(parts)


def _part(kind: HolderKind, owner: Address | None, share: float, start: float) -> HolderPart:
    return HolderPart(
        kind=kind,
        words=_WORDS[kind],
        address=None if owner is None else checksum(owner),
        percent=percent(100 * share),
        start=start,
        share=max(0.0, min(share, 1 - start)),
    )


def _known_kinds(rendered: RenderedReport) -> Mapping[Address, HolderKind]:
    """Return what addresses are; of several answers the last one given here counts."""
    report = rendered.report
    found = rendered.proofs.body("holder_kinds", _Kinds) or _Kinds()
    kinds: dict[Address, HolderKind] = dict.fromkeys(found.accounts, "wallet")
    kinds |= dict.fromkeys(found.contracts, "contract")
    kinds |= _of_roles(report)
    for pool in report.pools or ():
        kinds[pool.pool] = "curve" if pool.is_launchpad and pool.buy is None else "pool"
    kinds |= dict.fromkeys(rendered.custodians, "pool")
    kinds |= dict.fromkeys(rendered.locker_names, "lock")
    return kinds | dict.fromkeys(BURN_ADDRESSES, "burn")


def _of_roles(report: Report) -> dict[Address, HolderKind]:
    token = report.token
    roles: dict[Address, HolderKind] = {token.address: "token"}
    if token.creator_address is not None:
        roles[token.creator_address] = "creator"
    if token.owner_address is not None:
        roles[token.owner_address] = "owner"
    return roles
