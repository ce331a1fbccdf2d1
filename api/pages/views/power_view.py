"""Powers over a token as rows of a table: act, holder, bound and harm."""

from typing import Final

import msgspec

from api.formats.prose.check_words import capital
from api.formats.prose.power_clauses import ACTS
from api.formats.prose.rendered_report import RenderedReport
from api.formats.summary.power_checks import PowerShown
from core.report.powers import Bound, HolderKind

_MOST_SHOWN: Final = 50

_HOLDERS: Final[dict[HolderKind, str]] = {
    "nobody": "nobody any more",
    "holders": "holders, each over their own",
    "trades": "nobody: only trades change it",
    "multisig": "a multisig",
    "timelock": "a timelock",
    "contract": "a contract",
    "wallet": "one wallet",
    "list": "every account on a list",
    "anybody": "anyone",
    "unknown": "unknown",
}
_BOUNDS: Final[dict[Bound, str]] = {
    "none": "",
    "low": "kept small by the code",
    "unreachable": "no effect on trades or holdings",
    "tight": "in force, and hurts as it stands",
}


class PowerLine(msgspec.Struct, frozen=True, kw_only=True):
    """One power in words."""

    what: str
    holder: str
    address: str | None
    """Account of the holder. None: no single one is named."""
    bound: str
    """Empty: none is known."""
    is_harmful: bool


class PowerTable(msgspec.Struct, frozen=True, kw_only=True):
    """Powers over one token."""

    lines: tuple[PowerLine, ...]
    """Those that can hurt first."""
    lines_left_out: int
    """Powers that are not among those shown."""
    is_complete: bool
    """False: parts of the code were not followed to their end, so that powers may be missing."""

    @property
    def has_harm(self) -> bool:
        """True if one of the powers can hurt holders."""
        return any(line.is_harmful for line in self.lines)


def view_powers(rendered: RenderedReport) -> PowerTable | None:
    """Return the table. None: powers are not known, as in reports of earlier releases."""
    if rendered.report.are_powers_known is None:
        return None
    ranked = sorted(rendered.summary.powers, key=lambda power: not power.is_harmful)
    lines = tuple(dict.fromkeys(map(_line, ranked)))
    return PowerTable(
        lines=lines[:_MOST_SHOWN],
        lines_left_out=max(0, len(lines) - _MOST_SHOWN),
        is_complete=rendered.report.are_powers_known,
    )


def _line(power: PowerShown) -> PowerLine:
    is_named = power.holder_kind == "unknown" and power.holder is not None
    return PowerLine(
        what=capital(ACTS[power.what]),
        holder="an account" if is_named else _HOLDERS[power.holder_kind],
        address=power.holder,
        bound=power.detail or _BOUNDS[power.bound],
        is_harmful=power.is_harmful,
    )
