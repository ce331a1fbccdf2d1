"""Lists of tokens, with verdict and headline of the stored report, the best match first.

Nothing is analysed for a list.
"""

import asyncio
from collections.abc import Iterable, Sequence

import msgspec
from async_lru import alru_cache
from cachetools import TTLCache

from api.deps import ApiDeps
from api.formats.prose.headline import headline_of
from api.formats.prose.rendered_report import render_for_people
from api.formats.summary.summary import Verdict
from api.formats.token_snapshot import TokenSnapshot
from api.search.likeness import Likeness, find_likeness
from api.search.query import SearchQuery
from api.serving.answers import Answers
from config.facts.chain import Anchor, Chain
from core.errors import TokenRefusedError
from core.evm.primitives import Address, Hash32, checksum
from core.report.report import Report, ReportRow
from core.text.look_alikes import skeleton
from sql.engine.store import Store
from sql.tokens.token_search import (
    MATCHES,
    FoundToken,
    Namesakes,
    find_by_address,
    find_richest_namesakes,
    find_tokens,
    list_newest,
    list_richest,
    match_of,
)

MOST_LISTED = 20
_OF_FRONT_PAGE = 8
_NEWEST_READ = 200
"""Newest tokens among which those with money in their pools are listed."""

_SHORTEST_BEGINNING = 3
"""Letters of a quote token's symbol for which it is listed before all others."""

_RICH_ABOVE_USD = 1_000.0
_FRONT_PAGE_KEPT_S = 15.0
_REPORTS_KEPT_S = 120.0
_MOST_REPORTS = 10_000

_VERDICT_ORDER: tuple[Verdict | None, ...] = ("safe", "warning", "not_tested", None, "danger")


class ShortReport(msgspec.Struct, frozen=True, kw_only=True):
    """The stored report in short."""

    verdict: Verdict | None = None
    """None: the report is gone, or it has the format of another release."""
    headline: str = ""
    liquidity_usd: float | None = None
    """In all pools, both sides. None: not known."""


