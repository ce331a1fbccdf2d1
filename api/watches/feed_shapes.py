"""Lines of the feed of a chain, as they are sent."""

from collections.abc import Sequence

from api.formats.prose.check_words import capital
from api.formats.prose.cliff_clauses import cliff_words
from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from api.watches.seen_cause import SeenCause, show_cause
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32, HexBytes, checksum
from core.report.feed_lines import FeedKind, LiquidityWithdrawal, TokenLaunch, VerdictLine
from core.report.liquidity_cliff import is_cliff
from sql.chain.feed_tables import StoredFeedLine, TokenVerdict


class LaunchShown(Shape, frozen=True, kw_only=True):
    """First launch or pool of a token that the index has."""

    source: str
    """Launch platform, or exchange of the pool."""
    pool: str | None
    """Address of the pool, or its id in its manager or vault. null: a launch platform announced
    the token."""
    creator: str | None
    """Account that the platform names. null: none."""


class VerdictShown(Shape, frozen=True, kw_only=True):
    """Change of a verdict."""

    before: str | None
    """Verdict of the last report. null: this is the first one."""
    after: str
    """danger, warning, safe, not_tested, or refused: the address is no token."""
    reasons: tuple[str, ...]
    """Every cause of the verdict that holds, most severe first."""
    headline: str | None
    """The worst finding in one sentence. null: there is none."""
    causes: tuple[SeenCause, ...]
    """Events on the chain before the change; of watched tokens only."""


class WithdrawalShown(Shape, frozen=True, kw_only=True):
    """Liquidity that left a pool."""

    source: str
    """Exchange of the pool."""
    pool: str
    """Address of the pool, or its id in its manager."""
    token0: str
    """First token of the pool."""
    token1: str
    """Second token of the pool."""
    amount0_raw: str | None
    """Amount of token0 in smallest units. null: the event has no amounts."""
    amount1_raw: str | None
    """Amount of token1 in smallest units. null: the event has no amounts."""
    left_pct: float | None
    """Percent of the token in the pool that left for good: of its balance at the end of the block
    before, less what came in within the block. Above 50 it is a liquidity cliff. null: not all
    transfers of the token since the pool's creation are stored."""
    headline: str | None
    """The cliff in one sentence. null: it is none."""


class FeedEvent(Shape, frozen=True, kw_only=True):
    """One line of the feed of a chain, with its cause on the chain."""

    cursor: int
    """Place in the feed; ascends, with holes."""
    chain: str
    """Slug."""
    kind: FeedKind
    """launch, verdict, withdrawal; reorg: drop all earlier lines of `block_number` and later
    blocks."""
    contract_address: str | None
    """Address of the token, with checksum. null: a reorg."""
    block_number: int | None
    """Block of the log, or of the report; of a reorg, the first block whose lines are void. null: a
    refusal, which belongs to no block."""
    tx_hash: str | None
    """Transaction of the log. null: a report or a reorg, or not known."""
    log_index: int | None
    """Index of the log in its block. null: a report or a reorg."""
    seen_at: str
    """Time of the block, or of the report, ISO 8601 UTC."""
    launch: LaunchShown | None
    """Content of a launch."""
    verdict: VerdictShown | None
    """Content of a verdict."""
    withdrawal: WithdrawalShown | None
    """Content of a withdrawal."""


class FeedGap(Shape, frozen=True, kw_only=True):
    """Lines that the caller has missed, as they were too old and deleted."""

    forgotten_up_to: int
    """Cursor of the last of them. Read the snapshot, and go on from its cursor."""


class FeedPage(Shape, frozen=True, kw_only=True):
    """Lines of the feed of a chain behind a cursor."""

    lines: tuple[FeedEvent, ...]
    """At most 200, oldest first. Empty: there is nothing new."""
    gap: FeedGap | None
    """Lines before these that the caller has missed. null: none."""
    cursor: int
    """Value of `after` for the next page."""


class TokenState(Shape, frozen=True, kw_only=True):
    """Current verdict of a token."""

    contract_address: str
    """Address of the token, with checksum."""
    symbol: str
    """Symbol returned by the contract: any text."""
    verdict: str
    """Verdict of the last report."""
    reasons: tuple[str, ...]
    """Reasons of the verdict."""
    block_number: int
    """Block of the last report."""
    analysed_at: str
    """End of its analysis, ISO 8601 UTC."""


class FeedSnapshot(Shape, frozen=True, kw_only=True):
    """Part of the current verdicts of a chain."""

    chain: str
    """Slug."""
    cursor: int
    """Newest line of the feed at the time of this part. Stream from that of the first part."""
    tokens: tuple[TokenState, ...]
    """At most 1,000 tokens with a verdict."""
    next_after: int | None
    """Value of `after` for the next part. null: this is the last one."""


def show_line(chain: str, line: StoredFeedLine) -> FeedEvent:
    """Render a line of a chain, by slug."""
    detail = line.decode_detail()
    return FeedEvent(
        cursor=line.sequence,
        chain=chain,
        kind=line.kind,
        contract_address=None if line.token is None else checksum(line.token),
        block_number=line.block_number,
        tx_hash=line.tx_hash,
        log_index=line.log_index,
        seen_at=iso_utc(line.seen_at_s),
        launch=None if detail.launch is None else _launch(detail.launch),
        verdict=None if detail.verdict is None else _verdict(detail.verdict),
        withdrawal=None if detail.withdrawal is None else _withdrawal(detail.withdrawal),
    )


def show_snapshot(
    chain: str, tokens: Sequence[TokenVerdict], *, cursor: int, at_most: int
) -> FeedSnapshot:
    """Render a part of the current verdicts; `at_most`: tokens that were requested."""
    return FeedSnapshot(
        chain=chain,
        cursor=cursor,
        tokens=tuple(
            TokenState(
                contract_address=checksum(one.token),
                symbol=one.symbol,
                verdict=one.verdict,
                reasons=one.reasons,
                block_number=one.block_number,
                analysed_at=iso_utc(one.scanned_at_s),
            )
            for one in tokens
        ),
        next_after=tokens[-1].token_id if len(tokens) == at_most else None,
    )


def _launch(launch: TokenLaunch) -> LaunchShown:
    return LaunchShown(
        source=launch.source,
        pool=None if launch.pool is None else _pool(launch.pool),
        creator=None if launch.creator is None else checksum(launch.creator),
    )


def _verdict(verdict: VerdictLine) -> VerdictShown:
    return VerdictShown(
        before=verdict.before,
        after=verdict.after,
        reasons=verdict.reasons,
        headline=verdict.headline,
        causes=tuple(map(show_cause, verdict.causes)),
    )


def _withdrawal(withdrawal: LiquidityWithdrawal) -> WithdrawalShown:
    amount0, amount1 = withdrawal.amount0_raw, withdrawal.amount1_raw
    left_pct = withdrawal.left_pct
    return WithdrawalShown(
        source=withdrawal.source,
        pool=_pool(withdrawal.pool),
        token0=checksum(withdrawal.token0),
        token1=checksum(withdrawal.token1),
        amount0_raw=None if amount0 is None else str(amount0),
        amount1_raw=None if amount1 is None else str(amount1),
        left_pct=left_pct,
        headline=capital(cliff_words(left_pct, withdrawal.source)) if is_cliff(left_pct) else None,
    )


def _pool(key: HexBytes) -> str:
    """Return an address with its checksum, an id as it is."""
    return checksum(Address(key)) if len(key) == len(ZERO_ADDRESS) else Hash32(key)
