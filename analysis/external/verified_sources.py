"""Source verification of a contract: Sourcify first, then Etherscan where there is a key for it.

Source: Sourcify API v2, GET /v2/contract; Etherscan API v2, contract getsourcecode.
"""

import aiohttp
import msgspec
import structlog

from analysis.external.host import HttpService
from config.settings import SourceSettings
from core.errors import UpstreamError
from core.evm.primitives import Address
from core.process.secret import Secret

_LOG = structlog.get_logger(__name__)


class _Match(msgspec.Struct, frozen=True):
    match: str | None = None


class _Source(msgspec.Struct, frozen=True):
    source_code: str = msgspec.field(name="SourceCode", default="")


class _Answer(msgspec.Struct, frozen=True):
    result: tuple[_Source, ...] | str
    """Text of an error: the rate limit, a wrong key."""


class Sources:
    """Clients of the services with verified sources."""

    def __init__(
        self, session: aiohttp.ClientSession, settings: SourceSettings, etherscan_key: Secret | None
    ) -> None:
        def host(name: str, url: str, per_minute: int) -> HttpService:
            return HttpService(
                session,
                name,
                url,
                per_minute=per_minute,
                timeout_s=settings.timeout_s,
                cache_s=settings.cache_s,
            )

        self._sourcify: HttpService | None = None
        if settings.sourcify_url:
            self._sourcify = host("Sourcify", settings.sourcify_url, settings.sourcify_per_minute)
        self._etherscan: tuple[HttpService, Secret] | None = None
        if settings.etherscan_url and etherscan_key is not None:
            etherscan = host("Etherscan", settings.etherscan_url, settings.etherscan_per_minute)
            self._etherscan = (etherscan, etherscan_key)

    async def is_verified(
        self, chain_id: int, contract: Address, *, refresh: bool = False
    ) -> bool | None:
        """True if one service has the verified source, False if every queried service lacks it.

        `refresh`: send the requests even if an answer is cached. None: no service was queried, or
        one did not answer and none has the source.
        """
        answers: list[bool | None] = []
        if self._sourcify is not None:
            answers.append(await _by_sourcify(self._sourcify, chain_id, contract, refresh))
        if self._etherscan is not None and True not in answers:
            answers.append(await _by_etherscan(*self._etherscan, chain_id, contract, refresh))
        if True in answers:
            return True
        return None if not answers or None in answers else False


async def _by_sourcify(
    host: HttpService, chain_id: int, contract: Address, refresh: bool
) -> bool | None:
    try:
        answer = await host.get(f"/v2/contract/{chain_id}/{contract}", _Match, refresh=refresh)
    except UpstreamError as error:
        _note(error)
        return None
    return answer is not None and answer.match is not None


async def _by_etherscan(
    host: HttpService, key: Secret, chain_id: int, contract: Address, refresh: bool
) -> bool | None:
    try:
        answer = await host.get(
            "",
            _Answer,
            refresh=refresh,
            chainid=str(chain_id),
            module="contract",
            action="getsourcecode",
            address=contract,
            apikey=key.value,
        )
    except UpstreamError as error:
        _note(error)
        return None
    if answer is None or isinstance(answer.result, str):
        _note(UpstreamError(service="Etherscan", reason="refused the question"))
        return None
    return any(source.source_code for source in answer.result)


def _note(error: UpstreamError) -> None:
    _LOG.info("source missed", service=error.service, why=error.reason)
