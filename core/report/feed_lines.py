"""Lines of the feed of a chain: launches, changed verdicts, withdrawals, reorgs. Pure."""

from typing import Literal

import msgspec

from core.evm.primitives import Address, Hash32, HexBytes, RawAmount
from core.report.notifications import ChangeCause

FeedKind = Literal["launch", "verdict", "withdrawal", "reorg"]
"""launch: first launch or pool of a token that the index has. verdict: a report has another verdict
than the token's last one. withdrawal: liquidity left a pool of a token. reorg: all earlier lines of
the block and of later ones are void."""


class TokenLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """First appearance of a token."""

    source: str
    """Launch platform or exchange."""
    pool: HexBytes | None
    """Address of the pool, or its id within the contract that holds it. None: a launch platform
    announced the token."""
    creator: Address | None
    """Account that the platform names. None: it names none, or an exchange announced the token."""


class VerdictLine(msgspec.Struct, frozen=True, kw_only=True):
    """Change of a verdict."""

    before: str | None
    """None: it is the token's first verdict."""
    after: str
    """refused: the address is no token."""
    reasons: tuple[str, ...]
    headline: str | None
    causes: tuple[ChangeCause, ...] = ()
    """Observations since the last notification of a watched token, newest first."""


class LiquidityWithdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """Liquidity that left a pool."""

    source: str
    """Exchange."""
    pool: HexBytes
    """As in TokenLaunch."""
    token0: Address
    token1: Address
    amount0_raw: RawAmount | None
    """In smallest units. None: the event has no amounts."""
    amount1_raw: RawAmount | None
    left_pct: float | None = None
    """Percent of the token that the pool lost by it, as in LiquidityCliff. None: not known."""


class FeedDetail(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Content of a line: the part of its kind. All None: a reorg."""

    launch: TokenLaunch | None = None
    verdict: VerdictLine | None = None
    withdrawal: LiquidityWithdrawal | None = None


class FeedLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line, with its on-chain cause."""

    kind: FeedKind
    token: Address | None
    """None: a reorg."""
    block_number: int | None
    """Block of the log; of the report; or the first void block. None: a refusal."""
    tx_hash: Hash32 | None = None
    """Transaction of the log. None: a report or a reorg, or the node sent none."""
    log_index: int | None = None
    """None: a report or a reorg."""
    seen_at_s: int
    """Time of the block, or of the report."""
    detail: FeedDetail = FeedDetail()
