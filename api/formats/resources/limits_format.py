"""Limits in numbers, as an answer."""

from typing import Literal

from analysis.quotes.limit_inquiry import LimitFindings, TokenLimit
from api.formats.amounts import decimal_text, share_pct
from api.formats.shape_building import Shape
from config.facts.chain import Chain
from core.evm.primitives import RawAmount, checksum
from core.report.report import ReportRow


class LimitAmount(Shape, frozen=True, kw_only=True):
    """An amount of the token."""

    tokens: str
    """Whole tokens, as an exact decimal number."""
    supply_pct: float
    """Percent of the supply."""


class LimitOfKind(Shape, frozen=True, kw_only=True):
    """The largest amount of one kind of act."""

    kind: Literal["buy", "sale", "transfer", "holding"]
    """holding: what a buyer may hold after a purchase."""
    is_limited: bool | None
    """false: the whole supply passes, or all that the pool has. None: not found out, or there is no
    single limit."""
    largest: LimitAmount | None
    """Largest amount that passes in simulations. None: there is no limit, or none was found."""
    refused: LimitAmount | None
    """Smallest larger amount that was refused."""
    is_exact: bool
    """true: the refused amount is one smallest unit above the largest."""
    is_confirmed: bool | None
    """true: both were tried again alone, a sale through the exchange's router. None: not tried."""
    by_code: LimitAmount | None
    """Limit that the code gives with today's storage. None: none, or it was not followed."""
    floor: LimitAmount | None
    """Amount below which no setter of the code can bring it; 0: no floor. None: not known."""


class LimitsAnswer(Shape, frozen=True, kw_only=True):
    """Limits of fresh accounts at one block. No verdict depends on them."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55."""
    block_number: int
    """Block whose state everything was read and simulated on."""
    block_hash: str
    """Hash of that block."""
    pool: str | None
    """Pool that is bought from and sold to. None: there is none, or nothing was tried."""
    limits: tuple[LimitOfKind, ...]
    """One of each kind."""
    depends_on_balance: bool | None
    """true: a seller that sells all it has is always refused, one that keeps most is not. None: not
    found out."""
    differs_by_holder: bool | None
    """true: a real holder could sell more or less than a fresh account. None: no holder was
    tried."""
    holders_tried: int
    """Real holders that tried to sell all they have."""
    buy_gas: int | None
    """Gas of a buy through the router. None: not simulated, or it did not pass."""
    sale_gas: int | None
    """Gas of a sale through the router, without the approval."""
    reason: str
    """Reason why nothing was tried. Empty: something was."""


def limits_answer(found: LimitFindings, chain: Chain, token: ReportRow) -> LimitsAnswer:
    """Return the answer for one token."""

    def amount(raw: int | None) -> LimitAmount | None:
        if raw is None:
            return None
        amount_raw = RawAmount(raw)
        return LimitAmount(
            tokens=decimal_text(amount_raw, decimals=token.decimals),
            supply_pct=round(share_pct(amount_raw, of_raw=found.supply_raw), 6),
        )

    def of_kind(one: TokenLimit) -> LimitOfKind:
        largest, refused = one.limit_raw, one.refused_raw
        return LimitOfKind(
            kind=one.kind,
            is_limited=one.is_limited,
            largest=amount(largest),
            refused=amount(refused),
            is_exact=largest is not None and refused == largest + 1,
            is_confirmed=one.is_confirmed,
            by_code=amount(one.by_code_raw),
            floor=amount(one.floor_raw),
        )

    return LimitsAnswer(
        chain=chain.slug,
        contract_address=checksum(token.address),
        block_number=found.block.number,
        block_hash=found.block.hash,
        pool=found.pool,
        limits=tuple(map(of_kind, found.limits)),
        depends_on_balance=found.depends_on_balance,
        differs_by_holder=found.differs_by_holder,
        holders_tried=found.holders_tried,
        buy_gas=found.buy_gas,
        sale_gas=found.sale_gas,
        reason=found.reason,
    )
