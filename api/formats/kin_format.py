"""Kin of a token, as the API shows them."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from core.primitives import checksum
from sql.kin import MOST_COUNTED, Kin, KinLists

MOST_SHOWN: Final = 20


class KinToken(Shape, frozen=True, kw_only=True):
    """One kin, as its last report has it."""

    contract_address: str
    """Address of the token, with its checksum."""
    name: str
    """As the contract tells it: any text."""
    symbol: str
    """As the contract tells it: any text."""
    analysed_at: str
    """End of its last analysis, ISO 8601 UTC."""
    verdict: str | None
    """Verdict of that analysis. null: not judged."""
    can_sell: bool | None
    """A simulated sale passed. null: not known."""
    liquidity_usd: float | None
    """USD of all its pools then. null: no pool was found, or not known."""


class KinVerdict(Shape, frozen=True, kw_only=True):
    """How many kin have one verdict."""

    verdict: str | None
    """null: not judged."""
    tokens: int
    """Kin that have it."""


class KinList(Shape, frozen=True, kw_only=True):
    """Kin of one sort."""

    counted: int
    """Kin that were counted, at most 200."""
    has_more: bool
    """There are more than those counted."""
    unsellable: int
    """Of those counted, tokens that could not be sold when last analysed."""
    verdicts: tuple[KinVerdict, ...]
    """Those counted by verdict, most first."""
    tokens: tuple[KinToken, ...]
    """The first 20."""


class KinAnswer(Shape, frozen=True, kw_only=True):
    """Kin among the analysed tokens of the chain: information, never a verdict."""

    chain: str
    """Slug."""
    contract_address: str
    """Address of the token, with its checksum."""
    is_analysed: bool
    """The token has a stored report; of one without, kin are not known."""
    creator: str | None
    """Creator in its last report. null: not known."""
    same_creator: KinList | None
    """Other tokens of that creator, last tracked first. null: not known."""
    look_alikes: KinList | None
    """Tokens whose symbol or name looks like its symbol, by the power of
    ten of the money in their pools, most first. null: not known."""


def kin_answer(*, chain: str, address: str, found: KinLists | None) -> KinAnswer:
    """Return the answer. `found` None: the token has no report."""
    creator = None if found is None else found.creator
    same_creator = None if found is None else found.same_creator
    return KinAnswer(
        chain=chain,
        contract_address=address,
        is_analysed=found is not None,
        creator=None if creator is None else checksum(creator),
        same_creator=None if same_creator is None else _list(same_creator),
        look_alikes=None if found is None else _list(found.look_alikes),
    )


def _list(found: Sequence[Kin]) -> KinList:
    counted = found[:MOST_COUNTED]
    verdicts = Counter(one.verdict for one in counted)
    return KinList(
        counted=len(counted),
        has_more=len(found) > MOST_COUNTED,
        unsellable=sum(one.can_sell is False for one in counted),
        verdicts=tuple(
            KinVerdict(verdict=verdict, tokens=count) for verdict, count in verdicts.most_common()
        ),
        tokens=tuple(map(_token, counted[:MOST_SHOWN])),
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
