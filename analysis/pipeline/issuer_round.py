"""Reads of the second round about who issued the token, and what its bonding curve holds."""

import msgspec

from analysis.launchpads import verdict
from analysis.launchpads.verdict import ConfirmationReads, IssuerOrigin
from analysis.market import native_price
from analysis.market.curves import curve_pools as curves
from analysis.market.curves.curve import CurveState
from analysis.market.curves.curve_pools import CurveReads, ValuedCurve
from analysis.market.liquidity_value import Price
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.external_valuation import quote_prices
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.second_round import MOST_DECIMALS
from analysis.reads.eth_reads import decode_uint
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32


class IssuerFindings(msgspec.Struct, frozen=True, kw_only=True):
    """The issuer of a token, and the bonding curves it is sold on."""

    origin: IssuerOrigin
    curves: tuple[ValuedCurve, ...]
    """Bonding curves that sell the token now."""
    is_complete: bool
    """False: there may be another curve."""


async def _price_of(
    context: ChainContext, quote: Address, *, block: Hash32
) -> dict[Address, Price]:
    """Return the price of a token that is no anchor. Empty: no external price has enough depth
    behind it."""
    batch = ReadBatch(block)
    answer = batch.call(quote, "decimals()", returns=decode_uint)
    await batch.send(context.node, context.capabilities)
    decimals = batch[answer]
    if decimals is None or decimals > MOST_DECIMALS:
        return {}
    return await quote_prices(context, {quote: decimals})


async def read_issue(
    context: ChainContext, first_round: FirstRound, token: Address, *, has_pool: bool
) -> IssuerFindings:
    """Confirm the issuer and value the curves, in one round trip, or none where nothing is left to
    read.

    `has_pool`: ordinary pools exist. Raises UpstreamError.
    """
    batch = ReadBatch(first_round.pin.hash)
    confirmation = ConfirmationReads(batch, first_round.lead)
    curve = CurveReads(batch, first_round.lead)
    await batch.send(context.node, context.capabilities)
    standing = curve.read()
    origin = verdict.conclude(
        first_round.lead,
        confirmation.read(),
        code=first_round.admitted.code,
        metadata=first_round.admitted.metadata,
        has_pool=has_pool,
    )
    prices = native_price.anchor_prices(context.chain, first_round.native_usd)
    natives = {context.chain.wrapped_native.address, ZERO_ADDRESS}
    if isinstance(standing, CurveState) and standing.quote not in {*prices, *natives}:
        prices |= await _price_of(context, standing.quote, block=first_round.pin.hash)
    return IssuerFindings(
        origin=origin,
        curves=curves.value(first_round.lead, standing, token, prices),
        is_complete=not curves.may_be_missing(
            standing, origin, priceless=natives if first_round.native_usd is None else ()
        ),
    )
