"""Kin of a token, as an answer."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from core.evm.primitives import checksum
from sql.tokens.funder_tables import MOST_ACCOUNTS
from sql.tokens.kin import MOST_COUNTED, Kin, KinLists, SimilarKin

MOST_SHOWN: Final = 20

_GONE_BELOW_USD: Final = 1.0

KIN_WORDS: Final = (
    ("same_code", "Same code", "its code is not known"),
    ("similar_code", "Similar code", "its code is not known"),
    ("same_creator", "Same creator", "its creator is not known"),
    ("same_funder", "Same funder of the creator", "who funded its creator is not known"),
    ("look_alikes", "Look-alike names", "it was not analysed"),
)
"""Lists of kin: key, title, and why a list is null, for pages."""


class KinToken(Shape, frozen=True, kw_only=True):
    """One kin, by its last report."""

    contract_address: str
    """Address of the token, with its checksum."""
    name: str
    """Name returned by the contract: any text."""
    symbol: str
    """Symbol returned by the contract: any text."""
    analysed_at: str
    """End of its last analysis, ISO 8601 UTC."""
    verdict: str | None
    """Verdict of that analysis. null: it has none."""
    can_sell: bool | None
    """A simulated sale passed. null: not known."""
    liquidity_usd: float | None
    """USD of all its pools then. null: no pool was found, or not known."""
    similarity: float | None = None
    """Estimated share, 0 to 1, of what the codes do that both
    do. null: the list is not of similar code."""


class KinVerdict(Shape, frozen=True, kw_only=True):
    """Count of kin with one verdict."""

    verdict: str | None
    """null: it has none."""
    tokens: int
    """Kin that have it."""


class KinList(Shape, frozen=True, kw_only=True):
    """Kin of one sort."""

    counted: int
    """Kin that were counted, at most 200."""
    has_more: bool
    """There are more than those counted."""
    unsellable: int
    """Counted tokens that could not be sold when last analysed."""
    without_liquidity: int
    """Counted tokens whose pools held less than 1 USD when last analysed."""
    verdicts: tuple[KinVerdict, ...]
    """Counted tokens by verdict, most first."""
    tokens: tuple[KinToken, ...]
    """The first 20."""


class KinAnswer(Shape, frozen=True, kw_only=True):
    """Kin among the analysed tokens of the chain: information, never a verdict."""

    chain: str
    """Slug."""
    contract_address: str
    """Address of the token, with its checksum."""
    is_analysed: bool
    """The token has a stored report; without one, its kin are not known."""
    creator: str | None
    """Creator in its last report. null: not known."""
    same_creator: KinList | None
    """Other tokens of that creator, last tracked first. null: not known."""
    funder: str | None
    """Account that gave the creator its first coins, in a separate transaction. null: not known."""
    funded_accounts: int | None
    """Looked-up creators and first buyers that it funded, at most 200 counted. null: not known."""
    has_more_accounts: bool | None
    """There are more than those counted, as of an exchange. null: not known."""
    same_funder: KinList | None
    """Tokens of its other creators, last funded first. null: not known."""
    code_shape: str | None
    """Digest of the graphs of its code, or of that behind a proxy. null: not known."""
    same_code: KinList | None
    """Tokens whose code has that digest, last tracked first. null: not known."""
    similar_code: KinList | None
    """Tokens whose code has at least 85 % in common with it, the most
    similar first. null: not known."""
    look_alikes: KinList | None
    """Tokens whose symbol or name looks like its symbol. Ordered by the power of ten of the money
    in their pools, most first. null: not known."""


def kin_answer(*, chain: str, address: str, found: KinLists | None) -> KinAnswer:
    """Return the answer. `found` None: the token has no report."""
    creator = None if found is None else found.creator
    funder = None if found is None else found.funder
    code = None if found is None else found.code
    return KinAnswer(
        chain=chain,
        contract_address=address,
        is_analysed=found is not None,
        creator=None if creator is None else checksum(creator),
        same_creator=None if found is None else _list(found.same_creator),
        funder=None if funder is None else checksum(funder.funder),
        funded_accounts=None if funder is None else min(funder.accounts, MOST_ACCOUNTS),
        has_more_accounts=None if funder is None else funder.accounts > MOST_ACCOUNTS,
        same_funder=None if funder is None else _list(funder.tokens),
        code_shape=None if code is None else f"0x{code.shape.hex()}",
        same_code=None if code is None else _list(code.same),
        similar_code=None if code is None else _similar(code.similar),
        look_alikes=None if found is None else _list(found.look_alikes),
    )


def _list(found: Sequence[Kin] | None) -> KinList | None:
    return None if found is None else _counted(found, map(_token, found[:MOST_SHOWN]))


def _similar(found: Sequence[SimilarKin]) -> KinList:
    shown = (
        msgspec.structs.replace(_token(one.kin), similarity=round(one.likeness, 2))
        for one in found[:MOST_SHOWN]
    )
    return _counted([one.kin for one in found], shown)


def _counted(found: Sequence[Kin], shown: Iterable[KinToken]) -> KinList:
    counted = found[:MOST_COUNTED]
    verdicts = Counter(one.verdict for one in counted)
    return KinList(
        counted=len(counted),
        has_more=len(found) > MOST_COUNTED,
        unsellable=sum(one.can_sell is False for one in counted),
        without_liquidity=sum(
            one.liquidity_usd is not None and one.liquidity_usd < _GONE_BELOW_USD for one in counted
        ),
        verdicts=tuple(
            KinVerdict(verdict=verdict, tokens=count) for verdict, count in verdicts.most_common()
        ),
        tokens=tuple(shown),
    )


def _token(one: Kin) -> KinToken:
    return KinToken(
        contract_address=checksum(one.address),
        name=one.name,
        symbol=one.symbol,
        analysed_at=iso_utc(one.scanned_at_s),
        verdict=one.verdict,
        can_sell=one.can_sell,
        liquidity_usd=one.liquidity_usd,
    )