class ListedToken(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a list."""

    chain: Chain
    address: str
    """Checksummed."""
    name: str
    symbol: str
    scanned_at_s: int | None
    """Unix seconds. None: not analysed."""
    report: ShortReport
    likeness: Likeness | None


class FrontPageLists(msgspec.Struct, frozen=True, kw_only=True):
    """Lists on the front page before a search."""

    newest: list[ListedToken]
    richest: list[ListedToken]


class TokenLists:
    """Lists of the analysed tokens of the served chains."""

    def __init__(self, deps: ApiDeps, answers: Answers, store: Store) -> None:
        self._deps = deps
        self._answers = answers
        self._store = store
        self._chains = {chain.id: chain for chain in deps.chains}
        self._reports = TTLCache[tuple[int, Address, Hash32], ShortReport](
            _MOST_REPORTS, _REPORTS_KEPT_S, timer=deps.monotonic_s
        )
        self.front_page = alru_cache(maxsize=1, ttl=_FRONT_PAGE_KEPT_S)(self._front_page)

    @property
    def _served(self) -> dict[int, Chain]:
        return {chain.id: chain for chain in self._deps.chains if chain.slug in self._deps.served}

    async def search(self, queries: Sequence[SearchQuery]) -> list[ListedToken]:
        """Return the results of the first reading that has any. Raises StoreError."""
        for query in queries:
            found = await self._search(query)
            if found:
                return found
        return []

    async def at_address(self, address: Address) -> list[ListedToken]:
        """Return the analysed tokens at an address, on all chains. Raises StoreError."""
        found = await asyncio.to_thread(
            find_by_address, self._store, address, chain_ids=[*self._served]
        )
        return await self._listed(found)

    async def likeness_of(self, report: Report) -> Likeness | None:
        """Find the known token that a token's symbol resembles. None: there is none. Raises
        StoreError."""
        token = report.token
        namesakes = await asyncio.to_thread(
            find_richest_namesakes, self._store, [(token.chain_id, token.symbol)]
        )
        usd = sum(pool.quote_side_usd for pool in report.pools or ())
        return self._likeness(token, usd, namesakes)

    async def _search(self, query: SearchQuery) -> list[ListedToken]:
        chains = [c for c in self._served.values() if query.chain in (None, c)]
        found = await asyncio.to_thread(
            find_tokens,
            self._store,
            query.text,
            chain_ids=[chain.id for chain in chains],
            at_most=MOST_LISTED,
        )
        listed = await self._listed(found)
        ranked = sorted(
            zip(found, listed, strict=True),
            key=lambda pair: (
                MATCHES.index(match_of(pair[0], query.text)),
                _rank_of_likeness(pair[1].likeness),
                -pair[0].tier,
                _VERDICT_ORDER.index(pair[1].report.verdict),
                -pair[0].usd,
            ),
        )
        unseen = _anchors_like(query.text, chains, {(t.chain_id, t.address) for t in found})
        return [*unseen, *(line for _, line in ranked)]

    async def _front_page(self) -> FrontPageLists:
        newest, richest = await asyncio.gather(
            asyncio.to_thread(list_newest, self._store, at_most=_NEWEST_READ),
            asyncio.to_thread(
                list_richest, self._store, above_usd=_RICH_ABOVE_USD, at_most=2 * MOST_LISTED
            ),
        )
        return FrontPageLists(
            newest=await self._listed(
                [token for token in newest if token.usd > self._deps.liquid_above_usd][
                    :_OF_FRONT_PAGE
                ]
            ),
            richest=await self._listed(
                [token for token in richest if not self._is_anchor(token)][:_OF_FRONT_PAGE]
            ),
        )

    def _is_anchor(self, token: FoundToken) -> bool:
        chain = self._chains.get(token.chain_id)
        return chain is not None and token.address in {one.address for one in chain.anchors}

    async def _listed(self, tokens: Iterable[FoundToken]) -> list[ListedToken]:
        chains = self._served
        served = [token for token in tokens if token.chain_id in chains]
        namesakes = await asyncio.to_thread(
            find_richest_namesakes, self._store, [(one.chain_id, one.symbol) for one in served]
        )
        return [
            await self._line(token, self._likeness(token, token.usd, namesakes)) for token in served
        ]

    def _likeness(
        self, token: FoundToken | ReportRow, usd: float, namesakes: Namesakes
    ) -> Likeness | None:
        return find_likeness(
            address=token.address,
            symbol=token.symbol,
            usd=usd,
            chain=self._chains[token.chain_id],
            richest=namesakes.get((token.chain_id, skeleton(token.symbol))),
        )

    async def _line(self, token: FoundToken, likeness: Likeness | None) -> ListedToken:
        chain = self._chains[token.chain_id]
        return ListedToken(
            chain=chain,
            address=checksum(token.address),
            name=token.name,
            symbol=token.symbol,
            scanned_at_s=token.scanned_at_s,
            report=await self._find_report(token, chain),
            likeness=likeness,
        )

    async def _find_report(self, token: FoundToken, chain: Chain) -> ShortReport:
        """Return the verdict and headline, computed once for a report and two minutes: deadlines
        pass."""
        key = (token.chain_id, token.address, token.block_hash)
        report = self._reports.get(key)
        if report is None:
            try:
                known = await self._answers.recall(chain=chain.slug, address=token.address)
            except TokenRefusedError:
                return ShortReport()
            if known.snapshot is None:
                return ShortReport()
            report = self._reports[key] = await asyncio.to_thread(_shorten, known.snapshot)
        return report


def _shorten(snapshot: TokenSnapshot) -> ShortReport:
    rendered = render_for_people(snapshot)
    return ShortReport(
        verdict=rendered.summary.verdict,
        headline=headline_of(rendered),
        liquidity_usd=rendered.summary.total_liquidity_usd,
    )


def _rank_of_likeness(likeness: Likeness | None) -> int:
    """Return 0 for the known token of the symbol, 1 for others, 2 for look-alikes."""
    if likeness is None:
        return 1
    return 0 if likeness.kind == "quoted" else 2


def _anchors_like(
    text: str, chains: Iterable[Chain], found: set[tuple[int, Address]]
) -> list[ListedToken]:
    """Return the quote tokens whose symbol matches, and that were not found."""
    key = skeleton(text)
    return [
        _unanalysed(anchor, chain)
        for chain in chains
        for anchor in dict.fromkeys(chain.anchors)
        if _begins(skeleton(anchor.symbol), key) and (chain.id, anchor.address) not in found
    ]


def _begins(symbol: str, key: str) -> bool:
    """True if a symbol is the text, or begins with enough of it."""
    return symbol == key or (len(key) >= _SHORTEST_BEGINNING and symbol.startswith(key))


def _unanalysed(anchor: Anchor, chain: Chain) -> ListedToken:
    return ListedToken(
        chain=chain,
        address=checksum(anchor.address),
        name="",
        symbol=anchor.symbol,
        scanned_at_s=None,
        report=ShortReport(),
        likeness=Likeness(
            kind="quoted", symbol=anchor.symbol, is_same_text=True, address=anchor.address
        ),
    )
