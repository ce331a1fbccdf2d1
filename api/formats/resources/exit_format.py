"""The exit quote as an answer: proceeds by size."""

from typing import Literal

from analysis.quotes.exit_quote import ExitQuote
from analysis.quotes.exit_reading import ExitLine, ExitPart
from api.formats.amounts import decimal_text
from api.formats.shape_building import Shape
from config.facts.chain import Chain
from core.evm.primitives import checksum
from core.report.report import ReportRow


class ExitPool(Shape, frozen=True, kw_only=True):
    """Part of a sale in one pool."""

    pool: str
    """Address of the pool, or its id in its manager."""
    dex: str
    """Name of the exchange."""
    amount: str
    """Tokens that are sold here, as an exact decimal number."""
    quote: str
    """Address of the token that is received; the zero address is the native coin."""
    proceeds_raw: str
    """Smallest units of `quote` that arrive for it."""
    proceeds_usd: float
    """The same in USD."""
    tax_pct: float | None
    """Percent that the token takes here. None: the amounts do not show it."""
    loss_pct: float | None
    """Percent below the pool's own quote that no tax explains: tokens that sell their fees within
    a sale lower its price. Part of the price impact. None: below one percent, or not known."""
    depth_share: float | None
    """Part of the pool's other side that leaves it, 0 to 1. None: not known."""


class ExitSize(Shape, frozen=True, kw_only=True):
    """One size, sold whole in one simulation, split as is best. null figures are not known."""

    outcome: Literal["sold", "refused", "unknown"]
    """refused: the token or its pools revert it. unknown: not simulated; never take it for sold."""
    reason: str
    """Why there are no figures. Empty: there are."""
    amount: str | None
    """Tokens sold, as an exact decimal number. None: there is no price to compute it from."""
    value_usd: float | None
    """USD at the spot price. None: there is no price."""
    proceeds_usd: float | None
    """USD that arrive after tax, fees and price impact, before gas. None: not known."""
    net_usd: float | None
    """The same after gas. None: not known, or gas has no price."""
    tax_pct: float | None
    """Percent that the token takes. None: not known."""
    price_impact_pct: float | None
    """Percent below the spot price in addition to the tax; fees of pools are part of it. None: not
    known."""
    gas_used: int | None
    """Gas of approvals and sales. None: not known."""
    gas_coin: str | None
    """Native coins that it costs, as an exact decimal number. None: not known."""
    gas_usd: float | None
    """USD that it costs. None: not known."""
    depth_share: float | None
    """Part of the other sides of all pools that the sale takes, 0 to 1. None: not known."""
    unsold: str | None
    """Part of the amount that finds no liquidity, in tokens. None: not known."""
    pools: tuple[ExitPool, ...]
    """The parts of the sale, in the order of their transactions. Empty: nothing was sold."""


class UnusedPool(Shape, frozen=True, kw_only=True):
    """A pool that the quote does not sell in."""

    pool: str
    """Address of the pool, or its id in its manager."""
    dex: str
    """Name of the exchange."""
    liquidity_usd: float
    """USD of its reserves, both sides."""
    reason: str
    """Why not."""


class ExitAnswer(Shape, frozen=True, kw_only=True):
    """Proceeds of a sale now, at several sizes, over all pools together."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55."""
    block_number: int
    """Block that everything was simulated on."""
    block_hash: str
    """Hash of that block."""
    spot_usd: float | None
    """USD of one token in the deepest pool that is sold in, before fees. None: there is none."""
    native_usd: float | None
    """USD of the native coin. None: not known."""
    gas_price_wei: int
    """Price of gas that costs are computed with."""
    sizes: tuple[ExitSize, ...]
    """100, 1,000, 10,000 and 100,000 USD, then the caller's own."""
    half_depth: ExitSize | None
    """The sale that takes about half of the pools' other side; `depth_share` has what it took.
    None: no pool is sold in."""
    unused_pools: tuple[UnusedPool, ...]
    """Pools without a part in it, deepest first, at most 20."""
    simulated_sales: int
    """Simulations that were run for this answer."""


def exit_answer(quote: ExitQuote, chain: Chain, token: ReportRow) -> ExitAnswer:
    """Return the answer for one token."""
    decimals = quote.decimals
    return ExitAnswer(
        chain=chain.slug,
        contract_address=checksum(token.address),
        block_number=quote.block.number,
        block_hash=quote.block.hash,
        spot_usd=quote.spot_usd,
        native_usd=quote.native_usd,
        gas_price_wei=quote.gas_price_wei,
        sizes=tuple(_size(line, chain, decimals) for line in quote.lines),
        half_depth=None if quote.half_depth is None else _size(quote.half_depth, chain, decimals),
        unused_pools=tuple(
            UnusedPool(
                pool=pool.pool,
                dex=pool.dex,
                liquidity_usd=pool.liquidity_usd,
                reason=pool.reason,
            )
            for pool in quote.left_out
        ),
        simulated_sales=quote.simulated_sales,
    )


def _size(line: ExitLine, chain: Chain, decimals: int) -> ExitSize:
    unit, wei = chain.wrapped_native.decimals, line.gas_wei
    outcome: Literal["sold", "refused", "unknown"] = "refused" if line.is_refused else "unknown"
    return ExitSize(
        outcome="sold" if line.proceeds_usd is not None else outcome,
        reason=line.reason,
        amount=decimal_text(line.amount_raw, decimals=decimals) if line.amount_raw else None,
        value_usd=line.value_usd,
        proceeds_usd=line.proceeds_usd,
        net_usd=line.net_usd,
        tax_pct=line.tax_pct,
        price_impact_pct=line.price_impact_pct,
        gas_used=line.gas_used,
        gas_coin=None if wei is None else decimal_text(wei, decimals=unit),
        gas_usd=line.gas_usd,
        depth_share=line.depth_share,
        unsold=None if line.left_raw is None else decimal_text(line.left_raw, decimals=decimals),
        pools=tuple(_pool(part, decimals) for part in line.parts),
    )


def _pool(part: ExitPart, decimals: int) -> ExitPool:
    return ExitPool(
        pool=part.pool,
        dex=part.dex,
        amount=decimal_text(part.amount_raw, decimals=decimals),
        quote=part.quote,
        proceeds_raw=str(part.proceeds_raw),
        proceeds_usd=part.proceeds_usd,
        tax_pct=part.tax_pct,
        loss_pct=part.loss_pct,
        depth_share=part.depth_share,
    )
